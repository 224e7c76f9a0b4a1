"""Time of boosted and margin rankers on folds with few queries, without reading and imports.

`python -m benchmarks.boosters --data OHSUMED` takes a folder with Fold1, Fold2, ... in the layout of LETOR.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import rankwright as rw

THREADS = 2
FITS = {
    "CalibratedAdaBoost, per fold": lambda: rw.CalibratedAdaBoost(n_jobs=THREADS),
    "AdaBoostMH, trees": lambda: rw.AdaBoostMH(n_jobs=THREADS),
    "AdaBoostMH, products": lambda: rw.AdaBoostMH(learner="product", n_jobs=THREADS),
    "MPBoost, 300 rounds": lambda: rw.MPBoost(rounds=300, patience=None, n_jobs=THREADS),
    "RankBoost": lambda: rw.RankBoost(n_jobs=THREADS),
    "AdaRank": lambda: rw.AdaRank(n_jobs=THREADS),
}
TUNED = {"SVMmap, tuned": rw.SVMmap, "PermuRank, tuned": rw.PermuRank}


def main() -> None:
    """Print the seconds of each ranker for all folds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    folds = [rw.read_fold(folder) for folder in sorted(data.glob("Fold*"))]
    warnings.simplefilter("ignore")
    print(f"{len(folds)} folds of {data.name}, {THREADS} threads, seconds")
    for name, make in FITS.items():
        make().fit(folds[0][0], validation=folds[0][1])  # imports what is slow to import
        started = time.perf_counter()
        for train, valid, *_ in folds:
            make().fit(train, validation=valid)
        seconds = time.perf_counter() - started
        print(f"{name}: {seconds / len(folds) if name.endswith('per fold') else seconds:.2f}", flush=True)
    for name, ranker in TUNED.items():
        started = time.perf_counter()
        rw.cross_validate(ranker(), data, tune=True, workers=THREADS)
        print(f"{name}: {time.perf_counter() - started:.2f}", flush=True)


if __name__ == "__main__":
    main()

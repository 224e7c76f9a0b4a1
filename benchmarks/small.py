"""Time of LambdaMART on folds with few queries, compared with LightGBM; shows fixed costs per fit.

`python -m benchmarks.small --data OHSUMED` takes a folder with Fold1, Fold2, ... in the layout of LETOR.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData

ROUNDS, LEAVES, LEARNING_RATE, REPEATS = 100, 8, 0.1, 5


def main() -> None:
    """Print the shortest time of each tool for all folds; the tools take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    parts = [rw.read_fold(folder)[0] for folder in sorted(options.data.glob("Fold*"))]
    print(f"Small fits: {len(parts)} folds of {options.data.name}, {ROUNDS} trees of {LEAVES} leaves, seconds")
    for threads in (1, 2):
        times: dict[str, list[float]] = {"rankwright": [], "lightgbm": []}
        for _ in range(1 + REPEATS):  # the first warms up
            for name, train in (("rankwright", _rankwright), ("lightgbm", _lightgbm)):
                started = time.perf_counter()
                for part in parts:
                    train(part, threads)
                times[name].append(time.perf_counter() - started)
        ours, theirs = (min(found[1:]) for found in times.values())
        print(f"{threads} threads: rankwright {ours:.2f}, LightGBM {theirs:.2f}, ratio {theirs / ours:.2f}")


def _rankwright(part: RankingData, threads: int) -> None:
    rw.LambdaMART(
        rounds=ROUNDS,
        max_leaves=LEAVES,
        learning_rate=LEARNING_RATE,
        min_documents=20,
        subsample=1.0,
        feature_fraction=1.0,
        l2=0.0,
        n_jobs=threads,
    ).fit(part.X, part.y, part.qid)


def _lightgbm(part: RankingData, threads: int) -> None:
    import lightgbm

    options = {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "learning_rate": LEARNING_RATE,
        "num_threads": threads,
        "verbosity": -1,
    }
    qid = np.asarray(part.qid)
    sizes = np.diff(np.append(np.flatnonzero(np.append(True, qid[1:] != qid[:-1])), len(qid)))
    data = lightgbm.Dataset(np.asarray(part.X), np.asarray(part.y), group=sizes, params=options)
    lightgbm.train(options, data, ROUNDS)


if __name__ == "__main__":
    main()

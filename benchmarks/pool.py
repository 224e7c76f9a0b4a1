"""Training time of the complete pool of Busa-Fekete, Kégl, Éltető & Szarvas (2011) on one fold.

`python -m benchmarks.pool --data MQ2008/Fold1` boosts nine sizes of trees and nine of products for up to 100
rounds, and calibrates each after 10, 20, 50 and 100 rounds by the paper's ten methods. The authors used a
computing grid.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import rankwright as rw

CALIBRATIONS = ("ls", "ewls", "el", "ell", "sn")
REGRESSIONS = ("linear", "logistic", "polynomial-2", "network", "gaussian-process")


def main() -> None:
    """Print wall-clock and processor seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    train, valid, _ = rw.read_fold(options.data)
    ranker = rw.CalibratedAdaBoost(
        leaves=range(5, 50, 5),
        terms=range(2, 11),
        rounds_tried=(10, 20, 50, 100),
        pool_rounds="one",
        calibrations=CALIBRATIONS + REGRESSIONS,
        splits=1,
        bagging=False,
        exponents=(0, 10, 50, 100, 200),
        learning_rate=1.0,
        votes="opposite",
        n_jobs=options.threads,
    )
    clock, processor = time.perf_counter(), time.process_time()
    ranker.fit(train, validation=valid)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    size = f"{len(train.groups)} training queries with {len(train):,} documents"
    print(f"The paper's pool, {size}: {clock:.1f} s of wall-clock time, {processor:.1f} s of processor time")


if __name__ == "__main__":
    main()

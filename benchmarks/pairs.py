"""Time of boosting over pairs by number of documents, and of complete fits on judged folds.

`python -m benchmarks.pairs` doubles the documents of every query on generated data and times a round, with factors
and, for comparison, pair by pair. With `--data FOLDER` (Fold1, Fold2, ...) it also times complete fits with fixed
parameters. Times are processor seconds of all threads together (`cpu`) and wall-clock seconds (`clock`).
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import rankwright as rw
from rankwright.data.readers.fold_folders import find_folds
from rankwright.rankers.shared.distances import Linear
from rankwright.training.learners.pair_signal import FactoredPairs, ListedPairs
from rankwright.training.learners.stump import StumpLearner, VoteLearner

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.training.learners.pair_signal import LabelPairs

N_QUERIES, N_FEATURES, N_LABELS = 60, 45, 3
DOCUMENTS = (160, 320, 640, 1280)
REPEATS = 7
RANKERS = {
    "AdaRank": lambda threads: rw.AdaRank(n_jobs=threads),
    "RankBoost, 300 rounds": lambda threads: rw.RankBoost(rounds=300, n_jobs=threads),
    "MPBoost, 300 rounds": lambda threads: rw.MPBoost(rounds=300, n_jobs=threads),
}


class Seconds(NamedTuple):
    """Processor time and wall-clock time."""

    cpu: float
    clock: float


def timed(work: Callable[[], object]) -> Seconds:
    """Return the seconds of one call."""
    cpu, clock = time.process_time(), time.perf_counter()
    work()
    return Seconds(time.process_time() - cpu, time.perf_counter() - clock)


def round_seconds(kind: type[LabelPairs], learner: str, n_documents: int, repeats: int = REPEATS) -> float:
    """Return the least processor seconds of a round: the signal of the pairs, and the fit of a weak ranker."""
    random = np.random.default_rng(1)
    n_rows = N_QUERIES * n_documents
    X = random.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    y = random.integers(0, N_LABELS, n_rows).astype(np.float64)
    train = rw.TrainingSet(rw.RankingData(X, y, np.repeat(np.arange(N_QUERIES), n_documents)))
    pairs = kind(train.labels, Linear(0.5).between, np.ones(n_rows), 1)
    binned, scores = train.binned(255, 1), random.normal(size=n_rows)
    one = {
        "RankBoost": VoteLearner(binned, directions=(1,), n_threads=1),
        "MPBoost": StumpLearner(binned, newton=False, n_threads=1),
    }[learner]
    one.fit(pairs.signal(scores))  # the first call sorts the codes, which is not timed
    return min(timed(lambda: one.fit(pairs.signal(scores))).cpu for _ in range(repeats))


def main() -> None:
    """Print the tables."""
    options = _options()
    print(f"A round: {N_QUERIES} queries, {N_FEATURES} features, {N_LABELS} labels, one thread, ms of cpu")
    _show_doubling("RankBoost, factors", FactoredPairs, "RankBoost", DOCUMENTS)
    _show_doubling("MPBoost, factors", FactoredPairs, "MPBoost", DOCUMENTS)
    _show_doubling("MPBoost, pair by pair", ListedPairs, "MPBoost", DOCUMENTS[:2], repeats=1)
    if options.data:
        _show_folds(options.data, options.threads)


def _show_doubling(
    name: str, kind: type[LabelPairs], learner: str, documents: tuple[int, ...], repeats: int = REPEATS
) -> None:
    seconds = [round_seconds(kind, learner, n, repeats) for n in documents]
    ratios = [f"{later / earlier:.2f}" for earlier, later in pairwise(seconds)]
    times = ", ".join(f"{n}: {1e3 * one:.2f}" for n, one in zip(documents, seconds, strict=True))
    print(f"{name:<24}{times}   ratios {' '.join(ratios)}")


def _show_folds(folder: str, threads: int) -> None:
    folds = [rw.read_fold(path) for path in find_folds(folder)]
    print(f"{len(folds)} folds of {folder}, default parameters, {threads} threads")
    for name, make in RANKERS.items():
        make(threads).fit(folds[0][0], validation=folds[0][1])  # warm-up
        times = [timed(partial(make(threads).fit, fold[0], validation=fold[1])) for fold in folds]
        print(
            f"{name:<24}{sum(one.cpu for one in times):>8.2f} s cpu{sum(one.clock for one in times):>8.2f} s clock"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="A folder with Fold1, Fold2, ...")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args([] if "pairs" in sys.argv[1:] else None)


if __name__ == "__main__":
    main()

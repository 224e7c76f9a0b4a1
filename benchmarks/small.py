"""Time of LambdaMART on folds with few queries, compared with LightGBM; shows fixed costs per fit.

`python -m benchmarks.small --data OHSUMED` takes a folder with Fold1, Fold2, ... in the layout of LETOR. The last
line is a tuning run: the fits of twelve learning rates on every fold. Each tool prepares a fold once for all
of them. LightGBM runs fits in turn on two threads, and two at a time on one thread each; the shorter time counts.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.data.dataset import RankingData

ROUNDS, LEAVES, LEARNING_RATE, REPEATS = 100, 8, 0.1, 5
TUNED_RATES = np.linspace(0.02, 0.24, 12)


def main() -> None:
    """Print the shortest time of each tool for all folds; the tools take turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    parts = [rw.read_fold(folder)[0] for folder in sorted(options.data.glob("Fold*"))]
    print(f"Small fits: {len(parts)} folds of {options.data.name}, {ROUNDS} trees of {LEAVES} leaves, seconds")
    for threads in (1, 2):
        ours, theirs = _fastest(
            *(partial(_each, train, parts, threads) for train in (_rankwright, _lightgbm)), repeats=1 + REPEATS
        )
        print(f"{threads} threads: rankwright {ours:.2f}, LightGBM {theirs:.2f}, ratio {theirs / ours:.2f}")
    ours, in_turn, at_once = _fastest(
        *(partial(tune, parts) for tune in (_tune_rankwright, _tune_in_turn, _tune_at_once)), repeats=3
    )
    theirs = min(in_turn, at_once)
    print(
        f"{len(TUNED_RATES) * len(parts)} fits: rankwright {ours:.2f}, LightGBM in turn {in_turn:.2f}, "
        f"two at once {at_once:.2f}, ratio {theirs / ours:.2f}"
    )


def _fastest(*runs: Callable[[], object], repeats: int) -> list[float]:
    """Return the shortest time of each run; they take turns, and the first turn warms up."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, own in zip(runs, times, strict=True):
            started = time.perf_counter()
            run()
            own.append(time.perf_counter() - started)
    return [min(own[1:]) for own in times]


def _each(train: Callable[..., object], parts: Sequence[RankingData], threads: int) -> None:
    for part in parts:
        train(part, threads)


def _tune_rankwright(parts: Sequence[RankingData]) -> None:
    tasks = [(shared, float(rate)) for shared in map(rw.TrainingSet, parts) for rate in TUNED_RATES]
    with ThreadPoolExecutor(2) as executor:
        list(executor.map(lambda task: _ranker(task[1], 1).fit(task[0]), tasks))


def _tune_in_turn(parts: Sequence[RankingData]) -> None:
    for part in parts:
        data = _lightgbm_data(part, 2)
        for rate in TUNED_RATES:
            _lightgbm_fit(data, rate, 2)


def _tune_at_once(parts: Sequence[RankingData]) -> None:
    held = local()  # fits at the same time may not share a data set

    def fit(task: tuple[int, float]) -> None:
        number, rate = task
        if getattr(held, "number", None) != number:
            held.number, held.data = number, _lightgbm_data(parts[number], 1)
        _lightgbm_fit(held.data, rate, 1)

    with ThreadPoolExecutor(2) as executor:
        list(executor.map(fit, [(number, rate) for number in range(len(parts)) for rate in TUNED_RATES]))


def _rankwright(part: RankingData, threads: int) -> None:
    _ranker(LEARNING_RATE, threads).fit(part.X, part.y, part.qid)


def _ranker(learning_rate: float, threads: int) -> rw.LambdaMART:
    return rw.LambdaMART(
        rounds=ROUNDS,
        max_leaves=LEAVES,
        grow_policy="leafwise",
        pairs="all",
        learning_rate=learning_rate,
        min_documents=20,
        subsample=1.0,
        feature_fraction=1.0,
        l2=0.0,
        n_jobs=threads,
    )


def _lightgbm(part: RankingData, threads: int) -> None:
    _lightgbm_fit(_lightgbm_data(part, threads), LEARNING_RATE, threads)


def _lightgbm_data(part: RankingData, threads: int) -> Any:
    import lightgbm

    qid = np.asarray(part.qid)
    sizes = np.diff(np.append(np.flatnonzero(np.append(True, qid[1:] != qid[:-1])), len(qid)))
    options = {"num_threads": threads, "verbosity": -1}
    return lightgbm.Dataset(np.asarray(part.X), np.asarray(part.y), group=sizes, params=options)


def _lightgbm_fit(data: Any, learning_rate: float, threads: int) -> None:
    import lightgbm

    options = {
        "objective": "lambdarank",
        "num_leaves": LEAVES,
        "learning_rate": learning_rate,
        "num_threads": threads,
        "verbosity": -1,
    }
    lightgbm.train(options, data, ROUNDS)


if __name__ == "__main__":
    main()

"""Time of a round with custom metrics: 37 queries of 426 documents, 5 labels.

`python -m benchmarks.own_metric` times LambdaMART with metrics of several kinds, with and without a batch form,
and shows how good the models are. `--before` also times the gradients of one round with every swap of every query
tried, as it was before closed forms were looked for: that takes minutes. `--rankers` times the other rankers that
take a custom metric. Times are processor seconds of all threads together.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import rankwright as rw
from rankwright.metrics import Metric
from rankwright.rankers.shared.lambdas import LambdaGradients

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference.swaps import swap_deltas as slow_swap_deltas

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles

N_QUERIES, N_DOCUMENTS, N_FEATURES, ROUNDS, TRUNCATION = 37, 426, 20, 10, 30
LABEL_SHARES = (0.5, 0.2, 0.15, 0.1, 0.05)


@dataclass(frozen=True)
class Persistence(Metric):
    """A sum over documents: rank-biased precision with a table of gains."""

    persistence: float = 0.95

    def of_ranking(self, labels: Doubles) -> float:
        gains = np.array([0.0, 1.0, 2.0, 5.0, 10.0])[labels.astype(np.int64)] / 10
        return float((1 - self.persistence) * gains @ self.persistence ** np.arange(len(labels)))


@dataclass(frozen=True)
class Cascade(Metric):
    """A cascade: the expected square root of 1 / rank at which a reader stops."""

    def of_ranking(self, labels: Doubles) -> float:
        stops = (np.exp2(labels) - 1) / 16
        reading = np.cumprod(np.append(1.0, 1.0 - stops[:-1]))
        return float(reading @ (stops / np.sqrt(np.arange(1, len(labels) + 1))))


@dataclass(frozen=True)
class BatchCascade(Cascade):
    """The same with a batch form."""

    def of_rankings(self, rankings: Doubles) -> Doubles:
        stops = (np.exp2(rankings) - 1) / 16
        reading = np.ones_like(stops)
        np.cumprod(1.0 - stops[:, :-1], axis=1, out=reading[:, 1:])
        return np.asarray((reading * stops) @ (1 / np.sqrt(np.arange(1, rankings.shape[1] + 1))))


@dataclass(frozen=True)
class GoodBeforeBad(Metric):
    """No sum: the fraction of the good documents (label 2 or more) above the first bad one (label 0)."""

    def of_ranking(self, labels: Doubles) -> float:
        good = labels >= 2
        if not good.any():
            return np.nan
        bad = np.flatnonzero(labels == 0)
        return float(good[: bad[0] if len(bad) else len(labels)].sum() / good.sum())


@dataclass(frozen=True)
class BatchGoodBeforeBad(GoodBeforeBad):
    """The same with a batch form."""

    def of_rankings(self, rankings: Doubles) -> Doubles:
        good = rankings >= 2
        if not good[0].any():
            return np.full(len(rankings), np.nan)
        above = np.logical_and.accumulate(rankings != 0, axis=1)
        return np.asarray((good & above).sum(axis=1) / good[0].sum())


@dataclass(frozen=True)
class EnoughInTen(Metric):
    """No sum, first ranks alone: how many of the first ten documents are good; five are enough."""

    def of_ranking(self, labels: Doubles) -> float:
        return min(1.0, float((labels[:10] >= 2).sum()) / 5)


METRICS = (Persistence(), Cascade(), BatchCascade(), GoodBeforeBad(), BatchGoodBeforeBad(), EnoughInTen())
RANKERS: dict[str, Callable[[Metric], rw.Ranker]] = {
    "LambdaMART, exact steps, 3 rounds": lambda one: rw.LambdaMART(one, rounds=3, step=rw.ExactStep()),
    "LambdaRank, 3 rounds": lambda one: rw.LambdaRank(one, rounds=3),
    "AdaRank, 3 rounds": lambda one: rw.AdaRank(one, rounds=3),
    "PermuRank, 3 rounds": lambda one: rw.PermuRank(one, rounds=3),
    "SVMmap": lambda one: rw.SVMmap(one),
}


def judged(seed: int) -> rw.RankingData:
    """Return documents whose labels follow a noisy function of the features."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N_QUERIES * N_DOCUMENTS, N_FEATURES))
    hidden = X[:, 0] + X[:, 1] * (X[:, 2] > 0) + 0.5 * X[:, 3] ** 2 + random.normal(size=len(X))
    borders = np.quantile(hidden, np.cumsum(LABEL_SHARES)[:-1])
    return rw.RankingData(X, np.searchsorted(borders, hidden), np.repeat(np.arange(N_QUERIES), N_DOCUMENTS))


def seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print the tables."""
    options = _options()
    warnings.simplefilter("ignore")  # about swaps that are sampled
    train, valid = judged(1), judged(2)
    print(
        f"LambdaMART, {N_QUERIES} queries of {N_DOCUMENTS} documents, {options.threads} threads: processor seconds"
    )
    print(f"{'metric':<22}{'first round':>12}{'later ones':>12}{'gradients':>12}{'validation':>12}")
    for metric in METRICS:
        _show_fit(metric, train, valid, options.threads)
    if options.before:
        for metric in METRICS:
            print(f"{metric!s:<22}gradients of one round, every swap tried: {_slow_gradients(metric, train):.1f}")
    if options.rankers:
        for name, make in RANKERS.items():
            for metric in METRICS:
                took = seconds(lambda: make(metric).fit(train, validation=valid))  # noqa: B023
                print(f"{name:<36}{metric!s:<22}{took:>8.2f}", flush=True)


def _show_fit(metric: Metric, train: rw.RankingData, valid: rw.RankingData, threads: int) -> None:
    ends = [time.process_time()]
    ranker = rw.LambdaMART(metric, rounds=ROUNDS, n_jobs=threads)
    ranker.fit(train, validation=valid, on_round=lambda _: ends.append(time.process_time()))
    lambdas = LambdaGradients(metric, train.y, train.groups, truncation=TRUNCATION)
    scores = ranker.predict(train)
    gradients = min(seconds(lambda: lambdas(scores)) for _ in range(3))
    later = float(np.mean(np.diff(ends[1:])))
    value = ranker.history_[-1].validation
    print(f"{metric!s:<22}{ends[1] - ends[0]:>12.3f}{later:>12.3f}{gradients:>12.4f}{value:>12.4f}", flush=True)


def _slow_gradients(metric: Metric, train: rw.RankingData) -> float:
    """Return the seconds of the gradients of one round with every swap of every two documents tried."""
    slow = type("EverySwap", (type(metric),), {"swap_deltas": slow_swap_deltas})()
    lambdas = LambdaGradients(slow, train.y, train.groups, truncation=TRUNCATION)
    return seconds(lambda: lambdas(train.X[:, 0]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", action="store_true", help="Also time the gradients with every swap tried.")
    parser.add_argument("--rankers", action="store_true", help="Also time the other rankers.")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args([] if "own_metric" in sys.argv[1:] else None)


if __name__ == "__main__":
    main()

"""Records the values of a fit after every round, to compare ways to choose the round without new fits.

A fit on the training part gives the metric of every validation query and the mean over the test queries after each
round; a fit on both parts gives the test value after a refit. Both are kept in a folder and reused.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.collection import web_search
from rankwright.metrics import NDCG

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.data.groups import Ranking
    from rankwright.rankers.ranker import Ranker

TEST_METRIC = NDCG(k=10)
TEST_QUERIES = 500  # of a generated collection
SIZES = {30: 8, 60: 6, 150: 4, 300: 3, 1000: 2, 3000: 1}  # judged queries, and how many collections of that size
FUNCTIONS: dict[str, tuple[dict[str, Any], float]] = {  # the target function and the fraction of random labels
    "linear": ({"n_features": 40, "n_active": 8, "n_terms": 8, "degree": 1}, 0.5),
    "quadratic": ({"n_features": 30, "n_active": 10, "n_terms": 20, "degree": 2}, 0.3),
    "cubic": ({}, 0.0),
}
INNER_FOLDS = 5


class Parts(NamedTuple):
    """The three parts of a collection; `place` names it, for example `OHSUMED/Fold1`."""

    place: str
    train: RankingData
    valid: RankingData
    test: RankingData


class Curves(NamedTuple):
    """Values after every round: of each validation query, of the test part, and of the test part after a refit.

    The first two arrays have one row per round; `refit` may have fewer or more rounds than the others.
    """

    valid: NDArray[np.float32]
    test: NDArray[np.float32]
    refit: NDArray[np.float32]


def generated(kinds: Sequence[str], sizes: Sequence[int]) -> Iterator[Parts]:
    """Yield generated collections: three quarters of the judged queries for training, the rest for validation."""
    for kind, size in product(kinds, sizes):
        for draw in range(SIZES[size]):
            n_valid, seed = max(2, size // 4), 3 * (draw + 1)
            if kind == "web":
                sizes_of_parts = zip((size - n_valid, n_valid, TEST_QUERIES // 5), range(3), strict=True)
                parts = [web_search(n, seed=seed + place) for n, place in sizes_of_parts]
            else:
                function, noise = FUNCTIONS[kind]
                truth = rw.synthetic.RandomPolynomial.draw(seed, **function)
                parts = [
                    truth.sample(size - n_valid, seed=seed, n_documents=20, noise=noise),
                    truth.sample(n_valid, seed=seed + 1, n_documents=20, noise=noise),
                    truth.sample(TEST_QUERIES, seed=seed + 2, n_documents=20),
                ]
            yield Parts(f"{kind}-{size}/{draw}", *parts)


def folds(folder: Path) -> Iterator[Parts]:
    """Yield the five folds of a collection as they are."""
    for path in sorted(folder.glob("Fold*")):
        yield Parts(f"{folder.name}/{path.name}", *rw.read_fold(path))


def inner_folds(folder: Path) -> Iterator[Parts]:
    """Yield five folds of the training and validation queries of Fold1 alone; its test queries are never seen."""
    train, valid, _ = rw.read_fold(folder / "Fold1")
    data = both(train, valid)
    order = np.random.default_rng(0).permutation(len(data.groups))
    fifths = np.array_split(order, INNER_FOLDS)
    for fold in range(INNER_FOLDS):
        turned = fifths[fold:] + fifths[:fold]
        kept = (np.concatenate(turned[:3]), turned[3], turned[4])
        yield Parts(f"{folder.name}-inner/{fold}", *(data.take_queries(queries) for queries in kept))


def both(first: RankingData, second: RankingData) -> RankingData:
    """Return the documents of both parts; equal query ids in the two parts remain different queries."""
    later = second.groups.query_of_row + len(first.groups)
    qid = np.concatenate([first.groups.query_of_row, later])
    return rw.RankingData(np.concatenate([first.X, second.X]), np.concatenate([first.y, second.y]), qid)


def curves(ranker: Ranker, parts: Parts, seed: int, cache: Path, name: str) -> Curves:
    """Return the curves of a ranker on a collection; fit only if the cache does not have them."""
    path = cache / parts.place / f"{name}-{seed}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        started = time.process_time()
        valid, test = _recorded(ranker, parts.train, parts.valid, parts.test, seed)
        _, refit = _recorded(ranker, both(parts.train, parts.valid), None, parts.test, seed)
        np.savez_compressed(path, valid=valid, test=test, refit=refit, seconds=time.process_time() - started)
        print(f"{parts.place} {name} {seed}: {time.process_time() - started:.1f} s", file=sys.stderr, flush=True)
    with np.load(path) as saved:
        return Curves(saved["valid"], saved["test"], saved["refit"])


class Watch:
    """Collects values of the documents it watches: validation queries first, then test queries."""

    def __init__(self, watched: RankingData, n_valid: int) -> None:
        self.y, self.n_valid = watched.y, n_valid
        self.valid: list[NDArray[np.float32]] = []
        self.test: list[float] = []

    def note(self, chosen_by: NDArray[np.float64], measured: NDArray[np.float64]) -> None:
        """Record the values of one round: of the ranker's metric, and of the metric of the test part."""
        self.valid.append(chosen_by[: self.n_valid].astype(np.float32))
        self.test.append(float(measured[self.n_valid :].mean()))


@dataclass(frozen=True)
class Recorded(NDCG):
    """NDCG that records its values for the documents of a `Watch`."""

    watch: Watch | None = field(default=None, compare=False, kw_only=True)

    def per_query(self, labels: Any, ranking: Ranking, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return one value per query, as NDCG does."""
        values = super().per_query(labels, ranking, n_jobs=n_jobs)
        if self.watch is not None and np.array_equal(labels, self.watch.y):
            self.watch.note(values, TEST_METRIC.per_query(labels, ranking, n_jobs=n_jobs))
        return values


def _recorded(
    ranker: Ranker, train: RankingData, valid: RankingData | None, test: RankingData, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit for all rounds, and return the values of the validation queries and of the test part after each."""
    watched = test if valid is None else both(valid, test)
    watch = Watch(watched, 0 if valid is None else len(valid.groups))
    metric = Recorded(k=getattr(ranker.metric, "k", None), watch=watch)
    settings = {**ranker.get_params(deep=False), "metric": metric, "patience": None, "n_jobs": 1}
    if "random_state" in settings:
        settings["random_state"] = seed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = type(ranker)(**settings).fit(train, validation=watched)
    if len(watch.test) != len(fitted.history_):
        raise AssertionError(f"{len(watch.test)} rounds were recorded, but {len(fitted.history_)} were run.")
    return np.array(watch.valid), np.array(watch.test, dtype=np.float32)

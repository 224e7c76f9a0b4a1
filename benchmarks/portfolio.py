"""The order of AutoRanker's portfolio, and ways to weight its members, from the same fits.

`python -m benchmarks.portfolio --cache FOLDER --data OHSUMED MQ2008` judges many rankers out of fold on generated
collections and on the training and validation queries of Fold1 of each folder; test queries are never seen. Then
it orders the rankers: each one adds most to the mixture of those before it, on average over collections. Last it
compares ways to weight members: out of fold, weights chosen without the judging queries, and on fresh queries of
the generated collections. Fits are kept in the folder.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.collection import web_search
from benchmarks.curves import FUNCTIONS, both
from rankwright.auto.estimate import crossed
from rankwright.auto.fitting import candidate_of
from rankwright.auto.mixing import mix
from rankwright.auto.plan import FitPlan
from rankwright.auto.portfolio import COLUMNS, PORTFOLIO, SYMMETRIC, Entry
from rankwright.base.fit_cache import FitCache
from rankwright.ensembling.mixtures import best_alone, exponential_weights, plausible_weights, uniform_weights
from rankwright.ensembling.pool import Pool
from rankwright.metrics import NDCG
from rankwright.metrics.base import mean_over_queries
from rankwright.training.training_set import TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rankwright.auto.mixing import JudgedEntry, Weigh
    from rankwright.data.dataset import RankingData

METRIC = NDCG(k=10)
TEST_QUERIES = 1000
NEARLY_EQUAL = 0.0005
CANDIDATES = (
    *PORTFOLIO,
    Entry("ListNet", rw.ListNet()),
    Entry("MPBoost", rw.MPBoost(rounds=400)),
    Entry("LambdaMART, 64 leaves", rw.LambdaMART(rounds=100, **SYMMETRIC)),
    Entry("LambdaMART, columns", rw.LambdaMART(rounds=200, query_features=COLUMNS, random_state=1)),
    Entry("LambdaMART, leafwise", rw.LambdaMART(rounds=300, pairs="all", grow_policy="leafwise")),
    Entry("MART, columns", rw.MART(rounds=300, query_features=COLUMNS)),
    Entry("CalibratedAdaBoost", rw.CalibratedAdaBoost(splits=4)),
)


class Collection(NamedTuple):
    """Judged queries, and fresh ones of the same kind if there are any."""

    name: str
    judged: RankingData
    fresh: RankingData | None


class Judged(NamedTuple):
    """The entries of a collection after their fits."""

    collection: Collection
    plan: FitPlan
    entries: list[JudgedEntry]


def main() -> None:
    """Print the order with its costs, and the comparison of weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--data", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    judged = [_judge(one, options.cache) for one in (*_generated(), *map(_letor, options.data))]
    _show_order(judged)
    _show_weights(judged)


def _generated() -> Iterator[Collection]:
    for kind, (function, noise) in FUNCTIONS.items():
        for place, n_queries in enumerate((60, 150, 400)):
            truth = rw.synthetic.RandomPolynomial.draw(place, **function)
            yield Collection(
                f"{kind}-{n_queries}",
                truth.sample(n_queries, seed=10 * place + 1, n_documents=20, noise=noise),
                truth.sample(TEST_QUERIES, seed=10 * place + 2, n_documents=20),
            )
    yield Collection("web-50", *_web(50))
    yield Collection("web-60-binary", *(_binary(one) for one in _web(60)))


def _web(n_queries: int) -> tuple[RankingData, RankingData]:
    return web_search(n_queries, seed=n_queries), web_search(TEST_QUERIES // 5, seed=n_queries + 1)


def _binary(data: RankingData) -> RankingData:
    return rw.RankingData(data.X, (data.y >= 2).astype(np.float64), data.qid)


def _letor(folder: Path) -> Collection:
    train, valid, _ = rw.read_fold(folder / "Fold1")
    return Collection(folder.name, both(train, valid), None)


def _judge(collection: Collection, cache: Path) -> Judged:
    """Fit all candidates, or read their fits; each query judges once."""
    data = TrainingSet(collection.judged)
    whole = TrainingSet(data.data.take(data.canonical_rows))
    plan = FitPlan.of(whole, 0, repeats=1)
    manifest = {"data": plan.whole.fingerprint(), "metric": str(METRIC)}
    work, pool = FitCache(cache / collection.name, manifest), Pool()
    candidates = [candidate_of(one, plan, METRIC, None, work) for one in CANDIDATES]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pool.fill(candidates, skip_failures=True)
    print(f"{collection.name}: {len(pool)} of {len(CANDIDATES)} judged", file=sys.stderr, flush=True)
    return Judged(collection, plan, pool.members)


def _show_order(judged: Sequence[Judged]) -> None:
    """Print the candidates, each after those to which it adds most; of nearly equal ones the cheapest first."""
    order: list[str] = []
    left = [one.name for one in CANDIDATES if all(one.name in _names(place) for place in judged)]
    seconds = {name: float(np.mean([_seconds(place, name) for place in judged])) for name in left}
    print("order: value of the mixture so far, mean over collections; seconds of a fit, mean over collections")
    while left:
        values = {name: float(np.mean([_value(place, [*order, name]) for place in judged])) for name in left}
        rivals = [name for name in left if values[name] >= max(values.values()) - NEARLY_EQUAL]
        best = min(rivals, key=lambda name: seconds[name])
        order.append(best)
        left.remove(best)
        print(f"  {best:<32}{values[best]:.4f}  {seconds[best]:6.2f} s", flush=True)


def _names(place: Judged) -> set[str]:
    return {one.name for one in place.entries}


def _seconds(place: Judged, name: str) -> float:
    """Return the seconds of one fit."""
    seconds = next(one.seconds for one in place.entries if one.name == name)
    return seconds / (len(place.plan.parts) + 1)


def _value(place: Judged, names: Sequence[str]) -> float:
    """Return the out-of-fold value of the mixture of these entries, chosen without the judging queries."""
    entries = [one for one in place.entries if one.name in names]
    return _crossed(place, entries, plausible_weights)


def _crossed(place: Judged, entries: Sequence[JudgedEntry], weights: Weigh) -> float:
    held_out = place.plan.held_out

    def values(choosing: NDArray[np.bool_]) -> NDArray[np.float64]:
        chosen = mix(entries, weights, choosing)
        return held_out.values(METRIC, chosen.scores, 2)

    return mean_over_queries(held_out.by_query(crossed(held_out, values)))


WEIGHTS: dict[str, Weigh] = {
    "best alone": best_alone,
    "uniform": lambda values: uniform_weights(len(values)),
    **{
        f"exponential, c = {c}": partial(lambda values, c: exponential_weights(values.mean(axis=1), c), c=c)
        for c in (20, 50, 100)
    },
    "plausible": plausible_weights,
}


def _show_weights(judged: Sequence[Judged]) -> None:
    """Print the value of each way to weight all members: out of fold, and on fresh queries."""
    generated = [place for place in judged if place.collection.fresh is not None]
    print(f"{'weights':<24}{'out of fold':>12}{'fresh queries':>15}{'worst against the best alone':>30}")
    base = [_fresh(place, WEIGHTS["best alone"]) for place in generated]
    for name, weights in WEIGHTS.items():
        inside = np.mean([_crossed(place, place.entries, weights) for place in judged])
        fresh = np.array([_fresh(place, weights) for place in generated])
        print(f"{name:<24}{inside:12.4f}{fresh.mean():15.4f}{(fresh - base).min():30.4f}")


def _fresh(place: Judged, weights: Weigh) -> float:
    """Return the value on fresh queries of the mixture that all judgements choose."""
    fresh = place.collection.fresh
    assert fresh is not None
    chosen = mix(place.entries, weights)
    return METRIC(fresh.y, chosen.scorer().predict(fresh), fresh.qid)


if __name__ == "__main__":
    main()

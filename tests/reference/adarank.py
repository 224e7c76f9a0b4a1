"""AdaRank, slowly: figure 1 of Xu & Li (2007) with every measure by brute force over the orders of ties."""

from __future__ import annotations

from itertools import permutations, product
from math import exp, inf, isnan, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.metrics import Metric

CLOSE = 1e-9  # what differs by less may differ by rounding alone


class WeakRanker(NamedTuple):
    """One feature, as it is or reversed."""

    feature: int
    direction: int


class Query(NamedTuple):
    """One query's documents; missing values are filled in."""

    X: NDArray[np.float64]
    labels: NDArray[np.float64]


def queries_of(X: NDArray[np.float32], y: Sequence[float], qid: Sequence[object]) -> list[Query]:
    """The queries by first appearance, a missing value as the lowest of its column."""
    filled = np.array(X, dtype=np.float64)
    for column in filled.T:
        known = [value for value in column if not isnan(value)]
        column[np.isnan(column)] = min(known, default=0.0)
    rows_of = {query: [row for row, one in enumerate(qid) if one == query] for query in dict.fromkeys(qid)}
    return [Query(filled[rows], np.asarray(y, dtype=np.float64)[rows]) for rows in rows_of.values()]


def measure(metric: Metric, scores: NDArray[np.float64], labels: NDArray[np.float64]) -> float:
    """E: the mean of the metric over every order in which no score comes before a higher one."""
    runs = [[label for s, label in zip(scores, labels, strict=True) if s == value] for value in sorted({*scores})]
    orders = product(*(permutations(run) for run in reversed(runs)))
    value = float(np.mean([metric.of_ranking(np.array([x for run in order for x in run])) for order in orders]))
    return metric.empty if isnan(value) and metric.empty is not None else value


def counts(metric: Metric, labels: NDArray[np.float64]) -> bool:
    """Whether any ranking of these labels is better than another."""
    values = {round(metric.of_ranking(np.array(order)), 9) for order in permutations(labels)}
    return len(values) > 1 and not any(map(isnan, values))


def outputs(weak: WeakRanker, query: Query) -> NDArray[np.float64]:
    """h(x) = x_k, or its negative."""
    return weak.direction * query.X[:, weak.feature]


def qualities(metric: Metric, weak: WeakRanker, queries: list[Query]) -> list[float]:
    """E of a weak ranker on every query."""
    return [measure(metric, outputs(weak, query), query.labels) for query in queries]


def weighted_measure(P: Sequence[float], E: Sequence[float]) -> float:
    """The sum of P(i) E(i)."""
    return sum(p * e for p, e in zip(P, E, strict=True))


def step(P: Sequence[float], E: Sequence[float]) -> float:
    """alpha_t of figure 1."""
    right = sum(p * (1 + e) for p, e in zip(P, E, strict=True))
    wrong = sum(p * (1 - e) for p, e in zip(P, E, strict=True))
    return 0.5 * log(max(right, 1e-12) / max(wrong, 1e-12))


def loss_with(
    metric: Metric, f: list[NDArray[np.float64]], alpha: float, weak: WeakRanker, queries: list[Query]
) -> float:
    """L(h, alpha) of equation 8."""
    return sum(
        exp(-measure(metric, scores + alpha * outputs(weak, query), query.labels))
        for scores, query in zip(f, queries, strict=True)
    )


def weak_rankers(n_features: int, directions: str) -> list[WeakRanker]:
    """Every weak ranker that may be chosen."""
    ways = (1, -1) if directions == "both" else (1,)
    return [WeakRanker(feature, way) for feature in range(n_features) for way in ways]


def worth_of(
    choose: str, metric: Metric, P: Sequence[float], f: list[NDArray[np.float64]], weak: WeakRanker, queries: list
) -> float:
    """What the choice of a weak ranker maximises."""
    E = qualities(metric, weak, queries)
    if choose == "measure":  # section 3.6
        return weighted_measure(P, E)
    alpha = step(P, E)
    return -loss_with(metric, f, alpha, weak, queries) if alpha > 0 else -inf


def adarank(
    X: NDArray[np.float32],
    y: Sequence[float],
    qid: Sequence[object],
    metric: Metric,
    *,
    rounds: int,
    choose: str,
    directions: str,
    all_queries: bool = False,
    between_equals: Sequence[WeakRanker] = (),
) -> list[tuple[WeakRanker, float]]:
    """The weak rankers h_t with their alpha_t.

    Where several are equally good but for rounding, `between_equals` says which one to take in each round, and
    whether to go on with one that changes nothing; the first of them otherwise.
    """
    queries = [
        query
        for query in queries_of(X, y, qid)
        if counts(metric, query.labels)
        or (all_queries and not isnan(measure(metric, query.X[:, 0], query.labels)))
    ]
    f = [np.zeros(len(query.labels)) for query in queries]
    P = [1 / len(queries)] * len(queries)
    loss = inf
    chosen: list[tuple[WeakRanker, float]] = []
    for t in range(rounds):
        # Create weak ranker h_t with weighted distribution P_t.
        worth = {
            weak: worth_of(choose, metric, P, f, weak, queries) for weak in weak_rankers(X.shape[1], directions)
        }
        best = [weak for weak in worth if worth[weak] >= max(worth.values()) - CLOSE]
        preferred = between_equals[t] if t < len(between_equals) else None
        steps = {weak: step(P, qualities(metric, weak, queries)) for weak in best}
        afters = {weak: loss_with(metric, f, steps[weak], weak, queries) for weak in best}
        # Where the other has stopped, it may have looked at any of the best.
        worst = max(best, key=lambda weak: afters[weak])
        h = preferred if preferred in best else worst if between_equals else best[0]
        # Choose alpha_t; stop where it is not positive or the loss no longer falls.
        alpha, after = steps[h], afters[h]
        falls = after < loss - CLOSE or (after < loss + CLOSE and preferred is not None)
        if alpha <= 0 or not falls:
            break
        # Create f_t.
        f = [scores + alpha * outputs(h, query) for scores, query in zip(f, queries, strict=True)]
        chosen.append((h, alpha))
        # Update P_t+1.
        losses = [exp(-measure(metric, scores, query.labels)) for scores, query in zip(f, queries, strict=True)]
        loss = sum(losses)
        P = [one / loss for one in losses]
    return chosen


def scores_of(chosen: list[tuple[WeakRanker, float]], filled: NDArray[np.float64]) -> NDArray[np.float64]:
    """f(x) = sum over t of alpha_t h_t(x)."""
    scores = np.zeros(len(filled))
    for weak, alpha in chosen:
        scores += alpha * weak.direction * filled[:, weak.feature]
    return scores

"""Surrogate losses that bound the loss of a measure from above (Xu et al. 2010, section 4).

They are computed exactly, for linear models and few documents. F of a permutation is the sum of its documents'
scores, each times a factor that falls with the rank among documents of its kind (those of the same label). Among
all permutations with the same labels at the same ranks, F is therefore highest where each kind is sorted by score,
and lowest where each is reversed. So a maximum over permutations is a maximum over arrangements of the kinds, of
which there are far fewer.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from math import factorial, prod
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics.catalogue import as_metric
from rankwright.metrics.relevance import AP

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.base import Metric
    from rankwright.metrics.catalogue import MetricLike

    Kinds = Integers  # of documents: 0 for the lowest label, 1 for the next

MAX_ARRANGEMENTS = 500_000  # of a query, for a maximum
MAX_DOCUMENTS = 7  # of a query, for a sum over pairs of permutations
CLOSE = 1e-9  # values that differ by less are equal


@np.errstate(over="ignore")
def _exponential(x: Doubles) -> Doubles:
    """Return e^x; where that overflows, infinity is still an upper bound."""
    return np.exp(x)


# phi(x), where -x is the measure or the margin F(perfect) - F(imperfect).
SURROGATES: dict[str, Callable[[Doubles], Doubles]] = {
    "zero-one": lambda x: (x >= -CLOSE).astype(np.float64),
    "exponential": _exponential,
    "logistic": lambda x: np.logaddexp(0.0, x) / np.log(2.0),
    "hinge": lambda x: np.maximum(0.0, 1.0 + x),
}


def _factors_of_all_pairs(kinds: Kinds) -> Doubles:
    n = kinds.shape[1]
    return np.broadcast_to((n - 1 - 2 * np.arange(n)) / (n * (n - 1)), kinds.shape)


def _factors_of_mixed_pairs(kinds: Kinds) -> Doubles:
    """Return how many documents of other kinds come after less those before, divided by the number of pairs."""
    n = kinds.shape[1]
    after_less_before, n_alike = np.tile(n - 1 - 2 * np.arange(n), (len(kinds), 1)), 0
    for kind in np.unique(kinds):
        own = kinds == kind
        total, so_far = int(own[0].sum()), np.cumsum(own, axis=1)
        after_less_before -= np.where(own, total - 2 * so_far + 1, 0)  # those of the same kind
        n_alike += total**2
    return np.asarray(after_less_before / ((n**2 - n_alike) // 2))


# The factor of each rank of an arrangement of kinds, by the pairs of documents whose differences Phi sums.
FACTORS = {"all": _factors_of_all_pairs, "mixed": _factors_of_mixed_pairs}


class SurrogateBounds:
    """The losses of linear models on judged documents, each summed over queries.

    Queries whose documents all have the same label are left out.

    Parameters
    ----------
    data
        A few documents per query. Of two labels the higher one is relevant and counts as 1, the other as 0; three
        or more count as they are. No value may be missing.
    metric
        The measure E, in [0, 1].
    pairs
        Pairs of documents whose differences Phi sums: `"all"` (equation 2), or only `"mixed"` pairs of different
        labels (with two labels, Yue et al. 2007).

    Examples
    --------
    >>> bounds = rw.bounds.SurrogateBounds(rw.bounds.simulate(1, mixed=True, n_relevant=3, n_irrelevant=5))
    >>> bounds.basic([1, 1]) <= bounds.type_two([1, 1])
    True
    """

    def __init__(self, data: RankingData, metric: MetricLike = AP(), *, pairs: str = "all") -> None:  # noqa: B008
        if pairs not in FACTORS:
            raise InputError(f"pairs must be one of {', '.join(map(repr, FACTORS))}, not {pairs!r}.")
        measured = as_metric(metric)
        if np.isnan(data.X).any():
            raise InputError("SurrogateBounds takes documents without missing values.")
        levels, kinds = np.unique(data.y, return_inverse=True)
        labels = np.array([0.0, 1.0]) if len(levels) == 2 else levels
        mixed = [rows for rows in data.groups if np.ptp(data.y[rows]) > 0]
        if not mixed:
            raise InputError("There is nothing to bound: no query has documents of different labels.")
        self._n_features = data.n_features
        self._queries = [
            _Query(data.X[rows].astype(np.float64), kinds[rows], labels, measured, FACTORS[pairs])
            for rows in mixed
        ]

    def basic(self, w: ArrayLike) -> float:
        """Return the loss of the measure by rankings with w (equation 5)."""
        weights = self._checked(w)
        return float(sum(query.best - query.value(weights) for query in self._queries))

    def type_one(self, w: ArrayLike, surrogate: str = "exponential") -> float:
        """Return the sum of phi(-E) (section 4.1)."""
        weights, phi = self._checked(w), _surrogate(surrogate)
        return float(sum(phi(np.array(-query.value(weights))) for query in self._queries))

    def type_two(self, w: ArrayLike, surrogate: str = "exponential", over: str = "max") -> float:
        """Return the maximum, or the sum, over pairs of a perfect and an imperfect permutation (section 4.2).

        A pair's term is (measure lost by the imperfect one) x phi(-(F(perfect) - F(imperfect))). With `"zero-one"`
        it is the loss of equation 6, with `"hinge"` and `over="sum"` that of equation 7. The sum takes queries of
        up to 7 documents.
        """
        weights, phi = self._checked(w), _surrogate(surrogate)
        if over == "max":
            return float(sum((phi(pairs.short) * pairs.lost).max() for pairs in self._worst_pairs(weights)))
        if over != "sum":
            raise InputError(f"over must be 'max' or 'sum', not {over!r}.")
        return float(sum(query.sum_over_pairs(weights, phi) for query in self._queries))

    def margin_hinge(self, w: ArrayLike) -> float:
        """Return the second hinge loss of section 4.2, which SVMmap minimises: the margin is the measure lost."""
        pairs = self._worst_pairs(self._checked(w))
        return float(sum(max(0.0, (pair.lost + pair.short).max()) for pair in pairs))

    def close_to_optimal(self, w: ArrayLike) -> bool:
        """Return whether condition 9 holds, under which type two bounds are tighter (theorem 3)."""
        weights = self._checked(w)
        pairs = self._worst_pairs(weights)
        return all(
            -pair.short.max() >= query.value(weights) for query, pair in zip(self._queries, pairs, strict=True)
        )

    def _worst_pairs(self, weights: Doubles) -> list[_Pairs]:
        return [query.worst_pairs(weights) for query in self._queries]

    def _checked(self, w: ArrayLike) -> Doubles:
        try:
            weights = np.asarray(w, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"w must be {self._n_features} finite numbers.") from None
        if weights.shape != (self._n_features,) or not np.isfinite(weights).all():
            raise InputError(f"w must be {self._n_features} finite numbers.")
        return weights


@dataclass(frozen=True, eq=False)
class _Pairs:
    """For each imperfect arrangement: the measure lost, and its highest F minus the lowest F of a perfect one."""

    lost: Doubles
    short: Doubles


class _Query:
    """One query's documents, and all arrangements of their kinds; `labels` are those of the kinds."""

    def __init__(
        self, X: Doubles, kinds: Kinds, labels: Doubles, metric: Metric, factors: Callable[[Kinds], Doubles]
    ) -> None:
        self._X, self._kinds, self._labels, self._metric, self._factors = X, kinds, labels, metric, factors
        arranged = _arrangements(kinds)
        self._values = _in_unit_range(_values(metric, labels[arranged]), metric)
        self.best = float(self._values.max())
        self._perfect = self._values >= self.best - CLOSE
        if self._perfect.all():
            raise InputError(f"There is nothing to bound: all rankings of a query have the same {metric}.")
        by_rank = factors(arranged)
        self._by_kind = {
            kind: by_rank[arranged == kind].reshape(len(arranged), -1) for kind in np.unique(kinds)[::-1]
        }

    def value(self, weights: Doubles) -> float:
        """Return E of the ranking by w."""
        ranking = Ranking.of(self._X @ weights, QueryGroups.of_one(len(self._X)), n_jobs=1)
        return float(self._metric.of_ranking(self._labels[self._kinds[ranking.order]]))

    def worst_pairs(self, weights: Doubles) -> _Pairs:
        scores = self._X @ weights
        least, most = np.zeros(len(self._values)), np.zeros(len(self._values))
        for kind, factors in self._by_kind.items():
            ascending = np.sort(scores[self._kinds == kind])
            least += factors @ ascending
            most += factors @ ascending[::-1]
        return _Pairs(self.best - self._values[~self._perfect], most[~self._perfect] - least[self._perfect].min())

    def sum_over_pairs(self, weights: Doubles, phi: Callable[[Doubles], Doubles]) -> float:
        n = len(self._kinds)
        if n > MAX_DOCUMENTS:
            raise InputError(f"A sum over permutations takes queries of up to {MAX_DOCUMENTS} documents, not {n}.")
        orders = np.array(list(permutations(range(n))))
        kinds = self._kinds[orders]
        values = _values(self._metric, self._labels[kinds])
        F = ((self._X @ weights)[orders] * self._factors(kinds)).sum(axis=1)
        perfect = values >= self.best - CLOSE
        short = np.subtract.outer(F[~perfect], F[perfect])
        return float((self.best - values[~perfect]) @ phi(short).sum(axis=1))


def _arrangements(kinds: Kinds) -> Kinds:
    """Return every different order of the kinds, one row each."""
    n, (names, counts) = len(kinds), np.unique(kinds, return_counts=True)
    if factorial(n) // prod(map(factorial, counts.tolist())) > MAX_ARRANGEMENTS:
        raise InputError(f"{n} documents with these labels have too many arrangements; take fewer documents.")
    arranged, free = np.full((1, n), names[0]), np.arange(n)[None]
    for kind, count in zip(names[:0:-1], counts[:0:-1], strict=True):
        chosen = np.array(list(combinations(range(free.shape[1]), count)))
        arranged = np.repeat(arranged, len(chosen), axis=0)
        np.put_along_axis(arranged, free[:, chosen].reshape(len(arranged), count), kind, axis=1)
        left = np.array([np.delete(np.arange(free.shape[1]), taken) for taken in chosen])
        free = free[:, left].reshape(len(arranged), -1)
    return arranged


def _values(metric: Metric, labels: Doubles) -> Doubles:
    """Return the metric of each row of labels, best first."""
    groups = QueryGroups.of_sizes(np.full(len(labels), labels.shape[1]))
    in_order = np.tile(-np.arange(labels.shape[1], dtype=np.float64), len(labels))
    return metric.per_query(labels.ravel(), Ranking.of(in_order, groups))


def _in_unit_range(values: Doubles, metric: Metric) -> Doubles:
    lowest, highest = values.min(), values.max()
    if not (lowest >= -CLOSE and highest <= 1.0 + CLOSE):  # NaN is outside, too
        raise InputError(
            f"SurrogateBounds needs a metric between 0 and 1; {metric} is {lowest:g} to {highest:g} here."
        )
    return values


def _surrogate(surrogate: str) -> Callable[[Doubles], Doubles]:
    if surrogate not in SURROGATES:
        raise InputError(f"surrogate must be one of {', '.join(map(repr, SURROGATES))}, not {surrogate!r}.")
    return SURROGATES[surrogate]


def simulate(seed: int, *, mixed: bool = False, n_relevant: int = 7, n_irrelevant: int = 14) -> RankingData:
    """Draw the synthetic data of section 4.3: relevant documents around (1, 1), irrelevant ones around (-1, -1).

    The variance is .2 along both axes (figure 3), or 1.3 along the second where kinds are `mixed` (figure 4).

    Examples
    --------
    >>> rw.bounds.simulate(1)
    RankingData(21 documents, 1 query, 2 features)
    """
    random = np.random.default_rng(seed)
    centres = np.repeat([1.0, -1.0], [n_relevant, n_irrelevant])
    spread = np.sqrt([0.2, 1.3 if mixed else 0.2])
    X = centres[:, None] + spread * random.normal(size=(len(centres), 2))
    return RankingData(X, centres > 0, np.zeros(len(centres), dtype=np.int64))

"""PermuRank (Xu, Liu, Lu, Li & Ma, SIGIR 2008; Xu et al. 2010): perfect rankings should beat imperfect ones."""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.data import QueryGroups, Ranking
from rankwright.errors import InputError
from rankwright.margins import MarginPairs, cutting_planes, newton_steps
from rankwright.metrics import NDCG, Metric
from rankwright.rankers.checks import Flag, require_metric_range
from rankwright.rankers.families import MarginLossParameters, StoppingParameters
from rankwright.rankers.margin import MarginRanker, ScaledQueries
from rankwright.rankers.parameters import parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.models import Scorer
    from rankwright.training import FitTask, History

    Ranks = NDArray[np.int64]

CLOSE = 1e-9  # metric values that differ by less are equal
TOLERANCE = 1e-3  # to which each round's problem is solved
STEPS = 500  # that this may take at most


class Permutations:
    """The permutations of every query's documents, as a rank for each document, and those a paper asks for.

    A permutation is perfect if the metric has its query's best value there. F of a permutation is the sum of its
    documents' scores, each times (n + 1 - 2 rank) / (n (n - 1)).
    """

    def __init__(self, labels: Doubles, groups: QueryGroups, metric: Metric, n_threads: int) -> None:
        self.labels, self.groups = labels, groups
        self._metric, self._n_threads = metric, n_threads
        self.best = self.values(self.ideal)
        self._kinds = np.empty(len(labels))
        self._blocks = np.empty(len(labels))
        for rows in groups:
            self._kinds[rows] = self._kinds_of(labels[rows])
            self._blocks[rows] = self._loose_blocks(labels[rows], self._kinds[rows])

    @property
    def ideal(self) -> Ranks:
        """The highest label first."""
        return self._sorted(self.labels)

    @property
    def worst(self) -> Ranks:
        """The lowest label first: an imperfect permutation of every query that teaches something."""
        return self._sorted(-self.labels)

    def values(self, ranks: Ranks) -> Doubles:
        """Return the metric E of every query."""
        return self._metric.per_query(self.labels, self._ranking(-ranks), n_threads=self._n_threads)

    def features(self, ranks: Ranks, X: Doubles) -> Doubles:
        """Return Phi, a row a query (equation 2, each document's differences taken together)."""
        n = self.groups.sizes[self.groups.query_of_row]
        factors = (n + 1 - 2 * ranks) / (n * (n - 1))
        return np.asarray(np.add.reduceat(factors[:, None] * X, self.groups.offsets[:-1]))

    def most_violated_perfect(self, scores: Doubles) -> Ranks:
        """Return the perfect permutation of least F: the worst order that the metric does not mind.

        Documents of a kind fill the ranks of their kind from the lowest score up; blocks of ranks whose documents
        may trade places without loss are then ordered likewise.
        """
        within_kinds = self._sorted(self._kinds, tie_break=scores)
        block = self._blocks[self.groups.offsets[:-1][self.groups.query_of_row] + within_kinds - 1]
        ranks = self._sorted(-block, tie_break=scores)
        flawed = (self.values(ranks) < self.best - CLOSE)[
            self.groups.query_of_row
        ]  # by a metric of one's own, say
        return np.where(flawed, self._sorted(self.labels, tie_break=scores), ranks)

    def most_violated_imperfect(self, scores: Doubles) -> Ranks:
        """Return the imperfect permutation of most F: the best sort, or what is closest where that is perfect."""
        ranks = self._sorted(scores)
        for query in np.flatnonzero(self.values(ranks) >= self.best - CLOSE):
            rows = self.groups.rows[self.groups.offsets[query] : self.groups.offsets[query + 1]]
            order = rows[np.argsort(ranks[rows])]
            ranks[self._spoiled(order, scores, self.best[query])] = np.arange(1, len(order) + 1)
        return ranks

    def _spoiled(self, order: Ranks, scores: Doubles, best: float) -> Ranks:
        """Return the order with one document moved, so that F falls least and the metric falls at all."""
        labels, n = self.labels[order], len(order)
        above = np.concatenate([[0.0], np.cumsum(scores[order])])
        start, end = (place.ravel() for place in np.indices((n, n)))
        # The sum of the differences in score to the documents that it passes, on its way down or up.
        falls = (end - start) * scores[order[start]] - (above[end + 1] - above[start + 1])
        rises = (above[start] - above[end]) - (start - end) * scores[order[start]]
        for move in np.argsort(np.where(start < end, falls, rises), kind="stable"):
            changed = _moved(labels, start[move], end[move])
            if (changed != labels).any() and self._metric.of_ranking(changed) < best - CLOSE:
                return _moved(order, start[move], end[move])
        return order[::-1]

    def _kinds_of(self, labels: Doubles) -> Doubles:
        """Return a number for each label, higher for better, alike for labels that the metric takes for one."""
        levels, level_of_row = np.unique(labels, return_inverse=True)
        new = [not self._are_alike(labels, low, high) for low, high in pairwise(levels)]
        return np.cumsum([0, *new])[level_of_row].astype(np.float64)

    def _are_alike(self, labels: Doubles, low: float, high: float) -> bool:
        """Return whether two labels may change places: all of them in the best order, one at the front of any."""
        best, worst = np.sort(labels)[::-1], np.sort(labels)
        exchanged = labels[np.argsort(-np.where(labels == high, low, np.where(labels == low, high, labels)))]
        alike = [(best, exchanged)] + [tuple(_led_by(one, rest) for one in (low, high)) for rest in (best, worst)]
        return all(abs(np.diff([self._metric.of_ranking(one) for one in two])[0]) <= CLOSE for two in alike)

    def _loose_blocks(self, labels: Doubles, kinds: Doubles) -> Doubles:
        """Return the block of each rank of the ideal order; documents of a block may stand there in any order.

        Where two kinds meet, how far up and down may documents trade places without loss?
        """
        ideal = np.sort(labels)[::-1]
        meetings = np.flatnonzero(np.diff(np.sort(kinds)[::-1])) + 1
        borders = [0, *meetings.tolist(), len(ideal)]
        joined = np.zeros(len(ideal), dtype=bool)  # with the rank before
        for begin, border, end in zip(borders, borders[1:], borders[2:], strict=False):
            first = _first(begin, border, lambda rank: self._may_trade(ideal, rank, border))  # noqa: B023
            last = _first(border, end, lambda rank: not self._may_trade(ideal, border - 1, rank))  # noqa: B023
            joined[first + 1 : last] = True
        return np.cumsum(~joined).astype(np.float64)

    def _may_trade(self, ideal: Doubles, upper: int, lower: int) -> bool:
        traded = ideal.copy()
        traded[[upper, lower]] = traded[[lower, upper]]
        return self._metric.of_ranking(traded) >= self._metric.of_ranking(ideal) - CLOSE

    def _sorted(self, keys: Doubles, tie_break: Doubles | None = None) -> Ranks:
        return self._ranking(keys, tie_break).ranks()

    def _ranking(self, keys: Any, tie_break: Doubles | None = None) -> Ranking:
        return Ranking.of(keys, self.groups, tie_break=tie_break, n_threads=self._n_threads)


def _moved(items: NDArray[Any], start: int, end: int) -> NDArray[Any]:
    """Return the items with the one at a place moved to another."""
    return np.insert(np.delete(items, start), end, items[start])


def _led_by(label: float, labels: Doubles) -> Doubles:
    """Return the labels with one of this kind moved to the front."""
    return _moved(labels, int(np.argmax(labels == label)), 0)


def _first(begin: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the first place from which on it holds, or the end."""
    return bisect_left(range(begin, end), True, key=holds) + begin


class WorkingSets:
    """B and C of the paper: the most violated perfect and imperfect permutations of every query so far."""

    def __init__(self, permutations: Permutations, X: Doubles) -> None:
        self._permutations, self._X = permutations, X
        self._seen: set[tuple[int, bytes]] = set()
        n_features = X.shape[1]
        self._features = np.zeros((0, n_features))  # a row a permutation, as everything here
        self._query, self._perfect, self._lost = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), np.zeros(0)

    def add(self, perfect: Ranks, imperfect: Ranks) -> bool:
        """Add permutations of all queries; return whether any of them is new."""
        size = len(self._query)
        self._add(perfect, perfect=True)
        self._add(imperfect, perfect=False)
        return len(self._query) > size

    def _add(self, ranks: Ranks, *, perfect: bool) -> None:
        new = np.array(
            [query for query, rows in enumerate(self._permutations.groups) if self._is_new(query, ranks[rows])],
            dtype=np.int64,
        )
        lost = self._permutations.best - self._permutations.values(ranks)
        self._features = np.vstack([self._features, self._permutations.features(ranks, self._X)[new]])
        self._query = np.append(self._query, new)
        self._perfect = np.append(self._perfect, np.full(len(new), perfect))
        self._lost = np.append(self._lost, lost[new])

    def _is_new(self, query: int, ranks: Ranks) -> bool:
        size = len(self._seen)
        self._seen.add((query, ranks.tobytes()))
        return len(self._seen) > size

    def pairs(self, n_threads: int) -> MarginPairs:
        """Return l of the paper, divided by the number of queries.

        Every perfect permutation should beat every imperfect one of its query by 1; a pair counts what the latter
        loses of the metric, over the number of the former.
        """
        n_perfect = np.bincount(self._query[self._perfect])
        weights = np.where(self._perfect, 1.0 / n_perfect[self._query], self._lost)
        shares = np.full(len(weights), 1.0 / len(n_perfect))
        groups = QueryGroups.of(self._query)
        return MarginPairs(self._features, self._perfect.astype(np.float64), groups, weights, shares, n_threads)


class PermuRank(StoppingParameters, MarginLossParameters, MarginRanker):
    """A linear model that scores perfect rankings of a query above imperfect ones, by how much metric those lose.

    Each round adds the most violated perfect and imperfect permutations to working sets, and separates the sets by
    a margin.
    """

    name: ClassVar[str] = "permurank"

    metric: Metric = parameter(
        meaning="Metric E to maximise, with values in [0, 1].", default=NDCG(), kw_only=False
    )
    rounds: int = parameter(
        meaning="Maximum number of rounds; training stops early if no permutation is new. With validation data "
        "the best round is kept.",
        default=30,
    )
    C: float = parameter(default=1.0, tune=(0.3, 1.0, 3.0, 10.0))
    average: bool = parameter(
        Flag(),
        "Whether the model is the mean of the normalised weights of all rounds, or those of the last round, which "
        "oscillate.",
        default=True,
    )
    scaling: str = parameter(default="query-zscore")

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if task.weights is not None:
            raise InputError("PermuRank takes no weights: every query counts alike.")
        queries = ScaledQueries.of(task.train, self.scaling, informative=self._is_informative)
        if not len(queries):
            raise InputError(
                f"There is nothing to learn: every ranking of every query has the same {self.metric}."
            )
        permutations = Permutations(*queries.judged, self.metric, task.n_threads)
        worst = permutations.values(permutations.worst)
        require_metric_range("PermuRank", self.metric, worst, permutations.best, least=0.0)
        sets = WorkingSets(permutations, queries.X)
        sets.add(permutations.ideal, permutations.worst)
        monitor = self._watch(queries, task, patience=self.patience)
        models: list[Doubles] = []
        with monitor:  # Ctrl-C ends the rounds, not the fit
            weights = total = np.zeros(queries.X.shape[1])
            for _ in range(self.rounds):
                weights = self._separate(sets.pairs(task.n_threads), weights)
                if not weights.any():
                    break
                total = total + weights / np.linalg.norm(weights)
                models.append(total if self.average else weights)
                if monitor.observe_model(queries.scorer_of_columns(models[-1]), queries.X @ models[-1]):
                    break
                scores = queries.X @ weights
                if not sets.add(
                    permutations.most_violated_perfect(scores), permutations.most_violated_imperfect(scores)
                ):
                    break
        if not models:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        return queries.scorer(models[monitor.best_round - 1]), monitor.history

    def _separate(self, pairs: MarginPairs, start: Doubles) -> Doubles:
        """Return the w that minimises half |w|^2 + C times the loss, from where the round before ended."""
        if self.loss == "hinge":
            solutions = cutting_planes(pairs.hinge, start, self.C)
        else:
            solutions = newton_steps(pairs.squared_hinge, start, self.C)
        for found in islice(solutions, STEPS):
            if found.gap <= TOLERANCE:
                break
        return found.weights

    def _is_informative(self, labels: Doubles) -> bool:
        ordered = np.sort(labels)
        return bool(self.metric.of_ranking(ordered[::-1]) > self.metric.of_ranking(ordered) + CLOSE)

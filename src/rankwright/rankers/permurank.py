"""PermuRank (Xu, Liu, Lu, Li & Ma, SIGIR 2008; Xu et al. 2010): perfect rankings should beat imperfect ones."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import one_thread_for_libraries
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics.gain import NDCG
from rankwright.metrics.relevance import AP
from rankwright.rankers.catalogue import read_ranker
from rankwright.rankers.parameters.checks import Flag, Value
from rankwright.rankers.parameters.declaration import (
    MarginLossParameters,
    MetricParameter,
    Spelled,
    StoppingParameters,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.ranker import Ranker, require_metric_range
from rankwright.rankers.shared.permutations import CLOSE, Permutations
from rankwright.rankers.shared.scaled_rankers import MarginRanker, ScaledQueries
from rankwright.training.margins import MarginPairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.shared.permutations import Ranks
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.training_set import QueryLabels

TOLERANCE = 1e-3  # gap of each round's problem
STEPS = 500  # of a solver, at most, in each round


class WorkingSets:
    """B and C of the paper: the most violated perfect and imperfect permutations of every query so far."""

    def __init__(self, permutations: Permutations, X: Doubles) -> None:
        self._permutations = permutations
        self._columns = np.ascontiguousarray(X.T)  # sums over the documents of queries read column after column
        self._seen: list[set[bytes]] = [set() for _ in permutations.groups]
        # One row of features per permutation, and room for more.
        self._rows = np.empty((0, X.shape[1]))
        # One number per permutation.
        self._query, self._perfect, self._lost = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool), np.zeros(0)

    def add(self, perfect: Ranks, imperfect: Ranks) -> bool:
        """Add permutations of all queries; return whether any of them is new."""
        size = len(self._query)
        self._add(perfect, perfect=True)
        self._add(imperfect, perfect=False)
        return len(self._query) > size

    def _add(self, ranks: Ranks, *, perfect: bool) -> None:
        new = []
        for query, (seen, own) in enumerate(zip(self._seen, self._own(ranks), strict=True)):
            if own not in seen:
                seen.add(own)
                new.append(query)
        if not new:
            return
        before = len(self._query)
        self._query = np.append(self._query, new)
        self._perfect = np.append(self._perfect, np.full(len(new), perfect))
        # Perfect ones lose nothing.
        lost = np.zeros(len(new)) if perfect else (self._permutations.best - self._permutations.values(ranks))[new]
        self._lost = np.append(self._lost, lost)
        if len(self._query) > len(self._rows):  # room for as many again, so that rows are seldom copied
            grown = np.empty((2 * len(self._query), self._rows.shape[1]))
            grown[:before] = self._rows[:before]
            self._rows = grown
        self._rows[before : len(self._query)] = self._permutations.features(ranks, self._columns)[new]

    def _own(self, ranks: Ranks) -> Iterator[bytes]:
        """Yield the ranks of every query's documents, which are adjacent."""
        ranks_of_all, ends = ranks.tobytes(), self._permutations.groups.offsets * ranks.itemsize
        return (ranks_of_all[begin:end] for begin, end in pairwise(ends.tolist()))

    @property
    def sizes(self) -> dict[str, float]:
        """The mean number of perfect and of imperfect permutations per query."""
        n_queries, n_perfect = len(self._permutations.groups), int(self._perfect.sum())
        return {"perfect": n_perfect / n_queries, "imperfect": (len(self._perfect) - n_perfect) / n_queries}

    def pairs(self, n_threads: int) -> MarginPairs:
        """Return the loss L of section 5.2, divided by the number of queries.

        Every perfect permutation should beat every imperfect one of its query by 1. The weight of a pair is what
        the imperfect permutation loses of the metric, divided by the number of the query's perfect ones.
        """
        n_perfect = np.bincount(self._query[self._perfect])
        weights = np.where(self._perfect, 1.0 / n_perfect[self._query], self._lost)
        factors = np.full(len(weights), 1.0 / len(n_perfect))
        groups = QueryGroups.of(self._query)
        features = self._rows[: len(self._query)]
        return MarginPairs(features, self._perfect.astype(np.float64), groups, weights, factors, n_threads)


class PermuRank(StoppingParameters, MarginLossParameters, MarginRanker):
    """A linear model that scores perfect rankings of a query above imperfect ones, by how much metric those lose.

    Each round adds the most violated perfect and imperfect permutations to working sets, and separates the sets by
    a margin.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(20)
    >>> ranker = rw.PermuRank("map", rounds=3).fit(judged)
    >>> round(ranker.score(judged), 2)
    1.0
    >>> ranker.history_[0].diagnostics  # permutations per query in the first round
    {'perfect': 1.0, 'imperfect': 1.0}
    """

    name: ClassVar[str] = "permurank"
    printed: ClassVar[Mapping[str, Any]] = {
        # Figure 7 with equation 7, on features as they are.
        "loss": "hinge",
        "average": False,
        "scaling": "none",
        "rounds": 100,
        "metric": AP(),  # section 6
    }

    metric: MetricParameter = parameter(
        meaning="Metric E to maximise, with values in [0, 1].", default=NDCG(), kw_only=False
    )
    rounds: int = parameter(
        meaning="Maximum number of rounds; training stops early if no permutation is new. Validation data "
        "choose how many are kept.",
        default=30,
    )
    C: float = parameter(default=1.0, tune=(0.3, 1.0, 3.0, 10.0), search=Range(0.03, 100.0, log=True))
    average: bool = parameter(
        Flag(),
        "Whether the model is the mean of the normalised weights of all rounds, or those of the last round, which "
        "oscillate.",
        default=True,
        search=Choices(True, False),
    )
    first: Spelled[Ranker | None, Ranker | str | Mapping[str, Any] | None] = parameter(
        Value(Ranker, "AdaRank()", read_ranker, "a ranker such as adarank", optional=True),
        "Ranker that is fitted first, as round 0: the working sets begin with the permutations that it violates "
        "most, beside the ideal order and its reverse. With AdaRank, a type one bound comes before type two.",
        default=None,
    )
    scaling: str = parameter(default="query-zscore")

    @one_thread_for_libraries()
    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if task.weights is not None:
            raise InputError("PermuRank takes no weights: every query counts the same.")
        queries = ScaledQueries.of(task.train, self.scaling, informative=self._informative)
        if not len(queries):
            raise InputError(
                f"There is nothing to learn: every ranking of every query has the same {self.metric}."
            )
        permutations = Permutations(*queries.judged, self.metric, task.n_threads)
        worst = permutations.values(permutations.worst)
        require_metric_range("PermuRank", self.metric, worst, permutations.best, least=0.0)
        monitor = self._watch(queries, task, patience=self.patience)
        models: list[Doubles] = []
        with monitor:  # Ctrl-C ends the rounds, not the fit
            for weights, sizes in self._rounds(permutations, queries.X, self._first_scores(queries, task)):
                models.append(self._model(models, weights))
                if queries.show(models[-1], monitor, sizes):
                    break
        if not models:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        return queries.scorer(models[monitor.best_round - 1]), monitor.history

    def _first_scores(self, queries: ScaledQueries, task: FitTask) -> Doubles | None:
        """Return the scores by the ranker that is fitted first, if there is one."""
        if self.first is None:
            return None
        model = self.first.unfitted().set_params(n_jobs=task.n_threads).fit(task.train).model_
        scores = model.predict(task.train.data, n_jobs=task.n_threads)
        return scores[task.train.canonical_rows][queries.rows]

    def _rounds(
        self, permutations: Permutations, X: Doubles, scores: Doubles | None
    ) -> Iterator[tuple[Doubles, dict[str, float]]]:
        """Yield the weights of every F_t and the sizes of the sets that it separates: figure 7."""
        sets = WorkingSets(permutations, X)
        sets.add(permutations.ideal, permutations.worst)
        if scores is not None:
            sets.add(*permutations.most_violated(scores))
        weights = np.zeros(X.shape[1])
        for _ in range(self.rounds):
            weights = self._separate(sets.pairs(permutations.n_threads), weights)
            if not weights.any():
                return
            yield weights, sets.sizes
            if not sets.add(*permutations.most_violated(X @ weights)):
                return

    def _model(self, models: Sequence[Doubles], weights: Doubles) -> Doubles:
        """Return the weights of a round, or their sum with those of the rounds before, each of length 1."""
        if not self.average:
            return weights
        before = models[-1] if models else np.zeros(len(weights))
        return np.asarray(before + weights / np.linalg.norm(weights))

    def _separate(self, pairs: MarginPairs, start: Doubles) -> Doubles:
        """Return the w that minimises 1/2 |w|^2 + C times the loss, starting from the last round's w."""
        for solution in islice(pairs.solutions(self.loss, start, self.C), STEPS):
            if solution.gap <= TOLERANCE:
                break
        return solution.weights

    def _informative(self, judged: QueryLabels) -> NDArray[np.bool_]:
        """Return which queries have rankings of different metric values."""
        best, worst = (
            self.metric.per_query(judged.y, Ranking.of(keys, judged.groups)) for keys in (judged.y, -judged.y)
        )
        return np.asarray(best > worst + CLOSE)

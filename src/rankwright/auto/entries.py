"""Entries of a portfolio, and what their fits give: scores of the judging documents, and a scorer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from rankwright.ensembling.mixtures import within_query
from rankwright.ensembling.pool import Member, fitted_scorer
from rankwright.ensembling.weights import uniform_weights
from rankwright.metrics.base import mean_over_queries
from rankwright.models.combination import Combination
from rankwright.models.query_features import QueryFeatureScorer
from rankwright.training.monitor import middle_round

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankwright.auto.plan import HeldOut
    from rankwright.base.arrays import Doubles
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.training_set import TrainingSet

SEEDS_APART = 1000  # so that entries with neighbouring seeds share none
ROUND_COUNTS = 12
"""How many numbers of rounds are compared. They are evenly spaced, as `middle_round` needs them."""


@dataclass(frozen=True)
class Entry:
    """A ranker of the portfolio.

    Parameters
    ----------
    name
        Its name in standings.
    ranker
        The ranker with its settings, not fitted.
    cost
        Seconds of a fit, relative to those of the other entries.
    seeds
        Number of models with different seeds, whose scores are averaged; the ranker's own is the first.
    """

    name: str
    ranker: Ranker
    cost: float = 1.0
    seeds: int = 1

    @property
    def rounds(self) -> tuple[int, ...]:
        """The numbers of rounds to compare; none if the ranker has no rounds."""
        most = self.ranker.get_params(deep=False).get("rounds")
        if most is None:
            return ()
        return tuple(sorted({-(-most * step // ROUND_COUNTS) for step in range(1, ROUND_COUNTS + 1)}))

    def optimising(self, metric: Metric) -> Entry:
        """Return the entry with this metric, which its ranker optimises if it can, unless it has its own."""
        if self.ranker.metric != type(self.ranker).metric:
            return self
        return replace(self, ranker=self.ranker.unfitted().set_params(metric=metric))

    def fitted(
        self, train: TrainingSet, n_threads: int, on_round: OnRound, sample_weight: Doubles | None = None
    ) -> Scorer:
        """Fit the ranker with all seeds and return the mean of their scorers."""
        rankers = [self.ranker, *(self._with_seed(number) for number in range(1, self.seeds))]
        return mean_of(
            [fitted_scorer(ranker, train, n_threads, on_round, sample_weight=sample_weight) for ranker in rankers]
        )

    def _with_seed(self, number: int) -> Ranker:
        seed = self.ranker.get_params(deep=False)["random_state"] + number * SEEDS_APART
        return self.ranker.unfitted().set_params(random_state=seed)


def mean_of(scorers: Sequence[Scorer]) -> Scorer:
    """Return the mean of scorers of the same features; columns within the query that they share are made once."""
    if len(scorers) == 1:
        return scorers[0]
    first, weights = scorers[0], uniform_weights(len(scorers))
    if isinstance(first, QueryFeatureScorer):
        inner = tuple(scorer.inner for scorer in scorers if isinstance(scorer, QueryFeatureScorer))
        return QueryFeatureScorer(Combination(inner, weights), first.columns, first.raw)
    return Combination(tuple(scorers), weights)


class EntryScores(NamedTuple):
    """The scores of a part's judging documents, one row per number of rounds, and the seconds of the fit.

    There is a single row if the scorer cannot be cut to fewer rounds.
    """

    scores: Doubles
    seconds: float


class FinalFit(NamedTuple):
    """The scorer that was fitted on all queries, and the seconds of the fit."""

    scorer: Scorer
    seconds: float


@dataclass(frozen=True, eq=False)
class JudgedEntry:
    """An entry after all its fits; the number of its rounds is not chosen yet.

    Parameters
    ----------
    entry
        The entry.
    scorer
        Fitted on all queries, with all rounds.
    rounds
        The numbers of rounds that it can be cut to; `(0,)` if it cannot be cut.
    scores
        For each of them, the scores of all judging documents, standardised within the query.
    values
        For each of them, the metric of every judgement.
    held_out
        The judgements.
    seconds
        Seconds of all its fits, each on one thread.
    half_scores
        As `scores`, of fits on half of the queries; empty if the plan has no halves.
    """

    entry: Entry
    scorer: Scorer
    rounds: tuple[int, ...]
    scores: Sequence[Doubles]
    values: Sequence[Doubles]
    held_out: HeldOut
    seconds: float
    half_scores: Sequence[Doubles] = ()

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.name

    @cached_property
    def curve(self) -> list[float]:
        """The mean of the metric for each number of rounds."""
        return [mean_over_queries(values) for values in self.values]

    def best_index(self, judgements: NDArray[np.bool_] | None = None) -> int:
        """Return the index in `rounds` of the number of rounds that these judgements choose."""
        if len(self.rounds) == 1:
            return 0
        curve = [self.held_out.by_query(values, judgements) for values in self.values]
        return max(0, middle_round([mean_over_queries(values) for values in curve], curve).best_round - 1)

    def up_to(self, index: int) -> JudgedEntry:
        """Return the entry without the numbers of rounds after this index."""
        by_rounds = ("rounds", "scores", "values", "half_scores")
        return replace(self, **{name: getattr(self, name)[: index + 1] for name in by_rounds})

    def member(self, index: int) -> Member:
        """Return the entry with the number of rounds at this index as a member of a mixture."""
        scorer = within_query(self.cut(index))
        return Member(name=self.name, scorer=scorer, scores=self.scores[index], value=self.curve[index])

    def cut(self, index: int) -> Scorer:
        """Return the scorer with the number of rounds at this index."""
        n_rounds = self.rounds[index]
        return self.scorer if not 0 < n_rounds < self.scorer.n_rounds else self.scorer.first(n_rounds)

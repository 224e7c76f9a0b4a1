"""Examination models whose prior of attraction depends on features of documents (regression-EM, Wang et al. 2018).

With a single ranker no document is seen at two positions, and clicks on it tell the product of examination and
attraction only. Features tell more: documents that look alike should attract alike wherever they are shown. Trees
predict attraction from features, for queries that they were not trained on; documents with similar predictions
form a stratum, and share a distribution of attraction in EM. The two alternate. Strata rather than the predictions
themselves: how reliable the trees are need not be known, since each stratum's distribution is estimated.

Positions are told from relevance only where documents of one stratum are seen at different positions. Whether that
is enough is measured: with half the position bias, the clicks must be far less likely, and features must not
determine the position.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted, rounded_percent
from rankwright.clicks.models.click_model import BetaPrior, PairEstimates
from rankwright.clicks.models.examination import (
    Cells,
    Classes,
    ExaminationModel,
    PositionBasedModel,
    UserBrowsingModel,
    by_class,
    smoothed,
    strata_of,
    with_half_clicks,
)
from rankwright.rankers.mart import MART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.counts import ClickCounts
    from rankwright.clicks.log import ClickLog
    from rankwright.data.dataset import Documents, RankingData

TURNS = 3  # of trees and EM
FOLDS = 4  # of queries, for predictions of trees
NODES = 1.0 / (1.0 + np.exp(np.linspace(6.5, -6.5, 32)))  # values of attraction
STEPS = 50  # of EM in a turn
GROUPS = 10  # of queries that are left out in turn, for standard errors
DISTANCES = np.array([1, 2, 3, 5, 9, 17, 33])  # to the last click above: the first of each class
WIDER = 1.25  # each class of positions reaches so much further than the one before
ENOUGH = 10.0  # log-likelihood that must be lost with another bias; documents of a query are not independent
MOST_DETERMINED = 0.9  # if features say where a document is shown, they cannot tell position from relevance
LEAST_WEIGHT = 0.02


@dataclass(frozen=True, repr=False, eq=False)
class FeatureModel(ExaminationModel):
    """A model of examination with features.

    Parameters
    ----------
    predicted
        The attraction of each pair if the prior knows its features: the mean of the distributions of its stratum
        and of all pairs. The prior of `attraction` is that of all pairs, so that it says what users did alone.
    trust
        By class, the probability of a click on an examined document that does not attract.
    half_bias, no_bias
        How much log-likelihood is lost with half the position bias (on a logarithmic scale), and without any.
    determined
        How much of the variance of positions features explain, of queries that trees were not trained on; 0 if
        most documents were seen at several positions.
    """

    is_affine: ClassVar[bool] = False  # whether examined documents are clicked by trust
    by_last: ClassVar[bool] = False  # whether examination depends on the last click
    predicted: PairEstimates
    trust: Doubles
    half_bias: float
    no_bias: float
    determined: float

    @property
    def is_identified(self) -> bool:
        """Whether features tell examination from attraction: half the bias would be far less likely."""
        return self.half_bias >= ENOUGH and self.determined <= MOST_DETERMINED

    @property
    def is_biased(self) -> bool:
        """Whether clicks depend on the position: without bias they would be far less likely."""
        return self.no_bias >= ENOUGH

    @classmethod
    def fit_features(
        cls,
        counts: ClickCounts,
        data: Documents,
        *,
        after: FeatureModel | None = None,
        with_errors: bool = True,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> Self:
        """Fit trees and EM in turn; refuse a log none of whose documents are among the data.

        `after` is a model of the same or a similar log: its attraction is where this one starts, and saves turns.
        """
        rows = rows_of_pairs(counts, data)
        if (rows < 0).all():
            raise InputError("No query and document of the log is among the documents; do their ids agree?")
        classes = cls.classes(counts.position, counts.last)
        em = _FeatureEM(Cells.of(counts, classes), rows, cls.is_affine, resolve_threads(n_jobs))
        state = em.start(by_class(counts, classes))
        if after is not None:
            mean, deviation = after.attraction.of_pairs(counts)
            state = state._replace(mean=mean, deviation=deviation)
        for turn in range(TURNS if after is None else 1):
            strata = em.strata(state, data, random_state + turn)
            state = em.fit(strata, state.examination, state.trust)
        state = em.fit(strata, state.examination, state.trust)
        lost = em.lost(strata, state, 0.5), em.lost(strata, state, 0.0), em.determined(counts, data, random_state)
        pair_queries = counts.query[counts.pair_offsets[:-1]]
        errors = em.jackknife(pair_queries, strata, state) if with_errors else np.full_like(state.trust, np.nan)
        state = state._replace(examination=with_half_clicks(state.examination, counts, classes, state.mean))
        overall = state.prior[strata].mean(axis=0)
        beta = BetaPrior.on_grid(NODES, overall)
        attraction, predicted = (
            PairEstimates.of(counts, *em.posterior(of_pair, prior, state), beta)
            for of_pair, prior in ((np.zeros_like(strata), overall[None]), (strata, (state.prior + overall) / 2))
        )
        notes = (*counts.notes, *_remarks(cls.name, *lost, int((rows < 0).sum()), len(rows)))
        numbers = state.examination, errors, state.objectives, predicted, state.trust, *lost
        return cls(counts.n_lists, notes, attraction, classes.position, classes.last, *numbers)

    def by_features(self) -> Self:
        """Return the model with the attraction that clicks and features say together."""
        return replace(self, attraction=self.predicted)

    @classmethod
    def classes(cls, position: NDArray[Any], last: NDArray[Any]) -> Classes:
        """Return one class per range of positions and, with last clicks, of distances."""
        return super().classes(*_ranges(position, last, cls.by_last))

    def class_of(self, position: NDArray[Any], last: NDArray[Any]) -> Integers:
        """Return the class of each row."""
        return super().class_of(*_ranges(position, last, self.by_last))

    def affine(self, log: ClickLog) -> tuple[Doubles, Doubles]:
        chosen = self.class_of(log.position, log.last_clicks())
        trusted = self.examination[chosen] * self.trust[chosen]
        return self.examination[chosen] - trusted, trusted

    def conditional(self, log: ClickLog) -> Doubles:
        slope, intercept = self.affine(log)
        return np.asarray(slope * self.attraction.in_log(log) + intercept)


class PositionFeatures(FeatureModel, PositionBasedModel):
    """Examination depends on the position."""

    name: ClassVar[str] = "position-based model with features"


class TrustFeatures(PositionFeatures):
    """Users may also click because the position is high: affine in attraction (Vardasbi et al. 2020)."""

    name: ClassVar[str] = "trust model with features"
    is_affine: ClassVar[bool] = True


class BrowsingFeatures(FeatureModel, UserBrowsingModel):
    """Examination depends on the position and on the distance to the last click above."""

    name: ClassVar[str] = "user browsing model with features"
    by_last: ClassVar[bool] = True


def rows_of_pairs(counts: ClickCounts, data: Documents) -> Integers:
    """Return the row of the document of each pair, by ids; -1 if it is unknown."""
    first = counts.pair_offsets[:-1]
    queries = {str(name): number for number, name in enumerate(data.groups.ids.tolist())}
    row_of = {
        pair: row
        for row, pair in enumerate(
            zip(data.groups.query_of_row.tolist(), data.document_names.tolist(), strict=True)
        )
    }
    query = [queries.get(str(name), -1) for name in counts.query_ids[counts.query[first]].tolist()]
    document = [str(name) for name in counts.document_ids[counts.document[first]].tolist()]
    return np.array([row_of.get(pair, -1) for pair in zip(query, document, strict=True)], dtype=np.int64)


class _State(NamedTuple):
    """Estimates of EM: by class, by stratum and node, and by pair."""

    examination: Doubles
    trust: Doubles
    prior: Doubles
    mean: Doubles
    deviation: Doubles
    objectives: Doubles


@dataclass(frozen=True)
class _FeatureEM:
    """EM over cells, with strata of pairs whose documents are rows of the data."""

    cells: Cells
    rows: Integers
    is_affine: bool
    n_threads: int

    def start(self, rates: Doubles) -> _State:
        """Return the estimates if all documents are alike: examination is as click rates say."""
        examination = np.clip(rates / max(float(rates[0]), 1e-6), 1e-3, 0.95)  # at 1 EM could not move it
        examination[0] = 1.0
        trust = np.zeros_like(examination)
        if self.is_affine:
            trust[:-1] = 0.1  # not of the last class: attraction is relative to the trust there
        return self.fit(np.zeros(len(self.rows), dtype=np.int64), examination, trust)

    def fit(
        self,
        strata: Integers,
        examination: Doubles,
        trust: Doubles,
        *,
        kept: NDArray[Any] | None = None,
        prior_only: bool = False,
    ) -> _State:
        """Run EM with the given strata, on the kept pairs only."""
        cells = self.cells._replace(strata=strata.astype(np.int32))
        if kept is not None:
            in_kept = np.repeat(kept, np.diff(cells.offsets))
            shown, clicked = cells.shown * in_kept, cells.clicked * in_kept
            cells = cells._replace(shown=shown, clicked=clicked)
        n_strata = int(strata.max()) + 1
        prior = np.full(n_strata * len(NODES), 1 / len(NODES))
        tolerance = 0.1 * max(1.0, float(cells.shown.sum()) / 1e6)
        mean, deviation, examined, trusted, weights, objectives = cells.fit(
            NODES, prior, examination, trust, STEPS, tolerance, self.n_threads, prior_only=prior_only
        )
        by_stratum = weights.reshape(n_strata, len(NODES))
        return _State(examined, trusted, by_stratum, mean, deviation, objectives)

    def strata(self, state: _State, data: Documents, seed: int) -> Integers:
        """Return the stratum of each pair, by predicted attraction; unknown documents have their own."""
        known = np.flatnonzero(self.rows >= 0)
        overall = state.prior.mean(axis=0)
        variance = overall @ NODES**2 - (overall @ NODES) ** 2
        weights = np.clip(1.0 - state.deviation[known] ** 2 / max(variance, 1e-12), LEAST_WEIGHT, 1.0)
        # Rounded, because last digits of estimates differ between processors, and trees would differ with them.
        shown = data.take(self.rows[known]).with_labels(np.round(state.mean[known], 6))
        predicted = predictions(shown, np.round(weights, 6), seed, self.n_threads)
        of_known = strata_of(predicted, np.random.default_rng(seed).random(len(known)))
        strata = np.full(len(self.rows), of_known.max() + 1, dtype=np.int64)
        strata[known] = of_known
        return strata

    def lost(self, strata: Integers, state: _State, power: float) -> float:
        """Return how much log-likelihood is lost with examination to this power, for the best distributions."""
        examination = np.maximum(state.examination, 0.01) ** power  # a power of 0 would be 0
        other = self.fit(strata, examination, state.trust, prior_only=True)
        same = self.fit(strata, state.examination, state.trust, prior_only=True)
        return float(same.objectives[-1] - other.objectives[-1])

    def determined(self, counts: ClickCounts, data: Documents, seed: int) -> float:
        """Return how much of the variance of logarithms of positions features explain."""
        known = np.flatnonzero(self.rows >= 0)
        shown = counts.by_pair(counts.shown)
        mean, square = (
            counts.by_pair(counts.shown * np.log(counts.position) ** power) / shown for power in (1, 2)
        )
        if np.mean(square - mean**2 > 1e-9) > 0.5:
            return 0.0
        positions = mean[known]
        judged = data.take(self.rows[known]).with_labels(np.round(positions, 6))
        residual = positions - predictions(judged, np.ones(len(known)), seed, self.n_threads)
        return float(1.0 - residual.var() / max(float(positions.var()), 1e-12))

    def jackknife(self, query: NDArray[Any], strata: Integers, state: _State) -> Doubles:
        """Return standard errors of examination: queries are left out in groups."""
        group = np.random.default_rng(0).permutation(int(query.max()) + 1)[query] % GROUPS
        estimates = [
            self.fit(strata, state.examination, state.trust, kept=group != left_out).examination
            for left_out in range(GROUPS)
        ]
        spread = np.array(estimates) - np.mean(estimates, axis=0)
        return np.asarray(np.sqrt((GROUPS - 1) / GROUPS * (spread**2).sum(axis=0)))

    def posterior(self, strata: Integers, prior: Doubles, state: _State) -> tuple[Doubles, Doubles]:
        """Return mean and deviation of the attraction of each pair, with smoothed priors of strata."""
        cells = self.cells._replace(strata=strata.astype(np.int32))
        smooth = np.concatenate([smoothed(weights) for weights in prior])
        return cells.fit(NODES, smooth, state.examination, state.trust, 0, 0.0, self.n_threads)[:2]


def predictions(data: RankingData, weights: Doubles, seed: int, n_threads: int) -> Doubles:
    """Return labels as trees predict them that were trained on other queries."""
    n_folds = min(FOLDS, len(data.groups))
    fold = np.random.default_rng(seed).permutation(len(data.groups))[data.groups.query_of_row] % n_folds
    predicted = np.zeros(len(data))
    for number in range(n_folds if n_folds > 1 else 0):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        trees = MART(rounds=40, learning_rate=0.1, max_leaves=8, n_jobs=n_threads)
        with suppress(InputError):  # no feature tells documents apart
            trees.fit(data.take(outside), sample_weight=weights[outside])
            predicted[inside] = trees.predict(data.take(inside))
    return predicted


def _ranges(position: NDArray[Any], last: NDArray[Any], by_last: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first position of each row's range, and of the last click the first of its range of distances."""
    edges = [1]
    while edges[-1] < position.max(initial=1):
        edges.append(max(edges[-1] + 1, round(edges[-1] * WIDER)))
    begins = np.array(edges)[np.searchsorted(edges, position, side="right") - 1]
    if not by_last:
        return begins, np.zeros_like(last)
    distance = np.searchsorted(DISTANCES, position - last, side="right")
    return begins, np.where(last == 0, 0, distance)


def _remarks(
    name: str, half: float, none: float, determined: float, n_unknown: int, n_pairs: int
) -> Iterator[str]:
    if n_unknown:
        yield f"{counted(n_unknown, 'pair')} of query and document of {n_pairs:,} are unknown, without features."
    if none >= ENOUGH and (half < ENOUGH or determined > MOST_DETERMINED):
        why = f"the {name} fits as well with half the position bias"
        if determined > MOST_DETERMINED:
            why = f"they explain {rounded_percent(determined)} of the variance of positions"
        yield (
            f"Features do not tell position from relevance here: {why}. Logs of two rankers, or a few lists in "
            "random order, would tell."
        )

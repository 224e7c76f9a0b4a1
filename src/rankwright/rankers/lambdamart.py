"""LambdaMART (Wu, Burges, Svore & Gao, Information Retrieval 2010): boosted trees on metric-weighted gradients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from rankwright.boosting import Monitor, boost
from rankwright.boosting.lambdas import LambdaGradients, without_cut
from rankwright.data import RankingData
from rankwright.data.query_features import checked_query_features
from rankwright.errors import InputError
from rankwright.learners import Gradients, TreeLearner, TreeLimits, TreeSampling
from rankwright.metrics import NDCG, Metric
from rankwright.models import QueryFeatureScorer, TreeEnsemble
from rankwright.rankers.parameters import (
    require_number,
    require_one_of,
    require_share,
    require_whole_number,
)
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.boosting import History, Member
    from rankwright.data.query_features import QueryFeature
    from rankwright.models import Scorer
    from rankwright.rankers.ranker import FitTask

    Doubles = NDArray[np.float64]


# On more training documents the metric is measured only if somebody watches: it takes as long as the lambdas.
WATCHED_DOCUMENTS = 100_000

Data = TypeVar("Data", RankingData, RankingData | None)


@dataclass(frozen=True)
class LambdaRule:
    """Lines 5 to 8 and 14 of the paper's Algorithm 1: each document's lambda, its derivative, the shrinkage."""

    metric: Metric
    lambdas: LambdaGradients
    weights: Doubles | None
    learning_rate: float
    n_threads: int

    def first_signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i for the model that boosting starts from."""
        signal = self.signal(scores)
        if not signal.hessian.any():
            raise InputError(f"There is nothing to learn: no swap of documents changes {self.metric}.")
        return signal

    def signal(self, scores: Doubles) -> Gradients:
        """y_i = lambda_i and w_i = its derivative."""
        gradient, hessian = self.lambdas(scores, n_threads=self.n_threads)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def step(self, signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no lambda is left or no split helps."""
        return self.learning_rate if signal.gradient.any() and np.ptp(outputs) > 0.0 else None


class LambdaMART(Ranker):
    """Boosts regression trees on lambdas: how far each document's score should move to improve the metric.

    Every pair of a query's documents with different labels pushes the two apart, weighted by what the metric
    would change if they traded ranks. Its `grid` for tuning: the usual trees, tiny and middling ones, with and
    without columns made within the query.

    Parameters
    ----------
    metric
        What to improve; any metric, also one of your own. Its cut-off counts where rounds are judged, not in the
        lambdas: a document below it could still rise above it.
    rounds
        Most trees to grow; with a validation part the best number of them is kept.
    learning_rate
        The shrinkage of every tree.
    max_leaves
        Leaves a tree; None takes 8 for small training sets up to 31 for large ones.
    min_documents, min_hessian
        What every leaf must hold at least; None takes 1 document for tiny training sets up to 20.
    l2
        Added to the sum of hessians: shrinks the values of small leaves.
    subsample, subsample_by
        The share of documents a round chooses its splits on, drawn by `"documents"`, by whole `"queries"`, or by
        `"gradient"`: those with large lambdas or derivatives rather than small ones, weighted so that sums stay
        right.
    feature_fraction
        The share of features a round may split on.
    truncation
        Only pairs with a document among so many first ranks count; None takes all.
    query_features
        Columns made within the query beside the raw ones: any of `"zscore"`, `"rank"`, `"minmax"`.
    monotone
        By feature, as number or name: +1 where the score must not fall as it rises, -1 where it must not rise.
    max_bins
        Codes a feature's values are binned to, at most 255.
    patience
        Rounds without a better validation value before stopping; None goes on.
    seed
        Of all that is drawn; the same seed gives the same model.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "lambdamart"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "max_leaves": (None, 4, 16),
        "query_features": ((), ("zscore", "rank")),
    }

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        rounds: int = 500,
        learning_rate: float = 0.05,
        max_leaves: int | None = None,
        min_documents: int | None = None,
        min_hessian: float = 1e-3,
        l2: float = 1.0,
        subsample: float = 0.7,
        subsample_by: str = "documents",
        feature_fraction: float = 0.5,
        truncation: int | None = 30,
        query_features: Sequence[str] = (),
        monotone: Mapping[int | str, int] | None = None,
        max_bins: int = 255,
        patience: int | None = 100,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_documents = min_documents
        self.min_hessian = min_hessian
        self.l2 = l2
        self.subsample = subsample
        self.subsample_by = subsample_by
        self.feature_fraction = feature_fraction
        self.truncation = truncation
        self.query_features = query_features
        self.monotone = monotone
        self.max_bins = max_bins
        self.patience = patience
        self.seed = seed
        self.n_threads = n_threads

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
        columns = checked_query_features(self.query_features)
        train, validation = _widened(task.train, columns), _widened(task.validation, columns)
        monitor = Monitor(
            self.metric,
            train.canonical if task.on_round or len(train) <= WATCHED_DOCUMENTS else None,
            validation,
            patience=self.patience,
            on_round=task.on_round,
            n_threads=task.n_threads,
        )
        learner = self._learner(train, task)
        start = np.zeros(len(train))
        members = boost(self._rule(train, task), learner, start=start, rounds=self.rounds, monitor=monitor)
        if not members:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        trees = _as_ensemble(members)
        return QueryFeatureScorer(trees, columns) if columns else trees, monitor.history

    def _rule(self, train: RankingData, task: FitTask) -> LambdaRule:
        judged = train.canonical
        lambdas = LambdaGradients(without_cut(self.metric), judged.y, judged.groups, truncation=self.truncation)
        weights = None if task.weights is None else task.weights[train.canonical_rows]
        return LambdaRule(self.metric, lambdas, weights, self.learning_rate, task.n_threads)

    def _learner(self, train: RankingData, task: FitTask) -> TreeLearner:
        leaves = self.max_leaves or leaves_for(len(train))
        documents = self.min_documents or min_documents_for(len(train))
        return TreeLearner(
            train.binned(self.max_bins, task.n_threads),
            train.canonical.groups,
            limits=TreeLimits(leaves, documents, self.min_hessian, self.l2),
            sampling=TreeSampling(self.subsample, self.subsample_by, self.feature_fraction),
            monotone=_directions(self.monotone, task.train, train.n_features),
            random=np.random.default_rng(self.seed),
            n_threads=task.n_threads,
        )

    def _check_parameters(self) -> None:
        require_whole_number("rounds", self.rounds, least=1)
        require_number("learning_rate", self.learning_rate, above=0.0)
        require_whole_number("max_leaves", self.max_leaves, least=2, optional=True)
        require_whole_number("min_documents", self.min_documents, least=1, optional=True)
        require_number("min_hessian", self.min_hessian, least=0.0)
        require_number("l2", self.l2, least=0.0)
        require_share("subsample", self.subsample)
        require_one_of("subsample_by", self.subsample_by, ("documents", "queries", "gradient"))
        require_share("feature_fraction", self.feature_fraction)
        require_whole_number("truncation", self.truncation, least=1, optional=True)
        require_whole_number("patience", self.patience, least=1, optional=True)
        require_whole_number("seed", self.seed, least=0)


def leaves_for(n_documents: int) -> int:
    """Return the leaves of a tree that so many documents bear: 8 up to 20,000, 31 from 200,000."""
    return int(np.clip(8 * (n_documents / 20_000) ** 0.59, 8, 31))


def min_documents_for(n_documents: int) -> int:
    """Return the documents every leaf should hold: a five-hundredth of all, from 1 to 20."""
    return int(np.clip(n_documents // 500, 1, 20))


def _widened(data: Data, columns: tuple[QueryFeature, ...]) -> Data:
    """Return the data with the columns made within the query."""
    return data if data is None or not columns else data.widened(columns)


def _as_ensemble(members: Sequence[Member]) -> TreeEnsemble:
    """Return F = sum of v times each tree as one ensemble."""
    trees = [model for _, model in members if isinstance(model, TreeEnsemble)]
    return TreeEnsemble.concatenate(trees).scaled([weight for weight, _ in members])


def _directions(monotone: Mapping[int | str, int] | None, train: RankingData, n_columns: int) -> NDArray[np.int8]:
    """Return +1, 0 or -1 for every column; those made within the query follow their feature."""
    if monotone is None:
        return np.zeros(0, dtype=np.int8)
    if not isinstance(monotone, Mapping):
        raise InputError(f"monotone must be None or give -1, 0 or 1 by feature, not {monotone!r}.")
    directions = np.zeros(train.n_features, dtype=np.int8)
    for feature, direction in monotone.items():
        if direction not in (-1, 0, 1):
            raise InputError(f"monotone takes -1, 0 or 1 for a feature, not {direction!r}.")
        directions[_feature_number(feature, train)] = direction
    return np.tile(directions, n_columns // train.n_features)


def _feature_number(feature: int | str, train: RankingData) -> int:
    if isinstance(feature, str) and train.feature_names and feature in train.feature_names:
        return train.feature_names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < train.n_features:
        return int(feature)
    raise InputError(f"monotone names the feature {feature!r}, which the data do not have.")

"""What rankers that boost trees share: what trees see, how far they grow, what they start from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from rankwright.boosting import boost, weighted_trees
from rankwright.data import RankingData
from rankwright.data.query_features import checked_query_features
from rankwright.errors import InputError
from rankwright.learners import TreeLearner, TreeLimits, TreeSampling
from rankwright.models import QueryFeatureScorer, TreeEnsemble
from rankwright.rankers.parameters import require_number, require_one_of, require_share, require_whole_number
from rankwright.rankers.ranker import Ranker
from rankwright.training import Monitor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.boosting import Member, Rule
    from rankwright.data.query_features import QueryFeature
    from rankwright.learners import Gradients, WeakLearner
    from rankwright.models import Scorer
    from rankwright.rankers.ranker import FitTask
    from rankwright.training import History

# On more training documents the metric is measured only if somebody watches: it takes as long as the lambdas.
WATCHED_DOCUMENTS = 100_000

# On fewer documents, splits that coarse levels miss cost more than the time they save.
COARSE_DOCUMENTS = 100_000

Data = TypeVar("Data", RankingData, RankingData | None)


@dataclass(frozen=True, eq=False)
class Parts:
    """What boosting goes by: both parts of the data as trees see them, and the first scores of the first.

    These scores are in canonical order; the validation documents come as they are.
    """

    train: RankingData
    validation: RankingData | None
    start: Doubles
    task: FitTask

    @property
    def validation_start(self) -> Doubles:
        """The validation documents' first scores."""
        given = None if self.task.start is None else self.task.start.validation
        return np.zeros(0 if self.validation is None else len(self.validation)) if given is None else given


class TreeRanker(Ranker):
    """Boosts regression trees; a subclass gives the rule, and has these parameters."""

    takes_start: ClassVar[bool] = True
    rounds: int
    learning_rate: float
    max_leaves: int | None
    min_documents: int | None
    min_hessian: float
    l2: float
    subsample: float | None
    subsample_by: str
    feature_fraction: float | None
    query_features: Sequence[str]
    monotone: Mapping[int | str, int] | None = None
    max_bins: int
    coarse: bool | None = None
    patience: int | None
    seed: int

    @abstractmethod
    def _rule(self, train: RankingData, task: FitTask) -> Rule[Gradients]:
        """Return the rule for documents in canonical order."""

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
            **self._watched(task),
        )
        parts = Parts(train, validation, self._first_scores(train, task), task)
        members = self._boosted(self._rule(train, task), self._learner(train, task), monitor, parts)
        if not members and task.start is None:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        model = self._model(members, train)
        learned = QueryFeatureScorer(model, columns) if columns else model
        return learned if task.start is None else task.start.plus(learned), monitor.history

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, parts: Parts
    ) -> list[Member]:
        return boost(rule, learner, start=parts.start, rounds=self.rounds, monitor=monitor)

    def _first_scores(self, train: RankingData, task: FitTask) -> Doubles:
        """Return F_0: zeros, or what the submodel says."""
        return np.zeros(len(train)) if task.start is None else task.start.train[train.canonical_rows]

    def _watched(self, task: FitTask) -> dict[str, Any]:
        """Return what else the monitor is to know."""
        return {} if task.start is None else {"validation_start": task.start.validation}

    def _learner(self, train: RankingData, task: FitTask) -> WeakLearner[Gradients]:
        return self._tree_learner(TreeLearner, train, task)

    def _tree_learner(self, kind: type[TreeLearner], train: RankingData, task: FitTask) -> TreeLearner:
        # No tree has more leaves than documents, and no leaf more than all: larger numbers say the same.
        leaves = min(self.max_leaves or leaves_for(len(train)), max(2, len(train)))
        documents = min(self.min_documents or min_documents_for(len(train)), len(train) + 1)
        coarse = len(train) >= COARSE_DOCUMENTS if self.coarse is None else self.coarse
        return kind(
            train.binned(self.max_bins, task.n_threads, coarse=coarse),
            train.canonical.groups,
            limits=TreeLimits(leaves, documents, self.min_hessian, self.l2),
            sampling=TreeSampling(
                self.subsample or subsample_for(len(train)),
                self.subsample_by,
                self.feature_fraction or feature_fraction_for(len(train)),
            ),
            monotone=_directions(self.monotone, task.train, train.n_features),
            random=np.random.default_rng(self.seed),
            n_threads=task.n_threads,
        )

    def _model(self, members: Sequence[Member], train: RankingData) -> Scorer:
        """Return F = sum of v times each tree as one ensemble."""
        # Where nothing was better than the start, there are none.
        return weighted_trees(members) if members else TreeEnsemble.empty(train.n_features)

    def _check_parameters(self) -> None:
        require_whole_number("rounds", self.rounds, least=1)
        require_number("learning_rate", self.learning_rate, above=0.0)
        require_whole_number("max_leaves", self.max_leaves, least=2, optional=True)
        require_whole_number("min_documents", self.min_documents, least=1, optional=True)
        require_number("min_hessian", self.min_hessian, least=0.0)
        require_number("l2", self.l2, least=0.0)
        require_share("subsample", self.subsample, optional=True)
        require_one_of("subsample_by", self.subsample_by, ("documents", "queries", "gradient"))
        require_share("feature_fraction", self.feature_fraction, optional=True)
        require_one_of("coarse", self.coarse, (None, True, False))
        require_whole_number("patience", self.patience, least=1, optional=True)
        require_whole_number("seed", self.seed, least=0)


def leaves_for(n_documents: int) -> int:
    """Return the leaves of a tree that so many documents bear: 8 up to 20,000, 31 from 200,000."""
    return int(np.clip(8 * (n_documents / 20_000) ** 0.59, 8, 31))


def subsample_for(n_documents: int) -> float:
    """Return the share of documents that a round should look at: 0.7 up to 20,000, all from 200,000."""
    return float(np.clip(0.7 * (n_documents / 20_000) ** 0.155, 0.7, 1.0))


def feature_fraction_for(n_documents: int) -> float:
    """Return the share of features that a round should look at: 0.5 up to 20,000, all from 200,000."""
    return float(np.clip(0.5 * (n_documents / 20_000) ** 0.302, 0.5, 1.0))


def min_documents_for(n_documents: int) -> int:
    """Return the documents every leaf should hold: a five-hundredth of all, from 1 to 20."""
    return int(np.clip(n_documents // 500, 1, 20))


def _widened(data: Data, columns: tuple[QueryFeature, ...]) -> Data:
    """Return the data with the columns made within the query."""
    return data if data is None or not columns else data.widened(columns)


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

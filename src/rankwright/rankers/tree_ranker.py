"""What rankers that boost trees share: what trees see, how far they grow, what they start from."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.boosting import boost, weighted_trees
from rankwright.data.query_features import checked_query_features
from rankwright.errors import InputError
from rankwright.learners import TreeLearner, TreeLimits, TreeSampling
from rankwright.models import QueryFeatureScorer, TreeEnsemble
from rankwright.rankers.parameters import require_number, require_one_of, require_share, require_whole_number
from rankwright.rankers.ranker import Ranker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.boosting import Member, Rule
    from rankwright.data import RankingData
    from rankwright.learners import Gradients, WeakLearner
    from rankwright.models import Scorer
    from rankwright.training import FitTask, History, Monitor, TrainingSet

# On more training documents the metric is measured only if somebody watches: it takes as long as the lambdas.
WATCHED_DOCUMENTS = 100_000

# On fewer documents, splits that coarse levels miss cost more than the time they save.
COARSE_DOCUMENTS = 100_000


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
    def _rule(self, task: FitTask) -> Rule[Gradients]:
        """Return the rule for documents in canonical order."""

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        self._check_parameters()
        columns = checked_query_features(self.query_features)
        monotone = _directions(self.monotone, task.train.data, n_kinds=1 + len(columns))
        task = task.with_query_features(columns)
        watched = task.on_round is not None or len(task.train) <= WATCHED_DOCUMENTS
        monitor = task.monitor(
            self.metric,
            task.train.labels if watched else None,
            patience=self.patience,
            **self._watched(task),
        )
        members = self._boosted(self._rule(task), self._learner(task, monotone), monitor, task)
        if not members and task.start is None:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        model = self._model(members, task.train)
        learned = QueryFeatureScorer(model, columns) if columns else model
        return learned if task.start is None else task.start.plus(learned), monitor.history

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, task: FitTask
    ) -> list[Member]:
        return boost(rule, learner, start=self._first_scores(task), rounds=self.rounds, monitor=monitor)

    def _first_scores(self, task: FitTask) -> Doubles:
        """Return F_0: zeros, or the scores of the submodel."""
        return task.first_scores

    def _watched(self, task: FitTask) -> dict[str, Any]:
        """Return what else the monitor is to know."""
        return {} if task.start is None else {"validation_start": task.start.validation}

    def _learner(self, task: FitTask, monotone: NDArray[np.int8]) -> WeakLearner[Gradients]:
        return self._tree_learner(TreeLearner, task, monotone)

    def _tree_learner(self, kind: type[TreeLearner], task: FitTask, monotone: NDArray[np.int8]) -> TreeLearner:
        train = task.train
        # No tree has more leaves than documents, and no leaf more than all: larger numbers say the same.
        leaves = min(self.max_leaves or leaves_for(len(train)), max(2, len(train)))
        documents = min(self.min_documents or min_documents_for(len(train)), len(train) + 1)
        coarse = len(train) >= COARSE_DOCUMENTS if self.coarse is None else self.coarse
        return kind(
            train.binned(self.max_bins, task.n_threads, coarse=coarse),
            train.labels.groups,
            limits=TreeLimits(leaves, documents, self.min_hessian, self.l2),
            sampling=TreeSampling(
                self.subsample or subsample_for(len(train)),
                self.subsample_by,
                self.feature_fraction or feature_fraction_for(len(train)),
            ),
            monotone=monotone,
            random=np.random.default_rng(self.seed),
            n_threads=task.n_threads,
        )

    def _model(self, members: Sequence[Member], train: TrainingSet) -> Scorer:
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


def _directions(monotone: Mapping[int | str, int] | None, train: RankingData, *, n_kinds: int) -> NDArray[np.int8]:
    """Return +1, 0 or -1 for every column: the features, and each kind of columns made from them."""
    if monotone is None:
        return np.zeros(0, dtype=np.int8)
    if not isinstance(monotone, Mapping):
        raise InputError(f"monotone must be None or give -1, 0 or 1 by feature, not {monotone!r}.")
    directions = np.zeros(train.n_features, dtype=np.int8)
    for feature, direction in monotone.items():
        if direction not in (-1, 0, 1):
            raise InputError(f"monotone takes -1, 0 or 1 for a feature, not {direction!r}.")
        directions[_feature_number(feature, train)] = direction
    return np.tile(directions, n_kinds)


def _feature_number(feature: int | str, train: RankingData) -> int:
    if isinstance(feature, str) and train.feature_names and feature in train.feature_names:
        return train.feature_names.index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < train.n_features:
        return int(feature)
    raise InputError(f"monotone names the feature {feature!r}, which the data do not have.")

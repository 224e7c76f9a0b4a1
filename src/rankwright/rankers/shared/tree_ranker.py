"""The base class of rankers that boost trees: their parameters, defaults by data size and the boosting itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.distributed.partition import PartFit
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.models.trees import TreeEnsemble
from rankwright.rankers.parameters.checks import Check, Flag, Fraction, Integer, ListOf, OneOf, Real, read_json
from rankwright.rankers.parameters.declaration import (
    BinningParameters,
    RandomParameters,
    ShrinkageParameters,
    StoppingParameters,
    parameter,
)
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.shared.cluster_fit import boosted_on_cluster
from rankwright.training.binned_features import COARSE_DOCUMENTS
from rankwright.training.boosting_loop import Rule, boost, weighted_trees
from rankwright.training.learners.tree import TreeLearner, TreeLimits, TreeSampling, levels_for
from rankwright.training.monitor import unchanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.training.binned_features import BinnedFeatures
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.learners.signal import Gradients, WeakLearner
    from rankwright.training.monitor import Monitor, WeightedModel
    from rankwright.training.training_set import TrainingSet


def leaves_for(n_documents: int) -> int:
    """Return the default number of leaves per tree: 8 up to 20,000 documents, 31 from 200,000."""
    return int(np.clip(8 * (n_documents / 20_000) ** 0.59, 8, 31))


def symmetric_leaves_for(n_documents: int) -> int:
    """Return the default number of leaves per symmetric tree: 16 to 32 up to 8,000 documents, then up to 64."""
    return int(np.clip(max(n_documents // 250, min(n_documents // 24, 32)), 16, 64))


def subsample_for(n_documents: int) -> float:
    """Return the default fraction of documents per round: 0.7 up to 20,000 documents, 1 from 200,000."""
    return float(np.clip(0.7 * (n_documents / 20_000) ** 0.155, 0.7, 1.0))


def feature_fraction_for(n_documents: int) -> float:
    """Return the default fraction of features per round: 0.5 up to 20,000 documents, 1 from 200,000."""
    return float(np.clip(0.5 * (n_documents / 20_000) ** 0.302, 0.5, 1.0))


def min_documents_for(n_documents: int) -> int:
    """Return the default minimum number of documents per leaf: 1 in 500, between 1 and 20."""
    return int(np.clip(n_documents // 500, 1, 20))


@dataclass(frozen=True)
class Directions(Check):
    """Monotone constraints: -1, 0 or 1 by feature number or name; spelled as a JSON object."""

    @property
    def range(self) -> str:
        return "a mapping from feature numbers or names to -1, 0 or 1"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(sign in (-1, 0, 1) for sign in value.values())

    @property
    def text_range(self) -> str:
        return 'none, or JSON such as {"bm25": 1}'

    def read(self, text: str) -> Any:
        return read_json(text)


class TreeRanker(StoppingParameters, ShrinkageParameters, BinningParameters, RandomParameters, Ranker):
    """Boosts regression trees; a subclass defines the rule that gives each round its gradients."""

    takes_start: ClassVar[bool] = True

    rounds: int = parameter(default=500)
    learning_rate: float = parameter(default=0.05, search=Range(0.01, 0.3, log=True))
    grow_policy: str | None = parameter(
        OneOf(("leafwise", "symmetric")),
        "How trees grow: 'leafwise' splits the leaf with the highest gain next; 'symmetric' gives all leaves of a "
        "level the same split (oblivious trees, as in CatBoost), which overfits less where few documents have to "
        "tell interactions of features apart.",
        default="leafwise",
    )
    max_leaves: int | None = parameter(
        Integer(2, optional=True),
        "Maximum number of leaves per tree. None: 8 for small training sets, up to 31 for large ones. Symmetric "
        "trees: one per 24 documents, between 16 and 32, and from 8,000 documents on one per 250, up to 64; their "
        "number is rounded down to a power of 2.",
        default=None,
        tune=(None, 4, 16),
        search=Range(4, 64, log=True, automatic=leaves_for),
    )
    min_documents: int | None = parameter(
        Integer(1, optional=True),
        "Minimum number of documents per leaf. None: 1 for tiny training sets, up to 20; 1 for symmetric trees, "
        "which take no other.",
        default=None,
    )
    min_hessian: float = parameter(Real(least=0.0), "Minimum sum of hessians per leaf.", default=1e-3)
    l2: float = parameter(
        Real(least=0.0),
        "L2 regularisation: added to the sum of hessians of each leaf, which shrinks the values of small leaves.",
        default=1.0,
        search=Range(0.01, 100.0, log=True),
    )
    subsample: float | None = parameter(
        Fraction(optional=True),
        "Fraction of documents each round chooses its splits on. With two-stage split search (`coarse`) they only "
        "choose the features to search at full resolution, and all documents choose the split. "
        "None: 0.7 for small training sets, up to 1 for large ones.",
        default=None,
        search=Range(0.3, 1.0, automatic=subsample_for),
    )
    subsample_by: str = parameter(
        OneOf(("documents", "queries", "gradient")),
        "How the subsample is drawn: single 'documents', whole 'queries', or by 'gradient', which prefers "
        "documents with large gradients or hessians and weights them so that sums stay unbiased. With two-stage "
        "split search, `subsample` is then where it starts; if that is fewer than 50,000 documents, 50,000 are "
        "drawn, or all if 50,000 are more than a fifth. More are drawn where samples mislead.",
        default="documents",
    )
    feature_fraction: float | None = parameter(
        Fraction(optional=True),
        "Fraction of features each round may split on. None: 0.5 for small training sets, up to 1 for large ones; "
        "1 for symmetric trees.",
        default=None,
        search=Range(0.1, 1.0, automatic=feature_fraction_for),
    )
    query_features: Sequence[str] = parameter(
        ListOf(OneOf(tuple(kind.value for kind in QueryFeature)), distinct=True),
        "Columns computed within each query and added to the features: 'zscore', 'rank', 'minmax'.",
        default=(),
        tune=((), ("zscore", "rank")),
        search=Choices((), ("zscore",), ("rank",), ("zscore", "rank")),
    )
    monotone: Mapping[int | str, int] | None = parameter(
        Directions(optional=True),
        "Monotone constraints by feature: +1 if the score must not decrease as the feature increases, "
        "-1 if it must not increase, 0 for no constraint. A number counts from 0; text is a feature's name or, "
        "without names, its number in a LETOR file, from 1.",
        default=None,
    )
    coarse: bool | None = parameter(
        Flag(optional=True),
        "Two-stage split search: compare features on 16 coarse bins first, then search the best four at full "
        f"resolution. Much faster on large data. None: from {COARSE_DOCUMENTS:,} documents on.",
        default=None,
    )
    category_splits: str = parameter(
        OneOf(("sets", "thresholds")),
        "How a category that is one column, of more than 10 values, is split: by 'sets' of levels, ordered by "
        "their gradients before each tree, or by 'thresholds' of the levels' numbers (ordinal).",
        default="sets",
    )
    patience: int | None = parameter(default=100)

    @abstractmethod
    def _rule(self, task: FitTask) -> Rule[Gradients]:
        """Return the rule for documents in canonical order."""

    def _check_together(self) -> None:
        super()._check_together()
        if self.grow_policy != "symmetric":
            return
        given = {"monotone": self.monotone, "coarse=True": self.coarse, "min_documents": self.min_documents}
        for name, is_given in given.items():
            if is_given:
                raise InputError(f"Symmetric trees take no {name}; grow_policy='leafwise' does.")

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        columns = tuple(map(QueryFeature, self.query_features))
        monotone = _directions(self.monotone, task.train.data, n_kinds=1 + len(columns))
        if self.category_splits == "sets":
            _require_numbers(monotone, task.train)
        task = task.with_query_features(columns)
        options = self._monitor_options(task)
        monitor = task.monitor(self.metric, task.watched_labels, patience=self.patience, **options)
        learner = self._learner(task, monotone)
        if task.cluster is None:
            members = self._boosted(self._rule(task), learner, monitor, task)
        else:
            members = boosted_on_cluster(self, learner, monitor, task)
        if not members and task.start is None:
            raise InputError("There is nothing to learn: no feature tells better documents from worse ones.")
        model = self._model(members, task.train)
        learned = QueryFeatureScorer(model, columns) if columns else model
        return learned if task.start is None else task.start.plus(learned), monitor.history

    def _boosted(
        self, rule: Rule[Gradients], learner: WeakLearner[Gradients], monitor: Monitor, task: FitTask
    ) -> list[WeightedModel]:
        return boost(rule, learner, start=self._first_scores(task), rounds=self.n_rounds(task), monitor=monitor)

    def n_rounds(self, task: FitTask) -> int:  # noqa: ARG002
        """Return the maximum number of rounds."""
        return self.rounds

    def part_fit(self, task: FitTask) -> PartFit:
        """Return what boosting on a part of the documents needs, on a worker of a cluster."""
        return PartFit(
            self._rule(task),
            self._first_scores(task),
            self.metric,
            self._monitor_options(task).get("read", unchanged),
        )

    def n_classes(self, task: FitTask) -> int:  # noqa: ARG002
        """Return the number of scores that each document has."""
        return 1

    def _file_bins(self) -> dict[str, Any]:
        return {"max_bins": self.max_bins, "coarse": False if self.grow_policy == "symmetric" else self.coarse}

    def _require_cluster_fit(self, task: FitTask) -> None:
        given = {
            "start": task.start is not None,
            "weights": task.row_weights is not None,
            "positions or propensity": task.shown is not None,
            "query_features": bool(self.query_features),
            "categories split by sets of levels; bin them and fit with category_splits='thresholds'": bool(
                task.train.level_counts
            )
            and self.category_splits == "sets",
        }
        for name, is_given in (given | self._on_one_machine()).items():
            if is_given:
                raise InputError(f"A fit on a cluster takes no {name}.")
        if not type(self.metric).__module__.startswith("rankwright."):
            raise InputError(f"A fit on a cluster takes a metric of rankwright, not {self.metric}.")

    def _on_one_machine(self) -> dict[str, bool]:
        """Return the parameters that only one machine takes, and whether they are given."""
        return {}

    def _first_scores(self, task: FitTask) -> Doubles:
        """Return F_0: zeros, or the scores of the submodel."""
        return task.first_scores

    def _monitor_options(self, task: FitTask) -> dict[str, Any]:
        """Return further options of the monitor."""
        return {} if task.start is None else {"validation_start": task.start.validation}

    def _learner(self, task: FitTask, monotone: NDArray[np.int8]) -> WeakLearner[Gradients]:
        return self._tree_learner(TreeLearner, task, monotone)

    def _tree_learner(self, kind: type[TreeLearner], task: FitTask, monotone: NDArray[np.int8]) -> TreeLearner:
        train, symmetric = task.train, self._is_symmetric(task)
        coarse = self.coarse
        if coarse is None:
            coarse = len(train) >= COARSE_DOCUMENTS and not symmetric
        return kind(
            self._binned(task, coarse=coarse, sets=self.category_splits == "sets"),
            train.labels.groups,
            limits=self._limits(task),
            sampling=TreeSampling(
                self.subsample or subsample_for(len(train)),
                self.subsample_by,
                self.feature_fraction or (1.0 if symmetric else feature_fraction_for(len(train))),
            ),
            monotone=monotone,
            random=np.random.default_rng(self.random_state),
            n_threads=task.n_threads,
            symmetric=symmetric,
        )

    def _is_symmetric(self, task: FitTask) -> bool:  # noqa: ARG002
        """Return whether all leaves of a level share one split."""
        return self.grow_policy == "symmetric"

    def _binned(self, task: FitTask, *, coarse: bool, sets: bool) -> BinnedFeatures:
        return task.train.binned(self.max_bins, task.n_threads, coarse=coarse, sets=sets)

    def _limits(self, task: FitTask) -> TreeLimits:
        n_documents = len(task.train)
        # A tree has at most as many leaves as documents, so larger limits mean the same.
        symmetric = self._is_symmetric(task)
        usual = symmetric_leaves_for(n_documents) if symmetric else leaves_for(n_documents)
        leaves = min(self.max_leaves or usual, max(2, n_documents))
        least = 1 if symmetric else min_documents_for(n_documents)
        documents = min(self.min_documents or least, n_documents + 1)
        return TreeLimits(leaves, documents, self.min_hessian, self.l2, levels=levels_for(task.weights))

    def _model(self, members: Sequence[WeightedModel], train: TrainingSet) -> Scorer:
        """Return F = sum of v times each tree as one ensemble."""
        # Where nothing was better than the start, there are none.
        return weighted_trees(members) if members else TreeEnsemble.empty(train.n_features)


def _directions(monotone: Mapping[int | str, int] | None, train: RankingData, *, n_kinds: int) -> NDArray[np.int8]:
    """Return +1, 0 or -1 for every column: the features, and each kind of columns made from them."""
    if monotone is None:
        return np.zeros(0, dtype=np.int8)
    directions = np.zeros(train.n_features, dtype=np.int8)
    for feature, direction in monotone.items():
        directions[_feature_number(feature, train)] = direction
    return np.tile(directions, n_kinds)


def _require_numbers(monotone: NDArray[np.int8], train: TrainingSet) -> None:
    """Refuse a monotone constraint of a category that is split by sets."""
    for feature in train.level_counts if len(monotone) else ():
        if monotone[feature]:
            name = (train.data.feature_names or ())[feature]
            raise InputError(
                f"monotone names {name!r}, a category, whose levels have no order; give "
                "category_splits='thresholds', or leave it out."
            )


def _feature_number(feature: int | str, train: RankingData) -> int:
    """Return the column of a feature: a number counts from 0; text is a name or, without names, counts from 1."""
    if isinstance(feature, str):
        names = train.feature_names or [str(number) for number in range(1, train.n_features + 1)]
        if feature in names:
            return names.index(feature)
    elif Integer(0, train.n_features - 1).accepts(feature):
        return int(feature)
    raise InputError(f"monotone names the feature {feature!r}, which the data do not have.")

"""McRank (Li, Burges & Wu, NIPS 2007): boosted trees classify documents; expected relevance ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.metrics.gain import Gain
from rankwright.models.class_trees import MAX_CLASSES, ClassLink, ClassTrees, ExpectedRelevance
from rankwright.rankers.parameters.checks import OneOf
from rankwright.rankers.parameters.declaration import fixed, parameter
from rankwright.rankers.parameters.search_space import Choices, Range
from rankwright.rankers.shared.tree_ranker import TreeRanker, min_documents_for
from rankwright.training.learners.class_trees import ClassTreeLearner, TreePerClass
from rankwright.training.learners.signal import Gradients, WeakLearner
from rankwright.training.learners.tree import NativeGradients

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask
    from rankwright.training.monitor import WeightedModel
    from rankwright.training.training_set import TrainingSet

LINKS = {link.value: link for link in ClassLink}


@dataclass(frozen=True)
class ClassRule:
    """Algorithm 1 of the paper: the residual of each class's probability, and the shrinkage.

    `targets` has one row per class: 1 if the document has that label, or at least that label if ordinal.
    """

    remedy: ClassVar[str] = "use a lower learning_rate"
    targets: Doubles
    link: ClassLink
    weights: Doubles | None
    learning_rate: float

    def first_signal(self, scores: Doubles) -> Gradients:
        return self.signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        """r_ik = (1 if document i is of class k, else 0) - p_ik, with hessian p_ik (1 - p_ik).

        For K classes whose probabilities sum to 1, a leaf moves by (K - 1) / K of the Newton step (Friedman 2001).
        """
        shares = self.link.probabilities(scores)
        gradient, hessian = self.targets - shares, shares * (1.0 - shares)
        if self.link is ClassLink.MULTICLASS:
            hessian *= len(shares) / (len(shares) - 1)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def native(self) -> NativeGradients:
        """Return the rule in native code."""
        gradients = _native.class_rule(self.targets, self.link is ClassLink.MULTICLASS, self.weights)
        return NativeGradients(gradients, self.learning_rate)

    def step(self, _signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no split helps."""
        return self.learning_rate if (np.ptp(outputs, axis=1) > 0.0).any() else None


class McRank(TreeRanker):
    """Boosted trees that classify documents by label; documents are ranked by their expected relevance.

    Every distinct label is a class, and the score is the sum over k of P(label = k) times k. A pointwise method:
    the metric only chooses the round.

    Examples
    --------
    >>> judged = rw.RankingData([[1], [2], [8], [9]], [0, 0, 1, 1], ["hats"] * 4)
    >>> model = rw.McRank(rounds=50).fit(judged).model_
    >>> model.probabilities([[1.5], [8.5]]).round(1).tolist()  # of label 0 and of label 1
    [[0.8, 0.2], [0.2, 0.8]]
    """

    name: ClassVar[str] = "mcrank"
    takes_start: ClassVar[bool] = False  # another model has no scores per class

    classes: str = parameter(
        OneOf(tuple(LINKS)),
        "'multiclass': probabilities of the labels, which sum to 1. 'ordinal': probabilities that the label is at "
        "least k.",
        default="multiclass",
        tune=("multiclass", "ordinal"),
        search=Choices("multiclass", "ordinal"),
    )
    trees: str = parameter(
        OneOf(("shared", "per_class")),
        "'shared': one tree per round, with one value per class in every leaf. 'per_class': one tree per class "
        "and round, as in the paper.",
        default="shared",
        tune=("shared", "per_class"),
        search=Choices("shared", "per_class"),
    )
    relevance: str = parameter(
        OneOf(("labels", "gains")),
        "Value of a label in the expectation: the 'labels' themselves, or their 'gains', 2^label - 1.",
        default="labels",
        search=Choices("labels", "gains"),
    )
    max_leaves: int | None = parameter(default=None, tune=())
    min_documents: int | None = parameter(
        default=None, search=Range(1, 100, log=True, automatic=min_documents_for)
    )
    subsample: float | None = parameter(
        meaning="Fraction of documents each round chooses its splits on. None: 0.7 for small training sets, up "
        "to 1 for large ones.",
        default=None,
    )
    grow_policy: str = fixed(default="leafwise")
    monotone: Mapping[int | str, int] | None = fixed(default=None)
    category_splits: str = fixed(default="thresholds")  # an order of levels is fitted to one gradient
    coarse: bool | None = fixed(
        default=False
    )  # trees with several values per leaf always search at full resolution

    def _rule(self, task: FitTask) -> ClassRule:
        levels = np.unique(task.train.all_labels)
        _require_few(len(levels))
        level_of_row = np.searchsorted(levels, task.train.labels.y)
        link = LINKS[self.classes]
        if link is ClassLink.MULTICLASS:
            targets = level_of_row == np.arange(len(levels))[:, None]
        else:
            targets = level_of_row >= np.arange(1, len(levels))[:, None]
        return ClassRule(targets.astype(np.float64), link, task.weights, self.learning_rate)

    def _learner(self, task: FitTask, monotone: NDArray[np.int8]) -> WeakLearner[Gradients]:
        kind = ClassTreeLearner if self.trees == "shared" else TreePerClass
        return self._tree_learner(kind, task, monotone)

    def n_classes(self, task: FitTask) -> int:
        return LINKS[self.classes].n_classes(len(self._levels(task.train)))

    def _first_scores(self, task: FitTask) -> Doubles:
        """Return F_ik = 0."""
        return np.zeros((self.n_classes(task), len(task.train)))

    def _monitor_options(self, task: FitTask) -> dict[str, Any]:
        levels, link = self._levels(task.train), LINKS[self.classes]
        return {"read": lambda scores, _total: link.relevance(scores, levels)}

    def _model(self, members: Sequence[WeightedModel], train: TrainingSet) -> Scorer:
        """Return the weighted trees of each class, with the link that turns their sums into expected relevance."""
        parts = [model for _, model in members if isinstance(model, ClassTrees)]
        classes = ClassTrees.concatenate(parts, [weight for weight, _ in members])
        return ExpectedRelevance(classes, self._levels(train), LINKS[self.classes])

    def _levels(self, train: TrainingSet) -> Doubles:
        """Return the value of each label in the expectation."""
        labels = np.unique(train.all_labels) + 0.0  # never -0, whichever zero came first
        if self.relevance == "labels":
            return labels
        gains = Gain.EXPONENTIAL(labels)
        if not (np.diff(gains) > 0).all():
            lower = int(np.diff(gains).argmin())
            raise InputError(
                f"The labels {labels[lower]:g} and {labels[lower + 1]:g} have the same gain; "
                "use relevance='labels'."
            )
        return gains


def _require_few(n_labels: int) -> None:
    if n_labels > MAX_CLASSES:
        raise InputError(
            f"McRank treats every distinct label as a class: {n_labels} are too many, at most {MAX_CLASSES} are "
            "allowed; MART takes any number."
        )

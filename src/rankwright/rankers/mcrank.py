"""McRank (Li, Burges & Wu, NIPS 2007): boosted trees classify documents; the expected relevance ranks them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.errors import InputError
from rankwright.learners import ClassTreeLearner, Gradients, TreeLearner, TreePerClass
from rankwright.metrics import NDCG, Gain, Metric
from rankwright.models import ClassLink, ClassTrees, ExpectedRelevance
from rankwright.models.class_trees import MOST_CLASSES
from rankwright.rankers.parameters import require_one_of
from rankwright.rankers.tree_ranker import TreeRanker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.arrays import Doubles
    from rankwright.boosting import Member
    from rankwright.learners import WeakLearner
    from rankwright.models import Scorer
    from rankwright.training import FitTask, TrainingSet

LINKS = {one.value: one for one in ClassLink}
TREES = ("shared", "per_class")
RELEVANCE = ("labels", "gains")


@dataclass(frozen=True)
class ClassRule:
    """Algorithm 1 of the paper: how far each class's probability is from the truth, and the shrinkage.

    `targets` are 1 where a document is of a class (row), or, for ordinal classes, of that level or a higher one.
    """

    remedy: ClassVar[str] = "use a lower learning_rate"
    targets: Doubles
    link: ClassLink
    weights: Doubles | None
    learning_rate: float

    def first_signal(self, scores: Doubles) -> Gradients:
        """Return the residuals before the first round."""
        return self.signal(scores)

    def signal(self, scores: Doubles) -> Gradients:
        """r_ik = 1 if document i is of class k, less p_ik; each is p_ik (1 - p_ik) steep.

        Among K classes that share a total of 1, a leaf moves by (K - 1) / K of the Newton step (Friedman 2001).
        """
        shares = self.link.probabilities(scores)
        gradient, hessian = self.targets - shares, shares * (1.0 - shares)
        if self.link is ClassLink.MULTICLASS:
            hessian *= len(shares) / (len(shares) - 1)
        if self.weights is None:
            return Gradients(gradient, hessian)
        return Gradients(gradient * self.weights, hessian * self.weights)

    def step(self, _signal: Gradients, outputs: Doubles) -> float | None:
        """Return the shrinkage v; None once no split helps."""
        return self.learning_rate if (np.ptp(outputs, axis=1) > 0.0).any() else None


class McRank(TreeRanker):
    """Boosts trees that tell classes of relevance apart, and ranks documents by the relevance to be expected.

    Every distinct label is a class, and the score is the sum over k of P(label is k) x k. It looks at single
    documents; the metric only chooses the round. Its `grid` for tuning: both kinds of classes and of trees, with
    and without columns made within the query.

    Parameters
    ----------
    metric
        What the validation part is judged by.
    classes
        `"multiclass"`: the probabilities of all labels, together 1; `"ordinal"`: of each label or a higher one.
    trees
        `"shared"`: one tree a round, with a value for each class in every leaf; `"per_class"`: one tree a class
        and round, as in the paper.
    relevance
        What a label is worth in the expectation: `"labels"`, or their `"gains"`, 2^label - 1.
    rounds
        Most rounds; with a validation part the best number of them is kept.
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
        `"gradient"`: those that are classified badly rather than well, weighted so that sums stay right. None
        takes 0.7 for small training sets up to all for large ones.
    feature_fraction
        The share of features a round may split on; None takes half for small training sets up to all.
    query_features
        Columns made within the query beside the raw ones: any of `"zscore"`, `"rank"`, `"minmax"`.
    max_bins
        Codes a feature's values are binned to, at most 255.
    patience
        Rounds without a better validation value before stopping; None goes on.
    seed
        Of all that is drawn; the same seed gives the same model.
    n_threads
        Threads to use, None for all that this process may; the model does not depend on it.
    """

    name: ClassVar[str] = "mcrank"
    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "classes": ("multiclass", "ordinal"),
        "trees": ("shared", "per_class"),
        "query_features": ((), ("zscore", "rank")),
    }
    takes_start: ClassVar[bool] = False  # another model has no scores for classes
    coarse = False  # trees with several values a leaf look at every code

    def __init__(
        self,
        metric: Metric = NDCG(k=10),  # noqa: B008  # a frozen value
        *,
        classes: str = "multiclass",
        trees: str = "shared",
        relevance: str = "labels",
        rounds: int = 500,
        learning_rate: float = 0.05,
        max_leaves: int | None = None,
        min_documents: int | None = None,
        min_hessian: float = 1e-3,
        l2: float = 1.0,
        subsample: float | None = None,
        subsample_by: str = "documents",
        feature_fraction: float | None = None,
        query_features: Sequence[str] = (),
        max_bins: int = 255,
        patience: int | None = 100,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.classes = classes
        self.trees = trees
        self.relevance = relevance
        self.rounds = rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.min_documents = min_documents
        self.min_hessian = min_hessian
        self.l2 = l2
        self.subsample = subsample
        self.subsample_by = subsample_by
        self.feature_fraction = feature_fraction
        self.query_features = query_features
        self.max_bins = max_bins
        self.patience = patience
        self.seed = seed
        self.n_threads = n_threads

    def _rule(self, task: FitTask) -> ClassRule:
        levels, place = np.unique(task.train.labels.y, return_inverse=True)
        _require_few(len(levels))
        link = LINKS[self.classes]
        if link is ClassLink.MULTICLASS:
            targets = place == np.arange(len(levels))[:, None]
        else:
            targets = place >= np.arange(1, len(levels))[:, None]
        return ClassRule(targets.astype(np.float64), link, task.weights, self.learning_rate)

    def _learner(self, task: FitTask, monotone: NDArray[np.int8]) -> WeakLearner[Gradients]:
        if self.trees == "shared":
            return self._tree_learner(ClassTreeLearner, task, monotone)
        return TreePerClass(self._tree_learner(TreeLearner, task, monotone))

    def _first_scores(self, task: FitTask) -> Doubles:
        """Return F_ik = 0."""
        return np.zeros((LINKS[self.classes].n_classes(len(self._levels(task.train))), len(task.train)))

    def _watched(self, task: FitTask) -> dict[str, Any]:
        levels, link = self._levels(task.train), LINKS[self.classes]
        return {"read": lambda scores: link.relevance(scores, levels)}

    def _model(self, members: Sequence[Member], train: TrainingSet) -> Scorer:
        """Return the sums of v times each class's trees, and how to read them."""
        parts = [model for _, model in members if isinstance(model, ClassTrees)]
        classes = ClassTrees.concatenate(parts, [weight for weight, _ in members])
        return ExpectedRelevance(classes, self._levels(train), LINKS[self.classes])

    def _levels(self, train: TrainingSet) -> Doubles:
        """Return what each label is worth."""
        labels = np.unique(train.labels.y) + 0.0  # never -0, whichever zero came first
        if self.relevance == "labels":
            return labels
        gains = Gain.EXPONENTIAL(labels)
        if not (np.diff(gains) > 0).all():
            place = int(np.diff(gains).argmin())
            raise InputError(
                f"The labels {labels[place]:g} and {labels[place + 1]:g} have the same gain; "
                "use relevance='labels'."
            )
        return gains

    def _check_parameters(self) -> None:
        super()._check_parameters()
        require_one_of("classes", self.classes, tuple(LINKS))
        require_one_of("trees", self.trees, TREES)
        require_one_of("relevance", self.relevance, RELEVANCE)


def _require_few(n_labels: int) -> None:
    if n_labels > MOST_CLASSES:
        raise InputError(
            f"McRank takes every label for a class: {n_labels} different ones are too many, "
            f"{MOST_CLASSES} at most; MART takes any."
        )

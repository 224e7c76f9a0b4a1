"""Trees that score relevance classes, and the expected relevance that follows from these scores."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import product
from math import comb
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import State, checked_integer, frozen_numbers, shown
from rankwright.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents
    from rankwright.data.groups import QueryGroups

MAX_CLASSES = 256
MAX_EXPLAINED_CLASSES = 10
NEGLIGIBLE = 1e-12
"""What rounding may leave of contributions that cancel, relative to their size."""


@dataclass(frozen=True, eq=False)
class ClassTrees:
    """An ensemble with one score per class.

    Either every leaf has one value per class, or the trees belong to the classes in turn, with one value per leaf:
    column `c` of the leaves of tree `t` belongs to class `(t * n_columns + c) % n_classes`.

    Parameters
    ----------
    trees
        The splits; the leaf values of this ensemble are ignored.
    values
        The leaf values: one row per leaf, with one column or `n_classes` columns.
    n_classes
        Number of classes.
    """

    trees: TreeEnsemble
    values: Doubles
    n_classes: int

    def __post_init__(self) -> None:
        n_classes = checked_integer("n_classes", self.n_classes)
        if not 1 <= n_classes <= MAX_CLASSES:
            raise InputError(f"n_classes must be between 1 and {MAX_CLASSES}, not {shown(n_classes)}.")
        if not isinstance(self.trees, TreeEnsemble):
            raise InputError("The trees of classes must be an ensemble of trees.")
        values = np.asarray(self.values)
        n_columns = values.shape[1] if values.ndim == 2 and values.shape[1] in (1, n_classes) else n_classes
        shape = (len(self.trees.leaf_value), n_columns)
        object.__setattr__(self, "values", frozen_numbers("values", values, shape))
        object.__setattr__(self, "n_classes", n_classes)
        object.__setattr__(self, "trees", replace(self.trees.bare(), leaf_value=np.zeros(shape[0])))
        if self.trees.n_trees % self.trees_per_round:
            raise InputError(f"{self.trees.n_trees} trees cannot be one for each of {n_classes} classes.")

    @classmethod
    def grown(cls, trees: TreeEnsemble, values: Doubles, n_classes: int) -> Self:
        """Return classes just as they were grown, unchecked: training makes them once per round."""
        classes = cls.__new__(cls)
        for name, value in (("trees", trees), ("values", values), ("n_classes", n_classes)):
            object.__setattr__(classes, name, value)
        return classes

    @classmethod
    def of_each(cls, ensembles: Sequence[TreeEnsemble]) -> Self:
        """Combine one tree per class."""
        trees = TreeEnsemble.concatenate(ensembles)
        return cls(trees, trees.leaf_value[:, None], len(ensembles))

    @classmethod
    def concatenate(cls, parts: Sequence[ClassTrees], weights: Sequence[float]) -> Self:
        """Return the weighted sum of several ensembles with the same classes and columns."""
        values = [weight * part.values for weight, part in zip(weights, parts, strict=True)]
        trees = TreeEnsemble.concatenate([part.trees for part in parts])
        return cls(trees, np.concatenate(values), parts[0].n_classes)

    @property
    def trees_per_round(self) -> int:
        """The number of trees that score every class once."""
        return self.n_classes // int(self.values.shape[1])

    @property
    def n_rounds(self) -> int:
        """The number of boosting rounds."""
        return self.trees.n_trees // self.trees_per_round

    def first(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only."""
        trees = self.trees.first(n_rounds * self.trees_per_round)
        return replace(self, trees=trees, values=self.values[: len(trees.leaf_value)])

    @property
    def largest(self) -> Doubles:
        """The largest absolute score that each tree gives."""
        first_leaves = self.trees.splits[:-1] + np.arange(self.trees.n_trees)
        return np.asarray(np.maximum.reduceat(np.abs(self.values).max(axis=1), first_leaves))

    def outputs(self, data: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return the scores, one row per class and one column per document."""
        return np.stack([trees.predict(data, n_jobs=n_jobs) for trees in self.by_class])

    def _scores(self, X: Any, groups: QueryGroups, n_threads: int) -> Doubles:
        return np.stack([trees._score(X, groups, n_threads) for trees in self.by_class])

    def _contributions(self, X: Any, groups: QueryGroups, n_threads: int) -> Doubles:
        """Return the contributions to the score of each class: classes x documents x (features and base score)."""
        return np.stack([trees._contributions(X, groups, n_threads) for trees in self.by_class])

    @cached_property
    def by_class(self) -> tuple[TreeEnsemble, ...]:
        """The trees of each class with their leaf values; built on first use, never saved."""
        if self.trees_per_round == 1:
            return tuple(replace(self.trees, leaf_value=column) for column in self.values.T)
        whole = replace(self.trees, leaf_value=self.values[:, 0])
        return tuple(whole.take(range(k, self.trees.n_trees, self.n_classes)) for k in range(self.n_classes))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "by_class"}


class ClassLink(Enum):
    """How scores of classes become probabilities, and these the expected relevance.

    `MULTICLASS`: one score per relevance level; their softmax is the probability of each level. `ORDINAL`: one
    score per level above the lowest; its logistic function is the probability of that level or a higher one.
    """

    MULTICLASS = "multiclass"
    ORDINAL = "ordinal"

    def n_classes(self, n_levels: int) -> int:
        """Return the number of scores for this number of levels."""
        return n_levels if self is ClassLink.MULTICLASS else n_levels - 1

    def probabilities(self, scores: Doubles) -> Doubles:
        """Return the probability of each class (row) for every document (column)."""
        return _native.class_probabilities(scores, self is ClassLink.MULTICLASS)

    def steps(self, levels: Doubles) -> tuple[float, Doubles]:
        """Return the expected level without any probability, and what each probability adds to it."""
        if self is ClassLink.MULTICLASS:
            return 0.0, levels
        return float(levels[0]), np.diff(levels)

    def relevance(self, scores: Doubles, levels: Doubles) -> Doubles:
        """Return the expected level of every document.

        Summed class by class: in a matrix product a sum may depend on the documents beside it.
        """
        start, steps = self.steps(levels)
        expected = np.full(scores.shape[1], start)
        for step, probability in zip(steps, self.probabilities(scores), strict=True):
            expected += step * probability
        return expected


@dataclass(frozen=True, eq=False, repr=False)
class ClassScorer(Scorer):
    """A function of the scores that trees give each class; contributions are those of `class_contributions`.

    Parameters
    ----------
    classes
        The trees that score each class.
    """

    classes: ClassTrees

    def __post_init__(self) -> None:
        self._set("n_features", self.classes.trees.n_features)
        super().__post_init__()

    @property
    def n_rounds(self) -> int:
        """The number of boosting rounds."""
        return self.classes.n_rounds

    @property
    def n_trees(self) -> int:
        """Number of trees of all classes."""
        return self.classes.trees.n_trees

    def first(self, n_rounds: int) -> Self:
        """Return the model of the first rounds only."""
        return replace(self, classes=self.classes.first(n_rounds))

    @property
    def total_gain(self) -> Doubles:
        """The total gain of the splits on each feature."""
        return self.classes.trees.total_gain

    @property
    def used_features(self) -> Integers:
        """The features that occur in any split."""
        return self.classes.trees.used_features

    @abstractmethod
    def _of_classes(self, scores: Doubles, groups: QueryGroups, n_threads: int) -> Doubles:
        """Return the score of each document, given one row of scores per class."""

    def _score(self, X: Any, groups: QueryGroups, n_threads: int, /) -> Doubles:
        return self._of_classes(self.classes._scores(X, groups, n_threads), groups, n_threads)

    def _contributions(self, X: Any, groups: QueryGroups, n_threads: int, /) -> Doubles:
        parts = self.classes._contributions(X, groups, n_threads)
        scores = self.classes._scores(X, groups, n_threads)
        return class_contributions(parts, scores, lambda mixed: self._of_classes(mixed, groups, n_threads))

    @staticmethod
    def _saved_classes(state: State) -> ClassTrees:
        """Return the trees with their leaf values from a file."""
        trees = state.child("trees")
        if not isinstance(trees, TreeEnsemble):
            raise InputError(f"The trees must be of kind {TreeEnsemble.kind!r}, not {trees.kind!r}.")
        return ClassTrees(trees, state.matrix("values"), state.integer("n_classes"))


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedRelevance(ClassScorer):
    """The expected relevance of a document by the class scores of trees (Li, Burges & Wu 2007).

    Contributions are those of `class_contributions`.

    Parameters
    ----------
    classes
        The trees that score each class.
    levels
        The value of each relevance level, ascending.
    link
        How scores of classes become probabilities of levels.
    """

    kind: ClassVar[str] = "expected_relevance"
    levels: Doubles
    link: ClassLink

    def __post_init__(self) -> None:
        self._set("levels", frozen_numbers("levels", self.levels))
        if len(self.levels) < 2 or not (np.diff(self.levels) > 0).all():
            raise InputError("levels must be at least two numbers in ascending order.")
        if self.link.n_classes(len(self.levels)) != self.classes.n_classes:
            raise InputError(f"{len(self.levels)} levels cannot have {self.classes.n_classes} classes.")
        super().__post_init__()

    def __repr__(self) -> str:
        return (
            f"ExpectedRelevance({counted(self.n_rounds, 'round')}, {counted(len(self.levels), 'level')}, "
            f"{counted(self.n_features, 'feature')})"
        )

    def probabilities(self, X: Any, qid: ArrayLike | None = None, *, n_jobs: int | None = None) -> Doubles:
        """Return the probability of each level, one row per document. Takes the same input as `predict`."""
        features, groups = self._checked(X, qid)
        shares = self.link.probabilities(self.classes._scores(features, groups, resolve_threads(n_jobs)))
        if self.link is ClassLink.ORDINAL:  # of a level or a higher one; where they cross, a level gets 0
            above = np.vstack([np.ones(shares.shape[1]), np.minimum.accumulate(shares), np.zeros(shares.shape[1])])
            shares = -np.diff(above, axis=0)
        return np.ascontiguousarray(shares.T)

    def _of_classes(self, scores: Doubles, _groups: QueryGroups, _threads: int) -> Doubles:
        return self.link.relevance(scores, self.levels)

    def state(self) -> State:
        """Return the trees, their leaf values, the levels and the link."""
        return State(
            fields={"link": self.link.value, "n_classes": self.classes.n_classes},
            arrays={"values": self.classes.values, "levels": self.levels},
            children={"trees": self.classes.trees},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a scorer from its trees, their leaf values, the levels and the link."""
        name, known = state.fields.get("link"), {link.value: link for link in ClassLink}
        if not isinstance(name, str) or name not in known:
            raise InputError(f"link must be one of {', '.join(known)}, not {shown(name)}.")
        return cls(cls._saved_classes(state), state.vector("levels"), known[name])


def class_contributions(parts: Doubles, scores: Doubles, score_of: Callable[[Doubles], Doubles]) -> Doubles:
    """Return contributions to a function of class scores, one row per document and last the base score.

    The base score is the function of the base scores of the classes. The difference between score and base score
    is divided among the classes by Shapley's definition, each class having its base score or its own. The part of
    a class is divided among the features in proportion to their contributions to its score.

    Parameters
    ----------
    parts
        The contributions to the score of each class: classes x documents x features, and last the base score.
    scores
        The score of each class (row) for every document (column).
    score_of
        The function, which takes one row per class and returns one score per document.
    """
    features, base = parts[..., :-1], parts[..., -1]
    shares = _shapley_values(base, scores, score_of)
    total = features.sum(axis=2)
    cancelled = np.abs(total) <= NEGLIGIBLE * (np.abs(features).sum(axis=2) + np.abs(base))
    slopes = np.where(cancelled, 0.0, shares / np.where(cancelled, 1.0, total))
    values = np.empty(parts.shape[1:])
    values[:, :-1] = (features * slopes[..., None]).sum(axis=0)
    values[:, -1] = score_of(base)
    return values


def _shapley_values(base: Doubles, scores: Doubles, score_of: Callable[[Doubles], Doubles]) -> Doubles:
    """Return each class's share (row) of the difference between score and base score of a document (column)."""
    n_classes = len(scores)
    if n_classes > MAX_EXPLAINED_CLASSES:
        raise InputError(
            f"Contributions of features can be computed for at most {MAX_EXPLAINED_CLASSES} classes, not "
            f"{n_classes}."
        )
    shares = np.zeros_like(scores)
    for chosen in product((False, True), repeat=n_classes):
        own = np.array(chosen)
        value = score_of(np.where(own[:, None], scores, base))
        size = int(own.sum())
        if size:
            shares[own] += value / (n_classes * comb(n_classes - 1, size - 1))
        if size < n_classes:
            shares[~own] -= value / (n_classes * comb(n_classes - 1, size))
    return shares

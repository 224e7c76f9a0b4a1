"""An ensemble of trees, flat: what boosting over trees leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from rankwright import _native
from rankwright.data.features import checked_features
from rankwright.errors import InputError
from rankwright.models.scorer import Scorer
from rankwright.models.state import State, checked_integer, checked_number, frozen_numbers, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.data.groups import QueryGroups

MAX_FEATURES = 2**31 - 1
MAX_SPLITS = 2**25 - 1
DTYPES: dict[str, type[np.generic]] = {
    "splits": np.int64,
    "feature": np.int32,
    "threshold": np.float32,
    "missing_left": np.uint8,
    "left": np.int32,
    "right": np.int32,
    "leaf_value": np.float64,
    "gain": np.float64,
    "cover": np.float64,
}
A_SPLIT = ("feature", "threshold", "missing_left", "left", "right", "gain")
A_LEAF = ("leaf_value", "cover")


@dataclass(frozen=True, eq=False, repr=False)
class TreeEnsemble(Scorer):
    """The sum of the leaves that a document falls into, one a tree.

    All trees' splits lie one after another, and all leaves. Tree `t` has the splits
    `splits[t]` to `splits[t + 1]` and, being binary, one leaf more: from `splits[t] + t`. A split sends a
    document left if its feature is at most the threshold, or is missing and `missing_left` says so. A child from
    0 up is a split of the same tree (counted from its first, always after its parent); a negative one is the
    leaf `-1 - child` of the same tree. The first split is the root; a tree without splits is one leaf.

    Contributions are exact Shapley values, where a feature that is not known sends a document both ways, in
    the shares of the training documents that went there (Lundberg, Erion & Lee 2018); what every score starts from
    is the expected score of a document of which nothing is known. A split whose leaves all have cover 0 sends
    halves both ways.

    Parameters
    ----------
    splits
        Where each tree's splits begin, and where the last one's end.
    feature, threshold, missing_left, left, right
        One a split. A threshold that is no 32-bit float is rounded down to one, which no 32-bit value notices.
    leaf_value
        What each leaf adds to the score.
    gain
        How much each split lowered the training loss: for importances.
    cover
        How many training documents reached each leaf: for contributions.
    n_features
        Number of features of the data.
    """

    kind: ClassVar[str] = "trees"
    splits: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_value: NDArray[np.float64]
    gain: NDArray[np.float64]
    cover: NDArray[np.float64]
    n_features: int = field(kw_only=True)

    def __post_init__(self) -> None:
        self._set("n_features", checked_integer("n_features", self.n_features))
        if not 1 <= self.n_features <= MAX_FEATURES:
            raise InputError(f"n_features must be from 1 to {MAX_FEATURES}, not {shown(self.n_features)}.")
        for name in ("splits", "feature", "missing_left", "left", "right"):
            self._set(name, _frozen_integers(name, getattr(self, name)))
        _require(len(self.feature) <= MAX_SPLITS, f"There may be at most {MAX_SPLITS} splits.")
        _require_offsets(self.splits, len(self.feature))
        sizes = dict.fromkeys(A_SPLIT, len(self.feature)) | dict.fromkeys(A_LEAF, len(self.feature) + self.n_trees)
        for name in ("threshold", "leaf_value", "gain", "cover"):
            numbers = frozen_numbers(name, getattr(self, name), (sizes[name],))
            self._set(name, _rounded_down(numbers) if name == "threshold" else numbers)
        for name in ("missing_left", "left", "right"):
            _require(len(getattr(self, name)) == sizes[name], f"{name} must have one value a split.")
        _require_range("feature", self.feature, self.n_features - 1)
        _require_range("missing_left", self.missing_left, 1)
        _require((self.cover >= 0).all(), "cover must not be negative.")
        _require_trees(self.splits, self.left, self.right)
        super().__post_init__()

    @classmethod
    def grown(cls, tree: Mapping[str, ArrayLike], n_features: int) -> Self:
        """Return one tree just as it was grown, unchecked: training makes one a round."""
        ensemble = cls.__new__(cls)
        values: dict[str, Any] = {name: np.asarray(value, DTYPES[name]) for name, value in tree.items()}
        values |= {"splits": np.array([0, len(values["feature"])]), "n_features": n_features}
        for name, value in (values | {"feature_names": None, "about": {}}).items():
            ensemble._set(name, value)
        return ensemble

    def __repr__(self) -> str:
        return f"TreeEnsemble({self.n_trees:,} trees, {self.n_features} features)"

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.splits) - 1

    @property
    def n_rounds(self) -> int:
        """Number of trees."""
        return self.n_trees

    def first(self, n_trees: int) -> Self:
        """Return the model of the first trees alone."""
        n_trees = checked_integer("n_trees", n_trees)
        if not 0 <= n_trees <= self.n_trees:
            raise InputError(f"n_trees must be from 0 to {self.n_trees}, not {shown(n_trees)}.")
        n_splits = int(self.splits[n_trees])
        cut = dict.fromkeys(A_SPLIT, n_splits) | dict.fromkeys(A_LEAF, n_splits + n_trees)
        parts = {name: getattr(self, name)[:size] for name, size in cut.items()}
        return replace(self, splits=self.splits[: n_trees + 1], **parts)

    def take(self, trees: Sequence[int]) -> Self:
        """Return the model of the trees listed, which must ascend."""
        wanted = np.zeros(self.n_trees, dtype=bool)
        wanted[np.asarray(trees, dtype=np.int64)] = True
        sizes = np.diff(self.splits)
        of_split, of_leaf = np.repeat(wanted, sizes), np.repeat(wanted, sizes + 1)
        parts = {name: getattr(self, name)[of_split] for name in A_SPLIT}
        parts |= {name: getattr(self, name)[of_leaf] for name in A_LEAF}
        return replace(self, splits=np.concatenate([[0], np.cumsum(sizes[wanted])]), **parts)

    def scaled(self, factor: float | list[float]) -> Self:
        """Return the model whose every leaf is multiplied by the factor, or by its tree's own factor."""
        if isinstance(factor, list):
            factors = np.repeat(frozen_numbers("factor", factor, (self.n_trees,)), np.diff(self.splits) + 1)
        else:
            factors = np.full(len(self.leaf_value), checked_number("factor", factor))
        with np.errstate(over="ignore"):  # refused as not finite
            return replace(self, leaf_value=self.leaf_value * factors)

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """Return the model of no trees, whose scores are all 0."""
        nothing: dict[str, Any] = {name: np.zeros(0, DTYPES[name]) for name in A_SPLIT + A_LEAF}
        return cls(np.zeros(1, np.int64), **nothing, n_features=n_features)

    @classmethod
    def concatenate(cls, ensembles: Sequence[TreeEnsemble]) -> Self:
        """Return one model of all the trees, in order; the ensembles must have the same features."""
        if not ensembles:
            raise InputError("There must be at least one ensemble to concatenate.")
        n_features = {one.n_features for one in ensembles}
        names = {one.feature_names for one in ensembles} - {None}
        if len(n_features) > 1 or len(names) > 1:
            raise InputError("Only ensembles of the same features can be concatenated.")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in ensembles]) for name in A_SPLIT + A_LEAF
        }
        sizes = np.concatenate([np.diff(one.splits) for one in ensembles])
        splits = np.concatenate([[0], np.cumsum(sizes)])
        return cls(splits, **joined, n_features=n_features.pop(), feature_names=next(iter(names), None))

    def importances(self, kind: Literal["gain", "splits"] = "gain") -> NDArray[np.float64]:
        """Return for each feature the sum of its splits' gains, or the number of its splits."""
        if kind not in ("gain", "splits"):
            raise InputError(f"kind must be 'gain' or 'splits', not {shown(kind)}.")
        weights = self.gain if kind == "gain" else np.ones(len(self.gain))
        return np.bincount(self.feature, weights, minlength=self.n_features).astype(np.float64)

    @property
    def used_features(self) -> NDArray[np.int64]:
        """Those that any split looks at."""
        return np.unique(self.feature).astype(np.int64)

    def _contributions(self, X: Any, _groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        arrays = {name: getattr(self, name) for name in DTYPES if name != "gain"}
        return _native.tree_contributions(**arrays, values=checked_features(X), n_threads=n_threads)

    def _opened(self, X: Any) -> Any:
        return X if _is_dense(X) or _is_sparse(X) else checked_features(X)

    def _score(self, X: Any, _groups: QueryGroups, n_threads: int, /) -> NDArray[np.float64]:
        if isinstance(X, np.ndarray):
            scores = self._prepared.score(X, n_threads)
        else:
            stored = slice(X.nnz)  # there may be room for more
            scores = self._prepared.score_sparse(X.indptr, X.indices[stored], X.data[stored], n_threads)
        if scores is None:
            checked_features(X)  # finds the infinity and tells where it is
            raise AssertionError("the native scorer has found an infinity where there is none")
        return scores

    @cached_property
    def _prepared(self) -> _native.TreeScorer:
        """The thresholds sorted and the splits coded: made when first needed, never saved."""
        return _native.TreeScorer(
            self.splits,
            self.feature,
            self.threshold,
            self.missing_left,
            self.left,
            self.right,
            self.leaf_value,
            self.n_features,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_prepared"}

    def state(self) -> State:
        """Return the arrays and the number of features."""
        return State(fields={"n_features": self.n_features}, arrays={name: getattr(self, name) for name in DTYPES})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make an ensemble from its arrays and number of features."""
        arrays: dict[str, Any] = {name: state.array(name, dtype) for name, dtype in DTYPES.items()}
        return cls(**arrays, n_features=state.integer("n_features"))


def _is_dense(X: Any) -> bool:
    """Whether the native scorer reads this array where it lies."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype in (np.float32, np.float64) and X.flags.aligned


def _is_sparse(X: Any) -> bool:
    """Whether the native scorer reads this matrix where it lies: compressed rows, no feature twice in one."""
    if not hasattr(X, "todense") or X.format != "csr" or X.ndim != 2 or X.dtype not in (np.float32, np.float64):
        return False
    return bool(X.has_canonical_format) and X.indices.dtype == X.indptr.dtype


def _require(holds: bool | np.bool_, sentence: str) -> None:
    if not holds:
        raise InputError(sentence)


def _frozen_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a read-only copy as integers of the field's type."""
    given, dtype = np.asarray(values), DTYPES[name]
    if given.ndim != 1:
        raise InputError(f"{name} has shape {given.shape}, expected one row of numbers.")
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"{name} must be whole numbers, not {given.dtype}.")
    numbers = given.astype(dtype)
    if not (numbers == given).all():
        raise InputError(f"{name} holds numbers too large for {np.dtype(dtype)}.")
    numbers.flags.writeable = False
    return numbers


def _rounded_down(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the highest 32-bit floats that are not above: they divide 32-bit values as the numbers do."""
    with np.errstate(over="ignore"):
        nearest = numbers.astype(np.float32)
    down = np.where(nearest > numbers, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    _require(np.isfinite(down).all(), "threshold holds numbers too low for a 32-bit float.")
    down.flags.writeable = False
    return down


def _require_range(name: str, values: NDArray[Any], highest: int) -> None:
    wrong = (values < 0) | (values > highest)
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(f"{name}[{place}] is {values[place]}; it must be from 0 to {highest}.")


def _require_offsets(splits: NDArray[np.int64], n_splits: int) -> None:
    _require(len(splits) > 0 and splits[0] == 0, "splits must begin with 0.")
    _require((splits[1:] >= splits[:-1]).all(), "splits must not fall.")
    _require(splits[-1] == n_splits, f"splits must end with the number of splits, {n_splits}, not {splits[-1]}.")


def _require_trees(splits: NDArray[np.int64], left: NDArray[np.int32], right: NDArray[np.int32]) -> None:
    """Refuse children that do not form binary trees.

    Children after their parents, every split but the root and every leaf exactly one's child: then every one of
    them is reached from its root. A tree of n splits has 2n children and as many places to fill, so that it is
    enough that no place is filled twice.
    """
    sizes = np.diff(splits)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    place, size = np.arange(len(left)) - splits[tree], sizes[tree]
    filled = np.zeros(2 * len(left) + len(sizes), dtype=np.uint8)  # all splits, then all leaves
    for name, child in (("left", left.astype(np.int64)), ("right", right.astype(np.int64))):
        wrong = np.where(child < 0, -1 - child > size, (child <= place) | (child >= size))
        if wrong.any():
            split = int(wrong.argmax())
            raise InputError(f"{name}[{split}] is {child[split]}: no later split nor a leaf of its tree.")
        target = np.where(child < 0, len(left) + splits[tree] + tree - 1 - child, splits[tree] + child)
        _require(not filled[target].any(), f"{name} names a child that has a parent already.")
        filled[target] = 1
        _require(filled.sum() == (1 if name == "left" else 2) * len(left), f"{name} names a child twice.")

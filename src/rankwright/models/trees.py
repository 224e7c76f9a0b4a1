"""An ensemble of decision trees in flat arrays."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.models.level_sets import SETS, levels_of, no_sets, no_words, require_sets
from rankwright.models.scorer import Scorer
from rankwright.models.serialisation import (
    Saved,
    State,
    checked_integer,
    checked_n_features,
    checked_number,
    frozen_numbers,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.groups import QueryGroups

MAX_SPLITS = 2**25 - 1
DTYPES: dict[str, type[np.generic]] = {
    "splits": np.int64,
    "feature": np.int32,
    "threshold": np.float32,
    "missing_left": np.uint8,
    "left": np.int32,
    "right": np.int32,
    "set_size": np.uint32,
    "set_words": np.uint32,
    "leaf_value": np.float64,
    "gain": np.float64,
    "cover": np.float64,
}
PER_SPLIT = ("feature", "threshold", "missing_left", "left", "right", "gain", "set_size")
PER_LEAF = ("leaf_value", "cover")
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))  # of features that are scored without a copy


@dataclass(frozen=True, eq=False, repr=False)
class TreeEnsemble(Scorer):
    """The sum, over all trees, of the value of the leaf that a document falls into.

    The splits of all trees are stored one tree after another, and so are the leaves. Tree `t` has the splits
    `splits[t]` to `splits[t + 1] - 1`; being binary, it has one leaf more, the first at `splits[t] + t`. A split
    sends a document left if its feature is at most the threshold, or if it is missing and `missing_left` is 1.
    A split of a category sends a set of levels left, and other numbers right. The level of a number above the
    threshold is the integer before its decimal point; the threshold is -1, or the highest number below 0.
    A non-negative child is a split of the same tree, counted from the tree's first and always after its parent; a
    negative child is the leaf `-1 - child` of the same tree. The first split is the root; a tree without splits
    is a single leaf.

    Contributions are exact Shapley values (Lundberg, Erion & Lee 2018): an unknown feature sends a document both
    ways, in the proportions of the training documents. The base score is the expected score of a document with
    all features unknown. A split whose leaves all have cover 0 sends one half each way.

    Parameters
    ----------
    splits
        Index of each tree's first split, and the number of all splits.
    feature, threshold, missing_left, left, right
        One value per split. A threshold is rounded down to a 32-bit float, which changes no 32-bit comparison; it
        may be infinite, as LightGBM writes it for a split that only tells missing values apart.
    leaf_value
        The score that each leaf adds.
    gain
        The decrease of the training loss by each split, for importances.
    cover
        Number of training documents that reached each leaf, for contributions.
    n_features
        Number of features of the data.
    set_size
        Number of 32-bit words of each split's set of levels, 0 if it has a threshold; empty: none has one.
    set_words
        The words of all sets, one set after another: level `l` is bit `l % 32` of word `l // 32` of its set.
    """

    kind: ClassVar[str] = "trees"
    saved: ClassVar[Saved] = {"n_features": State.integer} | {
        name: partial(State.array, dtype=dtype) for name, dtype in DTYPES.items()
    }
    splits: Integers
    feature: NDArray[np.int32]
    threshold: Floats
    missing_left: NDArray[np.uint8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    leaf_value: Doubles
    gain: Doubles
    cover: Doubles
    n_features: int = field(kw_only=True)
    set_size: NDArray[np.uint32] = field(default_factory=no_words, kw_only=True)
    set_words: NDArray[np.uint32] = field(default_factory=no_words, kw_only=True)

    def __post_init__(self) -> None:
        self._set("n_features", checked_n_features(self.n_features))
        given = {name: getattr(self, name) for name in DTYPES}
        for name, values in checked_arrays(given, self.n_features).items():
            self._set(name, values)
        super().__post_init__()

    @classmethod
    def grown(cls, tree: Mapping[str, ArrayLike], n_features: int) -> Self:
        """Return one newly grown tree, unchecked because training makes one per round."""
        ensemble = cls.__new__(cls)
        values = {name: np.asarray(value, DTYPES[name]) for name, value in tree.items()}
        n_splits = len(values["feature"])
        known = no_sets(n_splits) if "set_size" not in values else {}
        splits = np.array([0, n_splits])
        vars(ensemble).update(known, **values, splits=splits, n_features=n_features, feature_names=None, about={})
        return ensemble

    def __repr__(self) -> str:
        return f"TreeEnsemble({counted(self.n_trees, 'tree')}, {counted(self.n_features, 'feature')})"

    @property
    def allows_infinite(self) -> bool:
        """True: values are only compared with thresholds."""
        return True

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.splits) - 1

    @property
    def n_rounds(self) -> int:
        """Number of trees."""
        return self.n_trees

    @property
    def has_sets(self) -> bool:
        """Whether any split has a set of levels."""
        return len(self.set_words) > 0

    @property
    def level_sets(self) -> dict[int, Integers]:
        """The levels that each split of a category sends left, ascending, by the number of the split."""
        ends = np.cumsum(self.set_size, dtype=np.int64)
        splits = np.flatnonzero(self.set_size)
        return {
            int(split): levels_of(self.set_words[ends[split] - int(self.set_size[split]) : ends[split]])
            for split in splits
        }

    def state(self) -> State:
        """Return the state, without arrays of sets if there are none."""
        state = super().state()
        if self.has_sets:
            return state
        arrays = {name: array for name, array in state.arrays.items() if name not in SETS}
        return State(state.fields, arrays, state.children)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild an ensemble from its state."""
        if not any(name in state.arrays for name in SETS):
            nothing = no_sets(len(state.array("feature", DTYPES["feature"])))
            state = State(state.fields, {**state.arrays, **nothing}, state.children)
        return super().from_state(state)

    def first(self, n_trees: int) -> Self:
        """Return the model of the first `n_trees` trees."""
        n_trees = checked_integer("n_trees", n_trees)
        if not 0 <= n_trees <= self.n_trees:
            raise InputError(f"n_trees must be from 0 to {self.n_trees}, not {shown(n_trees)}.")
        n_splits = int(self.splits[n_trees])
        sizes = dict.fromkeys(PER_SPLIT, n_splits) | dict.fromkeys(PER_LEAF, n_splits + n_trees)
        sizes |= {"splits": n_trees + 1, "set_words": int(self.set_size[:n_splits].sum())}
        cut = copy(self)  # not checked again
        vars(cut).update({name: getattr(self, name)[:size] for name, size in sizes.items()})
        return cut

    def take(self, trees: Sequence[int]) -> Self:
        """Return the model of the trees with these indices, in ascending order."""
        wanted = np.zeros(self.n_trees, dtype=bool)
        wanted[np.asarray(trees, dtype=np.int64)] = True
        sizes = np.diff(self.splits)
        of_split, of_leaf = np.repeat(wanted, sizes), np.repeat(wanted, sizes + 1)
        parts = {name: getattr(self, name)[of_split] for name in PER_SPLIT}
        parts |= {name: getattr(self, name)[of_leaf] for name in PER_LEAF}
        parts["set_words"] = self.set_words[np.repeat(of_split, self.set_size)]
        return replace(self, splits=np.concatenate([[0], np.cumsum(sizes[wanted])]), **parts)

    def scaled(self, factor: float | list[float]) -> Self:
        """Return the model with every leaf multiplied by the factor, or by the factor of its tree."""
        if isinstance(factor, list):
            factors = np.repeat(frozen_numbers("factor", factor, (self.n_trees,)), np.diff(self.splits) + 1)
        else:
            factors = np.full(len(self.leaf_value), checked_number("factor", factor))
        with np.errstate(over="ignore"):  # refused as not finite
            return replace(self, leaf_value=self.leaf_value * factors)

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """Return the model without trees, whose scores are all 0."""
        nothing: dict[str, Any] = {name: np.zeros(0, dtype) for name, dtype in DTYPES.items() if name != "splits"}
        return cls(np.zeros(1, np.int64), **nothing, n_features=n_features)

    @classmethod
    def concatenate(cls, ensembles: Sequence[TreeEnsemble]) -> Self:
        """Return one model of all trees, in order; the ensembles must have the same features."""
        if not ensembles:
            raise InputError("There must be at least one ensemble to concatenate.")
        n_features = {ensemble.n_features for ensemble in ensembles}
        known_names = [ensemble for ensemble in ensembles if ensemble.feature_names is not None]
        named = {(ensemble.feature_names, ensemble.categories) for ensemble in known_names}
        if len(n_features) > 1 or len(named) > 1:
            raise InputError("Only ensembles of the same features can be concatenated.")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(ensemble, name) for ensemble in ensembles])
            for name in (*PER_SPLIT, *PER_LEAF, "set_words")
        }
        sizes = np.concatenate([ensemble.splits[1:] - ensemble.splits[:-1] for ensemble in ensembles])
        splits = np.concatenate([[0], np.cumsum(sizes)])
        names, categories = next(iter(named), (None, ()))
        known: dict[str, Any] = {"feature_names": names, "categories": categories}
        return cls(splits, **joined, n_features=n_features.pop(), **known)

    def importances(self, kind: Literal["gain", "splits"] = "gain") -> Doubles:
        """Return the total gain of each feature's splits, or their number."""
        if kind not in ("gain", "splits"):
            raise InputError(f"kind must be 'gain' or 'splits', not {shown(kind)}.")
        weights = self.gain if kind == "gain" else np.ones(len(self.gain))
        return np.bincount(self.feature, weights, minlength=self.n_features).astype(np.float64)

    @property
    def total_gain(self) -> Doubles:
        """The total gain of the splits on each feature."""
        return self.importances("gain")

    @property
    def used_features(self) -> Integers:
        """The features that any split uses."""
        return np.unique(self.feature).astype(np.int64)

    def _contributions(self, X: Any, _groups: QueryGroups, n_threads: int, /) -> Doubles:
        arrays = {name: getattr(self, name) for name in DTYPES if name != "gain"}
        return _native.tree_contributions(**arrays, values=super()._opened(X), n_threads=n_threads)

    def _opened(self, X: Any) -> Any:
        return X if _is_dense(X) or _is_sparse(X) else super()._opened(X)

    def _score(self, X: Any, _groups: QueryGroups, n_threads: int, /) -> Doubles:
        if isinstance(X, np.ndarray):
            scores = self._prepared.score(X, n_threads)
        else:
            stored = slice(X.nnz)  # the arrays may be longer
            scores = self._prepared.score_sparse(X.indptr, X.indices[stored], X.data[stored], n_threads)
        if scores is None:
            super()._opened(X)  # raises an error that names the place
            raise AssertionError("the native scorer found too large a value that checked_features did not")
        return scores

    def _finite_scores(self, X: Any, groups: QueryGroups, n_threads: int) -> Doubles:
        """Return the scores; if all leaves together have a finite sum, no score needs to be checked."""
        score = self._score if self._sums_are_finite else super()._finite_scores
        return score(X, groups, n_threads)

    @cached_property
    def _sums_are_finite(self) -> bool:
        with np.errstate(over="ignore"):
            return bool(np.isfinite(np.abs(self.leaf_value).sum()))

    @cached_property
    def _prepared(self) -> _native.TreeScorer:
        """The native scorer, made when first needed and never saved."""
        return _native.TreeScorer(
            self.splits,
            self.feature,
            self.threshold,
            self.missing_left,
            self.left,
            self.right,
            self.set_size,
            self.set_words,
            self.leaf_value,
            self.n_features,
        )

    def __getstate__(self) -> dict[str, Any]:
        cached = ("_prepared", "_sums_are_finite")
        return {name: value for name, value in self.__dict__.items() if name not in cached}


def _is_dense(X: Any) -> bool:
    """Whether the native scorer can read this array without a copy."""
    plain = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
    return plain and X.ndim == 2 and X.dtype in FLOATS and X.flags.aligned


def _is_sparse(X: Any) -> bool:
    """Whether the native scorer can read this matrix without a copy: CSR in canonical format."""
    if not hasattr(X, "todense") or X.format != "csr" or X.ndim != 2 or X.dtype not in FLOATS:
        return False
    return bool(X.has_canonical_format) and X.indices.dtype == X.indptr.dtype


def checked_arrays(given: Mapping[str, ArrayLike], n_features: int) -> dict[str, NDArray[Any]]:
    """Return read-only arrays of the right types, once they have been found to form binary trees."""
    if not len(np.atleast_1d(given["set_size"])) and not len(np.atleast_1d(given["set_words"])):
        given = {**given, **no_sets(len(np.atleast_1d(given["feature"])))}
    arrays: dict[str, NDArray[Any]] = {
        name: _frozen_integers(name, given[name])
        for name in ("splits", "feature", "missing_left", "left", "right", *SETS)
    }
    splits, n_splits = arrays["splits"], len(arrays["feature"])
    _require(n_splits <= MAX_SPLITS, f"There may be at most {MAX_SPLITS} splits.")
    _require_offsets(splits, n_splits)
    sizes = dict.fromkeys(PER_SPLIT, n_splits) | dict.fromkeys(PER_LEAF, n_splits + len(splits) - 1)
    for name in ("leaf_value", "gain", "cover"):
        arrays[name] = frozen_numbers(name, given[name], (sizes[name],))
    arrays["threshold"] = _rounded_down(
        frozen_numbers("threshold", given["threshold"], (n_splits,), allow_infinite=True)
    )
    for name in ("missing_left", "left", "right", "set_size"):
        _require(len(arrays[name]) == n_splits, f"{name} must have one value per split.")
    _require_range("feature", arrays["feature"], n_features - 1)
    _require_range("missing_left", arrays["missing_left"], 1)
    require_sets(arrays["set_size"], arrays["set_words"], arrays["threshold"])
    _require((arrays["cover"] >= 0).all(), "cover must not be negative.")
    require_trees(splits, arrays["left"], arrays["right"])
    return arrays


def _require(holds: bool | np.bool_, sentence: str) -> None:
    if not holds:
        raise InputError(sentence)


def _frozen_integers(name: str, values: ArrayLike) -> NDArray[Any]:
    """Return a read-only copy as integers of the array's type."""
    given, dtype = np.asarray(values), DTYPES[name]
    if given.ndim != 1:
        raise InputError(f"{name} has shape {given.shape}, expected one dimension.")
    if given.dtype.kind not in "iu" and given.size:
        raise InputError(f"{name} must be integers, not {given.dtype}.")
    numbers = given.astype(dtype)
    if not (numbers == given).all():
        raise InputError(f"{name} holds numbers too large for {np.dtype(dtype)}.")
    numbers.flags.writeable = False
    return numbers


def _rounded_down(numbers: Doubles) -> Floats:
    """Return the highest 32-bit floats that are not above: 32-bit values compare with them as with the numbers."""
    with np.errstate(over="ignore"):
        nearest = numbers.astype(np.float32)
        down = np.where(nearest > numbers, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    down.flags.writeable = False
    return down


def _require_range(name: str, values: NDArray[Any], highest: int) -> None:
    wrong = (values < 0) | (values > highest)
    if wrong.any():
        index = int(wrong.argmax())
        raise InputError(f"{name}[{index}] is {values[index]}; it must be from 0 to {highest}.")


def _require_offsets(splits: Integers, n_splits: int) -> None:
    _require(len(splits) > 0 and splits[0] == 0, "splits must begin with 0.")
    _require((splits[1:] >= splits[:-1]).all(), "splits must not decrease.")
    _require(splits[-1] == n_splits, f"splits must end with the number of splits, {n_splits}, not {splits[-1]}.")


def require_trees(splits: Integers, left: NDArray[np.int32], right: NDArray[np.int32]) -> None:
    """Refuse children that do not form binary trees.

    If every child comes after its parent, and every leaf and every split but the root is the child of exactly
    one split, then all of them are reached from the root. A tree of n splits names 2n children and has as many
    splits and leaves besides the root, so it is enough that no child is named twice.
    """
    sizes = np.diff(splits)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    number, size = np.arange(len(left)) - splits[tree], sizes[tree]
    filled = np.zeros(2 * len(left) + len(sizes), dtype=np.uint8)  # all splits, then all leaves
    for name, child in (("left", left.astype(np.int64)), ("right", right.astype(np.int64))):
        wrong = np.where(child < 0, -1 - child > size, (child <= number) | (child >= size))
        if wrong.any():
            split = int(wrong.argmax())
            raise InputError(f"{name}[{split}] is {child[split]}: neither a later split nor a leaf of its tree.")
        target = np.where(child < 0, len(left) + splits[tree] + tree - 1 - child, splits[tree] + child)
        _require(not filled[target].any(), f"{name} names a child that has a parent already.")
        filled[target] = 1
        _require(filled.sum() == (1 if name == "left" else 2) * len(left), f"{name} names a child twice.")

"""CatBoost's JSON model as a scorer.

A split sends a document right if its value is above the border, both 32-bit floats. Symmetric trees have one split
per level: bit `d` of a leaf's index says whether the document is right of split `d`. Other trees are nested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.importers.checked_access import (
    checked_list,
    checked_object,
    integers,
    list_in,
    member,
    numbers,
    object_in,
    parsed_json,
    reading,
)
from rankwright.interop.importers.foreign_trees import ForeignTree, Walk, ensemble, nearest_float32
from rankwright.models.other_libraries import made_up
from rankwright.models.serialisation import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.models.trees import TreeEnsemble

MAX_DEPTH = 16  # of symmetric trees
TREATMENTS = ("AsIs", "AsFalse", "AsTrue")  # of a missing value, which is above no border but with the last
NOT_NUMBERS = ("categorical_features", "text_features", "embedding_features")


class BorderSplits(NamedTuple):
    """The columns, borders and sides of missing values of several splits."""

    feature: Integers
    threshold: Doubles
    missing_left: Integers

    def take(self, indices: Integers) -> BorderSplits:
        """Return the splits with these indices."""
        return BorderSplits(self.feature[indices], self.threshold[indices], self.missing_left[indices])


class BorderColumns:
    """The numeric features of a model, each with its column, the side of its missing values, and its name."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        for kind in NOT_NUMBERS:
            if features.get(kind):
                raise InputError(f"it has {kind.replace('_', ' ')}.")
        given = [checked_object("a feature", feature) for feature in list_in(features, "float_features")]
        keys = ("feature_index", "flat_feature_index")
        index, column = (integers(key, [member(key, feature) for feature in given]) for key in keys)
        expected = np.arange(len(given))
        if not (np.array_equal(index, expected) and np.array_equal(column, expected)):
            raise InputError("its features are not numbered from 0.")
        self.missing_left = np.array([_missing_left(feature) for feature in given], dtype=np.int64)
        self.names = [str(feature.get("feature_id", "")) for feature in given]
        borders = [numbers("borders", checked_list("borders", feature.get("borders") or [])) for feature in given]
        self._feature = np.repeat(expected, [len(own) for own in borders])
        self._border = nearest_float32(np.concatenate([np.zeros(0), *borders]))

    def __len__(self) -> int:
        return len(self.names)

    def splits(self, given: list[Any]) -> BorderSplits:
        """Return the splits that a tree has.

        CatBoost itself reads `split_index` alone, the index among the borders of all features in order.
        """
        splits = [checked_object("a split", split) for split in given]
        for split in splits:
            if member("split_type", split) != "FloatFeature":
                raise InputError(f"it has splits of type {shown(split['split_type'])}, not by a number alone.")
        keys = ("float_feature_index", "split_index")
        feature, index = (integers(key, [member(key, split) for split in splits]) for key in keys)
        border = nearest_float32(numbers("border", [member("border", split) for split in splits]))
        if ((index < 0) | (index >= len(self._border))).any():
            raise InputError(f"a split_index is not among the features' {len(self._border):,} borders.")
        if (feature != self._feature[index]).any() or (border != self._border[index]).any():
            raise InputError("the feature and border of a split are not those that its split_index stands for.")
        return BorderSplits(feature, border.astype(np.float64), self.missing_left[feature])


def _missing_left(feature: Mapping[str, Any]) -> bool:
    treatment, trained_with = member("nan_value_treatment", feature), member("has_nans", feature)
    if treatment not in TREATMENTS or not isinstance(trained_with, bool):
        raise InputError(f"has_nans {shown(trained_with)} with {shown(treatment)} is not known.")
    return treatment != "AsTrue" or not trained_with  # without missing values in training, it is not looked at


def scorer_from_catboost(model: str | bytes | Mapping[str, Any]) -> TreeEnsemble:
    """Return CatBoost's model, as `save_model(path, format="json")` writes it, as a scorer of raw values.

    The scores are those of `predict(X, prediction_type="RawFormulaVal")`. Models with several outputs, and with
    categories, texts or embeddings, are refused.
    """
    with reading("CatBoost"):
        parts = parsed_json(model)
        columns = BorderColumns(object_in(parts, "features_info"))
        scale, bias = _scale_and_bias(list_in(parts, "scale_and_bias"))
        if "oblivious_trees" in parts:
            trees = [_symmetric_tree(tree, columns) for tree in list_in(parts, "oblivious_trees")]
        else:
            trees = [_nested_tree(tree, columns) for tree in list_in(parts, "trees")]
        scorer = ensemble(trees, len(columns), scale=scale, bias=bias)
        named = all(columns.names) and not made_up(columns.names)
        return scorer.described(feature_names=columns.names) if named else scorer


def _scale_and_bias(given: list[Any]) -> tuple[float, float]:
    if len(given) != 2:
        raise InputError("scale_and_bias must be two values.")
    bias = given[1] if isinstance(given[1], list) else [given[1]]
    if len(bias) > 1:
        raise InputError("it has several scores per document, one per class or target.")
    scale, *biases = numbers("scale_and_bias", [given[0], *bias])
    return float(scale), float(biases[0]) if biases else 0.0


def _symmetric_tree(given: Any, columns: BorderColumns) -> ForeignTree:
    """Return a complete tree; the last split is its root, so that leaves come in the order of their indices."""
    tree = checked_object("a tree", given)
    splits = checked_list("splits", tree.get("splits") or [])
    depth = len(splits)
    values = numbers("leaf_values", list_in(tree, "leaf_values"))
    weights = numbers("leaf_weights", checked_list("leaf_weights", tree.get("leaf_weights") or [0] * len(values)))
    if depth > MAX_DEPTH or not len(values) == len(weights) == 2**depth:
        raise InputError(f"a tree of {depth} levels has {len(values)} leaf values and {len(weights)} weights.")
    n_splits = 2**depth - 1
    child = 2 * np.arange(n_splits) + 1
    left, right = (np.where(number < n_splits, number, n_splits - 1 - number) for number in (child, child + 1))
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    return _tree(columns.splits(splits).take(depth - 1 - level), left, right, values, weights)


def _nested_tree(given: Any, columns: BorderColumns) -> ForeignTree:
    walk = Walk(given, _children_of)
    values = numbers("value", [member("value", leaf) for leaf in walk.leaves])
    weights = numbers("weight", [leaf.get("weight", 0) for leaf in walk.leaves])
    return _tree(columns.splits([node["split"] for node in walk.splits]), walk.left, walk.right, values, weights)


def _children_of(node: Any) -> tuple[Any, Any] | None:
    if "split" not in checked_object("a node", node):
        return None
    return member("left", node), member("right", node)


def _tree(
    splits: BorderSplits,
    left: Integers,
    right: Integers,
    values: Doubles,
    weights: Doubles,
) -> ForeignTree:
    gain = _gains(left, right, values, weights)
    return ForeignTree(*splits, left=left, right=right, gain=gain, leaf_value=values, cover=weights)


def _gains(left: Integers, right: Integers, values: Doubles, weights: Doubles) -> Doubles:
    """Return how far each split reduces the squared error of a constant, as CatBoost keeps no gains."""
    # From the end, these hold the leaves as children name them: -1 is the first leaf.
    weight = np.concatenate([np.zeros(len(left)), weights[::-1]])
    with np.errstate(over="ignore", invalid="ignore"):  # a gain is no part of a score
        total = weight * np.concatenate([np.zeros(len(left)), values[::-1]])
        for split in range(len(left) - 1, -1, -1):  # children come after their parents
            weight[split] = weight[left[split]] + weight[right[split]]
            total[split] = total[left[split]] + total[right[split]]
        explained = np.divide(total**2, weight, out=np.zeros(len(weight)), where=weight > 0.0)
        return np.asarray(explained[left] + explained[right] - explained[: len(left)])

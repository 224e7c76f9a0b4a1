"""XGBoost's model, as JSON or UBJSON, as a scorer.

A split sends a document left if its value is below the threshold, both 32-bit floats; a missing value goes to the
default side. A split's threshold and a leaf's value are both in `split_conditions`. Siblings may stand anywhere.
A categorical split has a set instead of a threshold (NaN up to version 3.0.0): its categories go right, and all
other values left. A value that is not negative is cut off at its decimal point.
"""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any

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
from rankwright.interop.importers.foreign_trees import ForeignTree, ensemble, highest_below, nearest_float32
from rankwright.interop.importers.ubjson import is_ubjson, parsed_ubjson
from rankwright.models.level_sets import FROM_ZERO
from rankwright.models.other_libraries import made_up
from rankwright.models.serialisation import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.base.arrays import Floats, Integers
    from rankwright.models.trees import TreeEnsemble

NO_CHILD = -1
NUMERICAL, CATEGORICAL = 0, 1
HIGHEST_CATEGORY = 2**24 - 1
IDENTITY = (
    *("rank:ndcg", "rank:pairwise", "rank:map", "reg:squarederror", "reg:squaredlogerror"),
    *("reg:pseudohubererror", "reg:absoluteerror", "reg:quantileerror", "binary:hinge"),
)
LOGIT = ("binary:logistic", "reg:logistic")
LOG = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:cox", "survival:aft")


def scorer_from_xgboost(model: str | bytes | Mapping[str, Any]) -> TreeEnsemble:
    """Return XGBoost's model, as `Booster.save_raw` or a JSON or UBJSON file has it, as a scorer of margins.

    The scores are those of `Booster.predict(data, output_margin=True)` with NaN as the missing value; XGBoost sums
    them in 32 bits, which we do in 64. Linear boosters and models with several outputs are refused.
    """
    with reading("XGBoost"):
        learner = object_in(_parsed(model), "learner")
        shape = object_in(learner, "learner_model_param")
        _require_one_score(shape)
        booster, weights = _booster(object_in(learner, "gradient_booster"))
        parts = object_in(booster, "model")
        if integers("tree_info", checked_list("tree_info", parts.get("tree_info", []))).any():
            raise InputError("its tree_info says that trees belong to several scores per document.")
        trees = [_tree(checked_object("a tree", tree)) for tree in list_in(parts, "trees")]
        _require_all_rounds(parts, len(trees))
        trees = trees if weights is None else _weighted(trees, weights)
        bias = _margin(_base_score(shape), member("name", object_in(learner, "objective")))
        scorer = ensemble(trees, _number_of(shape, "num_feature"), bias=bias)
        names = checked_list("feature_names", learner.get("feature_names", []))
        return scorer if made_up(names) else scorer.described(feature_names=names)


def _parsed(model: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(model, bytes | bytearray) and is_ubjson(model):
        return checked_object("it", parsed_ubjson(bytes(model)))
    return parsed_json(model)


def _number_of(parameters: Mapping[str, Any], name: str) -> int:
    return int(integers(name, [member(name, parameters)])[0])


def _require_one_score(shape: Mapping[str, Any]) -> None:
    outputs = [int(integers(name, [shape.get(name, 1)])[0]) for name in ("num_class", "num_target")]
    if max(outputs) > 1:
        raise InputError("it has several scores per document, one per class or target.")


def _require_all_rounds(model: Mapping[str, Any], n_trees: int) -> None:
    """Refuse a file by which XGBoost would leave trees out: it scores those of the rounds, if the file has any."""
    if "iteration_indptr" not in model:
        return
    ends = integers("iteration_indptr", list_in(model, "iteration_indptr"))
    if not len(ends) or ends[0] != 0 or ends[-1] != n_trees or (np.diff(ends) < 0).any():
        raise InputError(f"its iteration_indptr does not divide its {n_trees} trees into rounds.")


def _booster(booster: Mapping[str, Any]) -> tuple[Mapping[str, Any], Floats | None]:
    """Return the trees' booster, and one weight per tree if they were dropped out (DART)."""
    name = member("name", booster)
    if name == "gbtree":
        return booster, None
    if name == "dart":
        weights = numbers("weight_drop", list_in(booster, "weight_drop"))
        return object_in(booster, "gbtree"), nearest_float32(weights)
    raise InputError(f"its booster is {shown(name)}, and only gbtree and dart have trees.")


def _weighted(trees: list[ForeignTree], weights: Floats) -> list[ForeignTree]:
    """Return the trees with their leaves multiplied in 32 bits, as XGBoost does."""
    if len(weights) != len(trees):
        raise InputError(f"weight_drop has {len(weights)} weights for {len(trees)} trees.")
    with np.errstate(over="ignore", invalid="ignore"):  # refused as not finite
        values = [nearest_float32(tree.leaf_value) * weight for tree, weight in zip(trees, weights, strict=True)]
    return [replace(tree, leaf_value=own.astype(np.float64)) for tree, own in zip(trees, values, strict=True)]


def _base_score(shape: Mapping[str, Any]) -> float:
    """Return the base score, a number as text, since version 3.1 in brackets."""
    text = member("base_score", shape)
    parsed = numbers("base_score", [text.strip("[]") if isinstance(text, str) else text])
    return float(nearest_float32(parsed)[0])


def _margin(base_score: float, objective: Any) -> float:
    """Return the score from which the trees of this objective start."""
    if objective in IDENTITY:
        return base_score
    if objective in LOGIT and 0.0 < base_score < 1.0:
        return -log(1.0 / base_score - 1.0)
    if objective in LOG and base_score > 0.0:
        return log(base_score)
    if objective in LOGIT + LOG:
        raise InputError(f"its base_score is {base_score:g}, which the objective {objective} does not allow.")
    raise InputError(f"its objective is {shown(objective)}, for which the scale of base_score is not known.")


def _tree(tree: Mapping[str, Any]) -> ForeignTree:
    """Return a tree; splits by sets of categories have their sides exchanged, so that the sets go left."""
    left, right, feature, default_left = (
        integers(name, list_in(tree, name))
        for name in ("left_children", "right_children", "split_indices", "default_left")
    )
    gain, cover = (numbers(name, list_in(tree, name)) for name in ("loss_changes", "sum_hessian"))
    conditions = list_in(tree, "split_conditions")
    if len({len(array) for array in (left, right, feature, default_left, conditions, gain, cover)}) > 1:
        raise InputError("the arrays of a tree have different lengths.")
    splits, leaves = _nodes(left, right)
    if ((default_left[splits] != 0) & (default_left[splits] != 1)).any():
        raise InputError("default_left holds numbers that are neither 0 nor 1.")
    sets = _sets(tree, splits)
    condition = numbers("split_conditions", [0.0 if node in sets else own for node, own in enumerate(conditions)])
    number = np.zeros(len(left), dtype=np.int64)
    number[splits], number[leaves] = np.arange(len(splits)), -1 - np.arange(len(leaves))
    is_set = np.isin(splits, list(sets))
    return ForeignTree(
        feature=feature[splits],
        threshold=np.where(is_set, FROM_ZERO, highest_below(condition[splits])),
        missing_left=np.where(is_set, 1 - default_left[splits], default_left[splits]),
        left=number[np.where(is_set, right[splits], left[splits])],
        right=number[np.where(is_set, left[splits], right[splits])],
        gain=gain[splits],
        leaf_value=nearest_float32(condition[leaves]).astype(np.float64),
        cover=cover[leaves],
        sets={int(number[node]): own for node, own in sets.items()},
    )


def _sets(tree: Mapping[str, Any], splits: Integers) -> dict[int, Integers]:
    """Return the categories that go right, by the node of the split."""
    kinds = integers("split_type", checked_list("split_type", tree.get("split_type", [])))
    if not kinds.any():
        return {}
    if ((kinds != NUMERICAL) & (kinds != CATEGORICAL)).any():
        raise InputError("split_type holds numbers that are not known.")
    nodes, starts, sizes, categories = (
        integers(name, list_in(tree, name))
        for name in ("categories_nodes", "categories_segments", "categories_sizes", "categories")
    )
    if not len(nodes) == len(starts) == len(sizes) or len(kinds) != len(list_in(tree, "left_children")):
        raise InputError("the arrays of a tree have different lengths.")
    if (np.diff(nodes) <= 0).any() or ((starts < 0) | (sizes < 0) | (starts + sizes > len(categories))).any():
        raise InputError("its sets of categories are not in order.")
    if sizes.sum() > len(categories):  # their total could grow with the square of the file's size
        raise InputError("its sets of categories overlap.")
    if ((categories < 0) | (categories > HIGHEST_CATEGORY)).any():
        raise InputError(f"categories must be numbered from 0 to {HIGHEST_CATEGORY:,}.")
    ranges, reached = zip(nodes.tolist(), starts, starts + sizes, strict=True), set(splits.tolist())
    sets = {node: categories[start:end] for node, start, end in ranges if node in reached}
    if set(sets) != set(splits[kinds[splits] == CATEGORICAL].tolist()):
        raise InputError("split_type and categories_nodes name different splits as categorical.")
    return sets


def _nodes(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    """Return the splits and the leaves that the root reaches, level by level; pruned nodes are not among them."""
    if ((left == NO_CHILD) != (right == NO_CHILD)).any():
        raise InputError("a split has a single child.")
    level, seen = np.zeros(1, dtype=np.int64), np.zeros(len(left), dtype=bool)
    splits, leaves = [level[:0]], [level[:0]]
    while len(level):
        if level.min() < 0 or level.max() >= len(left) or seen[level].any() or len(set(level)) < len(level):
            raise InputError("its nodes do not form trees.")
        seen[level] = True
        is_leaf = left[level] == NO_CHILD
        splits.append(level[~is_leaf])
        leaves.append(level[is_leaf])
        level = np.concatenate([left[splits[-1]], right[splits[-1]]])
    return np.concatenate(splits), np.concatenate(leaves)

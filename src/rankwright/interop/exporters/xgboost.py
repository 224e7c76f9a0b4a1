"""XGBoost's model as JSON; siblings are numbered one after the other.

A set of levels goes right in XGBoost, so its split has its sides exchanged. Numbers between -1 and 0 are of no
level to XGBoost, whatever a model says.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.interop.exporters.target_rules import slices_of_trees, strictly_below
from rankwright.models.level_sets import levels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers
    from rankwright.interop.exporters.target_rules import SplitArrays
    from rankwright.models.trees import TreeEnsemble

NO_PARENT = 2**31 - 1
VERSION = [2, 1, 0]  # later ones read it too
OBJECTIVE = {"name": "reg:squarederror", "reg_loss_param": {"scale_pos_weight": "1"}}  # scores as they are


def xgboost_json(trees: TreeEnsemble, names: Sequence[str]) -> str:
    """Return the text of a model file; names are empty if the model has none."""
    below = strictly_below(trees)
    parts = {
        "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(trees.n_trees)},
        "iteration_indptr": list(range(trees.n_trees + 1)),
        "tree_info": [0] * trees.n_trees,
        "trees": [_tree(trees, below, number, *slices) for number, slices in enumerate(slices_of_trees(trees))],
    }
    shape = {"base_score": "0E0", "boost_from_average": "0", "num_class": "0", "num_target": "1"}
    learner = {
        "attributes": {},
        "feature_names": list(names),
        "feature_types": _types(trees) if names or trees.has_sets else [],
        "gradient_booster": {"model": parts, "name": "gbtree"},
        "learner_model_param": {**shape, "num_feature": str(trees.n_features)},
        "objective": OBJECTIVE,
    }
    return json.dumps({"learner": learner, "version": VERSION}, allow_nan=False)


def _types(trees: TreeEnsemble) -> list[str]:
    categories = set(trees.feature[trees.set_size > 0].tolist())
    return ["c" if feature in categories else "float" for feature in range(trees.n_features)]


def _tree(trees: TreeEnsemble, below: SplitArrays, number: int, splits: slice, leaves: slice) -> dict[str, Any]:
    left, right = below.left[splits].tolist(), below.right[splits].tolist()
    children, order = _siblings_together(left, right)
    is_split = order >= 0
    split, leaf = splits.start + order[is_split], leaves.start - 1 - order[~is_split]
    n_nodes = len(order)

    def per_node(of_splits: NDArray[Any], of_leaves: NDArray[Any] | int) -> list[Any]:
        values = np.zeros(n_nodes, dtype=np.float64 if of_splits.dtype.kind == "f" else np.int64)
        values[is_split], values[~is_split] = of_splits, of_leaves
        return values.tolist()

    parents = np.full(n_nodes, NO_PARENT, dtype=np.int64)
    first_child = children[is_split]
    parents[first_child] = parents[first_child + 1] = np.flatnonzero(is_split)
    leaf_values = trees.leaf_value[leaf]
    return {
        "base_weights": per_node(np.zeros(len(split)), leaf_values),
        **_sets(trees, split, np.flatnonzero(is_split)),
        "default_left": per_node(below.missing_left[split], 0),
        "id": number,
        "left_children": per_node(first_child, -1),
        "loss_changes": per_node(trees.gain[split].astype(np.float32), 0),
        "parents": parents.tolist(),
        "right_children": per_node(first_child + 1, -1),
        "split_conditions": per_node(below.threshold[split], leaf_values),
        "split_indices": per_node(trees.feature[split], 0),
        "split_type": per_node((trees.set_size[split] > 0).astype(np.int64), 0),
        "sum_hessian": per_node(np.zeros(len(split)), trees.cover[leaf].astype(np.float32)),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(trees.n_features),
            "num_nodes": str(n_nodes),
            "size_leaf_vector": "1",
        },
    }


def _sets(trees: TreeEnsemble, splits: Integers, nodes: Integers) -> dict[str, list[int]]:
    """Return the levels of the sets among these splits, by ascending node."""
    ends = np.cumsum(trees.set_size, dtype=np.int64)
    own = trees.set_size[splits] > 0
    sets = [
        levels_of(trees.set_words[ends[split] - int(trees.set_size[split]) : ends[split]]).tolist()
        for split in splits[own]
    ]
    sizes = [len(levels) for levels in sets]
    return {
        "categories": [level for levels in sets for level in levels],
        "categories_nodes": nodes[own].tolist(),
        "categories_segments": [0, *np.cumsum(sizes).tolist()][: len(sizes)],
        "categories_sizes": sizes,
    }


def _siblings_together(left: list[int], right: list[int]) -> tuple[Integers, Integers]:
    """Return the left child of each node (-1 for a leaf), and the split or leaf (negative) that the node is."""
    order, children = [0 if left else -1], [-1]
    node = 0
    while node < len(order):
        if order[node] >= 0:
            children[node] = len(order)
            order += [left[order[node]], right[order[node]]]
            children += [-1, -1]
        node += 1
    return np.array(children), np.array(order)

"""LightGBM's model text, version v4 (see `rankwright.interop.importers.lightgbm`).

Values from -1e-35 to 1e-35 are 0 to LightGBM, whatever a model says. It sends missing values right at every set of
levels, so where a set sends them left, all levels that are not in it become the set, with sides exchanged; numbers
that are no level of the set's words go with the missing ones then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import slices_of_trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rankwright.models.trees import TreeEnsemble

CATEGORICAL, DEFAULT_LEFT, NAN_IS_MISSING = 1, 2, 2 << 2  # in decision_type


def lightgbm_text(trees: TreeEnsemble, names: Sequence[str]) -> str:
    """Return the text of a model file; without names, features are called as LightGBM calls those of arrays."""
    names = names or [f"Column_{column}" for column in range(trees.n_features)]
    if any(len(name.split()) != 1 for name in names):
        raise InputError("LightGBM's text separates names of features by spaces: rename those with spaces.")
    blocks = [_block(trees, number, *slices) for number, slices in enumerate(slices_of_trees(trees))]
    header = [
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={trees.n_features - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(['[-1e308:1e308]'] * trees.n_features)}",
        f"tree_sizes={' '.join(str(len(block.encode())) for block in blocks)}",
        "",
        "",
    ]
    return "\n".join(header) + "".join(blocks) + "end of trees\n\nparameters:\nend of parameters\n"


def _block(trees: TreeEnsemble, number: int, splits: slice, leaves: slice) -> str:
    n_splits = splits.stop - splits.start
    is_set, missing_left = trees.set_size[splits] > 0, trees.missing_left[splits]
    exchanged = is_set & (missing_left == 1)
    decisions = NAN_IS_MISSING + np.where(is_set, CATEGORICAL, DEFAULT_LEFT * missing_left.astype(np.int64))
    left, right = trees.left[splits], trees.right[splits]
    lines: dict[str, Iterable[Any]] = {
        "Tree": [number],
        "num_leaves": [n_splits + 1],
        "num_cat": [int(is_set.sum())],
    }
    lines |= {
        "split_feature": trees.feature[splits].tolist(),
        "split_gain": trees.gain[splits].tolist(),
        "threshold": np.where(is_set, np.cumsum(is_set) - 1, trees.threshold[splits]).tolist(),
        "decision_type": decisions.tolist(),
        "left_child": np.where(exchanged, right, left).tolist(),
        "right_child": np.where(exchanged, left, right).tolist(),
        **_sets(trees, splits, exchanged),
        "leaf_value": trees.leaf_value[leaves].tolist(),
        "leaf_weight": trees.cover[leaves].tolist(),
        "leaf_count": [round(count) for count in trees.cover[leaves].tolist()],
        "internal_value": [0] * n_splits,
        "internal_weight": [0] * n_splits,
        "internal_count": [0] * n_splits,
        "is_linear": [0],
        "shrinkage": [1],
    }
    return "\n".join(f"{key}={' '.join(map(str, values))}" for key, values in lines.items()) + "\n\n\n"


def _sets(trees: TreeEnsemble, splits: slice, exchanged: NDArray[np.bool_]) -> dict[str, Iterable[Any]]:
    """Return the words of all sets of a tree and where each begins, if there are any."""
    sizes = trees.set_size[splits]
    if not sizes.any():
        return {}
    first = int(trees.set_size[: splits.start].sum(dtype=np.int64))
    words = trees.set_words[first : first + int(sizes.sum(dtype=np.int64))]
    words = np.where(np.repeat(exchanged, sizes), ~words, words)
    return {"cat_boundaries": [0, *np.cumsum(sizes[sizes > 0]).tolist()], "cat_threshold": words.tolist()}

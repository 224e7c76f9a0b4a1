"""LightGBM's model text, version v4 (see `rankwright.interop.importers.lightgbm`).

Values from -1e-35 to 1e-35 are 0 to LightGBM, whatever a model says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import slices_of_trees

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.models.trees import TreeEnsemble

DEFAULT_LEFT, NAN_IS_MISSING = 2, 2 << 2  # in decision_type


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
    decisions = [NAN_IS_MISSING + DEFAULT_LEFT * int(left) for left in trees.missing_left[splits]]
    lines: dict[str, Iterable[Any]] = {"Tree": [number], "num_leaves": [n_splits + 1], "num_cat": [0]}
    lines |= {
        "split_feature": trees.feature[splits].tolist(),
        "split_gain": trees.gain[splits].tolist(),
        "threshold": trees.threshold[splits].tolist(),
        "decision_type": decisions,
        "left_child": trees.left[splits].tolist(),
        "right_child": trees.right[splits].tolist(),
        "leaf_value": trees.leaf_value[leaves].tolist(),
        "leaf_weight": trees.cover[leaves].tolist(),
        "leaf_count": [round(count) for count in trees.cover[leaves].tolist()],
        "internal_value": [0] * n_splits,
        "internal_weight": [0] * n_splits,
        "internal_count": [0] * n_splits,
        "is_linear": [0],
        "shrinkage": [1],
    }
    return "\n".join(f"{key}={' '.join(map(repr, values))}" for key, values in lines.items()) + "\n\n\n"

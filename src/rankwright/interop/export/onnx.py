"""A model as an ONNX file: one input of 32-bit features (NaN is missing), one output of 64-bit scores.

Trees are a `TreeEnsembleRegressor` of ai.onnx.ml 3, which sums in 32 bits. Weighted features are a matrix product
in 64 bits, after missing values are replaced. Columns computed within the query make the rows one query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.interop.export.onnx_nodes import (
    AS_FLOATS,
    AS_INTEGERS,
    AS_STRING,
    AS_STRINGS,
    DOUBLE,
    FLOAT,
    attribute,
    cast,
    node,
    tensor,
    whole_number,
)
from rankwright.interop.export.onnx_query import COLUMNS, INPUT, within_query
from rankwright.interop.export.protobuf import floats, integer, integers, nested
from rankwright.interop.export.rules import require_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.interop.export.flat import Flat
    from rankwright.models.linear import LinearScorer
    from rankwright.models.trees import TreeEnsemble

IR_VERSION, OPSET, ML_OPSET = 7, 13, 3
OUTPUT = "score"


def onnx_model(flat: Flat) -> bytes:
    """Return the bytes of an ONNX file with the input `features` and the output `score`."""
    nodes, constants = within_query(flat.kinds) if flat.kinds else ([], [])
    columns = COLUMNS if flat.kinds else INPUT
    parts: list[str] = []
    if flat.trees is not None:
        nodes += [_ensemble(require_float32(flat.trees, "ONNX"), columns), cast("tree_sum", "of_trees")]
        parts.append("of_trees")
    if flat.linear is not None:
        nodes += _products(columns)
        constants += _weights(flat.linear)
        parts.append("of_weights")
    last = ("Add", parts) if len(parts) > 1 else ("Identity", parts)
    nodes.append(node(*last, [OUTPUT]))
    return _model(nodes, constants, flat.n_features)


def _model(nodes: list[bytes], constants: list[bytes], n_features: int) -> bytes:
    graph = b"".join(nested(1, one) for one in nodes) + nested(2, "rankwright")
    graph += b"".join(nested(5, one) for one in constants)
    graph += nested(11, _value(INPUT, FLOAT, n_features)) + nested(12, _value(OUTPUT, DOUBLE, 1))
    opsets = [nested(8, nested(1, domain) + integer(2, version)) for domain, version in _opsets()]
    return integer(1, IR_VERSION) + nested(2, "rankwright") + nested(7, graph) + b"".join(opsets)


def _opsets() -> list[tuple[str, int]]:
    return [("", OPSET), ("ai.onnx.ml", ML_OPSET)]


def _value(name: str, kind: int, width: int) -> bytes:
    """Return the description of a matrix with one row per document."""
    shape = nested(1, nested(2, "documents")) + nested(1, integer(1, width))
    return nested(1, name) + nested(2, nested(1, integer(1, kind) + nested(2, shape)))


def _whole(name: str, values: NDArray[Any]) -> bytes:
    return attribute(name, AS_INTEGERS, integers(8, values.tolist()))


def _products(columns: str) -> list[bytes]:
    return [
        cast(columns, "numbers"),
        node("IsNaN", ["numbers"], ["is_missing"]),
        node("Where", ["is_missing", "missing", "numbers"], ["filled"]),
        node("MatMul", ["filled", "weights"], ["weighted"]),
        node("Add", ["weighted", "intercept"], ["of_weights"]),
    ]


def _weights(linear: LinearScorer) -> list[bytes]:
    used = linear.weights != 0.0
    return [
        tensor("missing", np.where(used, linear.missing, 0.0)[None, :]),
        tensor("weights", linear.weights[:, None]),
        tensor("intercept", np.array([[linear.intercept]])),
    ]


def _ensemble(trees: TreeEnsemble, columns: str) -> bytes:
    """Return the node of the trees: of each tree first its splits, then its leaves."""
    sizes = np.diff(trees.splits)
    tree = np.repeat(np.arange(trees.n_trees), 2 * sizes + 1)
    number = np.concatenate([np.arange(2 * size + 1) for size in sizes])
    is_split = number < sizes[tree]
    n_nodes, n_splits = len(tree), np.repeat(sizes, sizes)

    def per_split(values: NDArray[Any]) -> NDArray[Any]:
        whole = np.zeros(n_nodes, dtype=values.dtype)
        whole[is_split] = values
        return whole

    left, right = (np.where(one < 0, n_splits - 1 - one, one) for one in (trees.left, trees.right))
    modes = [nested(9, "BRANCH_LEQ" if split else "LEAF") for split in is_split.tolist()]
    thresholds, weights = per_split(trees.threshold), trees.leaf_value
    attributes = [
        _whole("nodes_treeids", tree),
        _whole("nodes_nodeids", number),
        _whole("nodes_featureids", per_split(trees.feature)),
        attribute("nodes_values", AS_FLOATS, floats(7, thresholds)),
        attribute("nodes_modes", AS_STRINGS, b"".join(modes)),
        _whole("nodes_truenodeids", per_split(left)),
        _whole("nodes_falsenodeids", per_split(right)),
        _whole("nodes_missing_value_tracks_true", per_split(trees.missing_left)),
        _whole("target_treeids", tree[~is_split]),
        _whole("target_nodeids", number[~is_split]),
        _whole("target_ids", np.zeros(len(weights), dtype=np.int64)),
        attribute("target_weights", AS_FLOATS, floats(7, weights)),
        whole_number("n_targets", 1),
        attribute("post_transform", AS_STRING, nested(4, "NONE")),
        attribute("aggregate_function", AS_STRING, nested(4, "SUM")),
    ]
    return node("TreeEnsembleRegressor", [columns], ["tree_sum"], *attributes, domain="ai.onnx.ml")

"""A model as an ONNX file: one input of 32-bit features (NaN is missing), one output of 64-bit scores.

Trees are a `TreeEnsembleRegressor` of ai.onnx.ml 3, which sums in 32 bits. Weighted features are a matrix product
in 64 bits, after missing values are replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.interop.export.protobuf import floats, integer, integers, nested
from rankwright.interop.export.rules import require_float32

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.interop.export.flat import Flat
    from rankwright.models.linear import LinearScorer
    from rankwright.models.trees import TreeEnsemble

IR_VERSION, OPSET, ML_OPSET = 7, 13, 3
FLOAT, DOUBLE = 1, 11  # types of elements
AS_INTEGER, AS_STRING, AS_FLOATS, AS_INTEGERS, AS_STRINGS = 2, 3, 6, 7, 8  # types of attributes
INPUT, OUTPUT = "features", "score"


def onnx_model(flat: Flat) -> bytes:
    """Return the bytes of an ONNX file with the input `features` and the output `score`."""
    nodes: list[bytes] = []
    constants: list[bytes] = []
    parts: list[str] = []
    n_features = 0
    if flat.trees is not None:
        n_features = flat.trees.n_features
        nodes += [_ensemble(require_float32(flat.trees, "ONNX")), _cast("tree_sum", "of_trees")]
        parts.append("of_trees")
    if flat.linear is not None:
        n_features = flat.linear.n_features
        nodes += _products()
        constants += _weights(flat.linear)
        parts.append("of_weights")
    last = ("Add", parts) if len(parts) > 1 else ("Identity", parts)
    nodes.append(_node(*last, [OUTPUT]))
    return _model(nodes, constants, n_features)


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


def _node(kind: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = "") -> bytes:
    content = b"".join(nested(1, one) for one in inputs) + b"".join(nested(2, one) for one in outputs)
    content += nested(3, outputs[0] + "_node") + nested(4, kind)
    return content + b"".join(nested(5, one) for one in attributes) + nested(7, domain)


def _attribute(name: str, kind: int, content: bytes) -> bytes:
    return nested(1, name) + content + integer(20, kind)


def _whole(name: str, values: NDArray[Any]) -> bytes:
    return _attribute(name, AS_INTEGERS, integers(8, values.tolist()))


def _cast(source: str, result: str) -> bytes:
    return _node("Cast", [source], [result], _attribute("to", AS_INTEGER, integer(3, DOUBLE)))


def _products() -> list[bytes]:
    return [
        _cast(INPUT, "wide"),
        _node("IsNaN", ["wide"], ["is_missing"]),
        _node("Where", ["is_missing", "missing", "wide"], ["filled"]),
        _node("MatMul", ["filled", "weights"], ["weighted"]),
        _node("Add", ["weighted", "intercept"], ["of_weights"]),
    ]


def _weights(linear: LinearScorer) -> list[bytes]:
    used = linear.weights != 0.0
    return [
        _tensor("missing", np.where(used, linear.missing, 0.0)[None, :]),
        _tensor("weights", linear.weights[:, None]),
        _tensor("intercept", np.array([[linear.intercept]])),
    ]


def _tensor(name: str, values: NDArray[np.float64]) -> bytes:
    dims = b"".join(integer(1, size) for size in values.shape)
    return dims + integer(2, DOUBLE) + nested(8, name) + nested(9, values.astype("<f8").tobytes())


def _ensemble(trees: TreeEnsemble) -> bytes:
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
        _attribute("nodes_values", AS_FLOATS, floats(7, thresholds)),
        _attribute("nodes_modes", AS_STRINGS, b"".join(modes)),
        _whole("nodes_truenodeids", per_split(left)),
        _whole("nodes_falsenodeids", per_split(right)),
        _whole("nodes_missing_value_tracks_true", per_split(trees.missing_left)),
        _whole("target_treeids", tree[~is_split]),
        _whole("target_nodeids", number[~is_split]),
        _whole("target_ids", np.zeros(len(weights), dtype=np.int64)),
        _attribute("target_weights", AS_FLOATS, floats(7, weights)),
        _attribute("n_targets", AS_INTEGER, integer(3, 1)),
        _attribute("post_transform", AS_STRING, nested(4, "NONE")),
        _attribute("aggregate_function", AS_STRING, nested(4, "SUM")),
    ]
    return _node("TreeEnsembleRegressor", [INPUT], ["tree_sum"], *attributes, domain="ai.onnx.ml")

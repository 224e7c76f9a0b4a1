"""A model as an ONNX file: one input of 32-bit features (NaN is missing), one output of 64-bit scores.

Trees are a `TreeEnsembleRegressor` of ai.onnx.ml 3, which sums in 32 bits. Weighted features are a matrix product
in 64 bits, after missing values are replaced. What is computed within the query makes the rows one query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.interop.exporters.onnx_encoding import (
    AS_FLOATS,
    AS_INTEGERS,
    AS_STRING,
    AS_STRINGS,
    DOUBLE,
    FLOAT,
    attribute,
    cast,
    floats,
    integer,
    integers,
    nested,
    node,
    tensor,
    whole_number,
)
from rankwright.interop.exporters.onnx_query import COLUMNS, INPUT, constants_of, query_columns, standardised
from rankwright.interop.exporters.target_rules import require_float32

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.interop.exporters.scorer_sum import ExpectedTerm, ScorerSum
    from rankwright.models.linear import LinearScorer
    from rankwright.models.network import NetworkScorer
    from rankwright.models.trees import TreeEnsemble

IR_VERSION, OPSET, ML_OPSET = 7, 13, 3
OUTPUT = "score"


def onnx_model(model: ScorerSum) -> bytes:
    """Return the bytes of an ONNX file with the input `features` and the output `score`."""
    scores = _scores(model, COLUMNS if model.query_features else INPUT, OUTPUT)
    nodes = [*query_columns(model.query_features), *scores.nodes]
    constants = [*constants_of(model.query_features, standardised=bool(model.standardised)), *scores.constants]
    return _model(nodes, constants, model.n_features)


class _Nodes(NamedTuple):
    """A part of a graph."""

    nodes: list[bytes]
    constants: list[bytes]


def _scores(model: ScorerSum, columns: str, output: str) -> _Nodes:
    """Return what computes `output`, the sum of all terms of a model; the names of its own values begin so."""
    terms = dict(_terms(model, columns, output))
    nodes = [node for term in terms.values() for node in term.nodes]
    constants = [constant for term in terms.values() for constant in term.constants]
    return _Nodes([*nodes, node("Sum", list(terms), [output])], constants)


def _terms(model: ScorerSum, columns: str, output: str) -> Iterator[tuple[str, _Nodes]]:
    """Yield what computes each term, by the name of its result."""
    if model.trees is not None:
        trees, summed = require_float32(model.trees, "ONNX"), f"{output}_tree_sum"
        name = f"{output}_of_trees"
        yield name, _Nodes([_ensemble(trees, columns, summed), cast(summed, name)], [])
    if model.linear is not None:
        yield f"{output}_of_weights", _Nodes(_products(columns, output), _weights(model.linear, output))
    for number, network in enumerate(model.networks):
        name = f"{output}_network{number}"
        yield name, _layers(network, columns, name)
    for number, expected in enumerate(model.expected):
        name = f"{output}_expected{number}"
        yield name, _relevance(expected, columns, name)
    for number, (inner, weight) in enumerate(model.standardised):
        scores = f"{output}_{number}"
        (nodes, constants), name = _scores(_lowered(inner), columns, scores), f"{scores}_term"
        times = node("Mul", [f"{scores}_standardised", f"{scores}_weight"], [name])
        constant = tensor(f"{scores}_weight", np.array(weight))
        yield name, _Nodes([*nodes, *standardised(scores), times], [*constants, constant])


def _lowered(model: ScorerSum) -> ScorerSum:
    """Return scores that differ by a constant, so that a sum in 32 bits keeps the differences between documents.

    Of each tree one of its own leaves is subtracted, the one nearest to their mean.
    """
    if model.trees is None:
        return model
    trees, ends = model.trees, model.trees.splits[1:].astype(np.int64) + np.arange(1, model.trees.n_trees + 1)
    leaves = [own - own[np.abs(own - own.mean()).argmin()] for own in np.split(trees.leaf_value, ends[:-1])]
    return replace(model, trees=replace(trees, leaf_value=np.concatenate(leaves)))


def _model(nodes: list[bytes], constants: list[bytes], n_features: int) -> bytes:
    graph = b"".join(nested(1, content) for content in nodes) + nested(2, "rankwright")
    graph += b"".join(nested(5, content) for content in constants)
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


def _filled(columns: str, own: str) -> list[bytes]:
    """Return the nodes that make `OWN_filled`: the columns with missing values replaced."""
    return [
        cast(columns, f"{own}_numbers"),
        node("IsNaN", [f"{own}_numbers"], [f"{own}_is_missing"]),
        node("Where", [f"{own}_is_missing", f"{own}_missing", f"{own}_numbers"], [f"{own}_filled"]),
    ]


def _layers(network: NetworkScorer, columns: str, output: str) -> _Nodes:
    nodes, constants = _filled(columns, output), [tensor(f"{output}_missing", network.missing[None, :])]
    values = f"{output}_filled"
    for number, (weights, biases) in enumerate(network.layers):
        own, is_last = f"{output}_layer{number}", number == len(network.layers) - 1
        constants += [tensor(f"{own}_weights", weights), tensor(f"{own}_biases", biases[None, :])]
        nodes.append(node("MatMul", [values, f"{own}_weights"], [f"{own}_weighted"]))
        nodes.append(node("Add", [f"{own}_weighted", f"{own}_biases"], [output if is_last else own]))
        nodes += [] if is_last else [node("Tanh", [own], [values := f"{own}_tanh"])]
    return _Nodes(nodes, constants)


def _relevance(expected: ExpectedTerm, columns: str, output: str) -> _Nodes:
    names = [f"{output}_class{number}" for number in range(len(expected.classes))]
    classes = [_scores(of_class, columns, name) for of_class, name in zip(expected.classes, names, strict=True)]
    along = whole_number("axis", 1)
    scores, probabilities, weighted = (f"{output}_{part}" for part in ("scores", "probabilities", "weighted"))
    link = (
        ("Softmax", [scores], [probabilities], along)
        if expected.softmax
        else ("Sigmoid", [scores], [probabilities])
    )
    nodes = [
        *(own for part in classes for own in part.nodes),
        node("Concat", names, [scores], along),
        node(*link),
        node("MatMul", [probabilities, f"{output}_steps"], [weighted]),
        node("Add", [weighted, f"{output}_start"], [output]),
    ]
    constants = [constant for part in classes for constant in part.constants]
    constants += [tensor(f"{output}_steps", expected.steps[:, None])]
    constants += [tensor(f"{output}_start", np.array([[expected.start]]))]
    return _Nodes(nodes, constants)


def _products(columns: str, own: str) -> list[bytes]:
    return [
        *_filled(columns, own),
        node("MatMul", [f"{own}_filled", f"{own}_weights"], [f"{own}_weighted"]),
        node("Add", [f"{own}_weighted", f"{own}_intercept"], [f"{own}_of_weights"]),
    ]


def _weights(linear: LinearScorer, own: str) -> list[bytes]:
    used = linear.weights != 0.0
    return [
        tensor(f"{own}_missing", np.where(used, linear.missing, 0.0)[None, :]),
        tensor(f"{own}_weights", linear.weights[:, None]),
        tensor(f"{own}_intercept", np.array([[linear.intercept]])),
    ]


def _ensemble(trees: TreeEnsemble, columns: str, output: str) -> bytes:
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

    left, right = (np.where(child < 0, n_splits - 1 - child, child) for child in (trees.left, trees.right))
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
    return node("TreeEnsembleRegressor", [columns], [output], *attributes, domain="ai.onnx.ml")

"""Columns and scores computed within the query as nodes of an ONNX graph; all rows of a call are one query.

The formulas are those of `native/queries/query_features.hpp`. Sums are running sums of sorted values,
as in our core, so that the columns are equal to ours. Ranks compare every pair of documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.query_features import QueryFeature
from rankwright.interop.exporters.onnx_encoding import (
    AS_INTEGERS,
    FLOAT,
    attribute,
    cast,
    integers,
    node,
    tensor,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUT, COLUMNS = "features", "columns"


def query_columns(kinds: Sequence[QueryFeature]) -> list[bytes]:
    """Return nodes that make `columns`: the features and, for each kind, one column per feature."""
    if not kinds:
        return []
    nodes = [
        cast(INPUT, "wide"),
        node("IsNaN", ["wide"], ["missing_value"]),
        node("Not", ["missing_value"], ["is_known"]),
        cast("is_known", "known"),
        node("ReduceSum", ["known", "first_axis"], ["count"]),
        node("Max", ["count", "one"], ["divisor"]),
    ]
    for kind in kinds:
        nodes += MAKERS[kind]()
        nodes.append(cast(f"wide_{kind.value}", kind.value, FLOAT))
    names = [INPUT, *(kind.value for kind in kinds)]
    nodes.append(node("Concat", names, [COLUMNS], whole_number("axis", 1)))
    return nodes


def constants_of(kinds: Sequence[QueryFeature], *, standardised: bool) -> list[bytes]:
    """Return the constants of these kinds of columns, and of scores that are standardised."""
    used = {name for kind in kinds for name in ("one", "first_axis", *CONSTANTS[kind])}
    used |= {"zero", "one", "last_bits"} if standardised else set()
    numbers = {"zero": 0.0, "one": 1.0, "two": 2.0, "highest": np.inf, "lowest": -np.inf, "last_bits": 1e-12}
    whole = {"axis": 0, "first_axis": [0], "second_axis": [1], "last": [-1]}
    return [tensor(name, np.array(value)) for name, value in (numbers | whole).items() if name in used]


def _zscore() -> list[bytes]:
    ascending = [whole_number("axis", 0), whole_number("largest", 0)]
    return [
        node("Where", ["missing_value", "highest", "wide"], ["missing_last"]),
        node("Shape", ["wide"], ["shape"]),
        node("Gather", ["shape", "first_axis"], ["n_documents"]),
        node("TopK", ["missing_last", "n_documents"], ["sorted", "order"], *ascending),
        node("IsInf", ["sorted"], ["not_known"]),
        node("Where", ["not_known", "zero", "sorted"], ["addends"]),
        *_running_sum("addends", "sum"),
        node("Div", ["sum", "divisor"], ["mean"]),
        node("Sub", ["addends", "mean"], ["distance"]),
        node("Mul", ["distance", "distance"], ["square"]),
        node("Where", ["not_known", "zero", "square"], ["squares"]),
        *_running_sum("squares", "sum_of_squares"),
        node("Div", ["sum_of_squares", "divisor"], ["variance"]),
        node("Sqrt", ["variance"], ["deviation"]),
        *_or_one("deviation"),
        node("Sub", ["wide", "mean"], ["centred"]),
        node("Div", ["centred", "deviation_or_one"], ["wide_zscore"]),
    ]


def _running_sum(values: str, result: str) -> list[bytes]:
    return [
        node("CumSum", [values, "axis"], [f"running_{result}"]),
        node("Gather", [f"running_{result}", "last"], [result], whole_number("axis", 0)),
    ]


def _or_one(divisor: str) -> list[bytes]:
    return [
        node("Greater", [divisor, "zero"], [f"{divisor}_is_positive"]),
        node("Where", [f"{divisor}_is_positive", divisor, "one"], [f"{divisor}_or_one"]),
    ]


def standardised(scores: str) -> list[bytes]:
    """Return nodes that make `SCORES_standardised`: z-scores of scores that are first scaled to [0, 1].

    ONNX Runtime may compute the same score of equal documents with other last bits, so that scores that differ by
    nothing else count as equal.
    """
    low, high, span, scaled, mean, distance, square, variance, deviation = (
        f"{scores}_{part}"
        for part in ("low", "high", "range", "scaled", "mean", "distance", "square", "variance", "deviation")
    )
    along = attribute("axes", AS_INTEGERS, integers(8, [0]))
    return [
        node("ReduceMin", [scores], [low], along),
        node("ReduceMax", [scores], [high], along),
        node("Sub", [high, low], [span]),
        *_or_one(span),
        node("Abs", [low], [f"{low}_size"]),
        node("Abs", [high], [f"{high}_size"]),
        node("Max", [f"{low}_size", f"{high}_size"], [f"{scores}_size"]),
        node("Mul", [f"{scores}_size", "last_bits"], [f"{scores}_error"]),
        node("Greater", [span, f"{scores}_error"], [f"{scores}_differ"]),
        node("Sub", [scores, low], [f"{scores}_above_low"]),
        node("Where", [f"{scores}_differ", f"{scores}_above_low", "zero"], [f"{scores}_difference"]),
        node("Div", [f"{scores}_difference", f"{span}_or_one"], [scaled]),
        node("ReduceMean", [scaled], [mean], along),
        node("Sub", [scaled, mean], [distance]),
        node("Mul", [distance, distance], [square]),
        node("ReduceMean", [square], [variance], along),
        node("Sqrt", [variance], [deviation]),
        *_or_one(deviation),
        node("Div", [distance, f"{deviation}_or_one"], [f"{scores}_standardised"]),
    ]


def _minmax() -> list[bytes]:
    along = attribute("axes", AS_INTEGERS, integers(8, [0]))
    return [
        node("Where", ["missing_value", "highest", "wide"], ["never_lowest"]),
        node("ReduceMin", ["never_lowest"], ["low"], along),
        node("Where", ["missing_value", "lowest", "wide"], ["never_highest"]),
        node("ReduceMax", ["never_highest"], ["high"], along),
        node("Sub", ["high", "low"], ["range"]),
        *_or_one("range"),
        node("Sub", ["wide", "low"], ["above_low"]),
        node("Div", ["above_low", "range_or_one"], ["fraction"]),
        node("Add", ["fraction", "zero"], ["wide_minmax"]),  # 0.0 for -0.0
    ]


def _rank() -> list[bytes]:
    nodes = [
        node("Unsqueeze", [INPUT, "second_axis"], ["own_value"]),
        node("Unsqueeze", [INPUT, "first_axis"], ["other_value"]),
    ]
    for kind, result in (("Less", "lower"), ("Equal", "equal")):
        nodes += [
            node(kind, ["other_value", "own_value"], [f"is_{result}"]),
            cast(f"is_{result}", f"each_{result}"),
            node("ReduceSum", [f"each_{result}", "second_axis"], [result], whole_number("keepdims", 0)),
        ]
    # (2 lower + equal - 1) / 2 / (count - 1), or 1/2 for a single value
    return [
        *nodes,
        node("Greater", ["count", "one"], ["several"]),
        cast("several", "one_if_several"),
        node("Sub", ["count", "one"], ["others"]),
        node("Max", ["others", "one"], ["other_values"]),
        node("Mul", ["lower", "two"], ["twice_lower"]),
        node("Add", ["twice_lower", "equal"], ["ranks"]),
        node("Sub", ["ranks", "one_if_several"], ["sum_of_ranks"]),
        node("Div", ["sum_of_ranks", "two"], ["middle_rank"]),
        node("Div", ["middle_rank", "other_values"], ["share"]),
        node("Where", ["missing_value", "wide", "share"], ["wide_rank"]),
    ]


CONSTANTS = {
    QueryFeature.ZSCORE: ("zero", "highest", "axis", "last"),
    QueryFeature.RANK: ("two", "second_axis"),
    QueryFeature.MINMAX: ("zero", "highest", "lowest"),
}
MAKERS = {QueryFeature.ZSCORE: _zscore, QueryFeature.RANK: _rank, QueryFeature.MINMAX: _minmax}

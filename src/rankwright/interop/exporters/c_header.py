"""A model as one C header without dependencies (C99): the same scores as ours, bit for bit for trees alone."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.interop.exporters.c_code import (
    COLUMNS,
    EXPECTED,
    HEADERS,
    LINEAR,
    LOGISTIC,
    NETWORK,
    QUERY,
    SCORES,
    SOFTMAX,
    STANDARDISE,
    TERM,
    TREES,
    VALUES,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.interop.exporters.flat_models import Expected, Flat
    from rankwright.models.network import NetworkScorer

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
VALUES_PER_LINE = 12


def c_header(flat: Flat, names: Sequence[str], name: str) -> str:
    """Return a header that defines `double NAME_score(const float *features)`; NaN is a missing value.

    For a model that compares the documents of a query it defines `void NAME_score_query(const float *features, int
    n_documents, float *work, double *terms, double *scores)` instead; without `work` if no columns are computed
    within the query, and without `terms` if no scores are standardised within it.
    """
    if IDENTIFIER.fullmatch(name) is None:
        raise InputError(
            f"{name[:60]!r} is no name of a C function: give a name that begins with a letter and "
            "has letters, digits and underscores only."
        )
    listed = "".join(f" * {place} {_comment(one)}\n" for place, one in enumerate(names))
    functions = _of_queries(flat) if flat.needs_query else _of_documents(flat, "score")
    usage = "score_query takes a query's documents, each of" if flat.needs_query else "score takes"
    infinite = flat.trees is not None and bool(np.isinf(flat.trees.threshold).any())
    headers = HEADERS if infinite or flat.needs_query or flat.networks or flat.expected else ""
    text = (
        f"/* Written by rankwright. NAME_{usage} {flat.n_features} features, NaN for a missing one.\n\0 */\n"
        f"#ifndef NAME_H\n#define NAME_H\n\n{headers}#include <stdint.h>\n\n"
        f"#define NAME_N_FEATURES {flat.n_features}\n{functions}\n#endif\n"
    )
    return re.sub("NAME_|MODEL_", f"{name}_", text).replace("\0", listed)


def _of_documents(flat: Flat, called: str) -> str:
    """Return the function that scores the columns of one document by trees and weights."""
    tables, body = [], ""
    if flat.trees is not None:
        tables += [_tables_of_trees(flat.trees)]
        body += TREES
    if flat.linear is not None:
        tables += [_tables_of_weights(flat.linear)]
        body += LINEAR
    for number, network in enumerate(flat.networks):
        tables += [_network(network).replace("NAME_", f"NAME_network{number}_")]
        body += f"  score += NAME_network{number}_score(features);\n"
    for number, expected in enumerate(flat.expected):
        tables += [_relevance(expected).replace("NAME_", f"NAME_expected{number}_")]
        body += f"  score += NAME_expected{number}_score(features);\n"
    unused = "" if body else "  (void)features;\n"
    return (
        f"{''.join(tables)}\nstatic inline double NAME_{called}(const float *features) {{\n"
        f"  double score = 0.0;\n{unused}{body}  return score;\n}}\n\n"
    )


def _of_queries(flat: Flat) -> str:
    """Return the functions that score a query: the columns within it, if there are any, and all terms."""
    sizes = (
        f"#define NAME_N_COLUMNS {flat.n_columns}\n"
        "#define NAME_WORK(n_documents) ((size_t)(n_documents) * (NAME_N_COLUMNS + 1))\n"
        f"#define NAME_TERMS(n_documents) ((size_t)(n_documents) * {_depth(flat)})\n\n"
    )
    functions = sizes + (STANDARDISE if flat.standardised else "") + _sum_of_terms(flat)
    if not flat.kinds:
        return functions + QUERY
    made = [
        f"      column[{1 + number} * NAME_N_FEATURES] = {VALUES[kind]};\n"
        for number, kind in enumerate(flat.kinds)
    ]
    terms = (", terms for NAME_TERMS(n_documents) doubles", " double *terms,", "terms")
    words = zip(
        ("TERMS_ROOM", "TERMS_PARAMETER", "TERMS_GIVEN"),
        terms if flat.standardised else ("", "", "0"),
        strict=True,
    )
    columns = COLUMNS.replace("KINDS", "".join(made))
    for word, text in words:
        columns = columns.replace(word, text)
    return functions + columns


def _sum_of_terms(flat: Flat) -> str:
    """Return the function that scores the columns of all documents of a query, after those of its terms."""
    terms = ""
    calls = ""
    for number, (inner, weight) in enumerate(flat.standardised):
        terms += _sum_of_terms(inner).replace("NAME_", f"NAME_term{number}_")
        calls += TERM.replace("TERM_", f"NAME_term{number}_").replace("WEIGHT", weight.hex())
    return terms + _of_documents(flat, "score_columns") + SCORES.replace("TERMS", calls)


def _depth(flat: Flat) -> int:
    """Return how many terms are inside one another."""
    return max((1 + _depth(one.inner) for one in flat.standardised), default=0)


def _comment(text: str) -> str:
    """Return a name that cannot end a comment."""
    return "".join(one if one.isalnum() or one in " _-.:" else "?" for one in text)


def _float(number: float) -> str:
    """Return a 32-bit number in C; infinity needs <math.h>."""
    if isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"{number.hex()}f"


def _tables_of_trees(trees: Any) -> str:
    return f"#define NAME_N_TREES {trees.n_trees}\n" + "".join(
        [
            _table("int32_t", "splits", map(str, trees.splits.tolist())),
            _table("int32_t", "feature", map(str, trees.feature.tolist())),
            _table("float", "threshold", map(_float, trees.threshold.tolist())),
            _table("uint8_t", "missing_left", map(str, trees.missing_left.tolist())),
            _table("int32_t", "left", map(str, trees.left.tolist())),
            _table("int32_t", "right", map(str, trees.right.tolist())),
            _table("double", "leaf", (one.hex() for one in trees.leaf_value.tolist())),
        ]
    )


def _tables_of_weights(linear: Any) -> str:
    used = linear.used_features
    head = f"#define NAME_N_WEIGHTS {len(used)}\n#define NAME_INTERCEPT ({linear.intercept.hex()})\n"
    return head + "".join(
        [
            _table("int32_t", "column", map(str, used.tolist())),
            _table("double", "weight", (one.hex() for one in linear.weights[used].tolist())),
            _table("double", "missing", (one.hex() for one in linear.missing[used].tolist())),
        ]
    )


def _relevance(expected: Expected) -> str:
    functions, calls = "", []
    for number, one in enumerate(expected.classes):
        functions += _of_documents(one, "score").replace("NAME_", f"NAME_class{number}_")
        calls.append(f"NAME_class{number}_score(features)")
    steps = _table("double", "steps", (one.hex() for one in expected.steps.tolist()))
    whole = EXPECTED.replace("LINK", SOFTMAX if expected.softmax else LOGISTIC).replace("SCORES", ", ".join(calls))
    return functions + steps + whole.replace("START", expected.start.hex()).replace("N_CLASSES", str(len(calls)))


def _network(network: NetworkScorer) -> str:
    hidden = network.widths[1:-1].tolist()
    sizes = f"#define NAME_N_LAYERS {len(hidden) + 1}\n#define NAME_WIDEST {max([1, *hidden])}\n"
    tables = [
        _table("int32_t", "widths", map(str, network.widths.tolist())),
        _table("double", "parameters", (one.hex() for one in network.parameters.tolist())),
        _table("double", "missing", (one.hex() for one in network.missing.tolist())),
    ]
    return sizes + "".join(tables) + NETWORK


def _table(kind: str, name: str, values: Iterable[str]) -> str:
    """Return a constant array; C has none of length 0, so an empty one holds a zero that is never read."""
    listed = list(values) or ["0"]
    lines = [", ".join(listed[at : at + VALUES_PER_LINE]) for at in range(0, len(listed), VALUES_PER_LINE)]
    return f"static const {kind} NAME_{name}[] = {{\n  {(',' + chr(10) + '  ').join(lines)}}};\n"

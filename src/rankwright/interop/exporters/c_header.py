"""A model as one C header without dependencies (C99): the same scores as ours, bit for bit for trees alone."""

from __future__ import annotations

import re
from math import isinf
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.query_features import QueryFeature
from rankwright.interop.exporters.c_levels import set_level_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.interop.exporters.scorer_sum import ExpectedTerm, ScorerSum
    from rankwright.models.linear import LinearScorer
    from rankwright.models.network import NetworkScorer
    from rankwright.models.trees import TreeEnsemble

# Pieces of C: NAME_ begins the names of a term of a model, MODEL_ those of the whole model.
HEADERS = "#include <math.h>\n#include <stddef.h>\n"
TREES = """\
  {
    int tree, split;
    for (tree = 0; tree < NAME_N_TREES; ++tree) {
      const int32_t first = NAME_splits[tree];
      split = NAME_splits[tree + 1] > first ? 0 : -1;
      while (split >= 0) {
        const int32_t at = first + split;
        const float value = features[NAME_feature[at]];
        const int goes_left = value != value ? NAME_missing_left[at] : value <= NAME_threshold[at];
        split = goes_left ? NAME_left[at] : NAME_right[at];
      }
      score += NAME_leaf[first + tree - 1 - split];
    }
  }
"""
LINEAR = """\
  {
    int place;
    double weighted = NAME_INTERCEPT;
    for (place = 0; place < NAME_N_WEIGHTS; ++place) {
      const float value = features[NAME_column[place]];
      weighted += NAME_weight[place] * (value != value ? NAME_missing[place] : (double)value);
    }
    score += weighted;
  }
"""
NETWORK = """\
static inline double NAME_score(const float *features) {
  double inputs[NAME_WIDEST], units[NAME_WIDEST];
  const double *parameter = NAME_parameters;
  int layer, place, unit;
  for (layer = 0; layer < NAME_N_LAYERS; ++layer) {
    const int n_inputs = NAME_widths[layer], n_units = NAME_widths[layer + 1];
    for (unit = 0; unit < n_units; ++unit) units[unit] = parameter[n_inputs * n_units + unit];
    for (place = 0; place < n_inputs; ++place) {
      const double known = layer > 0 ? inputs[place] : features[place];
      const double value = layer > 0 || known == known ? known : NAME_missing[place];
      for (unit = 0; unit < n_units; ++unit) units[unit] += value * *parameter++;
    }
    parameter += n_units;
    for (unit = 0; unit < n_units; ++unit)
      inputs[unit] = layer + 1 < NAME_N_LAYERS ? tanh(units[unit]) : units[unit];
  }
  return inputs[0];
}
"""
EXPECTED = """\
static inline double NAME_score(const float *features) {
  const double scores[] = {SCORES};
  double expected = START;
  int place;
LINK  return expected;
}
"""
SOFTMAX = """\
  double highest = scores[0], sum = 0.0, weighted = 0.0;
  for (place = 1; place < N_CLASSES; ++place) highest = fmax(highest, scores[place]);
  for (place = 0; place < N_CLASSES; ++place) {
    const double raised = exp(scores[place] - highest);
    sum += raised;
    weighted += NAME_steps[place] * raised;
  }
  expected += weighted / sum;
"""
LOGISTIC = """\
  for (place = 0; place < N_CLASSES; ++place) {
    const double falling = exp(-fabs(scores[place])); /* cannot overflow */
    expected += NAME_steps[place] * (scores[place] < 0.0 ? falling : 1.0) / (1.0 + falling);
  }
"""
STANDARDISE = """\
/* Replaces scores by their distance from their mean in standard deviations; by 0 if all are equal. */
static inline void MODEL_standardise(double *scores, int n) {
  double low = INFINITY, high = -INFINITY, range, sum = 0.0, squares = 0.0, mean, deviation;
  int place;
  for (place = 0; place < n; ++place) {
    low = fmin(low, scores[place]);
    high = fmax(high, scores[place]);
  }
  range = high > low ? high - low : 1.0;
  for (place = 0; place < n; ++place) sum += scores[place] = (scores[place] - low) / range;
  mean = sum / n;
  for (place = 0; place < n; ++place) squares += (scores[place] - mean) * (scores[place] - mean);
  deviation = sqrt(squares / n);
  if (!(deviation > 0.0)) deviation = 1.0;
  for (place = 0; place < n; ++place) scores[place] = (scores[place] - mean) / deviation;
}

"""
SCORES = """\
static inline void NAME_scores(const float *columns, int n_documents, double *terms, double *scores) {
  int document;
  (void)terms; /* not every model uses it */
  for (document = 0; document < n_documents; ++document)
    scores[document] = NAME_score_columns(columns + (size_t)document * MODEL_N_COLUMNS);
TERMS}

"""
TERM = """\
  TERM_scores(columns, n_documents, terms + n_documents, terms);
  MODEL_standardise(terms, n_documents);
  for (document = 0; document < n_documents; ++document) scores[document] += WEIGHT * terms[document];
"""
QUERY = """\
/* Scores one query. terms has room for MODEL_TERMS(n_documents) doubles. */
static inline void MODEL_score_query(const float *features, int n_documents, double *terms, double *scores) {
  MODEL_scores(features, n_documents, terms, scores);
}
"""
COLUMNS = """\
/* Sorts in ascending order. */
static inline void NAME_sort(float *values, int n) {
  int end, start = n / 2;
  for (end = n; end > 1;) {
    int parent, child;
    float value;
    if (start > 0) {
      value = values[--start];
    } else {
      value = values[--end];
      values[end] = values[0];
    }
    parent = start;
    while ((child = 2 * parent + 1) < end) {
      if (child + 1 < end && values[child + 1] > values[child]) ++child;
      if (values[child] <= value) break;
      values[parent] = values[child];
      parent = child;
    }
    values[parent] = value;
  }
}

/* The mean and the standard deviation (1 instead of 0) of n sorted values. */
static inline void NAME_moments(const float *known, int n, double *mean, double *deviation) {
  double sum = 0.0, squares = 0.0;
  int place;
  for (place = 0; place < n; ++place) sum += known[place];
  *mean = sum / (n > 0 ? n : 1);
  for (place = 0; place < n; ++place) squares += (known[place] - *mean) * (known[place] - *mean);
  *deviation = sqrt(squares / (n > 0 ? n : 1));
  if (!(*deviation > 0.0)) *deviation = 1.0;
}

/* The number of n sorted values that are below a value, or at most the value. */
static inline int NAME_below(const float *known, int n, float value, int or_equal) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (or_equal ? known[middle] <= value : known[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* The fraction of the other values that are lower; equal ones count half. */
static inline float NAME_rank(float value, const float *known, int n) {
  const double lower = NAME_below(known, n, value, 0), highest = NAME_below(known, n, value, 1) - 1;
  return n > 1 ? (float)((lower + highest) / 2.0 / (n - 1)) : 0.5f;
}

/* Scores one query. work has room for NAME_WORK(n_documents) floatsTERMS_ROOM. */
static inline void NAME_score_query(const float *features, int n_documents, float *work,TERMS_PARAMETER
                                    double *scores) {
  float *const columns = work, *const known = work + (size_t)n_documents * NAME_N_COLUMNS;
  int feature, document;
  for (feature = 0; feature < NAME_N_FEATURES; ++feature) {
    int n = 0;
    double low, range, mean, deviation;
    for (document = 0; document < n_documents; ++document) {
      const float value = features[(size_t)document * NAME_N_FEATURES + feature];
      if (value == value) known[n++] = value;
    }
    NAME_sort(known, n);
    NAME_moments(known, n, &mean, &deviation);
    low = n > 0 ? known[0] : 0.0;
    range = n > 0 && known[n - 1] > known[0] ? (double)known[n - 1] - low : 1.0;
    (void)range; /* not every model uses all of them */
    for (document = 0; document < n_documents; ++document) {
      const float value = features[(size_t)document * NAME_N_FEATURES + feature];
      float *const column = columns + (size_t)document * NAME_N_COLUMNS + feature;
      column[0] = value;
KINDS    }
  }
  NAME_scores(columns, n_documents, TERMS_GIVEN, scores);
}
"""

# Adding 0.0 turns -0.0 into 0.0, as our core does; a missing value stays missing.
VALUES = {
    QueryFeature.ZSCORE: "(float)((value - mean) / deviation)",
    QueryFeature.RANK: "value == value ? NAME_rank(value, known, n) : value",
    QueryFeature.MINMAX: "(float)((value - low) / range + 0.0)",
}

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
VALUES_PER_LINE = 12


def c_header(model: ScorerSum, names: Sequence[str], name: str, columns: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a header that defines `double NAME_score(const float *features)`; NaN is a missing value.

    For a model that compares the documents of a query it defines `void NAME_score_query(const float *features, int
    n_documents, float *work, double *terms, double *scores)` instead; without `work` if no columns are computed
    within the query, and without `terms` if no scores are standardised within it.

    `columns` are the `encodings` of categories by the numbers of features. If there are any, the header defines
    `int NAME_set_level(float *features, const char *column, const char *level)`.
    """
    if IDENTIFIER.fullmatch(name) is None:
        raise InputError(
            f"{name[:60]!r} is no name of a C function: give a name that begins with a letter and "
            "has letters, digits and underscores only."
        )
    listed = "".join(f" * {column} {_comment(name_of_feature)}\n" for column, name_of_feature in enumerate(names))
    functions = _of_queries(model) if model.needs_query else _of_documents(model, "score")
    usage = "score_query takes a query's documents, each of" if model.needs_query else "score takes"
    infinite = model.trees is not None and bool(np.isinf(model.trees.threshold).any())
    headers = HEADERS if infinite or model.needs_query or model.networks or model.expected or columns else ""
    headers += "#include <string.h>\n" if columns else ""
    text = (
        f"/* Written by rankwright. NAME_{usage} {model.n_features} features, NaN for a missing one.\n\0 */\n"
        f"#ifndef NAME_H\n#define NAME_H\n\n{headers}#include <stdint.h>\n\n"
        f"#define NAME_N_FEATURES {model.n_features}\n{functions}\1\n#endif\n"
    )
    text = re.sub("NAME_|MODEL_", f"{name}_", text)  # but not in names and levels
    return text.replace("\1", set_level_function(columns, name) if columns else "").replace("\0", listed)


def _of_documents(model: ScorerSum, called: str) -> str:
    """Return the function that scores the columns of one document by trees and weights."""
    tables, body = [], ""
    if model.trees is not None:
        tables += [_tables_of_trees(model.trees)]
        body += TREES
    if model.linear is not None:
        tables += [_tables_of_weights(model.linear)]
        body += LINEAR
    for number, network in enumerate(model.networks):
        tables += [_network(network).replace("NAME_", f"NAME_network{number}_")]
        body += f"  score += NAME_network{number}_score(features);\n"
    for number, expected in enumerate(model.expected):
        tables += [_relevance(expected).replace("NAME_", f"NAME_expected{number}_")]
        body += f"  score += NAME_expected{number}_score(features);\n"
    unused = "" if body else "  (void)features;\n"
    return (
        f"{''.join(tables)}\nstatic inline double NAME_{called}(const float *features) {{\n"
        f"  double score = 0.0;\n{unused}{body}  return score;\n}}\n\n"
    )


def _of_queries(model: ScorerSum) -> str:
    """Return the functions that score a query: the columns within it, if there are any, and all terms."""
    sizes = (
        f"#define NAME_N_COLUMNS {model.n_columns}\n"
        "#define NAME_WORK(n_documents) ((size_t)(n_documents) * (NAME_N_COLUMNS + 1))\n"
        f"#define NAME_TERMS(n_documents) ((size_t)(n_documents) * {_depth(model)})\n\n"
    )
    functions = sizes + (STANDARDISE if model.standardised else "") + _sum_of_terms(model)
    if not model.query_features:
        return functions + QUERY
    made = [
        f"      column[{1 + number} * NAME_N_FEATURES] = {VALUES[kind]};\n"
        for number, kind in enumerate(model.query_features)
    ]
    terms = (", terms for NAME_TERMS(n_documents) doubles", " double *terms,", "terms")
    words = zip(
        ("TERMS_ROOM", "TERMS_PARAMETER", "TERMS_GIVEN"),
        terms if model.standardised else ("", "", "0"),
        strict=True,
    )
    columns = COLUMNS.replace("KINDS", "".join(made))
    for word, text in words:
        columns = columns.replace(word, text)
    return functions + columns


def _sum_of_terms(model: ScorerSum) -> str:
    """Return the function that scores the columns of all documents of a query, after those of its terms."""
    terms = ""
    calls = ""
    for number, (inner, weight) in enumerate(model.standardised):
        terms += _sum_of_terms(inner).replace("NAME_", f"NAME_term{number}_")
        calls += TERM.replace("TERM_", f"NAME_term{number}_").replace("WEIGHT", weight.hex())
    return terms + _of_documents(model, "score_columns") + SCORES.replace("TERMS", calls)


def _depth(model: ScorerSum) -> int:
    """Return how many terms are inside one another."""
    return max((1 + _depth(term.inner) for term in model.standardised), default=0)


def _comment(text: str) -> str:
    """Return a name that cannot end a comment, nor continue its line."""
    printable = "".join(character if character.isprintable() and character != "\\" else "?" for character in text)
    return re.sub(r"([*/?])(?=[*/?])", r"\1 ", printable)


def _tables_of_trees(trees: TreeEnsemble) -> str:
    names = ("splits", "feature", "threshold", "missing_left", "left", "right")
    tables = {name: getattr(trees, name) for name in names} | {"leaf": trees.leaf_value}
    return f"#define NAME_N_TREES {trees.n_trees}\n{_tables(tables)}"


def _tables_of_weights(linear: LinearScorer) -> str:
    used = linear.used_features
    head = f"#define NAME_N_WEIGHTS {len(used)}\n#define NAME_INTERCEPT ({linear.intercept.hex()})\n"
    return head + _tables({"column": used, "weight": linear.weights[used], "missing": linear.missing[used]})


def _relevance(expected: ExpectedTerm) -> str:
    functions, calls = "", []
    for number, of_class in enumerate(expected.classes):
        functions += _of_documents(of_class, "score").replace("NAME_", f"NAME_class{number}_")
        calls.append(f"NAME_class{number}_score(features)")
    steps = _tables({"steps": expected.steps})
    whole = EXPECTED.replace("LINK", SOFTMAX if expected.softmax else LOGISTIC).replace("SCORES", ", ".join(calls))
    return functions + steps + whole.replace("START", expected.start.hex()).replace("N_CLASSES", str(len(calls)))


def _network(network: NetworkScorer) -> str:
    hidden = network.widths[1:-1].tolist()
    sizes = f"#define NAME_N_LAYERS {len(hidden) + 1}\n#define NAME_WIDEST {max([1, *hidden])}\n"
    tables = {"widths": network.widths, "parameters": network.parameters, "missing": network.missing}
    return sizes + _tables(tables) + NETWORK


def _tables(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return constant arrays; C has none of length 0, so an empty one holds a zero that is never read."""
    tables = []
    for name, values in arrays.items():
        kind, spelled = NUMBERS.get(values.dtype.name, ("int32_t", str))
        listed = [spelled(value) for value in values.tolist()] or ["0"]
        lines = [", ".join(listed[at : at + VALUES_PER_LINE]) for at in range(0, len(listed), VALUES_PER_LINE)]
        tables.append(f"static const {kind} NAME_{name}[] = {{\n  {(',' + chr(10) + '  ').join(lines)}}};\n")
    return "".join(tables)


def _float(number: float) -> str:
    """Return a 32-bit number in C; infinity needs <math.h>."""
    if isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"{number.hex()}f"


NUMBERS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "float32": ("float", _float),
    "float64": ("double", float.hex),
    "uint8": ("uint8_t", str),
}
"""The type in C, and how a number is written, by the type of an array; other integers are `int32_t`."""

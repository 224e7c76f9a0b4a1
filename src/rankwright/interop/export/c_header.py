"""A model as one C header without dependencies (C99): the same scores as ours, bit for bit for trees alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.interop.export.flat import Flat

IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
VALUES_PER_LINE = 12
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


def c_header(flat: Flat, names: Sequence[str], name: str) -> str:
    """Return a header that defines `double NAME_score(const float *features)`; NaN is a missing value."""
    if IDENTIFIER.fullmatch(name) is None:
        raise InputError(f"{name[:60]!r} is no name of a C function; give name letters, digits and underscores.")
    tables, body, n_features = [], "", 0
    if flat.trees is not None:
        n_features = flat.trees.n_features
        tables += [_tables_of_trees(flat.trees)]
        body += TREES
    if flat.linear is not None:
        n_features = flat.linear.n_features
        tables += [_tables_of_weights(flat.linear)]
        body += LINEAR
    listed = "".join(f" * {place} {_comment(one)}\n" for place, one in enumerate(names))
    text = (
        f"/* Written by rankwright. NAME_score takes {n_features} features, NaN for a missing one.\n{listed} */\n"
        "#ifndef NAME_H\n#define NAME_H\n\n#include <stdint.h>\n\n"
        f"#define NAME_N_FEATURES {n_features}\n{''.join(tables)}\n"
        "static inline double NAME_score(const float *features) {\n  double score = 0.0;\n"
        f"{body}  return score;\n}}\n\n#endif\n"
    )
    return text.replace("NAME_", f"{name}_")


def _comment(text: str) -> str:
    """Return a name that cannot end a comment."""
    return "".join(one if one.isalnum() or one in " _-.:" else "?" for one in text)


def _tables_of_trees(trees: Any) -> str:
    return f"#define NAME_N_TREES {trees.n_trees}\n" + "".join(
        [
            _table("int32_t", "splits", map(str, trees.splits.tolist())),
            _table("int32_t", "feature", map(str, trees.feature.tolist())),
            _table("float", "threshold", (f"{one.hex()}f" for one in trees.threshold.tolist())),
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


def _table(kind: str, name: str, values: Iterable[str]) -> str:
    """Return a constant array; C has none of length 0, so an empty one holds a zero that is never read."""
    listed = list(values) or ["0"]
    lines = [", ".join(listed[at : at + VALUES_PER_LINE]) for at in range(0, len(listed), VALUES_PER_LINE)]
    return f"static const {kind} NAME_{name}[] = {{\n  {(',' + chr(10) + '  ').join(lines)}}};\n"

"""A model as a ranking expression of Vespa, as its own import of XGBoost models writes them.

A missing value is NaN, of which every comparison is false: `if (x < t, left, right)` sends it right, and
`if (!(x >= t), left, right)` left.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import nested, strictly_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.interop.exporters.scorer_sum import ScorerSum
    from rankwright.models.linear import LinearScorer
    from rankwright.models.trees import TreeEnsemble


RANK_FEATURE = re.compile(r"[A-Za-z_][\w.]*(\([^()\s]*\))?(\.\w+)?")


def vespa_expression(model: ScorerSum, names: Sequence[str]) -> str:
    """Return the expression; names are rank features, such as `attribute(age)` and `bm25(title)`."""
    for name in names:
        if RANK_FEATURE.fullmatch(name) is None:
            raise InputError(
                f"{name[:60]!r} is no rank feature of Vespa; give feature_names such as attribute(age)."
            )
    terms = [] if model.trees is None else _trees(model.trees, names)
    terms += [] if model.linear is None else _weights(model.linear, names)
    return " +\n".join(terms) + "\n"


def _weights(linear: LinearScorer, names: Sequence[str]) -> list[str]:
    terms = [f"({linear.intercept!r})"]
    for column in linear.used_features.tolist():
        name, missing = names[column], linear.missing[column].item()
        terms.append(f"({linear.weights[column].item()!r}) * if (isNan({name}), {missing!r}, {name})")
    return terms


def _trees(trees: TreeEnsemble, names: Sequence[str]) -> list[str]:
    below = strictly_below(trees)

    def split(index: int, left: str, right: str) -> str:
        name, threshold = names[trees.feature[index]], float(below.threshold[index])
        condition = f"!({name} >= {threshold!r})" if below.missing_left[index] else f"{name} < {threshold!r}"
        return f"if ({condition}, {left}, {right})"

    return nested(trees, below.left, below.right, split, lambda value, _number: repr(value))

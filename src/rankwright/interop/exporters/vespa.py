"""A model as a ranking expression of Vespa, as its own import of XGBoost models writes them.

A missing value is NaN, of which every comparison is false: `if (x < t, left, right)` sends it right, and
`if (!(x >= t), left, right)` left.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.interop.exporters.target_rules import numbered, strictly_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.interop.exporters.flat_models import Flat
    from rankwright.interop.exporters.target_rules import Below
    from rankwright.models.linear import LinearScorer
    from rankwright.models.trees import TreeEnsemble


RANK_FEATURE = re.compile(r"[A-Za-z_][\w.]*(\([^()\s]*\))?(\.\w+)?")


def vespa_expression(flat: Flat, names: Sequence[str]) -> str:
    """Return the expression; names are rank features, such as `attribute(age)` and `bm25(title)`."""
    for name in names:
        if RANK_FEATURE.fullmatch(name) is None:
            raise InputError(
                f"{name[:60]!r} is no rank feature of Vespa; give feature_names such as attribute(age)."
            )
    terms = [] if flat.trees is None else _trees(flat.trees, names)
    terms += [] if flat.linear is None else _weights(flat.linear, names)
    return " +\n".join(terms) + "\n"


def _weights(linear: LinearScorer, names: Sequence[str]) -> list[str]:
    terms = [f"({linear.intercept!r})"]
    for column in linear.used_features.tolist():
        name, missing = names[column], linear.missing[column].item()
        terms.append(f"({linear.weights[column].item()!r}) * if (isNan({name}), {missing!r}, {name})")
    return terms


def _trees(trees: TreeEnsemble, names: Sequence[str]) -> list[str]:
    below = strictly_below(trees)
    return [_tree(trees, below, names, number, place) for number, place in enumerate(numbered(trees))]


def _tree(trees: TreeEnsemble, below: Below, names: Sequence[str], number: int, place: slice) -> str:
    values = trees.leaf_value[place.start + number : place.stop + number + 1].tolist()
    nodes = {-1 - leaf: repr(value) for leaf, value in enumerate(values)}
    for split in range(place.stop - place.start - 1, -1, -1):  # children come after their parents
        at = place.start + split
        name, threshold = names[trees.feature[at]], float(below.threshold[at])
        condition = f"!({name} >= {threshold!r})" if below.missing_left[at] else f"{name} < {threshold!r}"
        left, right = nodes.pop(int(below.left[at])), nodes.pop(int(below.right[at]))
        nodes[split] = f"if ({condition}, {left}, {right})"
    return nodes.popitem()[1]

"""A short description of a scorer, for notebooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rankwright.reports.charts.notebook import card_html

if TYPE_CHECKING:
    from rankwright.models.facts import JSON
    from rankwright.models.scorer import Scorer

MOST_NAMES = 10
MOST_LETTERS = 300  # of one fact; a file may claim anything


def card_of(scorer: Scorer) -> str:
    """Return an HTML card: the kind of scorer, its features and rounds, and the facts that are saved with it."""
    facts = {"kind": scorer.kind, "features": _features(scorer)}
    if scorer.n_rounds:
        facts["rounds"] = f"{scorer.n_rounds:,}"
    told = {name: _short(fact) for name, fact in scorer.about.items() if name not in facts}
    return card_html(type(scorer).__name__, facts | told)


def _features(scorer: Scorer) -> str:
    number, names = f"{scorer.n_features:,}", scorer.feature_names
    if names is None:
        return number
    more = ", ..." if len(names) > MOST_NAMES else ""
    return _shortened(f"{number}: {', '.join(names[:MOST_NAMES])}{more}")


def _short(fact: JSON) -> str:
    return _shortened(fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ..."

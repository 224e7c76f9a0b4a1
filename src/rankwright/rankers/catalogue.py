"""Rankers by name, with parameters as text: how the command line and nested parameters make them."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

from rankwright.errors import InputError
from rankwright.metrics.parse import nearest
from rankwright.rankers.checks import read_json, spelled
from rankwright.rankers.parameters import require_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankwright.rankers.ranker import Ranker


def known_rankers() -> dict[str, type[Ranker]]:
    """Return every public ranker by name."""
    import rankwright  # here and not above: some of its rankers import this module
    from rankwright.rankers.ranker import Ranker

    public = (getattr(rankwright, name) for name in dir(rankwright))
    return {one.name: one for one in public if inspect.isclass(one) and issubclass(one, Ranker)}


def find_ranker(name: str) -> type[Ranker]:
    """Return the class of the ranker of that name."""
    known = known_rankers()
    if name not in known:
        raise InputError(f"There is no ranker {name!r}{nearest(name, known)}")
    return known[name]


def make_ranker(name: str, settings: Mapping[str, str]) -> Ranker:
    """Return the ranker of that name, with parameters that are spelled as text."""
    kind = find_ranker(name)
    require_known(kind, settings)
    return kind(**{name: kind.declared[name].check.parse(name, text) for name, text in settings.items()})


def read_ranker(text: str) -> Ranker:
    """Return the ranker that a text names: `mart`, or `{"ranker": "mart", "rounds": 50}`."""
    value = read_json(text)
    if not isinstance(value, dict):
        return make_ranker(text, {})
    if not isinstance(value.get("ranker"), str):
        raise InputError(f'A ranker is spelled {{"ranker": "mart", "rounds": 50}}, not {json.dumps(value)}.')
    settings = {name: spelled(one) for name, one in value.items() if name != "ranker"}
    return make_ranker(value["ranker"], settings)

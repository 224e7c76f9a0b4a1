"""Facts saved with a model: plain JSON of limited depth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JSON: TypeAlias = "Mapping[str, JSON] | Sequence[JSON] | str | int | float | bool | None"

MAX_FACTS_DEPTH = 32
"""Levels of nested objects and lists in the facts: what reads them may recurse safely."""


def checked_about(about: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return an independent copy of the facts; refuse anything that is not plain JSON."""
    try:
        facts = json.loads(json.dumps(about, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"about must hold plain JSON: {error}.") from None
    if not isinstance(facts, dict):
        raise InputError(f"about must be a mapping of facts by name, not {type(about).__name__}.")
    _require_shallow(facts)
    return facts


def _require_shallow(facts: dict[str, JSON]) -> None:
    level: list[JSON] = [facts]
    for _ in range(MAX_FACTS_DEPTH):  # level by level, for recursion could itself go too deep
        level = [part for one in level for part in _parts(one)]
    if any(isinstance(one, dict | list) for one in level):
        raise InputError(f"about must not be nested more than {MAX_FACTS_DEPTH} levels deep.")


def _parts(value: JSON) -> Sequence[JSON]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()

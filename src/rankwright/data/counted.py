"""Numbers with their nouns and lists of names, for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 query" or "2,000 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(names: Iterable[str]) -> str:
    """Return names to choose from, as in "'csv', 'tsv' or 'jsonl'"."""
    *others, last = (repr(name) for name in names)
    return f"{', '.join(others)} or {last}" if others else last

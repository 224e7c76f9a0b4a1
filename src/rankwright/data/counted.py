"""Numbers with their nouns and lists of names, for messages."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context
from math import isnan
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


def rounded_up(number: float) -> str:
    """Return a number rounded up to two digits, as a limit that would do: "0.024" or "1300"."""
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(number))).normalize():f}"


def shown_p_value(value: float) -> str:
    """Return a p-value as a cell of a table: three digits, or a dash if it is unknown."""
    return "-" if isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"


def said_p_value(value: float) -> str:
    """Return a p-value as a part of a sentence, as in "p = 0.012"."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"

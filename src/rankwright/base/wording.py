"""Spells numbers, names and lists for every message, table and page, and values for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import ROUND_CEILING, Context
from difflib import get_close_matches
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "-"
SHOWN_NAMES = 8
SHOWN_CHARACTERS = 60
SENTENCE = 300  # characters of an error in a file


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 query" or "2,000 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def capitalised(text: str) -> str:
    """Return a text with a capital first letter and the rest as it is, unlike `str.capitalize`."""
    return text[:1].upper() + text[1:]


def listed(names: Iterable[str]) -> str:
    """Return names to choose from, as in "'csv', 'tsv' or 'jsonl'"."""
    *others, last = (repr(name) for name in names)
    return f"{', '.join(others)} or {last}" if others else last


def enumerated(items: Iterable[str]) -> str:
    """Return items as a part of a sentence, as in "this, that and the other"."""
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last


def brief_list(names: Iterable[str]) -> str:
    """Return names separated by commas; of many only the first."""
    every = [shortened(name) for name in names]
    more = len(every) - SHOWN_NAMES
    return ", ".join(every) if more <= 1 else f"{', '.join(every[:SHOWN_NAMES])} and {more} more"


def shortened(text: str, most: int = SHOWN_CHARACTERS) -> str:
    """Return a text for a message: cut, and without control characters, for a file may hold anything."""
    short = text if len(text) <= most else f"{text[: most - 3]}..."
    return short if short.isprintable() else repr(short)[1:-1]


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most like this one; None if none is."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=cutoff)), None)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message that suggests the closest known name, or lists all names."""
    names = sorted(known)
    close = closest(name, names)
    return f"; did you mean {close!r}?" if close else f"; there are {', '.join(names)}."


def spelled(number: float | None, form: str) -> str:
    """Return a number in a format of Python, or a dash if it is unknown."""
    return UNKNOWN if number is None or not isfinite(number) else format(number, form)


def metric_value(value: float | None) -> str:
    """Return the value of a metric with four digits, as in "0.4567"."""
    return spelled(value, ".4f")


def difference(value: float | None) -> str:
    """Return a difference of metric values with its sign, as in "+0.0123"; never "-0.0000"."""
    return spelled(value, "+z.4f")


def measured(value: float | None) -> str:
    """Return a measured number of any size: four digits below 10, two above; a dash if it is unknown."""
    return spelled(value, ".4f" if value is not None and abs(value) < 10 else ",.2f")


def interval(low: float, high: float, *, signed: bool = False) -> str:
    """Return the limits of an interval of metric values, as in "0.4480 to 0.4567"; a dash if unknown."""
    if not isfinite(low) or not isfinite(high):
        return UNKNOWN
    spell = difference if signed else metric_value
    return f"{spell(low)} to {spell(high)}"


def shown_p_value(value: float | None) -> str:
    """Return a p-value as a cell of a table has it: three digits, or a dash if it is unknown."""
    if value is None or not isfinite(value):
        return UNKNOWN
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def precise_p_value(value: float | None) -> str:
    """Return a p-value with four digits, as in "0.0123" or "< .0001"; a dash if it is unknown."""
    return "< .0001" if value is not None and value < 0.0001 else spelled(value, ".4f")


def said_p_value(value: float) -> str:
    """Return a p-value as a part of a sentence, as in "p = 0.012"."""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def percent(fraction: float | None) -> str:
    """Return a fraction as a percentage, as in "95 %" or "12.5 %"."""
    return UNKNOWN if fraction is None or not isfinite(fraction) else f"{100 * fraction:.4g} %"


def rounded_percent(fraction: float) -> str:
    """Return a measured fraction as a percentage with two digits, as in "82 %" or "0.31 %"."""
    return percent(float(f"{fraction:.2g}"))


def seconds(amount: float | None) -> str:
    """Return a time with its unit, as in "0.12 s" or "75.3 s"."""
    return UNKNOWN if amount is None or not isfinite(amount) else f"{amount:,.{2 if amount < 10 else 1}f} s"


def microseconds(amount: float | None) -> str:
    """Return a short time with its unit, as in "4.5 µs"."""
    return UNKNOWN if amount is None or not isfinite(amount) else f"{amount:.2g} µs"


def plain_number(number: float | int | None) -> str:
    """Return any number with up to six digits, and commas in large ones."""
    return spelled(number, "," if isinstance(number, int) else ",.6g")


def rounded_up(number: float) -> str:
    """Return a number rounded up to two digits, as a limit that would do: "0.024" or "1300"."""
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(number))).normalize():f}"


def plain(value: Any) -> Any:
    """Return a value as JSON values: None for NaN and infinite numbers, texts for what JSON does not have."""
    if isinstance(value, str | bool | int | None):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "tolist"):  # numpy's arrays and numbers
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return plain(value.value) if isinstance(value, Enum) else str(value)

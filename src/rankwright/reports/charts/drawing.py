"""What all charts share: clean names and numbers, scales and axes, and the finished specification."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.reports.charts.chart import Chart, altair

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Record = dict[str, Any]

MAX_SERIES = 8  # with a colour and a name of their own
TICKS = 8
MAX_LOG_TICKS = 10
ROOM = 0.04  # of the range of values, beyond its ends
# What every object of JavaScript has: Vega takes such a name or title for that.
INHERITED = (
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor"),
    *("hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"),
)
# Neither XML nor UTF-8 has these.
NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def shown(name: object) -> str:
    """Return a name as text that can be drawn."""
    return NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(name))


def drawable(*numbers: float, log: bool = False) -> bool:
    """Return whether all numbers are finite; if `log`, whether the first is positive too."""
    return all(map(math.isfinite, numbers)) and (not log or numbers[0] > 0)


def require_some(drawn: Collection[object], given: int) -> None:
    """Refuse a chart of nothing."""
    if not drawn:
        reason = f": none of {counted(given, 'value')} is finite" if given else ""
        raise InputError(f"There is nothing to draw{reason}.")


def left_out_note(number: int, *, log: bool = False) -> str:
    """Return a sentence about values that are not drawn; empty if there are none."""
    verb, kind = "is" if number == 1 else "are", "positive and finite" if log else "finite"
    return f"{counted(number, 'value')} {verb} left out: not {kind}." if number else ""


def first_note(total: int, noun: str, most: int) -> str:
    """Return a sentence about drawing only the first of many things; empty if all are drawn."""
    return f"The first {most:,} of {counted(total, noun)} are drawn." if total > most else ""


def sample_note(drawn: int, total: int, noun: str) -> str:
    """Return a sentence about drawing evenly spaced ones of many things; empty if all are drawn."""
    return f"{drawn:,} of {counted(total, noun)} are drawn, evenly spaced." if drawn < total else ""


def evenly(total: int, most: int) -> list[int]:
    """Return at most `most` of the places from 0 to total - 1, evenly spaced, with the first and the last."""
    if total <= most:
        return list(range(total))
    return [round(number * (total - 1) / (most - 1)) for number in range(most)]


def padded(values: Iterable[float]) -> list[float]:
    """Return the range of values with some room beyond its ends."""
    known = list(values)
    low, high = min(known), max(known)
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    return [low - room, high + room]


def log_padded(values: Iterable[float]) -> list[float]:
    """Return the range of positive values with some room beyond its ends, for a logarithmic scale."""
    return [10**exponent for exponent in padded(map(math.log10, values))]


def colour(names: Sequence[str], *, legend: bool = False, field: str = "series") -> Any:
    """Return the encoding of series by the colours of the theme, in this order."""
    alt = altair()
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(names)), legend=alt.Legend() if legend else None)


def quantity(
    kind: Any, field: str, title: str | None, domain: Sequence[float], *, log: bool = False, **axis: Any
) -> Any:
    """Return the encoding of numbers along x or y (`kind` is altair's class)."""
    alt = altair()
    # Vega-Lite warns of zero in a logarithmic scale, even if it is to be without.
    options = {"type": "log"} if log else {"zero": False}
    axis = {"tickCount": TICKS} | (log_ticks(domain) if log else {}) | axis
    scale = alt.Scale(domain=list(domain), nice=False, **options)
    return kind(f"{field}:Q", scale=scale, axis=alt.Axis(title=title, **axis))


def round_numbers(low: float, high: float) -> list[float]:
    """Return the numbers 1, 2 and 5 times a power of ten within a positive range."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    numbers = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    return [number for number in numbers if low <= number <= high]


def log_ticks(domain: Sequence[float]) -> dict[str, Any]:
    """Return options of a logarithmic axis: ticks at round numbers, if the range has at least two of them.

    A wide range has ticks at powers of ten only, or at some of them.
    """
    steps = round_numbers(*domain)
    if len(steps) > MAX_LOG_TICKS:
        powers = [step for step in steps if math.log10(step).is_integer()]
        steps = powers[:: -(-len(powers) // MAX_LOG_TICKS)]
    return {"values": steps, "format": ",~r", "labelOverlap": False} if len(steps) > 1 else {}


def whole_steps(values: Collection[float]) -> dict[str, Any]:
    """Return options of an axis: without ticks between integers, if all values are integers."""
    if not all(float(value).is_integer() for value in values):
        return {}
    span = max(1, int(max(values) - min(values)))
    return {"tickMinStep": 1, "tickCount": min(TICKS, span)}  # of a short range, Vega ignores the first


def layer(data: str, **options: Any) -> Any:
    """Return a layer that shows one of the finished chart's datasets."""
    alt = altair()
    return alt.Chart(alt.NamedData(data), **options)


def finished(
    layers: Sequence[Any],
    datasets: Mapping[str, Sequence[Record]],
    description: str,
    *notes: str,
    **properties: Any,
) -> Chart:
    """Return layers, from the back to the front, as a chart.

    Notes are added to the description; `properties` are altair's. Data are added at the end, as altair would check
    every record of them.
    """
    whole = shown(" ".join(filter(None, (description, *notes))))
    drawn = altair().layer(*layers).properties(description=whole, **properties)
    spec: dict[str, Any] = drawn.to_dict()
    spec.pop("config", None)  # of altair's own theme
    complete = {**spec, "datasets": {name: list(records) for name, records in datasets.items()}}
    return Chart(_distinguished(complete), whole, tuple(filter(None, notes)))


def _distinguished(value: Any) -> Any:
    """Return a part of a specification in which no text is what JavaScript's objects inherit; it looks the same.

    Vega looks no query up, and a click on one looks for its own name.
    """
    if isinstance(value, dict):
        return {key: item if key == "query" else _distinguished(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_distinguished(item) for item in value]
    return f"{value}\N{WORD JOINER}" if isinstance(value, str) and value in INHERITED else value

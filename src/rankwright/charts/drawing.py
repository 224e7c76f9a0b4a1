"""What all charts share: clean names and numbers, scales and axes, and the finished specification."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from rankwright.charts.chart import Chart
from rankwright.charts.packages import altair
from rankwright.data.counted import counted
from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Record = dict[str, Any]

MOST_SERIES = 8  # with a colour and a name of their own
TICKS = 8
ROOM = 0.04  # of the range of values, beyond its ends
# Neither XML nor UTF-8 has these.
NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def shown(name: object) -> str:
    """Return a name as text that can be drawn."""
    return NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(name))


def drawable(*numbers: float, log: bool = False) -> bool:
    """Return whether all numbers are finite; if `log`, whether the first is positive too."""
    return all(map(math.isfinite, numbers)) and (not log or numbers[0] > 0)


def require_some(records: Sequence[object], left_out: int = 0) -> None:
    """Refuse a chart of nothing."""
    if not records:
        reason = f": none of {counted(left_out, 'value')} is finite" if left_out else ""
        raise InputError(f"There is nothing to draw{reason}.")


def left_out_note(number: int, log: bool = False) -> str:
    """Return a sentence about values that are not drawn; empty if there are none."""
    verb, kind = ("is", "are")[number != 1], "positive and finite" if log else "finite"
    return f"{counted(number, 'value')} {verb} left out: not {kind}." if number else ""


def evenly(total: int, most: int) -> list[int]:
    """Return at most `most` of the places from 0 to total - 1, evenly spaced, with the first and the last."""
    if total <= most:
        return list(range(total))
    return [round(place * (total - 1) / (most - 1)) for place in range(most)]


def padded(values: Iterable[float]) -> list[float]:
    """Return the range of values with some room beyond its ends."""
    known = list(values)
    low, high = min(known), max(known)
    room = ROOM * (high - low) or abs(high) * ROOM or 1.0
    return [low - room, high + room]


def data_of(records: Sequence[Record]) -> Any:
    """Return records as data of a layer."""
    return altair().InlineData(values=list(records))


def colour(names: Sequence[str], *, legend: bool = False, field: str = "series") -> Any:
    """Return the encoding of series by the colours of the theme, in this order."""
    alt = altair()
    key = alt.Legend(symbolLimit=MOST_SERIES) if legend else None
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=list(names)), legend=key)


def quantity(
    kind: Any, field: str, title: str | None, *, domain: Any = None, log: bool = False, **axis: Any
) -> Any:
    """Return the encoding of numbers along x or y (`kind` is altair's class)."""
    alt = altair()
    ends = alt.Undefined if domain is None else list(domain)
    # A logarithmic scale has no zero, which Vega-Lite would warn about.
    scale = (
        alt.Scale(type="log", domain=ends, nice=False) if log else alt.Scale(domain=ends, zero=False, nice=False)
    )
    return kind(f"{field}:Q", scale=scale, axis=alt.Axis(title=title, **{"tickCount": TICKS} | axis))


def whole_steps(values: Iterable[float]) -> dict[str, Any]:
    """Return options of an axis: without ticks between integers, if all values are integers."""
    return {"tickMinStep": 1} if all(float(one).is_integer() for one in values) else {}


def finished(layers: Sequence[Any], description: str, *notes: str, **properties: Any) -> Chart:
    """Return layers as a chart; notes are added to the description, `properties` are altair's."""
    alt = altair()
    whole = shown(" ".join(filter(None, (description, *notes))))
    drawn = alt.layer(*layers).properties(description=whole, **properties)
    spec: dict[str, Any] = drawn.to_dict()
    spec.pop("config", None)  # of altair's own theme
    return Chart(spec, whole)

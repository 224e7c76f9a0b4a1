"""Round numbers for the ticks of logarithmic axes."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_TICKS = 10


def round_numbers(low: float, high: float) -> list[float]:
    """Return the numbers 1, 2 and 5 times a power of ten within a positive range."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    numbers = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    return [one for one in numbers if low <= one <= high]


def log_ticks(domain: Sequence[float]) -> dict[str, Any]:
    """Return options of a logarithmic axis: ticks at round numbers, if the range has several of them.

    Of a wide range these are the powers of ten, or some of them.
    """
    steps = round_numbers(*domain)
    if len(steps) > MOST_TICKS:
        powers = [one for one in steps if log10(one).is_integer()]
        steps = powers[:: -(-len(powers) // MOST_TICKS)]
    return {"values": steps, "format": ",~r", "labelOverlap": False} if len(steps) > 1 else {}

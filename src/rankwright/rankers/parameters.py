"""Checks of hyper-parameters, each a sentence where one is wrong."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.metrics import Metric

NUMBER = int | float | np.integer | np.floating
DIRECTIONS = {"up": (1,), "both": (1, -1)}  # which way a feature may rank
ROUNDING = 1e-9  # how far a metric of at most 1 may come out above it


def require_whole_number(name: str, value: Any, *, least: int, optional: bool = False) -> None:
    """Refuse anything but a whole number from `least`, or None where that is allowed."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        allowed = f"None or a whole number from {least}" if optional else f"a whole number from {least}"
        raise InputError(f"{name} must be {allowed}, not {value!r}.")


def require_one_of(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")


def require_number(name: str, value: Any, *, least: float | None = None, above: float | None = None) -> None:
    """Refuse anything but a finite number from `least`, or above `above`."""
    number = isinstance(value, NUMBER) and not isinstance(value, bool) and isfinite(value)
    if not number or (least is not None and value < least) or (above is not None and value <= above):
        bound = f"from {least:g}" if least is not None else f"above {above:g}"
        raise InputError(f"{name} must be a number {bound}, not {value!r}.")


def require_finite(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a finite number, or None where that is allowed."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, NUMBER) or not isfinite(value):
        raise InputError(f"{name} must be {'None or ' if optional else ''}a finite number, not {value!r}.")


def require_share(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a number above 0 and at most 1, or None where that is allowed."""
    if value is None and optional:
        return
    if isinstance(value, bool) or not isinstance(value, NUMBER) or not 0.0 < value <= 1.0:
        raise InputError(f"{name} must be {'None or ' if optional else ''}above 0 and at most 1, not {value!r}.")


def require_metric_range(
    ranker: str, metric: Metric, worst: NDArray[np.float64], best: NDArray[np.float64], *, least: float
) -> None:
    """Refuse a metric that is not between `least` and 1 on the worst and the best ranking of every query."""
    lowest, highest = worst.min(), best.max()
    if lowest < least - ROUNDING or highest > 1.0 + ROUNDING:
        raise InputError(
            f"{ranker} needs a metric between {least:g} and 1; {metric} is {lowest:g} to {highest:g} here."
        )

"""Numbers as pages show them, and cells of tables made from them."""

from __future__ import annotations

import math
from typing import Any

from rankwright.base.wording import shown_p_value as in_digits
from rankwright.reports.pages.blocks import Cell

UNKNOWN = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


def shown(value: float, form: str = ".4f") -> str:
    """Return a number in this form, or a dash if it is not finite."""
    return format(value, form).replace("-", MINUS) if math.isfinite(value) else UNKNOWN


def shown_p_value(value: float) -> str:
    """Return a p-value with three digits, or a dash if it is unknown."""
    return in_digits(value) if math.isfinite(value) else UNKNOWN


def words(text: object, small: str = "") -> Cell:
    """Return a cell with a text."""
    return Cell(str(text), small)


def number(value: float, form: str = ".4f", **options: Any) -> Cell:
    """Return a cell with a number, which the column can be sorted by; options are those of `Cell`."""
    return Cell(shown(value, form), value=float(value) if math.isfinite(value) else None, **options)


def mean_cell(mean: float, low: float, high: float) -> Cell:
    """Return a cell with a mean, and its interval in small type."""
    return number(mean, small=f"{shown(low, '.3f')} to {shown(high, '.3f')}")


def p_value(value: float) -> Cell:
    """Return a cell with a p-value."""
    return Cell(shown_p_value(value), value=float(value) if math.isfinite(value) else None)

"""The values that a search tries for a parameter: a range of numbers, or choices."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import Check, Integer, Real
from rankwright.rankers.parameters.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Callable


DIGITS = 4  # of the numbers that are tried: more make no difference
NEVER_SEARCHED = ("metric", "rounds", "n_jobs")  # the same for all settings


@dataclass(frozen=True)
class Range:
    """All numbers from `low` to `high`: integers if both are, evenly spread on a log scale if `log`.

    `automatic` gives the value that None stands for, by the number of training documents.
    """

    low: float
    high: float
    log: bool = False
    automatic: Callable[[int], float] | None = None

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}{':log' if self.log else ''}"

    @property
    def whole(self) -> bool:
        """Whether the numbers are integers."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    def suggest(self, trial: Any, name: str) -> float:
        """Return the number that a trial of Optuna suggests; few digits, so that it can be written down."""
        if self.whole:
            return int(trial.suggest_int(name, self.low, self.high, log=self.log))
        number = float(f"{trial.suggest_float(name, self.low, self.high, log=self.log):.{DIGITS}g}")
        return min(max(number, self.low), self.high)

    def at(self, fraction: float) -> float:
        """Return the number at a fraction, between 0 and 1, of the way from low to high."""
        low, high = np.log([self.low, self.high]) if self.log else (self.low, self.high)
        number = low + fraction * (high - low)
        number = float(np.exp(number) if self.log else number)
        return round(number) if self.whole else min(max(number, self.low), self.high)

    def nearest(self, value: Any, n_documents: int) -> Any:
        """Return the nearest number of the range, by which Optuna knows a value; None if there is none."""
        if value is None and self.automatic is not None:
            value = self.automatic(n_documents)
        return None if value is None else min(max(value, self.low), self.high)

    def require(self, name: str, check: Check) -> None:
        """Refuse a range that is empty, or that a parameter's check does not accept."""
        if not isinstance(check, Integer | Real):
            raise InputError(f"The space of {name} must be choices, not {self}: the parameter is not a number.")
        if not (isfinite(self.low) and isfinite(self.high) and self.low < self.high):
            raise InputError(
                f"The space of {name} must be low..high with low below high, not {self.low:g}..{self.high:g}."
            )
        if self.log and self.low <= 0:
            raise InputError(f"The space of {name} must be above 0 to be spread on a log scale, not {self}.")
        for bound in (self.low, self.high):
            check.require(name, bound)


@dataclass(frozen=True, init=False)
class Choices:
    """A list of values of any kind."""

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def __str__(self) -> str:
        texts = list(map(spelled, self.values))
        return (";" if any("," in text for text in texts) else ",").join(texts)

    def suggest(self, trial: Any, name: str) -> Any:
        """Return the value that a trial of Optuna suggests, which knows values by their text."""
        by_text = {spelled(value): value for value in self.values}
        return by_text[trial.suggest_categorical(name, list(by_text))]

    def at(self, fraction: float) -> str:
        """Return the text of the choice at a fraction, between 0 and 1, of the list."""
        return spelled(self.values[min(int(fraction * len(self.values)), len(self.values) - 1)])

    def nearest(self, value: Any, _n_documents: int) -> Any:
        """Return the text by which Optuna knows a value; None if it is not among the choices."""
        return spelled(value) if value in self.values else None

    def require(self, name: str, check: Check) -> None:
        """Refuse choices that a parameter's check does not accept."""
        if not self.values:
            raise InputError(f"The space of {name} must have at least one choice.")
        for value in self.values:
            check.take(name, value)


Space: TypeAlias = "Range | Choices"

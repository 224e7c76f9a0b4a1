"""The values that a search tries for a parameter: a range of numbers, or choices.

A ranker declares them beside the parameter's meaning; `read_space` reads those that a user gives in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import Integer, Real
from rankwright.rankers.parameters.spelling import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.rankers.parameters.checks import Check
    from rankwright.rankers.parameters.declaration import Parameter, Parameters

DIGITS = 4  # of the numbers that are tried: more would tell nothing
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
        found = float(f"{trial.suggest_float(name, self.low, self.high, log=self.log):.{DIGITS}g}")
        return min(max(found, self.low), self.high)

    def at(self, place: float) -> float:
        """Return the number at a place between 0 and 1."""
        low, high = np.log([self.low, self.high]) if self.log else (self.low, self.high)
        found = low + place * (high - low)
        found = float(np.exp(found) if self.log else found)
        return round(found) if self.whole else min(max(found, self.low), self.high)

    def nearest(self, value: Any, n_documents: int) -> Any:
        """Return what Optuna is to know of a value, the nearest number of the range; None if there is none."""
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
    """Some values, of any kind."""

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

    def at(self, place: float) -> str:
        """Return the text of the choice at a place between 0 and 1."""
        return spelled(self.values[min(int(place * len(self.values)), len(self.values) - 1)])

    def nearest(self, value: Any, _n_documents: int) -> Any:
        """Return what Optuna is to know of a value, its text; None if it is not among the choices."""
        return spelled(value) if value in self.values else None

    def require(self, name: str, check: Check) -> None:
        """Refuse choices that a parameter's check does not accept."""
        if not self.values:
            raise InputError(f"The space of {name} must have at least one choice.")
        for value in self.values:
            check.take(name, value)


Space: TypeAlias = "Range | Choices"


def search_space(ranker: Parameters, given: Mapping[str, Any] | None = None) -> dict[str, Space]:
    """Return the space to search, by parameter: what a ranker declares, with what is given in its place.

    Parameters that have been set to other values than their defaults stay as they are, unless they are given.
    """
    current, defaults = ranker.get_params(deep=False), type(ranker)().get_params(deep=False)
    own = {name: one for name, one in ranker.space.items() if current[name] == defaults[name]}
    return own | read_space(ranker, given or {})


def read_space(ranker: Parameters, given: Mapping[str, Any]) -> dict[str, Space]:
    """Return spaces as they are spelled: `"0.01..0.3"`, `"4..64:log"`, `"a,b,c"`, or a list of choices.

    A range has a log scale if the declared one has.
    """
    from rankwright.rankers.parameters.declaration import require_known  # which needs this module

    require_known(type(ranker), given)
    for name in NEVER_SEARCHED:
        if name in given:
            raise InputError(
                f"The space cannot contain {name}, which is the same for all settings: set it in the ranker. Each "
                "setting is measured after every round, and its best number of rounds is kept."
            )
    return {name: _read(ranker.declared[name], one) for name, one in given.items()}


def _read(declared: Parameter, given: Any) -> Space:
    if isinstance(given, str):
        found = _read_text(declared, given)
    elif isinstance(given, Range | Choices):
        found = given
    elif isinstance(given, list | tuple):
        found = Choices(*(declared.check.take(declared.name, one) for one in given))
    else:
        raise InputError(
            f"The space of {declared.name} must be text such as '0.01..0.3', or a list of choices, not {given!r}."
        )
    found.require(declared.name, declared.check)
    return found


def _read_text(declared: Parameter, text: str) -> Space:
    name, check = declared.name, declared.check
    if ".." not in text:
        parts = text.split(";" if ";" in text else ",")
        return Choices(*(check.parse(name, one.strip()) for one in parts))
    bounds, _, scale = text.partition(":")
    if scale.strip() not in ("", "log"):
        raise InputError(f"The space of {name} must be low..high or low..high:log, not {text!r}.")
    low, high = (check.parse(name, one.strip()) for one in bounds.split("..", 1))
    if not isinstance(check, Integer | Real) or low is None or high is None:
        raise InputError(f"The space of {name} must be choices, or numbers low..high, not {text!r}.")
    own = declared.search if isinstance(declared.search, Range) else Range(low, high)
    return replace(own, low=low, high=high, log=own.log or bool(scale))

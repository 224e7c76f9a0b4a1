"""A plain function of the labels in ranked order, used as a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.metrics.base import Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.base.arrays import Doubles


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """The metric that a function computes from the labels of one query, best-ranked first.

    Its name is the function's. The function returns a number, or NaN if all orders are equally good.
    """

    function: Callable[[Doubles], Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.function) or isinstance(self.function, type):
            raise InputError(f"A metric must be a function of labels in ranked order, not {self.function!r}.")
        object.__setattr__(self, "name", _name_of(self.function))

    def of_ranking(self, labels: Doubles) -> float:
        """Return the function's value; it gets a copy of the labels, which it may sort or change."""
        value = self.function(labels.copy())
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(f"The metric {self.name} must return a number, not {value!r:.60}.") from None

    def _shown_options(self) -> dict[str, Any]:
        """Return the options without the function, which gives the name."""
        return {name: value for name, value in super()._shown_options().items() if name != "function"}


def _name_of(function: Any) -> str:
    """Return the name of a function; of an object with `__call__`, or functools.partial, that of its class."""
    return str(getattr(function, "__name__", type(function).__name__)).strip("<>")

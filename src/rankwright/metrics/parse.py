"""Parses the names of metrics: `parse("ndcg@10")`, `parse("map(threshold=2)")`.

`as_metric` and `as_metrics` take a metric in any form: a value, its name, or a function of labels in ranked order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.metrics.base import Metric, Ties
from rankwright.metrics.cascade import ERR, RR
from rankwright.metrics.gain import DCG, NDCG, Discount, Gain, MeanNDCG
from rankwright.metrics.pairwise import KendallTau, PairAccuracy
from rankwright.metrics.relevance import AP, WTA, Precision, Recall

if TYPE_CHECKING:
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


MetricLike: TypeAlias = "Metric | str | Callable[[Doubles], float]"
"""A metric, its name, or a function of labels in ranked order."""

METRICS: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (NDCG, DCG, MeanNDCG, AP, RR, ERR, Precision, Recall, WTA, PairAccuracy, KendallTau)
}

MOST_CUTOFFS = 1000  # of a range such as ndcg@1-10

ALIASES = {"ap": "map", "rr": "mrr", "precision": "p", "r": "recall"}
"""Names that other tools use."""


def parse(text: str) -> Metric:
    """Return the metric of that name, as `str(metric)` writes it; upper and lower case are the same."""
    match = re.fullmatch(r"\s*(\w+)(?:@(\w+))?(?:\((.*)\))?\s*", text)
    if match is None:
        raise InputError(f"{text!r} is not a metric; write it as 'ndcg@10' or 'map(threshold=2)'.")
    given, cut, options = match.groups()
    name = ALIASES.get(given.lower(), given.lower())
    if name not in METRICS:
        raise InputError(f"There is no metric {given!r}{nearest(name, METRICS)}")
    values = dict(_option(text, option, METRICS[name]) for option in (options or "").split(",") if option)
    if cut is not None:
        values["k"] = _integer(cut)
    try:
        return METRICS[name](**values)
    except TypeError:
        wants = "needs a cut-off" if cut is None else "has no cut-off"
        raise InputError(f"The metric {name} {wants}, as in '{name}{'@10' if cut is None else ''}'.") from None


def parse_metrics(text: str) -> list[Metric]:
    """Return the metrics of a list such as `ndcg@10,map`; `ndcg@1-10` stands for ten metrics."""
    parts = [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]
    metrics = [metric for part in parts for metric in _parse_cutoffs(part)]
    if not metrics:
        raise InputError("Name at least one metric, as in 'ndcg@10,map'.")
    return metrics


def _parse_cutoffs(text: str) -> list[Metric]:
    """Return a metric, or one for each of a range of cut-offs, as in `ndcg@1-10`."""
    match = re.fullmatch(r"([^@(]*)@\s*(\d+)\s*-\s*(\d+)\s*(\(.*\))?\s*", text)
    if match is None:
        return [parse(text)]
    name, first, last, options = match.groups()
    cutoffs = range(int(first), int(last) + 1)
    if not 0 < len(cutoffs) <= MOST_CUTOFFS:
        raise InputError(
            f"{text.strip()!r} must be a range of 1 to {MOST_CUTOFFS:,} cut-offs, such as {name.strip()}@1-10."
        )
    return [parse(f"{name}@{cutoff}{options or ''}") for cutoff in cutoffs]


def as_metric(given: Any) -> Metric:
    """Return a metric that is given as a value, by its name, or as a function of labels in ranked order."""
    if isinstance(given, Metric):
        return given
    if isinstance(given, str):
        return parse(given)
    if callable(given) and not isinstance(given, type):
        return FunctionMetric(given)
    example = f"{given.__name__}()" if isinstance(given, type) and issubclass(given, Metric) else "NDCG(k=10)"
    raise InputError(
        f"A metric must be a Metric such as {example}, its name such as 'ndcg@10', or a function of labels in "
        f"ranked order, not {given!r:.60}."
    )


def as_metrics(given: Any) -> list[Metric]:
    """Return one or more metrics: a list of them, a single one, or a text such as `ndcg@10,map`."""
    if isinstance(given, str):
        return parse_metrics(given)
    listed = list(given) if isinstance(given, Iterable) else [given]
    parsed = (_parse_cutoffs(item) if isinstance(item, str) else [as_metric(item)] for item in listed)
    metrics = list(chain.from_iterable(parsed))
    if not metrics:
        raise InputError("There is nothing to measure: give at least one metric.")
    for metric in metrics:
        if any(str(metric) == str(other) and metric != other for other in metrics):
            raise InputError(f"Two metrics are called {metric}; give their functions different names.")
    return metrics


def _option(text: str, option: str, metric: type[Metric]) -> tuple[str, Any]:
    name, _, value = (part.strip() for part in option.partition("="))
    known = {option.name for option in fields(metric)} - {"k"}
    if name not in known:
        raise InputError(f"The metric {metric.name} has no option {name!r}{nearest(name, known)}")
    try:
        return name, _READERS[name](value)
    except (ValueError, KeyError):
        raise InputError(f"{value!r} is not a valid {name} in the metric {text!r}.") from None


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"A metric's cut-off must be a positive integer, not {text!r}.") from None


def _gain(text: str) -> Gain:
    kind, *values = text.split(":")
    if kind == "table":
        return Gain.table(*map(float, values))
    return {"exponential": Gain.EXPONENTIAL, "linear": Gain.LINEAR}[text]


def _number_or_none(text: str) -> float | None:
    return None if text == "none" else float(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "ties": Ties,
    "empty": _number_or_none,
    "gain": _gain,
    "discount": Discount,
    "fewer_than_k": _number_or_none,
    "threshold": float,
    "capped": {"true": True, "false": False}.__getitem__,
    "max_label": float,
}

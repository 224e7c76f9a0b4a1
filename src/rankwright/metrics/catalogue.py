"""Metrics by name, and the conventions of other tools, so that their numbers can be reproduced.

`parse` reads `"ndcg@10"` and `"map(threshold=2)"`. `as_metric` and `as_metrics` take a metric in any form: a
value, its name, or a function of labels in ranked order. `find_convention` knows:

| convention | gain | discount | ties | no relevant document | and |
|---|---|---|---|---|---|
| standard | 2^label - 1 | log2(1 + rank) | averaged | 0 | |
| letor3 | 2^label - 1 | 1, 1, log2(rank) | file order | 0 | LETOR 3.0's script |
| letor4 | 2^label - 1 | 1, 1, log2(rank) | file order | 0 | NDCG@k is 0 with fewer than k documents |
| trec | label | log2(1 + rank) | document id, descending | 0 | scores as 32-bit floats, negative labels as 0 |
| lightgbm | 2^label - 1 | log2(1 + rank) | input order | 1 | MAP@k is divided by min(relevant, k) |
| sklearn | label | log2(1 + rank) | averaged | 0 | |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.data.groups import Ranking
from rankwright.metrics.base import Metric, Ties
from rankwright.metrics.cascade import ERR, RR
from rankwright.metrics.gain import DCG, NDCG, Discount, Gain, MeanNDCG
from rankwright.metrics.pairwise import KendallTau, PairAccuracy
from rankwright.metrics.relevance import AP, WTA, Precision, Recall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles
    from rankwright.data.groups import QueryGroups


@dataclass(frozen=True)
class FunctionMetric(Metric):
    """The metric that a function computes from the labels of one query, best-ranked first.

    Its name is the function's. The function returns a number, or NaN if all orders are equally good.

    Examples
    --------
    >>> def good_first(labels):
    ...     return float(labels[0] >= 2)
    >>> metric = rw.metrics.FunctionMetric(good_first, ties=rw.metrics.Ties.WORST)
    >>> metric.name, metric([2, 0, 1], [0.9, 0.8, 0.7])
    ('good_first', 1.0)
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

MAX_CUTOFFS = 1000  # of a range such as ndcg@1-10

ALIASES = {"ap": "map", "rr": "mrr", "precision": "p", "r": "recall"}
"""Names that other tools use."""


def parse(text: str) -> Metric:
    """Return the metric of that name, as `str(metric)` writes it; upper and lower case are the same.

    Examples
    --------
    >>> rw.metrics.parse("ndcg@10(gain=linear)").gain == rw.metrics.Gain.LINEAR
    True
    >>> rw.metrics.parse("ndgc@10")
    Traceback (most recent call last):
    ...
    rankwright...InputError: There is no metric 'ndgc'; did you mean 'ndcg'?
    """
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
    """Return the metrics of a list such as `ndcg@10,map`; `ndcg@1-10` stands for ten metrics.

    Examples
    --------
    >>> [str(metric) for metric in rw.metrics.parse_metrics("ndcg@1-3,map(threshold=2)")]
    ['ndcg@1', 'ndcg@2', 'ndcg@3', 'map(threshold=2)']
    """
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
    if not 0 < len(cutoffs) <= MAX_CUTOFFS:
        raise InputError(
            f"{text.strip()!r} must be a range of 1 to {MAX_CUTOFFS:,} cut-offs, such as {name.strip()}@1-10."
        )
    return [parse(f"{name}@{cutoff}{options or ''}") for cutoff in cutoffs]


def as_metric(given: Any) -> Metric:
    """Return a metric that is given as a value, by its name, or as a function of labels in ranked order.

    Examples
    --------
    >>> rw.metrics.as_metric("ndcg@10")
    NDCG(k=10)
    >>> def best_first(labels):
    ...     return float(labels[0] == labels.max())
    >>> rw.metrics.as_metric(best_first)([0, 2, 1], [0.1, 0.9, 0.5])
    1.0
    """
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
    """Return one or more metrics: a list of them, a single one, or a text such as `ndcg@10,map`.

    Examples
    --------
    >>> rw.metrics.as_metrics("ndcg@10,map")
    [NDCG(k=10), AP()]
    >>> rw.metrics.as_metrics(["p@5", rw.metrics.RR()])
    [Precision(k=5), RR()]
    """
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


@dataclass(frozen=True)
class Convention:
    """How a tool computes metrics: the metrics that it has, and the values of their options.

    Examples
    --------
    >>> trec = rw.metrics.CONVENTIONS["trec"]
    >>> trec.metrics
    ('ndcg', 'map', 'mrr', 'p', 'recall')
    >>> print(trec.apply(rw.metrics.NDCG(k=10)))
    ndcg@10(ties=stable,gain=linear)
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: tuple[str, ...] = tuple(METRICS)
    reads_as_trec_eval: bool = False

    def apply(self, metric: Metric) -> Metric:
        """Return the metric as this convention computes it.

        The convention sets only options that were not given to the metric. Given options stay, even if they equal
        the defaults: `NDCG(gain=Gain.EXPONENTIAL)` and `ndcg(gain=exponential)` always keep their gain.
        """
        if metric.name not in self.metrics and metric.name in METRICS and METRICS[metric.name] is type(metric):
            raise InputError(f"The convention {self.name} has no {metric.name}; it has {', '.join(self.metrics)}.")
        open_options = {option.name for option in fields(metric)}.difference(metric._given)
        return metric.with_options(**{name: self.settings[name] for name in open_options & self.settings.keys()})

    def labels(self, labels: Doubles) -> Doubles:
        """Return the labels as the tool reads them."""
        return np.maximum(labels, 0.0) if self.reads_as_trec_eval else labels

    def rank(
        self,
        scores: ArrayLike,
        groups: QueryGroups,
        document_ids: ArrayLike | None = None,
        *,
        n_jobs: int | None = None,
    ) -> Ranking:
        """Rank documents as the tool does."""
        if not self.reads_as_trec_eval:
            return Ranking.of(scores, groups, n_jobs=n_jobs)
        # trec_eval stores scores as 32-bit floats and sorts equal scores by document id in descending order.
        with np.errstate(over="ignore"):
            scores = np.asarray(scores, dtype=np.float32).astype(np.float64)
        if document_ids is None:
            return Ranking.of(scores, groups, n_jobs=n_jobs)
        # It compares bytes; in UTF-8 that is the order of code points.
        _, position = np.unique(np.asarray(document_ids).astype(np.str_), return_inverse=True)
        return Ranking.of(scores, groups, tie_break=-position, n_jobs=n_jobs)


_LETOR = {"discount": Discount.LETOR, "ties": Ties.STABLE}

CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("standard"),
        Convention("letor3", _LETOR, ("ndcg", "map", "p")),
        Convention("letor4", {**_LETOR, "fewer_than_k": 0.0}, ("ndcg", "mean_ndcg", "map", "p")),
        Convention(
            "trec",
            {"gain": Gain.LINEAR, "ties": Ties.STABLE},
            ("ndcg", "map", "mrr", "p", "recall"),
            reads_as_trec_eval=True,
        ),
        Convention("lightgbm", {"ties": Ties.STABLE, "empty": 1.0, "capped": True}, ("ndcg", "map")),
        Convention("sklearn", {"gain": Gain.LINEAR}, ("ndcg", "dcg")),
    )
}


def find_convention(name: str) -> Convention:
    """Return the convention of that name.

    Examples
    --------
    >>> metric = rw.metrics.find_convention("lightgbm").apply(rw.metrics.NDCG(k=10))
    >>> metric([0, 0], [0.9, 0.8])  # LightGBM gives a query without relevant documents the value 1
    1.0
    """
    if name not in CONVENTIONS:
        raise InputError(f"There is no convention {name!r}{nearest(name, CONVENTIONS)}")
    return CONVENTIONS[name]

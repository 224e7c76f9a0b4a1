"""The base class of all metrics: it evaluates rankings query by query and handles ties and empty queries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from enum import Enum
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError, require_type
from rankwright.base.resources import resolve_threads
from rankwright.data.dataset import checked_labels, labels_of
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics.custom_closed_forms import LABELS_AT_ONCE, values_of
from rankwright.metrics.custom_gradients import TriedSwaps, custom_lambda_kernel, custom_sweep_kernel
from rankwright.metrics.lambdas import own_lambda_kernel
from rankwright.metrics.tied_orders import expected_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from rankwright._native import RankMeasure, SortedQueries
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.metrics.protocols import LambdaKernel, SweepKernel

MAX_RANKS = 2**31 - 1


class Ties(Enum):
    """How documents with equal scores are ordered.

    Examples
    --------
    >>> for ties in rw.metrics.Ties:
    ...     print(ties.value, round(rw.metrics.NDCG(ties=ties)([1, 0, 0], [0.5, 0.5, 0.5]), 4))
    expected 0.7103
    stable 1.0
    worst 0.5
    """

    __repr__ = Enum.__str__  # so that evaluating the repr of a metric gives the metric

    EXPECTED = "expected"
    """The exact mean over all orders of the tied documents."""
    STABLE = "stable"
    """In the order of the input; values are too high if the input is sorted by relevance."""
    WORST = "worst"
    """Lowest label first."""


class NativeForm(NamedTuple):
    """A metric in native code: the name of its function, and its own arguments for given documents."""

    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Metric(ABC):
    """A measure of the ranking of one query; the quality of a ranker is its mean over queries.

    A custom metric needs one method, `of_ranking`; see the how-to in the documentation.

    Parameters
    ----------
    ties
        How documents with equal scores are ordered.
    empty
        The value of an empty query, for which the metric is not defined (for example, one without relevant
        documents): a number, or None to leave such queries out of the mean.

    Examples
    --------
    >>> class FirstLabel(rw.metrics.Metric):
    ...     def of_ranking(self, labels):
    ...         return float(labels[0])
    >>> FirstLabel()([0, 2, 1, 1], [0.1, 0.9, 0.2, 0.3], qid=["a", "a", "b", "b"])
    1.5
    """

    name: ClassVar[str]
    _given: ClassVar[tuple[str, ...]]  # set per instance by __new__; not a field, so that comparisons ignore it
    ties: Ties = field(default=Ties.EXPECTED, kw_only=True)
    empty: float | None = field(default=0.0, kw_only=True)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "name" not in cls.__dict__:
            cls.name = cls.__name__.lower()
        if "__repr__" not in cls.__dict__:  # or else @dataclass would write its own, with all options
            cls.__repr__ = super(cls, cls).__repr__  # type: ignore[method-assign]

    def __new__(cls, *values: Any, **options: Any) -> Self:
        """Remember which options were given: a convention sets only the others."""
        metric = super().__new__(cls)
        positional = [option.name for option in fields(cls) if not option.kw_only]
        names = [*positional[: len(values)], *options]
        object.__setattr__(metric, "_given", tuple(option.name for option in fields(cls) if option.name in names))
        return metric

    def __post_init__(self) -> None:
        """Check the options; a subclass that checks its own options must call this too."""
        require_kind("ties", self.ties, Ties)
        require_finite("empty", self.empty, optional=True)

    @abstractmethod
    def of_ranking(self, labels: Doubles) -> float:
        """Return the value of one query from the labels of its documents, best-ranked first.

        Return NaN if the metric is not defined for these labels in any order; the query then has the value
        `empty`.
        """

    def of_rankings(self, rankings: Doubles) -> Doubles:
        """Return the values of several rankings of one query: one row of labels, best-ranked first, per ranking.

        The default calls `of_ranking` for each row. A custom metric that computes all rows together is faster by
        far if it is no sum over documents.
        """
        return np.array([self.of_ranking(labels) for labels in rankings], dtype=np.float64)

    @property
    def has_batch_form(self) -> bool:
        """Whether the metric defines its own `of_rankings`."""
        return type(self).of_rankings is not Metric.of_rankings

    @property
    def has_kernel(self) -> bool:
        """Whether the metric evaluates many queries in native code."""
        return type(self)._evaluate is not Metric._evaluate

    def __call__(self, y: ArrayLike, scores: ArrayLike, qid: ArrayLike | None = None) -> float:
        """Return the mean over queries; without `qid` all documents belong to one query."""
        groups = QueryGroups.of(np.zeros(np.shape(y)[0], dtype=np.int64) if qid is None else qid)
        return self.mean(y, scores, groups)

    def mean(self, y: ArrayLike, scores: ArrayLike, groups: QueryGroups, *, n_jobs: int | None = None) -> float:
        """Return the mean over queries of the rankings by these scores; NaN if all queries are left out."""
        ranking = Ranking.of(scores, groups, n_jobs=n_jobs)
        return mean_over_queries(self.per_query(y, ranking, n_jobs=n_jobs))

    def per_query(self, labels: ArrayLike, ranking: Ranking, *, n_jobs: int | None = None) -> Doubles:
        """Return one value per query; NaN for a query that is left out of the mean."""
        return self.count_empty(self.per_query_with_empty(labels, ranking, n_jobs=n_jobs))

    def per_query_with_empty(self, labels: ArrayLike, ranking: Ranking, *, n_jobs: int | None = None) -> Doubles:
        """Return one value per query; NaN for an empty query, whatever the option `empty` is."""
        require_type(ranking, Ranking, f"{type(self).__name__} takes a Ranking here; for scores, call it")
        y = labels_of(labels, ranking.groups.n_rows)
        threads = resolve_threads(n_jobs)
        if self.ties is Ties.WORST:
            ranking = Ranking.of(ranking.scores, ranking.groups, tie_break=y, n_jobs=threads)
        try:
            return self._evaluate(y, ranking, threads)
        except ValueError:
            checked_labels(y, len(y))  # the native code refuses values that are not finite; this names the row
            raise

    def count_empty(self, values: Doubles) -> Doubles:
        """Return the values with NaN replaced by the option `empty`, unless that is None."""
        return values if self.empty is None else np.where(np.isnan(values), self.empty, values)

    def swap_deltas(self, labels: Doubles) -> Doubles:
        """Return the absolute change of the value for every two ranks if the documents at these ranks are swapped.

        `labels` has the labels of the ranking, best-ranked first. The default tries every swap; a metric with a
        closed form overrides it.
        """
        deltas = TriedSwaps(self, most=None, depth=None).deltas(labels, np.zeros(len(labels)), None)
        return np.maximum(deltas, deltas.T)

    def lambda_kernel(self, labels: Doubles, groups: QueryGroups) -> LambdaKernel:
        """Return the kernel of this metric's pairwise gradients, for documents with these labels.

        The default uses `swap_deltas` if the metric defines it, and otherwise looks for a closed form by trials; a
        metric with native deltas overrides it.
        """
        if type(self).swap_deltas is not Metric.swap_deltas:
            return own_lambda_kernel(self)
        return custom_lambda_kernel(self, labels, groups)

    def sweep_kernel(self, labels: Doubles, groups: QueryGroups) -> SweepKernel:
        """Return the function that evaluates s + alpha t for every alpha, for documents with these labels.

        The default looks for a closed form by trials, and otherwise evaluates one ranking after another; a metric
        with a native sweep overrides it.
        """
        return custom_sweep_kernel(self, labels, groups)

    def native_measure(self, labels: Doubles, groups: QueryGroups) -> RankMeasure | None:
        """Return `per_query_with_empty` in native code, for boosting; None if Python takes part in it."""
        form = None if self.ties is Ties.WORST else self._native_form(labels, groups)
        if form is None:
            return None
        measure = getattr(_native, f"{form.name}_measure")
        return cast(
            "RankMeasure", measure(groups.offsets, groups.rows, self.ties is Ties.EXPECTED, *form.arguments)
        )

    def _native_form(self, labels: Doubles, groups: QueryGroups) -> NativeForm | None:  # noqa: ARG002
        """Return the native function that gives the values of all queries; None if there is none."""
        return None

    def divisors(self, labels: Doubles, groups: QueryGroups) -> Doubles | None:  # noqa: ARG002
        """Return what the value of each query is divided by, if the rest is a sum over the ranks of its documents.

        That is the value of the ideal ranking, the number of relevant documents, or 1. A document that a run did
        not retrieve then counts in the divisor and nowhere else, as in trec_eval. The default, None, ranks such
        documents last.
        """
        return None

    def rows_by_ties(self, labels: Doubles, groups: QueryGroups) -> tuple[Integers, bool]:
        """Return the rows of each query in the order that breaks ties, and whether ties are averaged instead."""
        rows, query = groups.rows, np.repeat(np.arange(len(groups)), groups.sizes)
        if self.ties is Ties.WORST:
            rows = rows[np.lexsort((labels[rows], query))]
        return rows, self.ties is Ties.EXPECTED

    def _evaluate(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:  # noqa: ARG002
        """Return one value per query, with ties in ranking order or averaged; NaN for an empty query."""
        checked_labels(labels, len(labels))
        offsets, order, sizes = ranking.groups.offsets, ranking.order, ranking.groups.sizes
        tied = ranking.tied if self.ties is Ties.EXPECTED else np.zeros(len(sizes), dtype=bool)
        values = np.empty(len(sizes))
        for query in np.flatnonzero(tied):
            rows = order[offsets[query] : offsets[query + 1]]
            scores = ranking.scores[rows]
            runs = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
            values[query] = expected_value(self, labels[rows], runs)
        for queries in _with_equal_labels(np.flatnonzero(~tied), labels, ranking.groups, self.has_batch_form):
            ranks = offsets[queries][:, None] + np.arange(sizes[queries[0]])
            values[queries] = values_of(self, labels[order[ranks]])
        return values

    def _native_values(self, labels: Doubles, ranking: Ranking, n_threads: int) -> Doubles:
        """Return the values by the metric's native form."""
        form = self._native_form(labels, ranking.groups)
        assert form is not None
        return np.asarray(getattr(_native, form.name)(*self._sorted(ranking), *form.arguments, n_threads))

    def _sorted(self, ranking: Ranking) -> tuple[SortedQueries, bool]:
        """Return the first two arguments of every native metric: the ranking, and whether to average ties."""
        return ranking.native, self.ties is Ties.EXPECTED

    def __matmul__(self, k: int) -> Self:
        """Return this metric cut off at rank k: `NDCG() @ 10`."""
        if "k" not in {option.name for option in fields(self)}:
            raise InputError(f"{type(self).__name__} has no cut-off; '@ {k}' does not apply.")
        return self.with_options(k=k)

    def with_options(self, **options: Any) -> Self:
        """Return this metric with these options changed; a convention may still set options that were never given.

        After `dataclasses.replace`, in contrast, all options count as given, and a convention sets none.
        """
        return type(self)(**({name: getattr(self, name) for name in self._given} | options))

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in self._shown_options().items())
        return f"{type(self).__name__}({', '.join(options)})"

    def __str__(self) -> str:
        cut = getattr(self, "k", None)
        options = [f"{name}={_spell(value)}" for name, value in self._shown_options().items() if name != "k"]
        return self.name + (f"@{cut}" if cut else "") + (f"({','.join(options)})" if options else "")

    def _shown_options(self) -> dict[str, Any]:
        """Return the options that were given or that differ from the defaults."""
        values = {option.name: (getattr(self, option.name), option.default) for option in fields(self)}
        return {
            name: value for name, (value, default) in values.items() if name in self._given or value != default
        }


def mean_over_queries(values: Doubles) -> float:
    """Return the mean of per-query values, ignoring NaN (queries left out); NaN if all are.

    The sum is exact, so that the mean does not depend on the order of the queries.

    Examples
    --------
    >>> import numpy as np
    >>> rw.metrics.mean_over_queries(np.array([0.5, np.nan, 1.0]))
    0.75
    """
    kept = values[~np.isnan(values)]
    return fsum(kept.tolist()) / len(kept) if len(kept) else float("nan")


def _with_equal_labels(
    queries: Integers, labels: Doubles, groups: QueryGroups, together: bool
) -> Iterator[Integers]:
    """Yield the queries one by one or, if `together`, in blocks with the same labels, such as those of a sweep."""
    if not together:
        yield from queries[:, None]
        return
    sizes = groups.sizes[queries]
    for size in np.unique(sizes):
        alike = queries[sizes == size]
        rows = groups.rows[groups.offsets[alike][:, None] + np.arange(size)]
        kind = np.unique(labels[rows], axis=0, return_inverse=True)[1].ravel()
        by_kind = np.split(alike[np.argsort(kind, kind="stable")], np.cumsum(np.bincount(kind))[:-1])
        for queries_of_kind in by_kind:
            yield from np.array_split(queries_of_kind, 1 + len(queries_of_kind) * int(size) // LABELS_AT_ONCE)


def linear_swap_deltas(gains: Doubles, discounts: Doubles) -> Doubles:
    """Return the swap deltas of sum(gain x discount): |(gain_i - gain_j)(discount_i - discount_j)|."""
    deltas: Doubles = np.abs(np.subtract.outer(gains, gains) * np.subtract.outer(discounts, discounts))
    return deltas


def checked_cut(k: int | None, *, optional: bool = True) -> None:
    """Refuse a cut-off that is not a valid rank."""
    if k is None and optional:
        return
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= MAX_RANKS:
        raise InputError(f"A metric's cut-off k must be an integer from 1 to {MAX_RANKS}, not {k!r}.")


def require_kind(name: str, value: Any, kind: type) -> None:
    """Refuse an option that is not an instance of its class, such as a string."""
    if not isinstance(value, kind):
        raise InputError(f"A metric's {name} must be a value of {kind.__name__}, not {value!r}.")


def require_finite(name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse an option that is not a finite number, or None if that is allowed."""
    if value is None and optional:
        return
    if not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
        allowed = "None or a finite number" if optional else "a finite number"
        raise InputError(f"A metric's {name} must be {allowed}, not {value!r}.")


def spell_number(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def _spell(value: Any) -> str:
    if isinstance(value, Enum):
        return str(value.value)
    return spell_number(value) if isinstance(value, float) else str(value).lower()

"""The data sheet: what judged documents contain, and what in them may mislead."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value, rounded_percent
from rankwright.data.groups import Ranking
from rankwright.metrics.base import Ties, mean_over_queries
from rankwright.metrics.catalogue import as_metric
from rankwright.reports.blocks import Column, Facts, Figure, Kind, Note, Table, Text
from rankwright.reports.charts.bars import bar_chart, grouped_bar_chart
from rankwright.reports.result import Result
from rankwright.statistics.paired_tests import compare_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

MAX_BINS = 12
MAX_LABELS = 20
MAX_NAMED = 12  # features in a sentence
MAX_MISSING_ROWS = 50  # features of the table
LEAKING = 0.01  # p-value from which on the order of the file is called suspicious


class FileOrder(NamedTuple):
    """The metric of the documents in the order of the file, and its expected value in random order."""

    metric: str
    value: float
    expected: float
    p_value: float

    @property
    def leaks(self) -> bool:
        """Whether relevant documents come first in the file more often than by chance."""
        return self.value > self.expected and self.p_value < LEAKING

    def __str__(self) -> str:
        value, random = metric_value(self.value), metric_value(self.expected)
        return (
            f"Relevant documents come first in the file: the mean {self.metric} of its order is {value}, that of "
            f"a random order {random}. A system that gives equal scores may seem better than it is; average ties, "
            "or shuffle the documents of each query."
        )


@dataclass(frozen=True, eq=False, repr=False)
class DataSheet(Result):
    """What judged documents contain.

    Parameters
    ----------
    documents, queries, features
        How many there are.
    labels
        How many documents have each label.
    sizes, relevant
        The number of documents of each query, and how many of them have a label above 0.
    missing
        The fraction of missing values of each feature that misses any, by name.
    constant
        Names of the features that have one value only.
    duplicates
        Groups of features that are equal in every document.
    order
        Whether relevant documents come first in the file; None if the metric does not take these labels.
    heading
        The heading on a page.
    """

    documents: int
    queries: int
    features: int
    labels: Mapping[float, int]
    sizes: NDArray[np.int64]
    relevant: NDArray[np.int64]
    missing: Mapping[str, float]
    constant: Sequence[str]
    duplicates: Sequence[Sequence[str]]
    order: FileOrder | None
    heading: str = "The data"

    @classmethod
    def of(cls, data: RankingData, *, metric: MetricLike = "ndcg@10", heading: str = "The data") -> DataSheet:
        """Return the data sheet of judged documents."""
        labels, counts = np.unique(data.y, return_counts=True)
        names = feature_names_of(data)
        missing = np.isnan(data.X).mean(axis=0)
        constant = [name for name, column in zip(names, data.X.T, strict=True) if _is_constant(column)]
        return cls(
            documents=len(data),
            queries=len(data.groups),
            features=data.n_features,
            labels=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
            sizes=data.groups.sizes,
            relevant=data.groups.reduce(np.add, (data.y > 0).astype(np.int64)),
            missing={names[feature]: float(missing[feature]) for feature in np.flatnonzero(missing)},
            constant=constant,
            duplicates=_duplicates(data, names, set(constant)),
            order=_file_order(data, metric),
            heading=heading,
        )

    @property
    def without_relevant(self) -> int:
        """The number of queries without a relevant document."""
        return int((self.relevant == 0).sum())

    @property
    def summary(self) -> str:
        """The size of the data."""
        features = counted(self.features, "feature")
        return f"{counted(self.documents, 'document')} of {counted(self.queries, 'query')}, with {features}."

    @property
    def title(self) -> str:
        """The heading on a page."""
        return self.heading

    def blocks(self) -> Iterator[Block]:
        """Yield counts, what may mislead, labels, sizes of queries, and missing values."""
        yield Facts(self._facts())
        yield from map(Text, self.warnings())
        yield self._labels_figure()
        if np.ptp(self.sizes):
            caption = "Number of queries by the number of their documents."
            yield Figure(partial(_sizes_chart, self.sizes, caption), caption)
        most = sorted(self.missing.items(), key=lambda item: -item[1])[:MAX_MISSING_ROWS]
        if most:
            columns = [Column("feature", Kind.TEXT), Column("missing", Kind.PERCENT, bar=True)]
            yield Table(columns, most, "Fraction of missing values.")
        if len(self.missing) > len(most):
            yield Note(f"{len(self.missing) - len(most):,} more features have missing values.")

    def warnings(self) -> list[str]:
        """Return what in the data may mislead, in sentences."""
        sentences = [str(self.order)] if self.order is not None and self.order.leaks else []
        if self.without_relevant:
            verb = "has" if self.without_relevant == 1 else "have"
            queries = f"{counted(self.without_relevant, 'query')} {verb} no relevant document"
            sentences.append(f"{queries}: no ranking is better than another.")
        if self.constant:
            sentences.append(f"Constant, so of no use: {_first_names(self.constant)}.")
        if self.duplicates:
            groups = [" = ".join(group) for group in self.duplicates]
            sentences.append(f"Equal in every document: {_first_names(groups)}. They share their importance.")
        return sentences

    def _facts(self) -> dict[str, Any]:
        low, middle, high = np.quantile(self.sizes, (0, 0.5, 1))
        unusual = {
            "queries without relevant documents": self.without_relevant,
            "features with missing values": len(self.missing),
            "constant features": len(self.constant),
            "duplicate features": sum(len(group) - 1 for group in self.duplicates),
        }
        return {
            "queries": self.queries,
            "documents": self.documents,
            "features": self.features,
            "documents per query": f"{low:,.0f} to {high:,.0f}, median {middle:,.0f}" if low < high else int(low),
            "relevant per query": f"median {np.median(self.relevant):,.0f}",
            **{name: count for name, count in unusual.items() if count},
        }

    def _labels_figure(self) -> Figure:
        drawn = list(self.labels.items())[-MAX_LABELS:]
        fractions = {f"{label:g}": count / self.documents for label, count in drawn}
        caption = "Fraction of the documents with each label."
        if len(self.labels) > MAX_LABELS:
            caption += f" The highest {MAX_LABELS} of {len(self.labels):,} labels are drawn."
        named = "; ".join(f"label {label}: {rounded_percent(fraction)}" for label, fraction in fractions.items())
        label, description = "fraction of documents by label", f"{caption} {named}."
        return Figure(partial(bar_chart, fractions, label, description=description), caption)


def feature_names_of(data: RankingData) -> list[str]:
    """Return the names of the features; without names, `feature 1` and so on."""
    return list(data.feature_names or (f"feature {number}" for number in range(1, data.n_features + 1)))


def _first_names(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMED
    return ", ".join(names[:MAX_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _sizes_chart(sizes: NDArray[np.int64], description: str) -> Chart:
    bins = {name: {"queries": count} for name, count in _binned(sizes)}
    return grouped_bar_chart(bins, "queries", description=description, x_label="documents per query")


def _binned(sizes: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Return ranges of sizes with the number of queries in each, at most about a dozen."""
    low, high = int(sizes.min()), int(sizes.max())
    width = max(1, -(-(high - low + 1) // MAX_BINS))
    starts = range(low, high + 1, width)
    counts = np.bincount((sizes - low) // width, minlength=len(starts))
    ends = [min(start + width - 1, high) for start in starts]
    names = [
        f"{start:,}" if start == end else f"{start:,}\N{EN DASH}{end:,}"
        for start, end in zip(starts, ends, strict=True)
    ]
    return list(zip(names, counts.tolist(), strict=True))


def _is_constant(column: NDArray[np.float32]) -> bool:
    """Return whether a feature has the same value everywhere, or misses everywhere."""
    missing = np.isnan(column)
    return bool(missing.all() or (not missing.any() and (column == column[0]).all()))


def _duplicates(data: RankingData, names: Sequence[str], constant: set[str]) -> list[list[str]]:
    """Return the groups of equal features; columns are compared by their hash."""
    groups: dict[bytes, list[str]] = {}
    for feature, name in enumerate(names):
        if name not in constant:
            column = data.X[:, feature] + np.float32(0.0)  # so that -0 is 0
            column[np.isnan(column)] = np.nan  # so that all of them have the same bits
            groups.setdefault(hashlib.blake2b(column.tobytes()).digest(), []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def _file_order(data: RankingData, metric: MetricLike) -> FileOrder | None:
    asked, ranking = as_metric(metric), Ranking.of(np.zeros(len(data)), data.groups)
    try:
        values = asked.with_options(ties=Ties.STABLE).per_query(data.y, ranking)
        expected = asked.with_options(ties=Ties.EXPECTED).per_query(data.y, ranking)
        p_value = compare_values(values, expected, samples=2_000).p_value
    except InputError:
        return None
    return FileOrder(str(asked), mean_over_queries(values), mean_over_queries(expected), p_value)

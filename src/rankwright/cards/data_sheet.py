"""A data sheet: what judged documents hold, and what in them may mislead."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.ranking import Ranking
from rankwright.metrics.base import Ties, mean_over_queries
from rankwright.metrics.parse import as_metric
from rankwright.reports.charts.bars import bar_chart, grouped_bar_chart
from rankwright.reports.pages.blocks import Column, Facts, Figure, Note, Section, Table, Text
from rankwright.reports.pages.cells import number, shown, words
from rankwright.statistics.paired_tests import compare_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.metrics.parse import MetricLike
    from rankwright.reports.pages.blocks import Block

MOST_BINS = 12
MOST_LABELS = 20
MOST_NAMED = 12  # features in a sentence
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


@dataclass(frozen=True, eq=False)
class DataSheet:
    """What judged documents hold.

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

    @classmethod
    def of(cls, data: RankingData, *, metric: MetricLike = "ndcg@10") -> DataSheet:
        """Look at judged documents."""
        labels, counts = np.unique(data.y, return_counts=True)
        names = feature_names_of(data)
        missing = np.isnan(data.X).mean(axis=0)
        constant = [names[place] for place in range(data.n_features) if _is_constant(data.X[:, place])]
        return cls(
            documents=len(data),
            queries=len(data.groups),
            features=data.n_features,
            labels=dict(zip(labels.tolist(), counts.tolist(), strict=True)),
            sizes=data.groups.sizes,
            relevant=data.groups.reduce(np.add, (data.y > 0).astype(np.int64)),
            missing={names[place]: float(missing[place]) for place in np.flatnonzero(missing)},
            constant=constant,
            duplicates=_duplicates(data, names, set(constant)),
            order=_file_order(data, metric),
        )

    @property
    def without_relevant(self) -> int:
        """The number of queries without a relevant document."""
        return int((self.relevant == 0).sum())


def feature_names_of(data: RankingData) -> list[str]:
    """Return the names of the features; without names, `feature 1` and so on."""
    return list(data.feature_names or (f"feature {number}" for number in range(1, data.n_features + 1)))


def data_section(sheet: DataSheet, title: str = "The data") -> Section:
    """Return the section about the data."""
    charts: list[Block] = [_labels_figure(sheet), *([_sizes_figure(sheet)] if np.ptp(sheet.sizes) else [])]
    warnings: list[Block] = [Text(sentence) for sentence in warnings_of(sheet)]
    return Section(title, [Facts(_facts(sheet)), *warnings, *charts, *_missing_table(sheet)])


def _facts(sheet: DataSheet) -> dict[str, str]:
    low, middle, high = np.quantile(sheet.sizes, (0, 0.5, 1))
    return {
        "queries": f"{sheet.queries:,}",
        "documents": f"{sheet.documents:,}",
        "features": f"{sheet.features:,}",
        "documents per query": f"{low:,.0f} to {high:,.0f}, median {middle:,.0f}" if low < high else f"{low:,.0f}",
        "relevant per query": f"median {np.median(sheet.relevant):,.0f}",
        "queries without relevant documents": f"{sheet.without_relevant:,}",
        "features with missing values": f"{len(sheet.missing):,}",
        "constant features": f"{len(sheet.constant):,}",
        "duplicate features": f"{sum(len(group) - 1 for group in sheet.duplicates):,}",
    }


def warnings_of(sheet: DataSheet) -> list[str]:
    """Return what in the data may mislead, in sentences."""
    found = [_order_sentence(sheet.order)] if sheet.order is not None else []
    if sheet.without_relevant:
        noun = counted(sheet.without_relevant, "query")
        found.append(f"{noun} without a relevant document: no ranking of them is better than another.")
    if sheet.constant:
        found.append(f"Constant, so of no use: {_listed(sheet.constant)}.")
    if sheet.duplicates:
        groups = [" = ".join(group) for group in sheet.duplicates]
        found.append(f"Equal in every document: {_listed(groups)}. Importance is divided among them.")
    return found


def _order_sentence(order: FileOrder) -> str:
    values = f"{shown(order.value)} {order.metric}, in random order {shown(order.expected)}"
    if order.leaks:
        return (
            f"Relevant documents come first in the file: ranked by their place in it, documents have {values}. A "
            "system that gives equal scores may seem better than it is; average ties, or shuffle the documents of "
            "each query."
        )
    return (
        f"The order of the file does not reveal the labels: ranked by their place in it, documents have {values}."
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _labels_figure(sheet: DataSheet) -> Figure:
    shares = {f"{label:g}": count / sheet.documents for label, count in list(sheet.labels.items())[-MOST_LABELS:]}
    caption = "Fraction of the documents with each label."
    if len(sheet.labels) > MOST_LABELS:
        caption += f" The highest {MOST_LABELS} of {len(sheet.labels):,} labels are drawn."
    named = "; ".join(f"label {label}: {share:.1%}" for label, share in shares.items())
    return Figure(bar_chart(shares, "fraction of documents by label", description=f"{caption} {named}."), caption)


def _sizes_figure(sheet: DataSheet) -> Figure:
    caption = "Number of queries by the number of their documents."
    bins = {name: {"queries": count} for name, count in _binned(sheet.sizes)}
    chart = grouped_bar_chart(bins, "queries", description=caption, x_label="documents per query")
    return Figure(chart, caption)


def _binned(sizes: NDArray[np.int64]) -> list[tuple[str, int]]:
    """Return ranges of sizes with the number of queries in each, at most about a dozen."""
    low, high = int(sizes.min()), int(sizes.max())
    width = max(1, -(-(high - low + 1) // MOST_BINS))
    starts = range(low, high + 1, width)
    counts = np.bincount((sizes - low) // width, minlength=len(starts))
    names = [f"{start:,}" if width == 1 else f"{start:,}\N{EN DASH}{start + width - 1:,}" for start in starts]
    return list(zip(names, counts.tolist(), strict=True))


def _missing_table(sheet: DataSheet) -> list[Block]:
    if not sheet.missing:
        return []
    most = sorted(sheet.missing.items(), key=lambda item: -item[1])[:50]
    rows = [(words(name), number(fraction, ".1%", bar=fraction)) for name, fraction in most]
    table = Table([Column("feature", is_text=True), Column("missing")], rows, "Fraction of missing values.")
    more = len(sheet.missing) - len(most)
    return [table, *([Note(f"{more:,} more features have missing values.")] if more else [])]


def _is_constant(column: NDArray[np.float32]) -> bool:
    """Return whether a feature has the same value everywhere, or misses everywhere."""
    missing = np.isnan(column)
    return bool(missing.all() or (not missing.any() and (column == column[0]).all()))


def _duplicates(data: RankingData, names: Sequence[str], constant: set[str]) -> list[list[str]]:
    """Return the groups of equal features; columns are compared by their hash."""
    groups: dict[bytes, list[str]] = {}
    for place, name in enumerate(names):
        if name not in constant:
            column = data.X[:, place] + np.float32(0.0)  # so that -0 is 0
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

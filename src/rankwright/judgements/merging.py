"""Merges the grades of several judges into one label per document, with its uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import counted, listed, plain, rounded_percent
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.readers.trec import Judgements
from rankwright.judgements.dawid_skene import fit_dawid_skene
from rankwright.judgements.grade_table import GradeTable
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

LEAST_WEIGHT = 0.01
SHOWN_DOCUMENTS = 10


class LabelledDocuments(NamedTuple):
    """Documents with merged labels, and one weight per document for `fit(data, sample_weight=weights)`."""

    data: RankingData
    weights: Doubles


@dataclass(frozen=True, repr=False, eq=False)
class MergedGrades(Result):
    """One label per document, merged from the grades of several judges.

    Parameters
    ----------
    table
        The grades.
    method
        How they were merged.
    labels
        One per document: the most frequent grade, the mean, or the expected grade.
    probabilities
        How likely each grade of the scale is, one row per document: the fractions of votes, or the model's
        probabilities.
    weights
        How much of the uncertainty about a document's grade its judges have removed: near 1 if they agree, near 0
        (but at least 0.01) if the label is little more than a guess.

    Examples
    --------
    >>> grades = [[2, 2, 1], [0, 1, 0], [1, 1, 1], [0, 0, 2]]
    >>> table = rw.judgements.GradeTable.of(list("aabb"), list("wxyz"), ["ada", "bob", "cyd"], grades)
    >>> merged = rw.judgements.merge(table, method="majority")
    >>> isinstance(merged, rw.judgements.MergedGrades), merged.judgements.labels.tolist()
    (True, [2.0, 0.0, 1.0, 0.0])
    """

    table: GradeTable
    method: str
    labels: Doubles
    probabilities: Doubles
    weights: Doubles

    @property
    def judgements(self) -> Judgements:
        """The merged labels as judgements, for everything that reads them."""
        return Judgements(self.table.qid, self.table.document_ids, self.labels)

    def labelled(self, data: Documents) -> LabelledDocuments:
        """Return those of the documents that were judged, with labels and weights, to train any ranker on.

        Documents are found by query id and document id.

        Examples
        --------
        >>> grades = [[2, 2, 1], [0, 1, 0]]
        >>> table = rw.judgements.GradeTable.of(["a", "a"], ["x", "y"], ["ada", "bob", "cyd"], grades)
        >>> data = rw.Documents([[0.3], [0.1], [0.7]], ["a"] * 3, document_ids=["x", "z", "y"])
        >>> rw.judgements.merge(table).labelled(data).data.document_ids.tolist()
        ['x', 'y']
        """
        require_type(data, Documents, "labelled takes Documents or RankingData")
        row_of = self.judgements.row_numbers
        queries = data.groups.ids[data.groups.query_of_row].tolist()
        names = data.document_names.tolist()
        matches = [row_of.get((str(query), str(name)), -1) for query, name in zip(queries, names, strict=True)]
        known = np.array(matches, dtype=np.int64)
        rows = np.flatnonzero(known >= 0)
        if len(rows) == 0:
            raise InputError("None of the documents was judged; do the ids of queries and documents agree?")
        return LabelledDocuments(data.take(rows).with_labels(self.labels[known[rows]]), self.weights[known[rows]])

    @property
    def summary(self) -> str:
        documents = f"{counted(len(self.table), 'document')} of {counted(len(self.table.groups), 'query')}"
        certain = rounded_percent(float(self.weights.mean()))
        judges = counted(len(self.table.judges), "judge")
        return f"Grades of {judges} merged by {METHODS[self.method].words} for {documents}, mean weight {certain}."

    def blocks(self) -> Iterator[Block]:
        likely = self.probabilities.argmax(axis=1)
        columns = [Column("grade", Kind.NUMBER), Column("documents", Kind.COUNT), Column("mean weight")]
        rows = [
            (grade, int((likely == code).sum()), float(self.weights[likely == code].mean()))
            for code, grade in enumerate(self.table.scale)
            if (likely == code).any()
        ]
        yield Table(columns, rows, "Documents by their most likely grade")
        yield from map(Note, (*self.table.notes, *self._limits()))
        names = [Column("query", Kind.TEXT), Column("document", Kind.TEXT), Column("grades", Kind.TEXT)]
        least = np.argsort(self.weights, kind="stable")[:SHOWN_DOCUMENTS].tolist()
        numbers = [Column("label"), Column("weight")]
        yield Table([*names, *numbers], [self._row(row) for row in least], "The least certain documents")
        yield Figure(self.chart, "How many documents have which most likely grade.")

    def _limits(self) -> Iterator[str]:
        """Yield what weights cannot say here."""
        if (self.table.n_judges < 2).all():
            yield "No document has two grades: nothing says how certain labels are, and all weights are 1."
        elif (self.weights <= LEAST_WEIGHT).all():
            yield f"Judges agree no more than by chance: all weights are the lowest, {LEAST_WEIGHT:g}."

    def _row(self, row: int) -> tuple[str, str, str, float, float]:
        given = [f"{grade:g}" for grade in self.table.grades[row].tolist() if not np.isnan(grade)]
        name = str(self.table.qid[row]), str(self.table.document_ids[row])
        return *name, " ".join(given), float(self.labels[row]), float(self.weights[row])

    def chart(self) -> Chart:
        """Return the number of documents by their most likely grade."""
        from rankwright.reports.charts.bars import bar_chart

        counts = np.bincount(self.probabilities.argmax(axis=1), minlength=len(self.table.scale)).tolist()
        bars = {f"{grade:g}": float(count) for grade, count in zip(self.table.scale, counts, strict=True)}
        return bar_chart(bars, "documents", description="Documents by their most likely grade.")

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain(
            {
                "method": self.method,
                "scale": self.table.scale,
                "queries": self.table.qid,
                "documents": self.table.document_ids,
                "labels": self.labels,
                "probabilities": self.probabilities,
                "weights": self.weights,
                "notes": (*self.table.notes, *self._limits()),
            }
        )
        return values


class Labels(NamedTuple):
    """The label, the probability of each grade and the weight of each document."""

    labels: Doubles
    probabilities: Doubles
    weights: Doubles


def merge(table: GradeTable, *, method: str = "mean") -> MergedGrades:
    """Merge the grades of several judges into one label per document, with weights that say how certain it is.

    Parameters
    ----------
    table
        The grades of one judge or more.
    method
        `majority`, the most frequent grade; of equally frequent ones that nearest to the mean, the lower if both
        are. `mean` of the grades. Or `dawid_skene`, the expected grade in a model that estimates what each judge
        gives to documents of each true grade, so that careless judges count less and lenient ones are corrected.

    Examples
    --------
    >>> grades = [[2, 2, 1], [0, 1, 0], [1, 1, 1], [0, 0, 2]]
    >>> table = rw.judgements.GradeTable.of(list("aabb"), list("wxyz"), ["ada", "bob", "cyd"], grades)
    >>> merged = rw.judgements.merge(table)
    >>> merged.labels.round(2).tolist(), merged.weights.round(2).tolist()
    ([1.67, 0.33, 1.0, 0.67], [0.35, 0.35, 0.48, 0.2])
    """
    require_type(table, GradeTable, "merge takes a GradeTable, as read_grades returns it")
    if method not in METHODS:
        raise InputError(f"{parameter('method')} must be {listed(METHODS)}, not {method!r}.")
    judged = table.take(np.flatnonzero(table.n_judges > 0))
    return MergedGrades(judged, method, *METHODS[method].labels(judged))


def _majority(table: GradeTable) -> Labels:
    scale, fractions = np.array(table.scale), vote_fractions(table.codes, len(table.scale))
    mean = fractions @ scale
    most = fractions >= fractions.max(axis=1, keepdims=True) - 1e-12
    distance = np.where(most, np.abs(scale - mean[:, None]), np.inf)
    # Rounding must not choose between grades that are equally near; the first is the lower.
    nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-9
    return Labels(scale[nearest.argmax(axis=1)], fractions, _weights(table, fractions))


def _mean(table: GradeTable) -> Labels:
    fractions = vote_fractions(table.codes, len(table.scale))
    return Labels(fractions @ np.array(table.scale), fractions, _weights(table, fractions))


def _dawid_skene(table: GradeTable) -> Labels:
    scale = np.array(table.scale)
    model = fit_dawid_skene(table.codes, len(scale))
    expected = model.posterior @ scale
    variance = model.posterior @ scale**2 - expected**2
    prior = model.prior @ scale**2 - (model.prior @ scale) ** 2
    return Labels(expected, model.posterior, np.clip(1.0 - variance / max(prior, 1e-12), LEAST_WEIGHT, 1.0))


def _weights(table: GradeTable, fractions: Doubles) -> Doubles:
    """Return the reliability of the mean of each document's grades: variance between documents over all variance.

    The error variance of a single grade is the mean variance within documents that have two grades or more; where
    there are none, it is unknown, and all weights are 1.
    """
    scale, n_given = np.array(table.scale), table.n_judges
    means = fractions @ scale
    within = fractions @ scale**2 - means**2
    several = n_given > 1
    if not several.any():
        return np.ones(len(table))
    freedom = float((n_given[several] - 1).sum())
    error = float((within * n_given)[several].sum()) / freedom
    between = max(float(means.var()) - float((error / n_given).mean()), 1e-12)
    # A document's own disagreement counts as much as that of all documents.
    own = np.where(several, within * n_given / np.maximum(n_given - 1, 1), error)
    return np.clip(between / (between + (error + own) / 2.0 / n_given), LEAST_WEIGHT, 1.0)


def vote_fractions(codes: Integers, n_grades: int) -> Doubles:
    """Return the fraction of a document's judges who gave each grade."""
    votes = (codes[:, :, None] == np.arange(n_grades)).sum(axis=1)
    return np.asarray(votes / votes.sum(axis=1, keepdims=True))


class MergeMethod(NamedTuple):
    """How grades are merged, and what a sentence calls it."""

    labels: Any
    words: str


METHODS = {
    "majority": MergeMethod(_majority, "majority"),
    "mean": MergeMethod(_mean, "their mean"),
    "dawid_skene": MergeMethod(_dawid_skene, "the model of Dawid and Skene"),
}

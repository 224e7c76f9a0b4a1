"""Labels the documents of a run, and counts what only the run or only the judgements have."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.groups import QueryGroups
    from rankwright.data.readers.trec import Judgements, Run


@dataclass(frozen=True)
class Coverage:
    """How many queries and documents a run and its judgements have in common; prints as a sentence."""

    n_queries: int
    n_documents: int
    n_unjudged_documents: int
    n_documents_not_retrieved: int
    queries_without_judgements: tuple[str, ...]
    queries_not_retrieved: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{counted(self.n_queries, 'query')} retrieved, {len(self.queries_without_judgements):,} of them "
            f"without judgements; {counted(len(self.queries_not_retrieved), 'judged query')} not retrieved; "
            f"{counted(self.n_documents, 'document')} retrieved, {self.n_unjudged_documents:,} of them unjudged."
        )

    def remarks(self) -> list[str]:
        """Return the queries and documents that only one side has, and how each counts."""
        without = len(self.queries_without_judgements)
        kinds = (
            (without, "query", "without judgements, left out"),
            (self.n_unjudged_documents, "document", "retrieved but not judged, irrelevant"),
            (self.n_documents_not_retrieved, "judged document", "not retrieved, below the last rank"),
        )
        return [f"{counted(number, noun)} {words}" for number, noun, words in kinds if number]


@dataclass(frozen=True, eq=False)
class JudgedRun:
    """A run with a label for every retrieved document.

    Parameters
    ----------
    run, judgements
        Matched by query id and document id.
    rows
        The row in the judgements of each retrieved document; -1 if it was not judged.
    unjudged
        The label of documents without a judgement.
    """

    run: Run
    judgements: Judgements
    rows: Integers
    unjudged: float = 0.0

    @property
    def qid(self) -> NDArray[np.str_]:
        """The query of each retrieved document."""
        return self.run.qid

    @property
    def document_ids(self) -> NDArray[np.object_]:
        """The id of each retrieved document."""
        return self.run.document_ids

    @property
    def scores(self) -> Doubles:
        """The score of each retrieved document."""
        return self.run.scores

    @property
    def groups(self) -> QueryGroups:
        """The rows of every query of the run."""
        return self.run.groups

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Whether each retrieved document was judged."""
        return self.rows >= 0

    @cached_property
    def labels(self) -> Doubles:
        """The label of each retrieved document, including unjudged ones."""
        labels = np.full(len(self.rows), float(self.unjudged))
        labels[self.judged] = self.judgements.labels[self.rows[self.judged]]
        return labels

    @cached_property
    def queries(self) -> Integers:
        """The number in the judgements of each query of the run; -1 if it has none."""
        numbers = self.judgements.query_numbers
        return np.array([numbers.get(query, -1) for query in self.groups.ids.tolist()], dtype=np.int64)

    @cached_property
    def judged_labels(self) -> tuple[Doubles, ...]:
        """For each query of the run, the labels of all its judged documents, retrieved or not, highest first."""
        rows = list(self.judgements.groups)
        labels = self.judgements.labels
        return tuple(np.sort(labels[rows[query]])[::-1] if query >= 0 else labels[:0] for query in self.queries)

    @property
    def not_retrieved(self) -> Integers:
        """The rows in the judgements of documents that the run did not retrieve, those of all queries."""
        missing = np.ones(len(self.judgements), dtype=bool)
        missing[self.rows[self.judged]] = False
        return np.flatnonzero(missing)

    @property
    def coverage(self) -> Coverage:
        """How many queries and documents occur on one side only."""
        judged = self.queries[self.queries >= 0]
        ids, query_of_row = self.judgements.groups.ids, self.judgements.groups.query_of_row
        return Coverage(
            n_queries=len(self.groups),
            n_documents=len(self.run),
            n_unjudged_documents=int((~self.judged).sum()),
            n_documents_not_retrieved=int(np.isin(query_of_row[self.not_retrieved], judged).sum()),
            queries_without_judgements=tuple(self.groups.ids[self.queries < 0].tolist()),
            queries_not_retrieved=tuple(np.delete(ids, judged).tolist()),
        )

    def n_relevant(self, at_least: float = 1.0) -> Integers:
        """Return for each query of the run the number of documents, retrieved or not, with at least this label."""
        return np.array([int((labels >= at_least).sum()) for labels in self.judged_labels], dtype=np.int64)


def judge(run: Run, judgements: Judgements, *, unjudged: float = 0.0) -> JudgedRun:
    """Give every document of a run its label.

    Parameters
    ----------
    run, judgements
        Matched by query id and document id.
    unjudged
        The label of documents without a judgement.
    """
    known = judgements.row_numbers
    rows = np.array([known.get(pair, -1) for pair in run.pairs()], dtype=np.int64)
    return JudgedRun(run, judgements, rows, unjudged)

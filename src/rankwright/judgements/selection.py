"""Which documents to judge next: those whose grade would change the comparison of systems most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import counted, plain
from rankwright.data.readers.trec import Run
from rankwright.judgements.grade_table import GradeTable
from rankwright.judgements.merging import merge
from rankwright.judgements.system_orders import checked_runs
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

UNJUDGED_SCALE = (0.0, 1.0)  # where there are no grades yet
MOST_BINS = 5  # of documents by their ranks, to guess grades
FEWEST_IN_BIN = 20
SHOWN_DOCUMENTS = 20


@dataclass(frozen=True)
class DocumentToJudge:
    """A document to judge.

    Parameters
    ----------
    query, document
        Its ids.
    judges
        The number of judges who graded it.
    expected
        The grade that is expected of it: by its grades, or by those of documents at similar ranks.
    change
        How much its grade is expected to change the difference of two systems in the query's NDCG.
    """

    query: str
    document: str
    judges: int
    expected: float
    change: float


@dataclass(frozen=True, repr=False)
class NextDocuments(Result):
    """Documents to judge next, the most useful first.

    Parameters
    ----------
    candidates
        The documents.
    pool
        The number of documents that any system ranks up to the depth.
    unjudged
        How many of them nobody has graded.
    depth
        The number of ranks that count.
    notes
        What was noticed.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("new.run").write_text('''q Q0 x 1 3 new
    ... q Q0 z 2 2 new
    ... q Q0 y 3 1 new''')
    >>> _ = Path("old.run").write_text('''q Q0 x 1 2 old
    ... q Q0 y 2 1 old''')
    >>> runs = [rw.read_run("new.run"), rw.read_run("old.run")]
    >>> result = rw.judgements.next_documents(runs, n=2)
    >>> isinstance(result, rw.judgements.NextDocuments), [each.document for each in result.candidates]
    (True, ['z', 'y'])
    """

    candidates: tuple[DocumentToJudge, ...]
    pool: int
    unjudged: int
    depth: int
    notes: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        """The documents as a run whose scores are the expected changes, for `rankwright judge --pool`."""
        rows = [(each.query, each.document, each.change) for each in self.candidates]
        queries, documents, changes = zip(*rows, strict=True) if rows else ((), (), ())
        return Run.of(np.array(queries, str), documents, changes, tag="next")

    @property
    def summary(self) -> str:
        pool = f"{counted(self.pool, 'document')} at the first {self.depth} ranks, {self.unjudged:,} not judged"
        if not self.candidates:
            return f"No document needs to be judged: {pool}."
        return f"{counted(len(self.candidates), 'document')} to judge next, of {pool}."

    def blocks(self) -> Iterator[Block]:
        columns = [
            Column("query", Kind.TEXT),
            Column("document", Kind.TEXT),
            Column("judges", Kind.COUNT),
            Column("expected grade", Kind.MEASURED),
            Column("expected change"),
        ]
        rows = [tuple(vars(each).values()) for each in self.candidates[:SHOWN_DOCUMENTS]]
        yield Table(columns, rows, "The first documents to judge")
        yield Note("Expected change: of the difference of two systems, in the NDCG of the query.")
        yield from map(Note, self.notes)
        if self.candidates:
            yield Figure(self.chart, "Expected change by document, in the order of judging.")

    def chart(self) -> Chart:
        """Return the expected change of each document, in the order of judging."""
        from rankwright.reports.charts.lines import line_chart

        points = [(float(number), each.change) for number, each in enumerate(self.candidates, start=1)]
        return line_chart({"": points}, "documents judged", "expected change", description=self.summary)

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain(
            {
                "documents": self.candidates,
                "pool": self.pool,
                "unjudged": self.unjudged,
                "depth": self.depth,
                "notes": self.notes,
            }
        )
        return values


def next_documents(
    runs: Mapping[str, Run] | Sequence[Run], table: GradeTable | None = None, *, n: int = 100, depth: int = 10
) -> NextDocuments:
    """Choose the documents to judge next, whose grade would change the comparison of systems most.

    The expected change is the standard deviation of a document's gain, 2^grade - 1, over the ideal DCG that is
    expected of the query (at least the gain), times the difference of its discounts by two systems (root mean
    square over all pairs).
    So a document matters if systems disagree about it, and if its grade is uncertain: because nobody has judged
    it, when grades of documents at similar ranks say what to expect, or because judges disagree.

    Parameters
    ----------
    runs
        The systems: runs by name, or a list of runs that are named by their tags. The value of a single one is
        compared with nothing, so that its first ranks matter most.
    table
        The grades so far, if there are any.
    n
        The number of documents to choose.
    depth
        The number of ranks that count, as the 10 of ndcg@10.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("new.run").write_text('''q Q0 x 1 3 new
    ... q Q0 z 2 2 new
    ... q Q0 y 3 1 new''')
    >>> _ = Path("old.run").write_text('''q Q0 x 1 2 old
    ... q Q0 y 2 1 old''')
    >>> runs = [rw.read_run("new.run"), rw.read_run("old.run")]
    >>> table = rw.judgements.GradeTable.of(["q", "q"], ["x", "z"], ["ada"], [[1], [0]])
    >>> [(each.document, each.judges) for each in rw.judgements.next_documents(runs, table, n=1).candidates]
    [('y', 0)]
    """
    named = checked_runs(runs)
    for name, value in (("n", n), ("depth", depth)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(f"{parameter(name)} must be a positive integer, not {value!r}.")
    pairs, discounts = pooled_discounts(named, depth)
    if not pairs:
        raise InputError("The pool is empty: no run has a document.")
    spread, evidence = _spread(discounts), discounts.mean(axis=1)
    notes = _notes(pairs, table)
    scale, probabilities, n_judges = _known_grades(pairs, table, evidence)
    gains = 2.0**scale - 1.0
    ideal = _ideal(pairs, probabilities @ gains, depth)
    # With a document of this gain, the ideal DCG is at least the gain, so that no change exceeds 1.
    normalised = gains / np.maximum(ideal[:, None], gains)
    variance = (probabilities * normalised**2).sum(axis=1) - (probabilities * normalised).sum(axis=1) ** 2
    change = np.sqrt(np.maximum(variance, 0.0)) * spread
    order = [row for row in np.argsort(-change, kind="stable").tolist()[:n] if change[row] > 1e-12]
    expected = probabilities @ scale
    chosen = (
        DocumentToJudge(query, document, int(n_judges[row]), float(expected[row]), float(change[row]))
        for row in order
        for query, document in [pairs[row]]
    )
    return NextDocuments(tuple(chosen), len(pairs), int((n_judges == 0).sum()), depth, notes)


def pooled_discounts(runs: Mapping[str, Run], depth: int) -> tuple[list[tuple[str, str]], Doubles]:
    """Return the queries and documents at the first ranks of any run, and their discount in each, 0 below."""
    row_of: dict[tuple[str, str], int] = {}
    ranked = []
    for run in runs.values():
        ranks = run.ranking().ranks() if len(run) else np.zeros(0, np.int64)
        ranked.append(
            [(pair, rank) for pair, rank in zip(run.pairs(), ranks.tolist(), strict=True) if rank <= depth]
        )
        for pair, _ in ranked[-1]:
            row_of.setdefault(pair, len(row_of))
    discounts = np.zeros((len(row_of), len(runs)))
    for column, listed in enumerate(ranked):
        for pair, rank in listed:
            discounts[row_of[pair], column] = 1.0 / np.log2(1.0 + rank)
    return list(row_of), discounts


def _spread(discounts: Doubles) -> Doubles:
    """Return the root mean square difference of discounts over pairs of systems; of one system, its discount."""
    n_systems = discounts.shape[1]
    if n_systems == 1:
        return discounts[:, 0]
    return np.asarray(np.sqrt(2.0 * discounts.var(axis=1, ddof=1)))


class KnownGrades(NamedTuple):
    """The scale, the probability of each grade of each document, and its number of judges."""

    scale: Doubles
    probabilities: Doubles
    n_judges: Doubles


def _known_grades(pairs: Sequence[tuple[str, str]], table: GradeTable | None, evidence: Doubles) -> KnownGrades:
    """Return what grades so far say about documents, and to expect of those that were not judged."""
    n_judges = np.zeros(len(pairs))
    if table is None:
        scale = np.array(UNJUDGED_SCALE)
        return KnownGrades(scale, np.full((len(pairs), len(scale)), 1.0 / len(scale)), n_judges)
    several = len(table.judges) > 1
    merged = merge(table, method="dawid_skene" if several else "majority")
    row_of = merged.judgements.row_numbers
    rows = np.array([row_of.get(pair, -1) for pair in pairs])
    judged = rows >= 0
    n_judges[judged] = merged.table.n_judges[rows[judged]]
    probabilities = np.empty((len(pairs), len(table.scale)))
    probabilities[judged] = merged.probabilities[rows[judged]]
    probabilities[~judged] = _expected_grades(merged.probabilities, probabilities[judged], evidence, judged)
    return KnownGrades(np.array(table.scale), probabilities, n_judges)


def _notes(pairs: Sequence[tuple[str, str]], table: GradeTable | None) -> tuple[str, ...]:
    """Return what was noticed about the grades so far; those of other queries alone are refused."""
    if table is None:
        return ()
    require_type(table, GradeTable, "table must be a GradeTable, as read_grades returns it")
    queries = {query for query, _ in pairs}
    unknown = [query for query in table.groups.ids.tolist() if query not in queries]
    if len(unknown) == len(table.groups):
        raise InputError("None of the judged queries is in the runs; do the ids of queries agree?")
    left_out = f"{counted(len(unknown), 'judged query')} not in any run, left out."
    return (*table.notes, left_out) if unknown else table.notes


def _expected_grades(every: Doubles, known: Doubles, evidence: Doubles, judged: Any) -> Doubles:
    """Return the grades to expect of documents that were not judged: those of judged ones at similar ranks.

    Similar are documents of the same quantile of the mean discount; all judged documents count as one more.
    """
    overall = every.mean(axis=0)
    n_bins = min(MOST_BINS, len(known) // FEWEST_IN_BIN)
    if n_bins < 2:
        return np.tile((known.sum(axis=0) + overall) / (len(known) + 1.0), (int((~judged).sum()), 1))
    edges = np.quantile(evidence[judged], np.linspace(0, 1, n_bins + 1)[1:-1])
    bins = np.searchsorted(edges, evidence)
    totals = np.array([known[bins[judged] == number].sum(axis=0) + overall for number in range(n_bins)])
    return np.asarray((totals / totals.sum(axis=1, keepdims=True))[bins[~judged]])


def _ideal(pairs: Sequence[tuple[str, str]], gains: Doubles, depth: int) -> Doubles:
    """Return for each document the ideal DCG that is expected of its query."""
    by_query: dict[str, list[float]] = {}
    for (query, _), gain in zip(pairs, gains.tolist(), strict=True):
        by_query.setdefault(query, []).append(gain)
    discounts = 1.0 / np.log2(2.0 + np.arange(depth))
    ideal = {
        query: max(float(np.sort(values)[::-1][:depth] @ discounts[: len(values)]), 1e-3)
        for query, values in by_query.items()
    }
    return np.array([ideal[query] for query, _ in pairs])

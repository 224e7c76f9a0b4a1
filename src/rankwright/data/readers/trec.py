"""Judgements and runs; reads and writes TREC runs."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.files import is_compressed, write_whole
from rankwright.data.dataset import checked_document_ids, checked_labels
from rankwright.data.groups import QueryGroups, Ranking, checked_query_ids, checked_scores
from rankwright.data.readers.text_files import MAX_LINE_BYTES, read_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles

RUN_COLUMNS = ("query", "Q0", "document", "rank", "score", "tag")


@dataclass(frozen=True, eq=False)
class NamedRows:
    """Rows of documents, each with the id of its query."""

    qid: NDArray[np.str_]
    document_ids: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.qid)

    @cached_property
    def groups(self) -> QueryGroups:
        """The rows of every query."""
        return QueryGroups.of(self.qid)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return the query id and the document id of each row."""
        return zip(self.qid.tolist(), self.document_ids.tolist(), strict=True)


@dataclass(frozen=True, eq=False)
class Judgements(NamedRows):
    """The labels of judged documents, one per row: query, document and label."""

    labels: Doubles

    @classmethod
    def of(cls, qid: ArrayLike, document_ids: Sequence[object] | NDArray[Any], labels: ArrayLike) -> Judgements:
        """Make judgements from columns; a document may occur once per query."""
        queries, documents = _checked_names(qid, document_ids)
        return cls(queries, documents, checked_labels(labels, len(documents)))

    @cached_property
    def row_numbers(self) -> dict[tuple[str, str], int]:
        """The row of each pair of query id and document id."""
        return {pair: row for row, pair in enumerate(self.pairs())}

    @cached_property
    def query_numbers(self) -> dict[str, int]:
        """The number in `groups` of each query id."""
        return {query: number for number, query in enumerate(self.groups.ids.tolist())}


@dataclass(frozen=True, eq=False)
class Run(NamedRows):
    """The documents that a system retrieved: one row per document with query and score, and the system's name."""

    scores: Doubles
    tag: str

    @classmethod
    def of(
        cls,
        qid: ArrayLike,
        document_ids: Sequence[object] | NDArray[Any],
        scores: ArrayLike,
        *,
        tag: str = "rankwright",
    ) -> Run:
        """Make a run from scored documents in any order; a document may occur once per query."""
        queries, documents = _checked_names(qid, document_ids)
        return cls(queries, documents, checked_scores(scores, len(documents)), tag)

    def ranking(self) -> Ranking:
        """Return the documents of every query, best first by score; the ranks in a file are ignored."""
        return Ranking.of(self.scores, self.groups)


def read_run(path: str | PathLike[str]) -> Run:
    """Read a TREC run, lines of `query Q0 document rank score tag`, decompressed if the name ends with .gz.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("run.txt").write_text('''hats Q0 d1 1 7.5 bm25
    ... hats Q0 d2 2 7.1 bm25''')
    >>> run = rw.read_run("run.txt")
    >>> run.tag, run.document_ids.tolist(), run.scores.tolist()
    ('bm25', ['d1', 'd2'], [7.5, 7.1])
    """
    rows = read_rows(path, read_words(path), _run_row)
    tag = rows[-1].tag if rows else ""
    return Run(*columns_of_rows(rows), tag)


def format_run(run: Run) -> str:
    """Return a run as the text of a TREC file: queries in order of first appearance, documents best first.

    trec_eval reads scores, not ranks, and sorts equal scores by document id in descending order.
    """
    for name in {run.tag, *run.groups.ids.tolist(), *run.document_ids.tolist()}:
        if len(name.split()) != 1:
            raise InputError(
                f"{name!r} is empty or contains a space, which a run file cannot represent; a table of scores "
                "can, see `predict --out scores.csv` and scores_frame."
            )
    ranking = run.ranking()
    columns = (run.qid, run.document_ids, ranking.ranks(), run.scores)
    lines = zip(*(column[ranking.order].tolist() for column in columns), strict=True)
    return "".join(f"{query} Q0 {name} {rank} {score!r} {run.tag}\n" for query, name, rank, score in lines)


def write_run(run: Run, path: str | PathLike[str]) -> None:
    """Write the text of `format_run` to a file, compressed if its name ends with .gz.

    Examples
    --------
    >>> documents = [rw.text.TextDocument("d1", {"body": "red hats"})]
    >>> index = rw.text.Index.build(documents, "index")
    >>> run = rw.text.Searcher(index).search_all({"q1": "hats"})
    >>> rw.write_run(run, "run.txt")
    >>> rw.read_run("run.txt").document_ids.tolist()
    ['d1']
    """
    require_type(run, Run, "write_run takes a Run, as read_run and a Searcher return it")
    text = format_run(run).encode()
    with write_whole(path) as file:
        file.write(gzip.compress(text, mtime=0) if is_compressed(path) else text)


class FileRow(NamedTuple):
    """A line of a file: the label or score of a document in a query, and the name of the system in a run."""

    query: str
    document: str
    number: float
    tag: str = ""


def read_rows(
    path: str | PathLike[str], lines: Iterable[tuple[int, list[str]]], parse: Callable[[list[str]], FileRow]
) -> list[FileRow]:
    """Parse the words of numbered lines; a document may occur once per query. Errors name the line."""
    rows: list[FileRow] = []
    seen: set[tuple[str, str]] = set()
    for line, words in lines:
        try:
            row = parse(words)
            _require_new(row.query, row.document, seen)
        except InputError as mistake:
            raise InputError(f"{path}, line {line}: {mistake}") from None
        rows.append(row)
    return rows


def read_words(path: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of every line that is not blank."""
    n_lines, rest = 0, b""
    try:
        for block in read_blocks(path):
            complete, end, rest = (rest + block.tobytes()).rpartition(b"\n")
            if len(rest) > MAX_LINE_BYTES:
                raise InputError(
                    f"{path}, line {n_lines + 1}: expected at most {MAX_LINE_BYTES:,} bytes per line."
                )
            for text in TextIOWrapper(BytesIO(complete + end), "utf-8-sig"):
                n_lines += 1
                if words := text.split():
                    yield n_lines, words
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8.") from None


def _run_row(words: list[str]) -> FileRow:
    require_columns(words, RUN_COLUMNS)
    return FileRow(words[0], words[2], checked_number(words[4], "score"), words[-1])


def require_columns(words: list[str], columns: Sequence[str]) -> None:
    """Refuse a line with another number of columns."""
    if len(words) != len(columns):
        raise InputError(f"Found {len(words)} columns, expected {len(columns)}: {' '.join(columns)}.")


def checked_number(word: str, name: str) -> float:
    """Return a label, which must be finite, or a score, which may be infinite."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if math.isnan(value) or (name == "label" and math.isinf(value)):
        raise InputError(f"The {name} {word!r} is not a number.")
    return value


def _require_new(query: str, document: str, seen: set[tuple[str, str]]) -> None:
    """Refuse a document that occurred in the query before."""
    if (query, document) in seen:
        raise InputError(f"Document {document!r} occurs twice in query {query!r}.")
    seen.add((query, document))


def columns_of_rows(rows: list[FileRow]) -> tuple[NDArray[np.str_], NDArray[np.object_], Doubles]:
    """Return the queries, documents and numbers of rows."""
    queries = np.array([row.query for row in rows], dtype=np.str_)
    documents = np.array([row.document for row in rows], dtype=object)
    return queries, documents, np.array([row.number for row in rows], dtype=np.float64)


def _checked_names(
    qid: ArrayLike, document_ids: Sequence[object] | NDArray[Any]
) -> tuple[NDArray[np.str_], NDArray[np.object_]]:
    queries: NDArray[np.str_] = checked_query_ids(qid).astype(np.str_)
    documents = checked_document_ids(document_ids, len(queries))
    seen: set[tuple[str, str]] = set()
    for query, document in zip(queries.tolist(), documents, strict=True):
        _require_new(query, document, seen)
    return queries, documents

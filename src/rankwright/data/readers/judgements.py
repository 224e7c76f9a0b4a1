"""Reads judgements in the formats of TREC, SMART, BEIR, old collections and ir_datasets; writes TREC's."""

from __future__ import annotations

import gzip
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.files import is_compressed, write_whole
from rankwright.base.wording import listed
from rankwright.data.readers import irds
from rankwright.data.readers.judgement_lists import list_format, listed_pairs
from rankwright.data.readers.trec import (
    FileRow,
    Judgements,
    checked_number,
    columns_of_rows,
    read_rows,
    read_words,
    require_columns,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

TREC_COLUMNS = ("query", "iteration", "document", "label")
BEIR_COLUMNS = ("query-id", "corpus-id", "score")
WITH_GRADES = 3  # columns of a SMART file with grades
LISTS = ("lisa", "time", "npl")  # formats with a list of documents per query
FIRST_LINES = 1000  # by which the format is recognised

CRANFIELD_GRADES: Mapping[float, float] = MappingProxyType({1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0})
"""Labels of the grades in Cranfield's cranqrel: 1 is a complete answer, 4 of little interest, 5 and -1 of none."""


def read_judgements(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    grades: Mapping[float, float] | None = None,
) -> Judgements:
    """Read judgements from a file, decompressed if its name ends with .gz, or from a data set of ir_datasets.

    Negative labels, with which some collections mark spam, are kept.

    Parameters
    ----------
    path
        A file, or `irds:NAME`.
    format
        `trec` (query, iteration, document and label per line), `smart` (query and document per line; then a
        grade, or two columns that mean nothing), `beir` (a header, then query, document and label), or the lists
        of documents of `lisa`, `time` and `npl`. By default recognised by the first lines: four columns are
        TREC's, unless the last two are 0 on all of them.
    grades
        The label of each grade in the file, as in `{1: 4, 2: 3, 3: 2, 4: 1}`. A SMART file with grades needs it,
        because in some, such as Cranfield's (`CRANFIELD_GRADES`), 1 is the best grade. In other files labels are
        kept as they are unless it is given.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("qrels.txt").write_text('''hats 0 d1 2
    ... hats 0 d2 0''')
    >>> judgements = rw.read_judgements("qrels.txt")
    >>> judgements.document_ids.tolist(), judgements.labels.tolist()
    (['d1', 'd2'], [2.0, 0.0])
    """
    if irds.is_name(path):
        records = [fields for _, fields in irds.load(path).records("qrels")]
        rows = [FileRow(str(fields["query_id"]), str(fields["doc_id"]), fields["relevance"]) for fields in records]
        return _graded(Judgements.of(*columns_of_rows(rows)), path, grades)
    lines = read_words(path)
    first = list(islice(lines, FIRST_LINES))
    name = _format_of(first) if format is None else format
    if name not in (*FORMATS, *LISTS):
        raise InputError(f"format must be {listed([*FORMATS, *LISTS])}, not {name!r}.")
    body: Iterator[tuple[int, list[str]]] = chain(first, lines)
    if name in LISTS:
        body, name = listed_pairs(name, body, path), "smart"
        first = [(0, ["query", "document"])]
    words = first[0][1] if first else []
    if name == "smart" and grades is None and len(words) == WITH_GRADES:
        raise InputError(
            f"{path} has a grade per line, and in some such files 1 is the best: pass the label of each, as in "
            f"{parameter('grades')}={{1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}}, which is CRANFIELD_GRADES "
            "(--grades cranfield)."
        )
    parse, width = FORMATS[name], len(words)
    if words == list(BEIR_COLUMNS):
        next(body)
    rows = read_rows(path, body, lambda words: parse(words, width))
    return _graded(Judgements(*columns_of_rows(rows)), path, grades)


def _format_of(lines: list[tuple[int, list[str]]]) -> str:
    """Return the format that the first lines of a file have."""
    words = [words for _, words in lines]
    if words[:1] == [list(BEIR_COLUMNS)]:
        return "beir"
    if is_relation(words):
        return "smart"
    if (name := list_format(lines)) is not None:
        return name
    return "smart" if {len(line) for line in words} in ({2}, {WITH_GRADES}) else "trec"


def is_relation(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether lines list relevant documents as `query document 0 0`, as CACM's do."""
    is_zero = all(len(line) == len(TREC_COLUMNS) and _is_zero(line[2]) and _is_zero(line[3]) for line in lines)
    return is_zero and any(not _is_zero(line[1]) for line in lines)


def _is_zero(word: str) -> bool:
    return word.strip("0.") == "" and word != ""


def _trec_row(words: list[str], _width: int) -> FileRow:
    require_columns(words, TREC_COLUMNS)
    return FileRow(words[0], words[2], checked_number(words[3], "label"))


def _smart_row(words: list[str], width: int) -> FileRow:
    """Return a relation; where there are no grades, every document that is listed has label 1."""
    if len(words) != width or width not in (2, WITH_GRADES, 4):
        raise InputError(f"Found {len(words)} columns, expected query, document and perhaps a grade.")
    grade = checked_number(words[2], "label") if width == WITH_GRADES else 1.0
    return FileRow(unpadded(words[0]), unpadded(words[1]), grade)


def _beir_row(words: list[str], _width: int) -> FileRow:
    require_columns(words, BEIR_COLUMNS)
    return FileRow(words[0], words[1], checked_number(words[2], "label"))


FORMATS = {"trec": _trec_row, "smart": _smart_row, "beir": _beir_row}


def unpadded(number: str) -> str:
    """Return an id of a SMART file without the zeros before a number: `.I 001` and `.I 1` are the same."""
    return (number.lstrip("0") or "0") if number.isascii() and number.isdigit() else number


def _graded(judgements: Judgements, path: str | PathLike[str], grades: Mapping[float, float] | None) -> Judgements:
    """Return judgements with the labels of their grades; a grade without a label is an error."""
    if grades is None:
        return judgements
    for (query, document), grade in zip(judgements.pairs(), judgements.labels.tolist(), strict=True):
        if grade not in grades:
            known = ", ".join(f"{number:g}" for number in grades)
            raise InputError(
                f"{path}: document {document!r} of query {query!r} has grade {grade:g}; "
                f"grades has labels for {known} only."
            )
    labels = [grades[grade] for grade in judgements.labels.tolist()]
    return Judgements.of(judgements.qid, judgements.document_ids, labels)


def write_judgements(judgements: Judgements, path: str | PathLike[str]) -> None:
    """Write judgements as lines `query 0 document label`, compressed if the name ends with .gz.

    Examples
    --------
    >>> from pathlib import Path
    >>> table = rw.judgements.GradeTable.of(["hats", "hats"], ["d1", "d2"], ["ada", "bob"], [[2, 2], [0, 1]])
    >>> rw.write_judgements(rw.judgements.merge(table).judgements, "qrels.txt")
    >>> print(Path("qrels.txt").read_text())
    hats 0 d1 2
    hats 0 d2 0.5
    """
    require_type(judgements, Judgements, "write_judgements takes Judgements, as read_judgements returns them")
    for name in {*judgements.qid.tolist(), *judgements.document_ids.tolist()}:
        if len(name.split()) != 1:
            raise InputError(
                f"{name!r} is empty or contains a space, which a file of judgements cannot represent."
            )
    labels = judgements.labels.tolist()
    rows = zip(judgements.pairs(), labels, strict=True)
    text = "".join(
        f"{query} 0 {document} {int(label) if label.is_integer() else repr(label)}\n"
        for (query, document), label in rows
    ).encode()
    with write_whole(path) as file:
        file.write(gzip.compress(text, mtime=0) if is_compressed(path) else text)

"""Judgements in the formats of the field: TREC's, SMART's relations, BEIR's, and those of ir_datasets."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import listed
from rankwright.data.readers import trec
from rankwright.data.readers.trec import Judgements
from rankwright.text.collections import irds
from rankwright.text.collections.formats.records import read_lines
from rankwright.text.collections.formats.smart import unpadded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

FORMATS = ("trec", "smart", "beir")
WITH_GRADES = 3  # columns of a SMART file with grades
BEIR_HEADER = ["query-id", "corpus-id", "score"]

CRANFIELD_GRADES: Mapping[float, float] = MappingProxyType({1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0})
"""Labels of the grades in Cranfield's cranqrel: 1 is a complete answer, 4 of little interest, 5 and -1 of none."""


def read_judgements(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    grades: Mapping[float, float] | None = None,
) -> Judgements:
    """Read judgements from a file, decompressed if its name ends with .gz, or from a data set of ir_datasets.

    Parameters
    ----------
    path
        A file, or `irds:NAME`.
    format
        `trec` (query, iteration, document and label per line), `smart` (query and document per line; then a
        grade, or two columns that mean nothing) or `beir` (a header, then query, document and label). By default
        recognised by the first line; four columns are TREC's.
    grades
        The label of each grade in the file, as in `{1: 4, 2: 3, 3: 2, 4: 1}`. A SMART file with grades needs it,
        because in some, such as Cranfield's (`CRANFIELD_GRADES`), 1 is the best grade. In other files labels are
        kept as they are unless it is given.
    """
    if isinstance(path, str) and irds.is_name(path):
        return _graded(irds.load(path).judgements(), path, grades)
    name = _format_of(path) if format is None else format
    if name == "trec":
        return _graded(trec.read_judgements(path), path, grades)
    if name == "smart":
        _require_grades(path, grades)
        return _graded(_judgements(path, _relation_rows(path)), path, grades)
    if name == "beir":
        return _graded(_judgements(path, _beir_rows(path)), path, grades)
    raise InputError(f"format must be {listed(FORMATS)}, not {name!r}.")


Row = tuple[int, str, str, float]  # line, query, document, label


def _format_of(path: str | PathLike[str]) -> str:
    words = next((words for _, words in _lines(path)), [])
    if words == BEIR_HEADER:
        return "beir"
    return "smart" if len(words) in (2, WITH_GRADES) else "trec"


def _lines(path: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    return ((number, words) for number, line in read_lines(path) if (words := line.split()))


def _require_grades(path: str | PathLike[str], grades: Mapping[float, float] | None) -> None:
    if grades is None and _width(path) == WITH_GRADES:
        raise InputError(
            f"{path} has a grade per line, and in some such files 1 is the best: pass the label of each, as in "
            "grades={1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}, which is CRANFIELD_GRADES (--grades cranfield)."
        )


def _width(path: str | PathLike[str]) -> int:
    return len(next((words for _, words in _lines(path)), []))


def _relation_rows(path: str | PathLike[str]) -> Iterator[Row]:
    """Yield SMART's relations; where there are no grades, every document that is listed has label 1."""
    width = _width(path)
    for line, words in _lines(path):
        if len(words) != width or width not in (2, WITH_GRADES, 4):
            raise InputError(
                f"{path}, line {line}: found {len(words)} columns, expected query, document and perhaps a grade."
            )
        grade = _number(path, line, words[2]) if width == WITH_GRADES else 1.0
        yield line, unpadded(words[0]), unpadded(words[1]), grade


def _beir_rows(path: str | PathLike[str]) -> Iterator[Row]:
    for line, words in _lines(path):
        if words == BEIR_HEADER:
            continue
        if len(words) != len(BEIR_HEADER):
            raise InputError(f"{path}, line {line}: found {len(words)} columns, expected {' '.join(BEIR_HEADER)}.")
        yield line, words[0], words[1], _number(path, line, words[2])


def _number(path: str | PathLike[str], line: int, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{path}, line {line}: the label {word!r} is not a number.")
    return value


def _judgements(path: str | PathLike[str], rows: Iterator[Row]) -> Judgements:
    """Return judgements; a document may occur once per query."""
    labels: dict[tuple[str, str], float] = {}
    for line, query, document, label in rows:
        if (query, document) in labels:
            raise InputError(f"{path}, line {line}: document {document!r} occurs twice in query {query!r}.")
        labels[query, document] = label
    queries, documents = zip(*labels, strict=True) if labels else ((), ())
    return Judgements.of(np.array(queries, dtype=np.str_), documents, list(labels.values()))


def _graded(judgements: Judgements, path: str | PathLike[str], grades: Mapping[float, float] | None) -> Judgements:
    """Return judgements with the labels of their grades; a grade without a label is an error."""
    if grades is None:
        return judgements
    for query, document, grade in zip(*_columns(judgements), strict=True):
        if grade not in grades:
            known = ", ".join(f"{grade:g}" for grade in grades)
            raise InputError(
                f"{path}: document {document!r} of query {query!r} has grade {grade:g}; "
                f"grades has labels for {known} only."
            )
    labels = [grades[grade] for grade in judgements.labels.tolist()]
    return Judgements.of(judgements.qid, judgements.document_ids, labels)


def _columns(judgements: Judgements) -> tuple[list[str], list[str], list[float]]:
    return judgements.qid.tolist(), judgements.document_ids.tolist(), judgements.labels.tolist()

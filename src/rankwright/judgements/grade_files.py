"""Reads the grades of several judges: wide and long tables, JSON Lines, TREC judgements with a judge."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import brief_list, counted, shortened
from rankwright.data.column_roles import Roles, no_column
from rankwright.data.readers.csv import MISSING, checked_delimiter, csv_columns
from rankwright.data.readers.frame_columns import columns_of
from rankwright.data.readers.parquet import parquet_columns
from rankwright.data.readers.trec import checked_number, read_words, require_columns
from rankwright.data.tables import naming
from rankwright.judgements.grade_table import GradeTable, checked_scale, chosen_judges, is_among, outside_of
from rankwright.text.collections.formats.jsonl import parsed_object
from rankwright.text.collections.formats.records import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankwright.data.tables import TableColumn

# The usual names of columns; the first that a table has is used.
USUAL_NAMES = {
    "query": ("query", "qid", "query_id", "query-id", "topic"),
    "document": ("document", "docid", "doc_id", "document_id", "docno", "corpus-id", "item"),
    "judge": ("judge", "judge_id", "annotator", "assessor", "rater", "worker"),
    "grade": ("grade", "label", "relevance", "rel", "rating"),
    "time": ("time", "timestamp"),
}
TREC_COLUMNS = ("query", "iteration", "document", "grade")
NO_JUDGE = ("0", "Q0", "q0")  # usual values of the iteration, which is no judge then
LINES = (".jsonl", ".ndjson", ".json")


class JudgeWarning(UserWarning):
    """Something was noticed while grades were read; the message says what."""


class GivenGrade(NamedTuple):
    """One grade, or None where a judge skipped a document or withdrew a grade; `where` names its line or row.

    Lines of `rankwright judge` also say whether a document was skipped, and have notes.
    """

    query: str
    document: str
    judge: str
    grade: float | None
    time: float | None
    where: str
    skipped: bool = False
    note: str = ""


def read_grades(
    source: Any,
    *,
    judges: Sequence[str] | None = None,
    language_models: Sequence[str] | str | None = None,
    scale: Sequence[float] | None = None,
    delimiter: str | None = None,
    **columns: str,
) -> GradeTable:
    """Read the grades of several judges from files or a data frame.

    A long table has one row per grade with the columns query, document, judge and grade, and perhaps time. A wide
    table has one row per document with the columns query and document, and one column per judge. JSON Lines have
    the names of a long table; `rankwright judge` writes them. TREC judgements have the judge as a fifth column or,
    if that is not 0 throughout, as iteration; otherwise, as in a table without judges, all grades are those of one
    judge, who is called as the file or by a name that is given.

    Where one judge graded a document of a query twice, the last grade by time counts, and a warning says so;
    without times it is an error.

    Parameters
    ----------
    source
        A file (.csv, .tsv, .parquet, .jsonl; otherwise TREC's columns; .gz is decompressed), several in a list or
        by the name of the judge whose grades they hold, or a data frame.
    judges
        The judges to keep, by name or by patterns such as `gpt-*`; by default all.
    language_models
        Those of the judges that are language models, by name or pattern. They count as other judges do, and
        results say which they are.
    scale
        The grades that are allowed; others are refused. By default those that were given.
    delimiter
        A comma, a semicolon or a tab between the columns of a table; by default a tab for .tsv and .tsv.gz,
        otherwise a comma.
    columns
        Which column holds what, such as `judge="worker_id"`: for query, document, judge, grade and time. By
        default columns of these names, or usual ones such as `qid`, `annotator` or `label`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("grades.csv").write_text('''query,document,ada,bob,gpt
    ... hats,d1,2,2,3
    ... hats,d2,0,1,1''')
    >>> table = rw.judgements.read_grades("grades.csv", language_models="gpt")
    >>> table.judges, sorted(table.language_models)
    (('ada', 'bob', 'gpt'), ['gpt'])
    """
    for role in columns:
        if role not in USUAL_NAMES:
            raise InputError(f"read_grades has no {parameter(role)}; columns are {', '.join(USUAL_NAMES)}.")
    allowed = None if scale is None else checked_scale(scale)
    entries = [
        entry for name, file in _sources(source) for entry in _entries(file, name, judges, delimiter, columns)
    ]
    for entry in entries:
        _check(entry, allowed)
    kept, notes = _last_of_each(entries)
    for note in notes:
        warnings.warn(note, JudgeWarning, stacklevel=2)
    return _table(kept, judges, language_models, scale, notes)


def _sources(source: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield each file, or the data frame, with the name of its judge, if one is given."""
    if isinstance(source, Mapping):
        yield from source.items()
    elif isinstance(source, Sequence) and not isinstance(source, str):
        for each in source:
            yield from _sources(each)
    else:
        yield None, source


def _entries(
    source: Any,
    name: str | None,
    judges: Sequence[str] | None,
    delimiter: str | None,
    columns: Mapping[str, str],
) -> Iterator[GivenGrade]:
    if not isinstance(source, str | os.PathLike):
        return _table_entries(columns_of(source), "The data frame", name or "judge", judges, columns)
    path = Path(source)
    plain = path.name.lower().removesuffix(".gz")
    judge = name or Path(plain).stem
    if plain.endswith(LINES):
        return read_entries(path, name, columns)
    if not plain.endswith((".csv", ".tsv", ".parquet")):
        return _trec_entries(path, judge)
    with naming(path):
        if plain.endswith(".parquet"):
            table: Iterable[TableColumn] = parquet_columns(path)
        else:  # all columns as text: ids stay as they are written
            every = Roles(label=None, categorical=("*",))
            table = csv_columns(path, every, checked_delimiter(path, delimiter))[0]
        return _table_entries(table, str(path), judge, judges, columns)


def _table_entries(
    columns: Iterable[TableColumn],
    where: str,
    judge: str,
    judges: Sequence[str] | None,
    named: Mapping[str, str],
) -> Iterator[GivenGrade]:
    table = {column.name: column.texts() for column in columns}
    roles = _roles(list(table), named)
    for role in ("query", "document"):
        if role not in roles:
            raise InputError(f"{where}: there is no column {role!r}; name it in {parameter(role)}.")
    queries, documents = table[roles["query"]], table[roles["document"]]
    times = table.get(roles.get("time", ""), [None] * len(queries))
    if "grade" in roles:
        names = table[roles["judge"]] if "judge" in roles else [judge] * len(queries)
        long = [(roles["grade"], names)]
    elif "judge" in roles:
        raise InputError(f"{where}: there is no column 'grade'; name it in {parameter('grade')}.")
    else:
        wide = [name for name in table if name not in roles.values()]
        wide = [name for name in wide if judges is None or is_among(name, judges)]
        long = [(name, [name] * len(queries)) for name in wide]
    for column, names in long:
        rows = zip(queries, documents, names, table[column], times, strict=True)
        for number, (query, document, by, grade, time) in enumerate(rows, start=1):
            at = f"{where}, row {number}"
            if "grade" not in roles and grade is None:
                continue
            yield _entry(query, document, by, grade, time, at, column)


def _roles(names: Sequence[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the column of each role that a table has."""
    roles = {}
    for role, usual in USUAL_NAMES.items():
        given = named.get(role)
        if given is not None and given not in names:
            raise InputError(no_column(given, list(names)))
        column = given or next((name for name in usual if name in names), None)
        if column is not None:
            roles[role] = column
    return roles


def read_entries(
    path: Path, judge: str | None = None, named: Mapping[str, str] = MappingProxyType({})
) -> Iterator[GivenGrade]:
    """Yield the grades of JSON Lines; a last line that was cut short, as by a power cut, is left out."""
    lines = [(number, line) for number, line in read_lines(path) if line.strip()]
    for count, (number, line) in enumerate(lines, start=1):
        where = f"{path}, line {number}"
        try:
            fields = parsed_object(where, line)
        except InputError:
            if count == len(lines) and not _ends_with_line_end(path):
                warnings.warn(f"{where} was cut short and is left out.", JudgeWarning, stacklevel=5)
                return
            raise
        roles = _roles(list(fields), named)
        values = {role: fields.get(column) for role, column in roles.items()}
        for role in ("query", "document", "grade"):
            if role not in roles:
                raise InputError(f"{where}: there is no {role!r}; name it in {parameter(role)}.")
        query, document, by = (_text(values.get(role)) for role in ("query", "document", "judge"))
        named_by = judge if "judge" not in roles else by
        entry = _entry(query, document, named_by, values["grade"], values.get("time"), where, roles["grade"])
        yield entry._replace(skipped=bool(fields.get("skipped")), note=_text(fields.get("note")) or "")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _ends_with_line_end(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _trec_entries(path: Path, judge: str) -> Iterator[GivenGrade]:
    """Yield the grades of lines `query iteration document grade`; the judge is fifth, or the iteration."""
    lines = list(read_words(path))
    iterations = {words[1] for _, words in lines if len(words) == len(TREC_COLUMNS)}
    has_judges = not iterations <= set(NO_JUDGE)
    for number, words in lines:
        where = f"{path}, line {number}"
        by = words[4] if len(words) == 5 else words[1] if has_judges and len(words) > 1 else judge
        try:
            require_columns(words[:4] if len(words) == 5 else words, TREC_COLUMNS)
            grade = checked_number(words[3], "label")
        except InputError as mistake:
            raise InputError(f"{where}: {mistake}") from None
        yield GivenGrade(words[0], words[2], by, grade, None, where)


def _entry(
    query: str | None, document: str | None, judge: str | None, grade: Any, time: Any, where: str, column: str
) -> GivenGrade:
    for role, text in (("query", query), ("document", document)):
        if text is None or not text.strip():
            raise InputError(f"{where}: there is no {role}.")
    if judge is None or not judge.strip():
        raise InputError(f"{where}: the judge has no name.")
    assert query is not None
    assert document is not None
    return GivenGrade(query, document, judge.strip(), _number(grade, where, column), _time(time, where), where)


def _number(grade: Any, where: str, column: str) -> float | None:
    if grade is None or (isinstance(grade, str) and grade.strip() in MISSING):
        return None
    try:
        number = math.nan if isinstance(grade, bool) else float(grade)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        shown = shortened(str(grade))
        raise InputError(
            f"{where}: {shown!r} in {column!r} is not a grade; name columns of judges in {parameter('judges')}."
        )
    return number


def _time(time: Any, where: str) -> float | None:
    """Return a time, in seconds or as ISO 8601 writes it, as a number that later ones exceed."""
    if time is None:
        return None
    try:
        return float(time)
    except (TypeError, ValueError):
        pass
    try:
        moment = datetime.fromisoformat(str(time).strip())
    except ValueError:
        raise InputError(f"{where}: {shortened(str(time))!r} is not a time such as 2026-03-31T12:30:00.") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _check(entry: GivenGrade, allowed: Any) -> None:
    if allowed is not None and entry.grade is not None and entry.grade not in allowed:
        raise InputError(f"{entry.where}: the grade {entry.grade:g} is {outside_of(allowed.tolist())}.")


def _last_of_each(entries: Sequence[GivenGrade]) -> tuple[list[GivenGrade], list[str]]:
    """Return the last entry of each judge about each document, without withdrawn ones; and what to say of it."""
    last: dict[tuple[str, str, str], GivenGrade] = {}
    repeated = set()
    for entry in sorted(entries, key=lambda entry: -math.inf if entry.time is None else entry.time):
        key = entry[:3]
        before = last.get(key)
        if before is not None and (before.time is None or entry.time is None):
            raise InputError(
                f"{entry.where}: judge {entry.judge!r} graded document {entry.document!r} of query "
                f"{entry.query!r} before, in {before.where}; without times it is unknown which grade counts."
            )
        if before is not None and before.grade is not None and entry.grade is not None:
            repeated.add(key)
        last[key] = entry
    again = counted(len(repeated), "document")
    notes = [f"{again} graded again by the same judge: the last grade by time counts."] if repeated else []
    order = {entry: number for number, entry in enumerate(entries)}
    return sorted((entry for entry in last.values() if entry.grade is not None), key=order.__getitem__), notes


def _table(
    entries: Sequence[GivenGrade],
    judges: Sequence[str] | None,
    language_models: Sequence[str] | str | None,
    scale: Sequence[float] | None,
    notes: Sequence[str],
) -> GradeTable:
    if not entries:
        raise InputError(f"There are no grades{'' if judges is None else f' by {brief_list(judges)}'}.")
    names = list(dict.fromkeys(entry.judge for entry in entries))
    kept = names if judges is None else chosen_judges(names, judges)
    column_of = {judge: column for column, judge in enumerate(kept)}
    chosen = [entry for entry in entries if entry.judge in column_of]
    row_of: dict[tuple[str, str], int] = {}
    for entry in chosen:
        row_of.setdefault((entry.query, entry.document), len(row_of))
    grades = np.full((len(row_of), len(kept)), np.nan)
    for entry in chosen:
        grades[row_of[entry.query, entry.document], column_of[entry.judge]] = entry.grade
    queries, documents = zip(*row_of, strict=True)
    return GradeTable.of(
        queries, documents, kept, grades, scale=scale, language_models=language_models, notes=notes
    )

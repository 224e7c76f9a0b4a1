"""Reads the grades of several judges: wide and long tables, JSON Lines, TREC judgements with a judge."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.files import open_bytes
from rankwright.base.wording import brief_list, counted
from rankwright.data.column_roles import Roles, no_column
from rankwright.data.readers.csv import checked_delimiter, csv_columns
from rankwright.data.readers.frame_columns import columns_of
from rankwright.data.readers.judgements import is_relation
from rankwright.data.readers.parquet import parquet_columns
from rankwright.data.readers.trec import checked_number, read_words, require_columns
from rankwright.data.tables import naming, unique_columns
from rankwright.judgements.given_grade import GivenGrade, given_grade
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
DELIMITED = (".csv", ".tsv")


class JudgeWarning(UserWarning):
    """Something was noticed while grades were read; the message says what."""


def read_grades(
    source: Any,
    *,
    judges: Sequence[str] | str | None = None,
    language_models: Sequence[str] | str | None = None,
    scale: Sequence[float] | None = None,
    delimiter: str | None = None,
    **columns: str,
) -> GradeTable:
    """Read the grades of several judges from files or a data frame.

    A long table has one row per grade with the columns query, document, judge and grade, and perhaps time. A wide
    table has one row per document with the columns query and document, and one column per judge. JSON Lines have
    the names of a long table; `rankwright judge` writes them. TREC judgements have the judge as a fifth column or,
    if that is not 0 throughout, as iteration; otherwise, as in other files without judges, all grades are those of
    one judge, who is named after the file unless a name is given.

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
    wanted = [judges] if isinstance(judges, str) else judges
    sources = list(_sources(source))
    _refuse_unused(sources, delimiter, columns)
    notes: list[str] = []
    entries = [
        entry for name, file in sources for entry in _entries(file, name, wanted, delimiter, columns, notes)
    ]
    kept = _last_of_each(_checked(_of_judges(entries, wanted), scale), notes)
    if not kept:
        raise InputError(f"There are no grades{'' if wanted is None else f' by {brief_list(wanted)}'}.")
    for note in notes:
        warnings.warn(note, JudgeWarning, stacklevel=2)
    return _table(kept, language_models, scale, notes)


def _sources(source: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield each file, or the data frame, with the name of its judge, if one is given."""
    if isinstance(source, Mapping):
        yield from source.items()
    elif isinstance(source, Sequence) and not isinstance(source, str):
        for each in source:
            yield from _sources(each)
    else:
        yield None, source


def _ending(source: Any) -> str:
    """Return the end of a file's name, before .gz; "" for a data frame."""
    is_file = isinstance(source, str | os.PathLike)
    return Path(Path(source).name.lower().removesuffix(".gz")).suffix if is_file else ""


def _is_trec(source: Any) -> bool:
    return isinstance(source, str | os.PathLike) and _ending(source) not in (*LINES, *DELIMITED, ".parquet")


def _refuse_unused(
    sources: Sequence[tuple[str | None, Any]], delimiter: str | None, columns: Mapping[str, str]
) -> None:
    """Refuse columns of unknown roles, and options that none of the sources uses."""
    for role in columns:
        if role not in USUAL_NAMES:
            raise InputError(f"read_grades has no {parameter(role)}; columns are {', '.join(USUAL_NAMES)}.")
    if columns and all(_is_trec(source) for _, source in sources):
        raise InputError("TREC judgements have no named columns; name columns of a table or of JSON Lines.")
    if delimiter is not None and not any(_ending(source) in DELIMITED for _, source in sources):
        raise InputError(f"{parameter('delimiter')} is for .csv and .tsv files, and there is none.")


def _entries(
    source: Any,
    name: str | None,
    judges: Sequence[str] | None,
    delimiter: str | None,
    columns: Mapping[str, str],
    notes: list[str],
) -> Iterator[GivenGrade]:
    if not isinstance(source, str | os.PathLike):
        frame = unique_columns(columns_of(source))
        return _table_entries(frame, "The data frame", name, "judge", judges, columns)
    path, ending = Path(source), _ending(source)
    default = Path(path.name.lower().removesuffix(".gz")).stem
    if ending in LINES:
        return _line_entries(path, name, default, columns, notes)
    if _is_trec(source):
        return _trec_entries(path, name, default)
    with naming(path):
        if ending == ".parquet":
            table: Iterable[TableColumn] = parquet_columns(path)
        else:  # all columns as text: ids stay as they are written
            every = Roles(label=None, categorical=("*",))
            table = csv_columns(path, every, checked_delimiter(path, delimiter))[0]
        return _table_entries(unique_columns(table), str(path), name, default, judges, columns)


def _table_entries(
    columns: Mapping[str, TableColumn],
    where: str,
    judge: str | None,
    default: str,
    judges: Sequence[str] | None,
    named: Mapping[str, str],
) -> Iterator[GivenGrade]:
    table = {name: column.texts() for name, column in columns.items()}
    roles = _roles(list(table), named)
    for role in ("query", "document"):
        if role not in roles:
            raise InputError(_no_role(f"{where}: there is no column", role))
    if judge is not None and ("judge" in roles or "grade" not in roles):
        raise InputError(_has_judges(where, judge))
    queries, documents = table[roles["query"]], table[roles["document"]]
    times = table.get(roles.get("time", ""), [None] * len(queries))
    if "grade" in roles:
        names = table[roles["judge"]] if "judge" in roles else [judge or default] * len(queries)
        long = [(roles["grade"], names)]
    elif "judge" in roles:
        raise InputError(_no_role(f"{where}: there is no column", "grade"))
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
            yield given_grade(query, document, by, grade, time, at, column)


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


def _no_role(there_is_no: str, role: str) -> str:
    return f"{there_is_no} {role!r}; name it in {parameter('columns')}, as in {role}=NAME."


def _has_judges(where: str, judge: str) -> str:
    return f"{where} says itself who judged: give it without the name {judge!r}."


def _line_entries(
    path: Path, judge: str | None, default: str, named: Mapping[str, str], notes: list[str]
) -> Iterator[GivenGrade]:
    """Yield the grades of JSON Lines; without any judge in them, they are those of one, named after the file."""
    objects, last, is_whole = read_objects(path)
    if last and not is_whole:
        notes.append(f"The last line of {path} was cut short and is left out.")
    if judge is None and not any("judge" in _roles(list(fields), named) for _, fields in objects):
        judge = default
    for where, fields in objects:
        yield object_entry(where, fields, judge, named)


class ReadObjects(NamedTuple):
    """The objects of JSON Lines with their lines, what follows the last line end, and whether that is whole."""

    objects: list[tuple[str, Mapping[str, Any]]]
    last: bytes
    is_whole: bool


def read_objects(path: Path) -> ReadObjects:
    """Read the objects of JSON Lines, except a last one that was cut short, as by a power cut."""
    with open_bytes(path) as file:
        content = file.read()
    last = content[content.rfind(b"\n") + 1 :]
    is_whole = bool(last) and (_is_object(last) or not last.startswith(b"{"))
    lines = islice(read_lines(path), content.count(b"\n") + is_whole)
    named = [(f"{path}, line {number}", line) for number, line in lines if line.strip()]
    return ReadObjects([(where, parsed_object(where, line)) for where, line in named], last, is_whole)


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def object_entry(
    where: str,
    fields: Mapping[str, Any],
    judge: str | None = None,
    named: Mapping[str, str] | None = None,
) -> GivenGrade:
    """Return the grade that a JSON object holds; `named` are columns with other names, if there can be any."""
    roles = _roles(list(fields), named or {})
    values = {role: fields.get(column) for role, column in roles.items()}
    for role in ("query", "document", "grade"):
        if role not in roles:
            there_is_no = f"{where}: there is no"
            raise InputError(f"{there_is_no} {role!r}." if named is None else _no_role(there_is_no, role))
    if judge is not None and "judge" in roles:
        raise InputError(_has_judges(where, judge))
    query, document, by = (_text(values.get(role)) for role in ("query", "document", "judge"))
    entry = given_grade(query, document, judge or by, values["grade"], values.get("time"), where, roles["grade"])
    return entry._replace(skipped=bool(fields.get("skipped")), note=_text(fields.get("note")) or "")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _trec_entries(path: Path, name: str | None, default: str) -> Iterator[GivenGrade]:
    """Yield the grades of lines `query iteration document grade`; the judge is fifth, given, or the iteration.

    Cranfield's lines are `query document grade`, CACM's `query document 0 0`, which lists relevant documents.
    """
    lines = [
        (number, [words[0], NO_JUDGE[0], *words[1:]] if len(words) == 3 and words[2].isdecimal() else words)
        for number, words in read_words(path)
    ]
    if is_relation([words for _, words in lines]):
        lines = [(number, [words[0], NO_JUDGE[0], words[1], "1"]) for number, words in lines]
    iterations = {words[1] for _, words in lines if len(words) == len(TREC_COLUMNS)}
    has_judges = name is None and not iterations <= set(NO_JUDGE)
    for number, words in lines:
        where = f"{path}, line {number}"
        if name is not None and len(words) == 5:
            raise InputError(_has_judges(str(path), name))
        by = words[4] if len(words) == 5 else words[1] if has_judges and len(words) > 1 else name or default
        try:
            require_columns(words[:4] if len(words) == 5 else words, TREC_COLUMNS)
            grade = checked_number(words[3], "label")
        except InputError as mistake:
            raise InputError(f"{where}: {mistake}") from None
        yield GivenGrade(words[0], words[2], by, grade, None, where)


def _of_judges(entries: Sequence[GivenGrade], judges: Sequence[str] | None) -> list[GivenGrade]:
    """Return the grades of some judges, by default of all; what others gave is not checked."""
    if judges is None or not entries:
        return [*entries]
    names = list(dict.fromkeys(entry.judge for entry in entries))
    kept = set(chosen_judges(names, judges))
    return [entry for entry in entries if entry.judge in kept]


def _checked(entries: Sequence[GivenGrade], scale: Sequence[float] | None) -> Sequence[GivenGrade]:
    """Return grades, all of which are in the scale."""
    allowed = None if scale is None else checked_scale(scale)
    for entry in entries:
        if allowed is not None and entry.grade is not None and entry.grade not in allowed:
            raise InputError(f"{entry.where}: the grade {entry.grade:g} is {outside_of(allowed.tolist())}.")
    return entries


def _last_of_each(entries: Sequence[GivenGrade], notes: list[str]) -> list[GivenGrade]:
    """Return the last entry of each judge about each document, without withdrawn ones; repeated ones are noted."""
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
    if repeated:
        again = counted(len(repeated), "document")
        notes.append(f"{again} graded again by the same judge: the last grade by time counts.")
    order = {entry: number for number, entry in enumerate(entries)}
    return sorted((entry for entry in last.values() if entry.grade is not None), key=order.__getitem__)


def _table(
    entries: Sequence[GivenGrade],
    language_models: Sequence[str] | str | None,
    scale: Sequence[float] | None,
    notes: Sequence[str],
) -> GradeTable:
    names = list(dict.fromkeys(entry.judge for entry in entries))
    column_of = {judge: column for column, judge in enumerate(names)}
    row_of: dict[tuple[str, str], int] = {}
    for entry in entries:
        row_of.setdefault((entry.query, entry.document), len(row_of))
    grades = np.full((len(row_of), len(names)), np.nan)
    for entry in entries:
        grades[row_of[entry.query, entry.document], column_of[entry.judge]] = entry.grade
    queries, documents = zip(*row_of, strict=True)
    return GradeTable.of(
        queries, documents, names, grades, scale=scale, language_models=language_models, notes=notes
    )

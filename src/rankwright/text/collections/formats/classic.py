"""Formats of the old test collections LISA, TIME and NPL: entries between a first and a last line.

- LISA: `Document 1`, the title, an empty line and the abstract, a line of asterisks; queries are a number, the
  text and `#`.
- TIME: `*TEXT 017 01/04/63 PAGE 020` or `*FIND 1` and the text; `*STOP` ends the file. Its judgements number the
  articles by their place in the file, so the places are the ids.
- NPL: a number, the text, and a line with `/`; documents and queries alike.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rankwright.base.errors import InputError
from rankwright.text.collections.formats.records import Format, ReaderOptions, Record, read_lines, require_short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Entries(NamedTuple):
    """How the entries of a file begin and end; `begin` may have a group with the id."""

    begin: re.Pattern[str]
    end: re.Pattern[str]
    fields: Callable[[list[str]], dict[str, str]]
    example: str


class OpenEntry(NamedTuple):
    """An entry whose end is not read yet."""

    where: str
    id: str
    lines: list[str]


def read_entries(path: Path, options: ReaderOptions, *, entries: Entries) -> Iterator[Record]:
    """Yield one record per entry; text outside of all entries is refused."""
    entry, n_entries, size = None, 0, 0
    for number, line in read_lines(path, options.encoding):
        end = entries.end.search(line)
        begin = entries.begin.fullmatch(line) if entry is None or entries is TIME else None
        if entry is not None and (begin or end):
            yield _record(entry, line[: end.start()] if end else None, entries)
            entry = None
        elif entry is not None:
            entry.lines.append(line)
            size += len(line)
            require_short(entry.where, size)
        elif not (begin or end or line.isspace() or not line):
            raise InputError(f"{path}, line {number}: expected {entries.example}, found {line[:60]!r}.")
        if begin is not None:
            n_entries += 1
            name = begin[1] if entries.begin.groups else str(n_entries)
            entry, size = OpenEntry(f"{path}, line {number}", name, []), 0
    if entry is not None and entries is TIME:
        yield _record(entry, None, entries)
    elif entry is not None:
        raise InputError(f"{entry.where}: the entry that begins here has no end.")


def _record(entry: OpenEntry, last: str | None, entries: Entries) -> Record:
    lines = entry.lines if last is None else [*entry.lines, last]
    return Record(entry.where, {"id": entry.id, **entries.fields(lines)})


def _text(lines: list[str]) -> dict[str, str]:
    return {"text": "\n".join(lines).strip()}


def _title_and_body(lines: list[str]) -> dict[str, str]:
    """Return the lines before and after the first empty one."""
    empty = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    return {"title": "\n".join(lines[:empty]).strip(), "body": "\n".join(lines[empty:]).strip()}


NUMBER = re.compile(r"\s*(\d+)\s*")
LISA = Entries(
    re.compile(r"\s*Document\s+(\d+)\s*"), re.compile(r"^\s*\*{20,}\s*$"), _title_and_body, "Document 1"
)
LISA_QUERIES = Entries(NUMBER, re.compile(r"#\s*$"), _text, "the number of a query")
TIME = Entries(re.compile(r"\s*\*(?:TEXT|FIND)\s.*"), re.compile(r"^\s*\*STOP\s*$"), _text, "*TEXT or *FIND")
NPL = Entries(NUMBER, re.compile(r"^\s*/\s*$"), _text, "a number")

DOCUMENTS = {
    name: Format(partial(read_entries, entries=entries), ("id",), typed=True)
    for name, entries in (("lisa", LISA), ("time", TIME), ("npl", NPL))
}
QUERIES = {
    name: Format(partial(read_entries, entries=entries), ("id",), ("text",), typed=True)
    for name, entries in (("lisa", LISA_QUERIES), ("time", TIME), ("npl", NPL))
}
BEGINNINGS = {
    "lisa": re.compile(rb"\s*Document[ \t]+\d+\s*\n|\s*\d+[ \t]*\r?\n[^#\n]*[A-Za-z][^#]*#[ \t]*\r?\n"),
    "time": re.compile(rb"\s*\*(?:TEXT|FIND)\s"),
    "npl": re.compile(rb"\s*\d+[ \t]*\r?\n(?:[^\n]*\n)+?[ \t]*/[ \t]*\r?\n"),
}

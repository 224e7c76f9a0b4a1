"""SMART's format, as of Cranfield, CISI, CACM and MED: lines such as `.I 1`, `.T` and `.W` begin the fields."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.data.readers.judgements import unpadded
from rankwright.text.collections.formats.records import Format, ReaderOptions, Record, read_lines, require_short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ID = "I"
MARK = re.compile(r"\.([A-Z])(?:\s+(\S+))?\s*")


def read_smart(path: Path, options: ReaderOptions) -> Iterator[Record]:
    """Yield one record per `.I`; a field that occurs several times is joined."""
    where, field, size = "", "", 0
    lines: dict[str, list[str]] = {}
    for number, line in read_lines(path, options.encoding):
        here = f"{path}, line {number}"
        mark = _mark(line)
        if mark is not None and mark[0] == ID:
            if where:
                yield _record(where, lines)
            where, field, size, lines = here, "", 0, {ID: [unpadded(mark[1])]}
        elif mark is not None and where:
            field = mark[0]
            lines.setdefault(field, [])
        elif line and not line.isspace():
            _require_field(here, where, field, line)
            lines[field].append(line)
            size += len(line)
            require_short(where, size)
    if where:
        yield _record(where, lines)


def _mark(line: str) -> tuple[str, str] | None:
    """Return the letter of a line that begins a field, and the id if it is `.I`."""
    match = MARK.fullmatch(line)
    if match is None or (match[2] is not None and match[1] != ID):
        return None
    return match[1], match[2] or ""


def _record(where: str, lines: dict[str, list[str]]) -> Record:
    return Record(where, {name: "\n".join(texts) for name, texts in lines.items()})


def _require_field(here: str, where: str, field: str, line: str) -> None:
    if not where or not field:
        expected = "a field such as .W" if where else ".I and an id"
        raise InputError(f"{here}: expected a line with {expected}, found {line[:60]!r}.")


DOCUMENTS = Format(read_smart, (ID,))
QUERIES = Format(read_smart, (ID,), ("W", "T"))

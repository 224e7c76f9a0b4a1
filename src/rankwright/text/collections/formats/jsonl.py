"""JSON Lines: one JSON object per line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.text.collections.formats.records import (
    DOCUMENT_IDS,
    QUERY_IDS,
    QUERY_TEXTS,
    Format,
    ReaderOptions,
    Record,
    read_lines,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def read_jsonl(path: Path, options: ReaderOptions) -> Iterator[Record]:
    """Yield one record per line that is not blank."""
    for number, line in read_lines(path, options.encoding):
        if line and not line.isspace():
            where = f"{path}, line {number}"
            yield Record(where, parsed_object(where, line))


def parsed_object(where: str, line: str) -> dict[str, Any]:
    """Return the JSON object of a line."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as mistake:
        raise InputError(f"{where}: broken JSON at column {mistake.colno}: {mistake.msg}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: the JSON is nested too deeply or holds a number that is too long.") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected a JSON object per line, such as {{...}}, found {_shown(line)}.")
    if "\\u" in line:
        _require_text(where, value)
    return value


def _require_text(where: str, value: dict[str, Any]) -> None:
    """Refuse escapes of half a character, which have no UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise InputError(f"{where}: a \\u escape is half of a surrogate pair, which is not text.") from None


def _shown(line: str) -> str:
    return repr(line if len(line) <= 40 else line[:37] + "...")


DOCUMENTS = Format(read_jsonl, DOCUMENT_IDS, typed=True)
QUERIES = Format(read_jsonl, QUERY_IDS, QUERY_TEXTS, typed=True)

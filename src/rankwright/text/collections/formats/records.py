"""Records: documents and queries as their files have them, before ids and fields are chosen."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError, parameter
from rankwright.base.files import open_bytes
from rankwright.data.readers.text_files import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from os import PathLike
    from pathlib import Path

MAX_DOCUMENT_CHARACTERS = MAX_LINE_BYTES  # a document that does not end soon would fill the memory

DOCUMENT_IDS = ("id", "_id", "docid", "doc_id", "docno", "document_id", "pid")
QUERY_IDS = ("id", "_id", "qid", "query_id", "query-id", "num")
QUERY_TEXTS = ("text", "query", "title", "question")


class Record(NamedTuple):
    """The fields of one document or query, and where it is, for messages, such as `docs.jsonl, line 3`."""

    where: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class ReaderOptions:
    """Options of a reader besides the path."""

    encoding: str = "utf-8"
    id: str | None = None  # the field that the caller names
    folder: Path | None = None  # the folder that the caller gave, if the file is in one


@dataclass(frozen=True)
class Format:
    """A format: its reader and its fields.

    Parameters
    ----------
    read
        Yields the records of one file.
    ids
        The fields that may hold the id; the first that a record has is used.
    texts
        The fields that may hold the text of a query; the first that a record has is used.
    typed
        Whether the format itself tells numbers from text.
    tabular
        Whether all records have the same fields.
    """

    read: Callable[[Path, ReaderOptions], Iterator[Record]]
    ids: tuple[str, ...]
    texts: tuple[str, ...] = ()
    typed: bool = False
    tabular: bool = False


def require_short(where: str, n_characters: int) -> None:
    """Refuse a document that is too long."""
    if n_characters > MAX_DOCUMENT_CHARACTERS:
        raise InputError(f"{where}: the document has more than {MAX_DOCUMENT_CHARACTERS:,} characters.")


BYTE_ORDER_MARK = "\ufeff"


def read_lines(path: str | PathLike[str], encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, without its end; decompressed if the name ends with .gz."""
    with open_bytes(path) as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise InputError(f"{path}, line {number}: expected at most {MAX_LINE_BYTES:,} bytes per line.")
            try:
                text = line.decode(encoding)
            except UnicodeDecodeError as mistake:
                raise InputError(_undecoded(f"{path}, line {number}", encoding, mistake)) from None
            if number == 1:
                text = text.removeprefix(BYTE_ORDER_MARK)
            yield number, text.removesuffix("\n").removesuffix("\r")


def _undecoded(where: str, encoding: str, mistake: UnicodeDecodeError) -> str:
    byte = mistake.object[mistake.start]
    return (
        f"{where}: byte 0x{byte:02X} at position {mistake.start + 1} is not valid {encoding.upper()}; convert the "
        "file, or say which encoding it has, such as latin-1."
    )


def checked_encoding(encoding: str) -> str:
    """Return the name of an encoding in which line ends are single bytes, as in ASCII."""
    try:
        codecs.lookup(encoding)
        usable = "\n<.a".encode(encoding) == b"\n<.a"
    except (LookupError, UnicodeError, TypeError):
        usable = False
    if not usable:
        raise InputError(
            f"{parameter('encoding')} must be one that extends ASCII, such as utf-8 or latin-1, not {encoding!r}."
        )
    return encoding

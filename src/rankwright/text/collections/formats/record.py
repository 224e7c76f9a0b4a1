"""A document or query as its file has it, before ids and fields are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError
from rankwright.data.readers.text_files import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

MAX_DOCUMENT_CHARACTERS = MAX_LINE_BYTES  # a document that does not end soon would fill the memory

DOCUMENT_IDS = ("id", "_id", "docid", "doc_id", "docno", "document_id", "pid")
QUERY_IDS = ("id", "_id", "qid", "query_id", "query-id", "num")
QUERY_TEXTS = ("text", "query", "title", "question")


class Record(NamedTuple):
    """The fields of one document or query, and its place for messages, such as `docs.jsonl, line 3`."""

    place: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Options:
    """What a reader may need to know besides the path."""

    encoding: str = "utf-8"
    id: str | None = None  # the field that the caller names
    folder: Path | None = None  # the folder that the caller gave, if the file is in one


@dataclass(frozen=True)
class Format:
    """How one format is read, and what its fields are.

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

    read: Callable[[Path, Options], Iterator[Record]]
    ids: tuple[str, ...]
    texts: tuple[str, ...] = ()
    typed: bool = False
    tabular: bool = False


def require_short(place: str, n_characters: int) -> None:
    """Refuse a document that does not end."""
    if n_characters > MAX_DOCUMENT_CHARACTERS:
        raise InputError(f"{place}: the document has more than {MAX_DOCUMENT_CHARACTERS:,} characters.")

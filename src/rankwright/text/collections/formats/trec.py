"""TREC's documents (<DOC>, <DOCNO>) and topics (<top>, <num>, <title>, <desc>, <narr>)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankwright.text.collections.formats.record import Format, Options, Record
from rankwright.text.collections.formats.sgml import elements, read_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LOOSE = "text"  # the field of text that stands in no element, such as the page after a <DOCHDR>
NUMBER = re.compile(r"""\bnumber\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
CAPTION = re.compile(r"(?:Number|Topic|Domain|Description|Narrative|Summary|Concept\(s\))\s*:\s*")


def read_trec_documents(path: Path, options: Options) -> Iterator[Record]:
    """Yield one record per <DOC>; its fields are the outermost elements, without the markup inside."""
    for block in read_blocks(path, options.encoding, "doc"):
        yield Record(block.where, _joined(elements(block.text)))


def read_topics(path: Path, options: Options) -> Iterator[Record]:
    """Yield one record per <top> or <topic number=...>; its fields are the elements, without captions."""
    for block in read_blocks(path, options.encoding, "top|topic"):
        parts = elements(block.text, implied_ends=True)
        fields = _joined((name.lower(), CAPTION.sub("", text, count=1)) for name, text in parts)
        if match := NUMBER.search(block.attributes):
            fields.setdefault("num", match[1])
        yield Record(block.where, fields)


def _joined(parts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return fields by name; an element that occurs several times is one field."""
    fields: dict[str, str] = {}
    for name, text in parts:
        key = name or LOOSE
        fields[key] = f"{fields[key]}\n{text}" if key in fields else text
    return fields


DOCUMENTS = Format(read_trec_documents, ("DOCNO", "docno", "DocNo", "ID", "id"))
TOPICS = Format(read_topics, ("num", "number", "id"), ("title", "query"))

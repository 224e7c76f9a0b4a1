"""TREC's documents (<DOC>, <DOCNO>) and topics (<top>, <num>, <title>, <desc>, <narr>).

Both are SGML: blocks such as <DOC>...</DOC>, with elements of which some are never closed.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from rankwright.base.errors import InputError
from rankwright.text.collections.formats.records import Format, ReaderOptions, Record, read_lines, require_short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LOOSE = "text"  # the field of text that stands in no element, such as the page after a <DOCHDR>
NUMBER = re.compile(r"""\bnumber\s*=\s*["']?([^"'\s>]+)""", re.IGNORECASE)
CAPTION = re.compile(r"(?:Number|Topic|Domain|Description|Narrative|Summary|Concept\(s\))\s*:\s*")


TAG = re.compile(r"<(/?)([A-Za-z][\w:.-]*)([^<>]*)>")
MARKUP = re.compile(  # HTML within text, which is no field
    r"a|b|big|blockquote|br|center|code|d[dlt]|div|em|font|form|h[1-6r]|i|img|input|li|ol|p|pre|s|small|span|strong|"
    r"sub|sup|table|tbody|t[dhrt]|thead|u|ul",
    re.IGNORECASE,
)
HIDDEN = (  # what is not text: where it begins and ends
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<(?:script|style)\b", re.IGNORECASE), re.compile(r"</(?:script|style)\s*>", re.IGNORECASE)),
)


class SgmlBlock(NamedTuple):
    """The text between the tags of a block, what its opening tag says besides the name, and where it begins."""

    where: str
    attributes: str
    text: str


class Tag(NamedTuple):
    """An opening or closing tag and where it begins and ends."""

    start: int
    end: int
    name: str
    closes: bool


def read_trec_documents(path: Path, options: ReaderOptions) -> Iterator[Record]:
    """Yield one record per <DOC>; its fields are the outermost elements, without the markup inside."""
    for block in read_blocks(path, options.encoding, "doc"):
        yield Record(block.where, _joined(elements(block.text)))


def read_topics(path: Path, options: ReaderOptions) -> Iterator[Record]:
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


def read_blocks(path: Path, encoding: str, name: str) -> Iterator[SgmlBlock]:
    """Yield the blocks of the name (a pattern) one after another; text between blocks is skipped."""
    edge = re.compile(rf"<(/?)(?:{name})(?=[\s>])([^<>]*)>", re.IGNORECASE)
    inside: tuple[str, str] | None = None
    parts: list[str] = []
    size = 0
    for number, line in read_lines(path, encoding):
        done = 0
        for match in edge.finditer(line):
            if not match[1]:
                _require_closed(inside)
                inside = (f"{path}, line {number}", match[2])
            elif inside is not None:
                yield SgmlBlock(*inside, "".join([*parts, line[done : match.start()]]))
                inside = None
            parts, size, done = [], 0, match.end()
        if inside is not None:
            parts.append(f"{line[done:]}\n")
            size += len(parts[-1])
            require_short(inside[0], size)
    _require_closed(inside)


def _require_closed(inside: tuple[str, str] | None) -> None:
    if inside is not None:
        raise InputError(f"{inside[0]}: the document that begins here has no closing tag, such as </DOC>.")


def elements(text: str, *, implied_ends: bool = False) -> Iterator[tuple[str, str]]:
    """Yield name and text of the outermost elements of a block; text outside of all elements has the name "".

    Parameters
    ----------
    text
        What stands between the tags of the block.
    implied_ends
        Whether an element without a closing tag ends at the next tag, as in topics; otherwise such a tag is mere
        markup, such as <P>.
    """
    visible = _visible(text)
    tags = _tags(visible)
    ends = _closing_tags(tags)
    outside: list[str] = []
    position = 0
    for number, tag in enumerate(tags):
        if tag.closes or tag.start < position or MARKUP.fullmatch(tag.name):
            continue
        end = _end_of(tag, ends)
        if end is None and implied_ends:
            end = _next(tags, number, len(visible))
        if end is not None:
            outside.append(visible[position : tag.start])
            yield tag.name, plain_text(visible[tag.end : end.start])
            position = end.end
    outside.append(visible[position:])
    if rest := plain_text(" ".join(outside)):
        yield "", rest


def plain_text(markup: str) -> str:
    """Return text without tags, with characters for entities such as &amp;."""
    return html.unescape(TAG.sub(" ", markup)).strip()


def _visible(text: str) -> str:
    """Return text without comments, scripts and styles; one that is never closed hides nothing."""
    for opening, closing in HIDDEN:
        first, *others = opening.split(text)
        text = first + "".join(line[match.end() :] if (match := closing.search(line)) else line for line in others)
    return text


def _tags(text: str) -> list[Tag]:
    return [Tag(match.start(), match.end(), match[2], bool(match[1])) for match in TAG.finditer(text)]


def _closing_tags(tags: list[Tag]) -> dict[str, list[Tag]]:
    ends: dict[str, list[Tag]] = {}
    for tag in tags:
        if tag.closes:
            ends.setdefault(tag.name.lower(), []).append(tag)
    return ends


def _end_of(tag: Tag, ends: dict[str, list[Tag]]) -> Tag | None:
    """Return the first closing tag after an opening one, if there is any."""
    later = ends.get(tag.name.lower(), [])
    index = bisect_left(later, tag)
    return later[index] if index < len(later) else None


def _next(tags: list[Tag], number: int, end: int) -> Tag:
    """Return an empty tag before the next tag, or at the end."""
    start = tags[number + 1].start if number + 1 < len(tags) else end
    return Tag(start, start, "", closes=True)


DOCUMENTS = Format(read_trec_documents, ("DOCNO", "docno", "DocNo", "ID", "id"))
TOPICS = Format(read_topics, ("num", "number", "id"), ("title", "query"))

"""Plain text: each file is one document, and its name is the id."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.text.collections.formats.lines import read_lines
from rankwright.text.collections.formats.record import Format, Options, Record, require_short

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".txt", ".text", ".md", ".html", ".htm")


def read_plain(path: Path, options: Options) -> Iterator[Record]:
    """Yield one record: the text of the file."""
    name = path.name if options.folder is None else path.relative_to(options.folder).as_posix()
    lines, size = [], 0
    for _, line in read_lines(path, options.encoding):
        lines.append(line)
        size += len(line)
        require_short(str(path), size)
    yield Record(str(path), {"id": without_suffix(name), "text": "\n".join(lines)})


def without_suffix(name: str) -> str:
    """Return a name without .gz and without the suffix of a text file."""
    stem = name.removesuffix(".gz")
    suffix = Path(stem).suffix
    return stem.removesuffix(suffix) if suffix.lower() in SUFFIXES else stem


DOCUMENTS = Format(read_plain, ("id",), typed=True)

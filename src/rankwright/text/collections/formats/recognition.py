"""The formats of documents and queries: recognised by the name of a file, otherwise by its first bytes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError, parameter
from rankwright.base.files import open_bytes
from rankwright.base.wording import listed
from rankwright.text.collections.formats import classic, jsonl, smart, table, trec
from rankwright.text.collections.formats.records import Format, ReaderOptions, Record, read_lines, require_short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SUFFIXES = (".txt", ".text", ".md", ".html", ".htm")


def read_plain(path: Path, options: ReaderOptions) -> Iterator[Record]:
    """Yield one record: plain text, of which a file is one document and its name is the id."""
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


DOCUMENT_FORMATS: Mapping[str, Format] = {
    "jsonl": jsonl.DOCUMENTS,
    "csv": table.CSV_DOCUMENTS,
    "tsv": table.TSV_DOCUMENTS,
    "parquet": table.PARQUET_DOCUMENTS,
    "trec": trec.DOCUMENTS,
    "smart": smart.DOCUMENTS,
    **classic.DOCUMENTS,
    "text": Format(read_plain, ("id",), typed=True),
}
QUERY_FORMATS: Mapping[str, Format] = {
    "jsonl": jsonl.QUERIES,
    "csv": table.CSV_QUERIES,
    "tsv": table.TSV_QUERIES,
    "parquet": table.PARQUET_QUERIES,
    "trec": trec.TOPICS,
    "smart": smart.QUERIES,
    **classic.QUERIES,
}

NAMES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
BEGINNINGS = {
    "parquet": re.compile(rb"PAR1"),
    "jsonl": re.compile(rb"\s*\{"),
    "smart": re.compile(rb"\s*\.I\s"),
    "trec": re.compile(rb"\s*(?=<).*?<(?:doc|top|topic)[\s>]", re.IGNORECASE | re.DOTALL),
    **classic.BEGINNINGS,
}
FIRST_BYTES = 1 << 16


def checked_format(name: str, formats: Mapping[str, Format]) -> str:
    """Return the name of a format, which must be known."""
    if name not in formats:
        raise InputError(f"{parameter('format')} must be {listed(formats)}, not {name!r}.")
    return name


def format_of_file(path: Path, formats: Mapping[str, Format], *, otherwise: str | None = None) -> str:
    """Return the format of a file by its name or its first bytes."""
    beginning = b"" if format_of_name(path) else first_bytes(path)
    known = format_of_name(path) or _format_of_bytes(beginning) or otherwise
    if known is None and beginning.lstrip()[:1] == b"[":
        raise InputError(f"{path} is a JSON array: write one object per line instead.")
    if known is None:
        raise InputError(
            f"{path} has no format that is recognised: give {parameter('format')}: {listed(formats)}."
        )
    return known


def format_of_files(paths: Sequence[Path], formats: Mapping[str, Format]) -> str:
    """Return the format that all files of a folder have; if it is none of the others, they are plain text."""
    named = {format_of_name(path): path for path in reversed(paths)}
    if len(named) > 1:
        first, other = list(named.values())[:2]
        raise InputError(f"{first} and {other} differ in format: say which files to read, or the format of all.")
    return format_of_file(paths[0], formats, otherwise="text")


def format_of_name(path: Path) -> str | None:
    """Return the format that the name of a file tells, if it tells one."""
    return NAMES.get(Path(os.fspath(path).lower().removesuffix(".gz")).suffix)


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, decompressed."""
    with open_bytes(path) as file:
        return file.read(FIRST_BYTES).removeprefix(b"\xef\xbb\xbf")


def _format_of_bytes(beginning: bytes) -> str | None:
    return next((name for name, pattern in BEGINNINGS.items() if pattern.match(beginning)), None)

"""The lines of a text file, decoded one by one, so that a mistake is reported with its line."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.data.readers.text_files import MAX_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

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


def _undecoded(place: str, encoding: str, mistake: UnicodeDecodeError) -> str:
    byte = mistake.object[mistake.start]
    return (
        f"{place}: byte 0x{byte:02X} at position {mistake.start + 1} is not valid {encoding.upper()}; convert the "
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
        raise InputError(f"encoding must be one that extends ASCII, such as utf-8 or latin-1, not {encoding!r}.")
    return encoding

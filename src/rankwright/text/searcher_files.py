"""The bytes of a searcher's file.

A file holds, in this order and with all numbers little-endian:

- the magic bytes and the format version (uint32);
- the size of the whole file and of the settings (uint64 each);
- the settings, JSON in UTF-8;
- the bytes of a model file, or nothing;
- the SHA-256 of everything before it.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.models.model_file import decode, encode

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.models.scorer import Scorer

FORMAT_VERSION = 1
MAGIC = b"\x89rwsearcher\r\n\x1a\n"
NUMBERS = struct.Struct("<IQQ")
START = len(MAGIC) + NUMBERS.size
CHECKSUM_SIZE = hashlib.sha256().digest_size


def write_searcher(path: Path, settings: dict[str, Any], model: Scorer | None) -> None:
    """Write settings and model to a file, completely or not at all."""
    header = json.dumps(settings, allow_nan=False).encode()
    payload = b"" if model is None else encode(model)
    size = START + len(header) + len(payload) + CHECKSUM_SIZE
    signed = MAGIC + NUMBERS.pack(FORMAT_VERSION, size, len(header)) + header + payload
    with write_whole(path) as file:
        file.write(signed + hashlib.sha256(signed).digest())


def read_searcher(path: Path) -> tuple[dict[str, Any], Scorer | None]:
    """Return settings and model of a file; nothing in the file is executed."""
    content = _content(path)
    if not content.startswith(MAGIC):
        raise InputError(f"{path} is not a searcher of rankwright.")
    if len(content) < START + CHECKSUM_SIZE:
        raise InputError(f"{path} is cut short: it has only {len(content)} bytes.")
    version, size, header_size = NUMBERS.unpack_from(content, len(MAGIC))
    if version != FORMAT_VERSION:
        raise InputError(
            f"{path} has format {version}, this version of rankwright reads format {FORMAT_VERSION}: "
            "save the searcher again."
        )
    if len(content) < size:
        raise InputError(f"{path} is cut short: it has {len(content)} of {size} bytes.")
    signed = content[:-CHECKSUM_SIZE]
    if len(content) != size or hashlib.sha256(signed).digest() != content[-CHECKSUM_SIZE:]:
        raise InputError(f"{path} has been altered or damaged: its checksum does not match.")
    settings = _settings(signed[START : START + header_size], path)
    payload = signed[START + header_size :]
    return settings, decode(payload, str(path)) if payload else None


def _content(path: Path) -> bytes:
    try:
        if not path.is_file():  # reading a pipe or a device might never end
            raise InputError(f"There is no file {path}.")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start  # some other file may be huge
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from None


def _settings(header: bytes, path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(header)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise InputError(f"{path} is damaged: its settings are not a JSON object.")
    return settings

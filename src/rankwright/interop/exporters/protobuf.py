"""What an ONNX file needs of Protocol Buffers' encoding, so that writing one needs no package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

VARINT, LENGTH_DELIMITED, FIXED_32 = 0, 2, 5


def varint(number: int) -> bytes:
    """Return an integer of 64 bits, seven bits per byte, the lowest first; a negative one as its complement."""
    number &= 2**64 - 1
    content = bytearray()
    while number > 0x7F:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def integer(field: int, value: int) -> bytes:
    """Return a field with an integer."""
    return varint(field << 3 | VARINT) + varint(value)


def nested(field: int, content: bytes | str) -> bytes:
    """Return a field with a text, bytes or another message."""
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | LENGTH_DELIMITED) + varint(len(content)) + content


def integers(field: int, values: Iterable[int]) -> bytes:
    """Return a field with several integers."""
    return nested(field, b"".join(map(varint, values)))


def floats(field: int, values: NDArray[Any]) -> bytes:
    """Return a field with several 32-bit floats."""
    return nested(field, values.astype("<f4").tobytes())

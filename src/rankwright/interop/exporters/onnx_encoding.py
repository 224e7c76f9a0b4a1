"""Nodes, attributes and constants of an ONNX graph in Protocol Buffers' encoding.

It is written by hand, so that exporting a model needs neither onnx nor protobuf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

VARINT, LENGTH_DELIMITED, FIXED_32 = 0, 2, 5
FLOAT, INT64, DOUBLE = 1, 7, 11  # types of elements
AS_INTEGER, AS_STRING, AS_FLOATS, AS_INTEGERS, AS_STRINGS = 2, 3, 6, 7, 8  # types of attributes


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


def node(kind: str, inputs: Sequence[str], outputs: Sequence[str], *attributes: bytes, domain: str = "") -> bytes:
    """Return a node, named after its first output."""
    content = b"".join(nested(1, name) for name in inputs) + b"".join(nested(2, name) for name in outputs)
    content += nested(3, outputs[0] + "_node") + nested(4, kind)
    return content + b"".join(nested(5, attribute) for attribute in attributes) + nested(7, domain)


def attribute(name: str, kind: int, content: bytes) -> bytes:
    """Return an attribute whose content is already encoded."""
    return nested(1, name) + content + integer(20, kind)


def whole_number(name: str, value: int) -> bytes:
    """Return an attribute that is one integer."""
    return attribute(name, AS_INTEGER, integer(3, value))


def cast(source: str, result: str, kind: int = DOUBLE) -> bytes:
    """Return the node that converts elements to another type."""
    return node("Cast", [source], [result], whole_number("to", kind))


def tensor(name: str, values: NDArray[Any]) -> bytes:
    """Return a constant of 64-bit numbers or integers."""
    is_integer = values.dtype.kind == "i"
    dims = b"".join(integer(1, size) for size in values.shape)
    content = values.astype("<i8" if is_integer else "<f8").tobytes()
    return dims + integer(2, INT64 if is_integer else DOUBLE) + nested(8, name) + nested(9, content)

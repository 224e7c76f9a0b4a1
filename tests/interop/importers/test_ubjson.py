"""UBJSON: the values that XGBoost writes, and damaged bytes refused in a sentence."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.base.errors import InputError
from rankwright.interop.importers.ubjson import is_ubjson, parsed_ubjson


def written(value):
    """Return a value as UBJSON, in the simplest way."""
    if value is None or isinstance(value, bool):
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"L" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"S" + _text(value)
    if isinstance(value, list):
        return b"[" + b"".join(map(written, value)) + b"]"
    return b"{" + b"".join(_text(name) + written(one) for name, one in value.items()) + b"}"


def _text(text):
    content = text.encode()
    return b"L" + struct.pack(">q", len(content)) + content


LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda own: st.lists(own) | st.dictionaries(st.text(), own), max_leaves=20)


@given(VALUES)
@examples(200)
def test_values_are_read_as_they_were_written(value):
    assert parsed_ubjson(written(value)) == value


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"i\xff", -1),
        (b"U\xff", 255),
        (b"I\x01\x00", 256),
        (b"l\xff\xff\xff\xff", -1),
        (b"d\x3f\x80\x00\x00", 1.0),
        (b"Cx", "x"),
        (b"Hi\x0212", 12.0),
        (b"N[NN]", []),
        (b"[$d#i\x02\x3f\x80\x00\x00\x40\x00\x00\x00", [1.0, 2.0]),
        (b"[#i\x02i\x01i\x02", [1, 2]),
        (b"[$T#i\x02", [True, True]),
        (b"{#i\x01i\x01ai\x05", {"a": 5}),
        (b"{$i#i\x01i\x01a\x05", {"a": 5}),
    ],
)
def test_every_form_of_a_value(content, value):
    assert parsed_ubjson(content) == value


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "cut short"),
        (b"{", "cut short"),
        (b"x", "no type is called"),
        (b"Si\xff", "a length is negative"),
        (b"Sd\x00\x00\x00\x00", "a length cannot be of type"),
        (b"SL\x7f\xff\xff\xff\xff\xff\xff\xff", "cut short"),
        (b"[$D#L\x00\x00\x00\xff\xff\xff\xff\xff", "cut short"),
        (b"[$Z#L\x00\x00\x00\xff\xff\xff\xff\xff", "cut short"),
        (b"[$d", "a type and no length"),
        (b"[" * 1000, "nested more than"),
        (b"{i\x01ai\x01i\x01ai\x01}", "names 'a' twice"),
        (b"Si\x01\xff", "not UBJSON"),
        (b"C\xff", "not UBJSON"),
        (b"Hi\x01x", "a number that is none"),
        (b"ZZ", "1 bytes follow"),
    ],
)
def test_damaged_bytes_are_refused(content, sentence):
    with pytest.raises(InputError, match=sentence):
        parsed_ubjson(content)


@pytest.mark.parametrize("constant", [b"Z", b"T", b"F"])
def test_values_without_bytes_are_bounded_in_total(constant):
    """Lists that each claim as many values as the file has bytes would grow with the square of its size."""
    claim = b"[$" + constant + b"#l" + struct.pack(">i", 400)
    assert len(parsed_ubjson(b"[" + claim + b"C " * 200 + b"]")[0]) == 400
    with pytest.raises(InputError, match="cut short"):
        parsed_ubjson(b"[" + claim * 2 + b"C " * 200 + b"]")


@given(st.binary(max_size=60))
@examples(500)
def test_any_bytes_are_a_value_or_refused(content):
    sentence = ""
    try:
        parsed_ubjson(content)
    except InputError as error:
        sentence = str(error)
    assert "\n" not in sentence


def test_json_is_not_taken_for_ubjson():
    assert is_ubjson(written({"learner": 1}))
    assert not any(is_ubjson(text) for text in (b'{"a": 1}', b"{ }", b"{}", b"{\n}", b"[1]", b""))

"""Matrices in JSON are read as Python reads them."""

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from reference import json_matrix

LARGEST = float(np.finfo(np.float32).max)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-(10**25), 10**25),
    st.integers(-99, 99),
    st.none(),
)
RIGHT = f"""
    -0 -0.0 0 1e0 1E+2 1e22 1e23 1e-22 1e-23 16777217 16777219 9007199254740993 99999999 999999999999999999999
    1e-45 7e-46 1e-300 1e-400 3.4028235e38 1{"0" * 30} 0.{"0" * 30}1 0.1234567890123456789012345
"""
WRONG = '01 - -.5 .5 5. 1.e5 1e 1e+ +1 0x1 1_0 NaN Infinity true "1" 3.4028236e38 -1e39 1e400 1e-0400'
POSITIVE = st.floats(min_value=2.0**-126, max_value=LARGEST, width=32)
SPACE = st.sampled_from(["", " ", "\n", "\t \r\n", " " * 9])


@st.composite
def written(draw):
    """Return a number as some program might write it."""
    number = draw(NUMBERS)
    if number is None:
        return "null"
    form = draw(st.sampled_from(["{!r}", "{:.19f}", "{:e}", "{:.17E}", "{:.3f}", "{:.25f}", "{:.0f}"]))
    return form.format(number)


@st.composite
def matrices(draw):
    """Return the text of a matrix, rarely with a row of another length."""
    n_columns = draw(st.integers(1, 6))
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        length = draw(st.sampled_from([n_columns] * 15 + [n_columns + 1]))
        values = draw(st.lists(written(), min_size=length, max_size=length))
        space = draw(SPACE)
        rows.append(f"{space}[{space}" + f"{space},{space}".join(values) + f"{space}]{space}")
    return draw(SPACE) + "[" + ",".join(rows) + "]" + draw(SPACE)


def read(text):
    return _native.read_json_matrix(np.frombuffer(text.encode(), np.uint8))


def assert_as_twin(text):
    found, expected = read(text), json_matrix.read(text)
    if expected is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@examples(500)
@given(matrices())
def test_matrices_are_read_as_by_the_twin(text):
    assert_as_twin(text)


@examples(2000)
@given(st.text(alphabet='[]0123456789.eE+-, nul"{}:\n', max_size=24))
@example("[[1]]x")
@example("[[1]")
@example("[[1,2]")
@example("[[1],]")
@example("[[1]]]")
@example("[[")
@example("]")
@example("[nul]")
@example("[[null")
@example("[[nul]]")
def test_other_texts_are_left_to_another_reader(text):
    assert_as_twin(text)


@pytest.mark.parametrize("number", RIGHT.split() + WRONG.split())
def test_single_numbers(number):
    assert_as_twin(f"[[{number}]]")
    assert_as_twin(f"[[1.5, {number}, 2]]")


@examples(500)
@given(POSITIVE, st.integers(-3, 3), st.sampled_from([16, 18, 20]))
def test_numbers_between_two_floats_are_rounded_once_to_a_double_and_once_to_a_float(low, steps, digits):
    """Texts within a few doubles of the middle between two floats, where a nearly right double is not enough."""
    high = float(np.nextafter(np.float32(low), np.float32(LARGEST)))
    middle = (low + high) / 2
    for _ in range(abs(steps)):
        middle = float(np.nextafter(middle, np.inf if steps > 0 else -np.inf))
    text = f"{middle:.{digits}e}"
    np.testing.assert_array_equal(read(f"[[{text}]]"), np.array([[float(text)]]).astype(np.float32))


def test_a_large_matrix_of_all_lengths():
    rng = np.random.default_rng(3)
    rows = (rng.normal(size=(300, 41)) * 10.0 ** rng.integers(-12, 12, (300, 41))).tolist()
    rows[7][3] = rows[299][40] = None
    np.testing.assert_array_equal(read(json.dumps(rows)), np.array(rows, np.float64).astype(np.float32))

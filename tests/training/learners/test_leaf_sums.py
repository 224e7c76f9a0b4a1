"""Leaf sums against the slow twin: exact, whatever the order of the rows."""

from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from reference import leaf_sums as reference

SIZES = st.floats(min_value=-1e300, max_value=1e300) | st.floats(-1.0, 1.0) | st.sampled_from([0.0, -0.0, 5e-324])


@st.composite
def leaves(draw):
    values = draw(st.lists(SIZES, max_size=30))
    n_leaves = draw(st.integers(1, 5))
    leaf_of_row = draw(st.lists(st.integers(0, n_leaves - 1), min_size=len(values), max_size=len(values)))
    return np.array(values), np.array(leaf_of_row, np.uint32), n_leaves


@examples(300)
@given(leaves())
def test_sums_are_those_of_the_slow_twin(task):
    values, leaf_of_row, n_leaves = task
    sums = _native.leaf_sums(values, leaf_of_row, n_leaves, 1)
    assert sums.tolist() == reference.leaf_sums(values.tolist(), leaf_of_row.tolist(), n_leaves)


@examples(100)
@given(leaves(), st.randoms())
def test_the_order_of_rows_changes_no_bit(task, random):
    values, leaf_of_row, n_leaves = task
    order = list(range(len(values)))
    random.shuffle(order)
    sums = _native.leaf_sums(values, leaf_of_row, n_leaves, 1)
    assert sums.tobytes() == _native.leaf_sums(values[order], leaf_of_row[order], n_leaves, 1).tobytes()


@examples(100)
@given(leaves())
def test_errors_are_within_the_stated_bound(task):
    values, leaf_of_row, n_leaves = task
    sums = _native.leaf_sums(values, leaf_of_row, n_leaves, 1)
    unit = 2.0 ** (reference.common_exponent(values.tolist()) - 92)
    for leaf, total in enumerate(sums):
        rows = values[leaf_of_row == leaf]
        assert abs(fsum([total, *-rows])) <= len(rows) * unit + abs(total) * 2.0**-53


def test_threads_and_many_rows_change_no_bit():
    random = np.random.default_rng(1)
    values = random.normal(size=200_000) * 10.0 ** random.integers(-9, 9, 200_000)
    leaf_of_row = random.integers(0, 7, 200_000).astype(np.uint32)
    order = random.permutation(200_000)
    sums = _native.leaf_sums(values, leaf_of_row, 7, 1)
    assert sums.tobytes() == _native.leaf_sums(values[order], leaf_of_row[order], 7, 2).tobytes()
    assert sums.tolist() == [fsum(values[leaf_of_row == leaf]) for leaf in range(7)]


@pytest.mark.parametrize(
    ("values", "leaf_of_row", "sentence"),
    [([np.inf], [0], "finite"), ([1.0, 2.0], [0], "one finite number per row"), ([1.0], [3], "out of range")],
)
def test_wrong_arguments_are_refused(values, leaf_of_row, sentence):
    with pytest.raises(ValueError, match=sentence):
        _native.leaf_sums(np.array(values), np.array(leaf_of_row, np.uint32), 3, 1)


@pytest.mark.parametrize("n_leaves", [2**25 + 1, 2**32])
def test_too_many_leaves_are_refused_before_memory_is_claimed(n_leaves):
    values, leaf_of_row = np.ones(2), np.zeros(2, np.uint32)
    with pytest.raises(ValueError, match="too many leaves"):
        _native.leaf_sums(values, leaf_of_row, n_leaves, 1)
    with pytest.raises(ValueError, match="too many leaves"):
        _native.fixed_sums(values, leaf_of_row, n_leaves, 1, 1)

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rankwright.base.errors import InputError
from rankwright.statistics.intervals import mean_interval
from rankwright.statistics.paired_tests import compare_values
from rankwright.statistics.tail_p_values import tail_p_values


def exact_p_value(differences):
    """The share of all sign flips whose mean is as far from 0 as the one seen."""
    flips = np.array(list(product([-1, 1], repeat=len(differences))))
    means = np.abs((flips * differences).mean(axis=1))
    return (means >= abs(np.mean(differences)) - 1e-12).mean()


few_differences = st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.125, 0.3, 0.75]), min_size=1, max_size=8)


@given(few_differences)
def test_the_p_value_is_that_of_all_sign_flips(differences):
    values = np.array(differences)
    found = compare_values(values, np.zeros(len(values)))
    # 10,000 draws: a standard error of at most 0.005.
    assert found.p_value == pytest.approx(exact_p_value(values), abs=0.025)


def test_hand_counted():
    found = compare_values(np.array([0.9, 0.5, 0.5, 0.2]), np.array([0.5, 0.5, 0.25, 0.3]))
    assert found.difference == pytest.approx(0.1375)
    assert (found.better, found.worse, found.equal) == (2, 1, 1)


@given(few_differences)
def test_the_other_way_round(differences):
    one, other = np.array(differences), np.zeros(len(differences))
    there, back = compare_values(one, other), compare_values(other, one)
    assert there.difference == -back.difference
    assert there.p_value == back.p_value
    assert (there.better, there.worse, there.equal) == (back.worse, back.better, back.equal)


def test_identical_systems_do_not_differ():
    values = np.random.default_rng(0).random(50)
    found = compare_values(values, values.copy())
    assert (found.difference, found.p_value, found.equal) == (0.0, 1.0, 50)
    assert found.interval == (0.0, 0.0)


def test_a_plain_difference_is_as_sure_as_all_flips_would_make_it():
    found = compare_values(np.full(60, 0.6), np.full(60, 0.5), samples=999)
    assert found.p_value == 2.0**-59


@pytest.mark.parametrize(("better", "queries"), [(18, 20), (32, 40), (75, 100)])
def test_small_p_values_of_equal_steps_are_those_of_the_sign_test(better, queries):
    differences = np.where(np.arange(queries) < better, 0.25, -0.25)
    found = compare_values(differences, np.zeros(queries))
    assert found.p_value == pytest.approx(stats.binomtest(better, queries).pvalue, rel=0.2)


@given(st.integers(0, 2**32 - 1))
def test_small_p_values_are_those_of_all_sign_flips(seed):
    differences = np.random.default_rng(seed).normal(1.1, 1.0, 15).round(2)
    expected = exact_p_value(differences)
    if expected < 0.01:
        found = tail_p_values(differences[None], random_state=0, rounding=1e-12 * 15)[0]
        assert found == pytest.approx(expected, rel=0.35)


def test_the_same_seed_gives_the_same_answer():
    one, other = np.random.default_rng(0).random((2, 30))
    assert compare_values(one, other, random_state=3) == compare_values(one, other, random_state=3)
    assert compare_values(one, other, random_state=3) != compare_values(one, other, random_state=4)


def test_queries_left_out_of_either_are_passed_over():
    one, other = np.array([np.nan, 0.5, 0.7, 0.9]), np.array([0.5, np.nan, 0.7, 0.5])
    found = compare_values(one, other)
    assert (found.better, found.worse, found.equal) == (1, 0, 1)
    assert found == compare_values(one[2:], other[2:])


@pytest.mark.parametrize("one", [[], [np.nan]])
def test_nothing_to_compare(one):
    with pytest.raises(InputError, match="no query for which both systems have a value"):
        compare_values(np.array(one, dtype=float), np.zeros(len(one)))


def test_other_queries():
    with pytest.raises(InputError, match="same queries: one has 2 values, the other 3"):
        compare_values(np.zeros(2), np.zeros(3))


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    random = np.random.default_rng(7)
    held = 0
    for trial in range(300):
        low, high = mean_interval(random.beta(2, 3, size=60), samples=500, random_state=trial)
        held += low <= 0.4 <= high
    assert 0.90 <= held / 300 <= 0.985


@pytest.mark.slow
def test_chance_alone_is_seldom_significant():
    random = np.random.default_rng(8)
    found = [compare_values(*random.random((2, 40)), samples=500, random_state=trial) for trial in range(300)]
    small = sum(one.p_value < 0.05 for one in found)
    assert 0.02 <= small / 300 <= 0.09


def test_a_wider_level_is_a_wider_interval():
    values = np.random.default_rng(0).random(30)
    low, high = mean_interval(values, level=0.5)
    wide_low, wide_high = mean_interval(values, level=0.99)
    assert wide_low < low < high < wide_high

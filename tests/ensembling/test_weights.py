import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright.ensembling.weights import best_alone, plausible_weights, prune_weights, weighted_sum
from reference import auto as slow

# Eighths add and subtract exactly, so that equal differences are equal.
EIGHTHS = st.integers(0, 8).map(lambda number: number / 8)


def tables(element=EIGHTHS, least_queries=0):
    """One row per member, one column per query."""
    sizes = st.tuples(st.integers(1, 5), st.integers(least_queries, 7))
    return sizes.flatmap(
        lambda size: st.lists(
            st.lists(element, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
        )
    )


@examples(200)
@given(tables(EIGHTHS | st.just(np.nan)))
def test_plausible_weights_are_those_of_the_slow_twin(values):
    found = plausible_weights(np.array(values))
    np.testing.assert_allclose(found, slow.plausible_weights(values), rtol=1e-9, atol=1e-12)


@examples(100)
@given(tables(st.floats(0, 1) | st.just(np.nan)))
def test_weights_are_not_negative_and_sum_to_1(values):
    for weigh in (plausible_weights, best_alone):
        weights = weigh(np.array(values))
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0)


@examples(100)
@given(tables(), st.sampled_from([-4.0, 0.25, 2.0]))
def test_a_constant_added_to_all_values_changes_no_weight(values, constant):
    table = np.array(values)
    assert plausible_weights(table + constant).tolist() == plausible_weights(table).tolist()


@examples(100)
@given(tables(least_queries=1), st.data())
def test_equal_members_weigh_the_same(values, data):
    place = data.draw(st.integers(0, len(values) - 1))
    weights = plausible_weights(np.array([*values, values[place]]))
    assert weights[-1] == weights[place]


@examples(100)
@given(tables(least_queries=1))
def test_the_best_member_weighs_most(values):
    table = np.array(values)
    best = int(np.argmax(table.mean(axis=1)))
    assert plausible_weights(table)[best] == plausible_weights(table).max()
    assert table.mean(axis=1)[np.argmax(best_alone(table))] == table.mean(axis=1).max()


def test_the_more_queries_there_are_the_less_a_worse_member_weighs():
    better, worse = np.tile([0.5, 0.5], 32), np.tile([0.2, 0.6], 32)
    weights = [plausible_weights(np.array([better[:n], worse[:n]]))[1] for n in (4, 16, 64)]
    assert 0.5 > weights[0] > weights[1] > weights[2]


def test_a_member_that_is_only_a_little_worse_keeps_its_weight_however_certain_that_is():
    better = np.random.default_rng(0).uniform(0.4, 0.6, 1000)
    weights = plausible_weights(np.array([better, better - 0.01]))
    assert weights[1] / weights[0] == pytest.approx(np.exp(-0.5))


def test_a_member_far_behind_weighs_nothing():
    rng = np.random.default_rng(0)
    good = rng.uniform(0.7, 0.9, 50)
    weights = plausible_weights(np.array([good, rng.uniform(0.1, 0.3, 50), rng.permutation(good)]))
    assert weights[1] < 1e-12
    assert prune_weights(weights)[1] == 0.0


@pytest.mark.parametrize("weigh", [plausible_weights, best_alone])
def test_a_member_that_is_behind_by_the_same_in_every_query_weighs_nothing(weigh):
    """Its difference has no error at all, which must not count as no difference."""
    weights = weigh(np.array([[0.5, 0.25, 0.5], [0.75, 0.5, 0.75]]))
    assert weights.tolist() == pytest.approx([0.0, 1.0], abs=1e-5)


def test_one_query_hardly_tells_members_apart():
    weights = plausible_weights(np.array([[0.9], [0.1]]))
    assert weights[0] / weights[1] == pytest.approx(np.exp(0.8**2 / 2))


def test_members_that_no_query_tells_apart_weigh_the_same():
    assert plausible_weights(np.full((4, 3), 0.5)).tolist() == [0.25] * 4
    assert plausible_weights(np.full((4, 3), np.nan)).tolist() == [0.25] * 4
    assert plausible_weights(np.empty((4, 0))).tolist() == [0.25] * 4
    assert best_alone(np.full((4, 3), np.nan)).tolist() == [1.0, 0.0, 0.0, 0.0]


def test_a_query_without_a_value_is_left_out():
    values = np.array([[0.25, np.nan, 0.5, 0.875], [0.5, np.nan, 0.25, 0.5]])
    assert plausible_weights(values).tolist() == plausible_weights(values[:, [0, 2, 3]]).tolist()


@examples(100)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8), st.floats(0.5, 1.0))
def test_pruning_keeps_the_heaviest_that_have_enough_of_the_weight(raw, kept_weight):
    weights = np.array([*raw, 1.0])
    weights /= weights.sum()
    kept = prune_weights(weights, kept_weight)
    here = kept > 0
    assert kept.sum() == pytest.approx(1.0)
    assert weights[here].sum() >= kept_weight - 1e-12
    assert weights[here].min() >= weights[~here].max(initial=0.0)
    np.testing.assert_allclose(kept[here], weights[here] / weights[here].sum())


def test_a_weighted_sum_leaves_out_what_weighs_nothing():
    columns = [np.array([1.0, 2.0]), np.array([np.nan, np.inf]), np.array([10.0, 20.0])]
    assert weighted_sum(columns, [0.5, 0.0, 0.25]).tolist() == [3.0, 6.0]

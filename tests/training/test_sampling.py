import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.training.sampling import (
    _threshold,
    all_rows,
    bag_queries,
    draw_by_size,
    draw_documents,
    draw_queries,
    fold_queries,
    hold_out_queries,
)
from rankwright.training.training_set import TrainingSet

GRADIENTS = arrays.arrays(
    np.float64,
    st.integers(1, 40),
    elements=st.sampled_from([-1.0, 0.0, 1.0, 1e-20, 1e-300, 5e-324]) | st.floats(-1e3, 1e3),
)
SHARES = st.sampled_from([1e-12, 0.1, 0.25, 0.5, 0.75, 1 - 1e-12]) | st.floats(0.01, 0.99)


def generator(seed=7):
    return np.random.default_rng(seed)


def assert_some_of(sample, n_rows):
    assert sample.rows.dtype == np.uint32
    assert (np.diff(sample.rows.astype(int)) > 0).all()
    assert len(sample.rows) > 0, "a round must look at something"
    assert sample.rows[-1] < n_rows


def test_all_rows_are_all_rows():
    sample = all_rows(5)
    assert_some_of(sample, 5)
    assert sample.rows.tolist() == [0, 1, 2, 3, 4]
    assert len(sample.weights) == 0


@given(GRADIENTS, SHARES, st.integers(0, 100))
def test_every_draw_takes_some_rows(gradient, share, seed):
    n_rows, groups = len(gradient), QueryGroups.of(np.arange(len(gradient)) % 5)
    assert_some_of(draw_documents(n_rows, share, generator(seed)), n_rows)
    assert_some_of(draw_queries(groups, share, generator(seed)), n_rows)
    by_gradient = draw_by_size([gradient], share, generator(seed))
    assert_some_of(by_gradient, n_rows)
    if len(by_gradient.weights):
        assert by_gradient.weights.shape == by_gradient.rows.shape
        assert (np.isfinite(by_gradient.weights) & (by_gradient.weights >= 1)).all()
        assert (gradient[by_gradient.rows] != 0).all()


def test_the_same_generator_draws_the_same():
    gradient = generator().normal(size=100)
    for draw in (
        lambda random: draw_documents(100, 0.4, random),
        lambda random: draw_queries(QueryGroups.of(np.arange(100) // 5), 0.4, random),
        lambda random: draw_by_size([gradient], 0.4, random),
    ):
        assert draw(generator(3)).rows.tolist() == draw(generator(3)).rows.tolist()
        assert draw(generator(3)).rows.tolist() != draw(generator(4)).rows.tolist()


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_a_draw_has_the_expected_size(share):
    gradient = generator().normal(size=40_000) ** 3
    groups = QueryGroups.of(np.arange(40_000) // 4)
    for sample in (
        draw_documents(40_000, share, generator()),
        draw_queries(groups, share, generator()),
        draw_by_size([gradient], share, generator()),
    ):
        assert len(sample.rows) / 40_000 == pytest.approx(share, abs=0.02)


def test_queries_are_drawn_whole():
    qid = generator().integers(300, size=5000)
    sample = draw_queries(QueryGroups.of(qid), 0.5, generator())
    assert not set(qid[sample.rows]) & set(np.delete(qid, sample.rows))


@given(GRADIENTS, SHARES)
def test_chances_sum_to_the_share_or_to_all_that_can_be_drawn(gradient, share):
    size = np.where(np.abs(gradient) < 1e-100, 0.0, np.abs(gradient))
    mu = _threshold(size, share * len(size))
    expected = (size / np.maximum(size, mu)).sum()
    assert expected == pytest.approx(min(share * len(size), np.count_nonzero(size)), rel=1e-9, abs=1e-12)


def uniform(seed, n_rows):
    """SplitMix64, in numbers of any length."""
    drawn = []
    for row in range(n_rows):
        bits = (seed + (row + 1) * 0x9E3779B97F4A7C15) % 2**64
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
        drawn.append(((bits ^ bits >> 31) // 2**12 + 0.5) / 2**52)
    return np.array(drawn)


@given(GRADIENTS, st.floats(1e-3, 1e3), st.integers(0, 2**63 - 1))
@example(generator().normal(size=10_000), 2.0, 5)
def test_draws_as_the_slow_twin(gradient, mu, seed):
    rows, weights = _native.draw_by_size([gradient, 0.5 * gradient], mu, seed, 1)
    size = np.sqrt(1.25) * np.abs(np.where(np.abs(gradient) < 1e-150, 0.0, gradient))
    least = uniform(seed, len(gradient)) * mu
    clear = ~np.isclose(least, size, rtol=1e-12, atol=0)  # of rounding
    assert set(np.flatnonzero(clear & (least < size))) <= set(rows)
    assert not set(np.flatnonzero(clear & (least > size))) & set(rows)
    np.testing.assert_allclose(weights, np.maximum(1.0, mu / size[rows]), rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "mu", "said"),
    [
        ([], 1.0, "values must have"),
        ([np.ones(3), np.ones(2)], 1.0, "finite"),
        ([np.array([1.0, np.nan])], 1.0, "finite"),
        ([np.ones(3)], 0.0, "mu must be above 0"),
        ([np.ones(3)], np.nan, "mu must be above 0"),
    ],
)
def test_the_binding_refuses(values, mu, said):
    with pytest.raises(ValueError, match=said):
        _native.draw_by_size(values, mu, 1, 1)


def test_any_number_of_threads_draws_the_same():
    gradient = generator().normal(size=50_000) ** 3
    draws = [_native.draw_by_size([gradient], 3.0, 5, n) for n in (1, 2, 3, -1)]
    assert len({tuple(part.tobytes() for part in one) for one in draws}) == 1
    assert 1_000 < len(draws[0][0]) < 49_000


def test_large_gradients_are_drawn_for_certain_and_small_ones_in_proportion():
    gradient = np.array([100.0, -50, 1, 2, -1, 0])
    chances = np.minimum(1.0, np.abs(gradient) / _threshold(np.abs(gradient), 3.0))
    np.testing.assert_allclose(chances, [1, 1, 0.25, 0.5, 0.25, 0])


def test_negligible_gradients_do_not_spoil_the_rest():
    gradient = np.array([1e-20, 1, 1, 1])  # three of four are wanted: the sum of all is that of three
    sample = draw_by_size([gradient], 0.75, generator())
    assert sample.rows.tolist() == [1, 2, 3]
    assert sample.weights.tolist() == [1, 1, 1]


def test_weighted_sums_keep_their_expectation():
    random = generator()
    gradient = random.normal(size=200) ** 3
    value = random.random(200)
    draws = [draw_by_size([gradient], 0.3, random) for _ in range(4000)]
    for wanted in (gradient, value, np.ones(200)):
        sums = [(wanted[one.rows] * one.weights).sum() for one in draws]
        error = np.std(sums) / np.sqrt(len(sums))
        assert np.mean(sums) == pytest.approx(wanted.sum(), abs=4 * error)
    # The sum of absolute gradients hardly varies: that is what they are drawn by.
    sums = [(np.abs(gradient[one.rows]) * one.weights).sum() for one in draws]
    plain = [np.abs(gradient[draw_documents(200, 0.3, random).rows]).sum() / 0.3 for _ in range(1000)]
    assert np.std(sums) < np.std(plain) / 2


@pytest.mark.parametrize("share", [1e-9, 0.5, 1 - 1e-9])
def test_gradients_of_zero_draw_all(share):
    sample = draw_by_size([np.zeros(6)], share, generator())
    assert len(sample.rows) == 6
    assert len(sample.weights) == 0


def test_a_share_near_0_draws_all_or_a_few_and_near_1_nearly_all():
    gradient = generator().normal(size=1000)
    nothing = draw_by_size([gradient], 1e-12, generator())
    assert len(nothing.rows) == 1000
    assert len(nothing.weights) == 0
    assert len(draw_documents(1000, 1e-12, generator()).rows) == 1000
    nearly = draw_by_size([gradient], 1 - 1e-9, generator())
    assert len(nearly.rows) >= 999
    np.testing.assert_allclose(nearly.weights, 1, atol=0.01)


@st.composite
def collections(draw):
    qid = draw(st.lists(st.integers(0, 6), min_size=1, max_size=25))
    rows = np.arange(len(qid), dtype=np.float32)
    return TrainingSet(RankingData(rows[:, None], rows % 3, qid))


def queries_of(data):
    return set(data.data.qid.tolist())


@given(collections(), st.integers(0, 50))
def test_a_bag_holds_as_many_queries_as_there_are_and_leaves_others_out(data, seed):
    bag, times, left_out = bag_queries(data, generator(seed))
    assert queries_of(bag) | queries_of(left_out) == queries_of(data)
    assert len(times) == len(bag)
    n_queries = len(data.data.groups)
    if n_queries == 1:
        assert len(bag) == len(left_out) == len(data)
        return
    assert queries_of(left_out)
    assert not queries_of(bag) & queries_of(left_out)
    assert len(bag) + len(left_out) == len(data)
    qid = bag.data.qid[bag.canonical_rows].tolist()
    of_query = dict(zip(qid, times.tolist(), strict=True))
    assert [of_query[one] for one in qid] == times.tolist()
    assert sum(of_query.values()) == n_queries


@given(collections(), st.integers(0, 50), st.data())
def test_neither_the_order_of_rows_nor_the_names_of_queries_change_a_draw(data, seed, draw):
    rows = np.array(draw.draw(st.permutations(range(len(data)))))
    X, y, qid = data.data
    shuffled = TrainingSet(RankingData(X[rows], y[rows], [f"q{one}" for one in qid[rows]]))
    bags = [bag_queries(one, generator(seed)) for one in (data, shuffled)]
    drawn = [dict(zip(documents_of(bag), times.tolist(), strict=True)) for bag, times, _ in bags]
    assert drawn[0] == drawn[1]
    parts = [hold_out_queries(one, 0.3, generator(seed))[1] for one in (data, shuffled)]
    assert documents_of(parts[0]) == documents_of(parts[1])
    if len(data.data.groups) >= 2:
        folds = [fold_queries(one, 2, generator(seed)) for one in (data, shuffled)]
        assert [list(map(documents_of, fold)) for fold in folds[0]] == [
            list(map(documents_of, fold)) for fold in folds[1]
        ]


def documents_of(train):
    """The documents in canonical order, each by its only feature."""
    return train.data.X[train.canonical_rows, 0].tolist()


@given(collections(), st.integers(1, 4), st.integers(0, 50))
def test_every_query_is_in_one_fold_and_folds_are_about_equally_large(data, n_folds, seed):
    n_queries = len(data.data.groups)
    if n_queries < n_folds:
        with pytest.raises(InputError, match=f"{n_folds} folds need at least {n_folds} queries, not"):
            fold_queries(data, n_folds, generator(seed))
        return
    folds = fold_queries(data, n_folds, generator(seed))
    sizes = [len(queries_of(fold)) for _, fold in folds]
    assert sum(sizes) == n_queries
    assert max(sizes) - min(sizes) <= 1
    for rest, fold in folds:
        assert queries_of(rest) | queries_of(fold) == queries_of(data)
        assert not queries_of(rest) & queries_of(fold)


def test_about_a_third_of_many_queries_is_left_out():
    data = TrainingSet(RankingData(np.arange(2000.0)[:, None], np.zeros(2000), np.arange(2000)))
    assert len(bag_queries(data, generator())[2]) / 2000 == pytest.approx(np.exp(-1), abs=0.03)

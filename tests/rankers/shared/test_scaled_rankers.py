import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.rankers.shared.scaled_rankers import SCALINGS, columns_of, learned_scaling, scaled_features
from rankwright.training.training_set import TrainingSet

nan = np.nan
TRAIN = RankingData(
    [[1, 10, nan, 5], [3, nan, nan, 5], [5, 40, nan, 5], [7, 10, nan, 5]], [0, 1, 0, 1], ["a", "a", "b", "b"]
)
OTHER = RankingData([[4, nan, 2, 6], [6, 20, nan, nan]], [0, 1], ["x", "x"])


@st.composite
def judged(draw):
    qid = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
    values = st.sampled_from([-1.5, 0.0, 0.1, 7.0, nan]) | st.floats(-(2.0**100), 2.0**100, width=32)
    X = draw(arrays.arrays(np.float32, (len(qid), 3), elements=values))
    return RankingData(X, draw(arrays.arrays(np.float64, len(qid), elements=st.integers(0, 2))), qid)


def scaled(name, data=OTHER, train=TRAIN):
    return apply(learned_scaling(name, TrainingSet(train)), data)


def apply(scaling, data):
    return scaling.apply(columns_of(scaling, TrainingSet(data)).data.X)


def test_none_only_fills_in_the_training_mean():
    assert scaled("none").tolist() == [[4, 20, 2, 6], [6, 20, 0, 5]]


def test_global_takes_the_training_statistics():
    spread = np.sqrt([5, 200])
    expected = [[0, 0, 2, 1], [2 / spread[0], 0, 0, 0]]
    np.testing.assert_allclose(scaled("global"), expected, rtol=1e-15)
    own = scaled("global", TRAIN)
    np.testing.assert_allclose(own[:, :2].std(axis=0), [1, np.sqrt(3 / 4)])
    assert not own.sum(axis=0).round(12).any()


def test_within_the_query_nothing_is_learned():
    assert scaled("query-zscore").tolist() == [[-1, 0, 0, 0], [1, 0, 0, 0]]
    assert scaled("query-minmax").tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]
    assert scaled("query-minmax", TRAIN)[:, 1].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("name", SCALINGS[1:])
def test_columns_constant_or_missing_in_training_become_zeros(name):
    assert not scaled(name, TRAIN)[:, 2:].any()


@given(judged(), st.sampled_from(SCALINGS))
def test_nothing_is_missing_and_all_is_finite(data, name):
    values = scaled(name, data, data)
    assert values.shape == data.X.shape
    assert np.isfinite(values).all()


@given(judged(), st.sampled_from(SCALINGS), st.data())
def test_neither_the_order_of_rows_nor_the_names_of_queries_matter(data, name, draw):
    rows = draw.draw(st.permutations(range(len(data))))
    shuffled = RankingData(data.X[rows], data.y[rows], [f"q{data.qid[row]}" for row in rows])
    assert scaled(name, shuffled, shuffled).tobytes() == scaled(name, data, data)[rows].tobytes()


@given(judged(), st.sampled_from(SCALINGS), st.integers(0, 2**32 - 1))
def test_folded_weights_give_what_scaled_features_gave(data, name, seed):
    scaling = learned_scaling(name, TrainingSet(data))
    weights = np.random.default_rng(seed).normal(size=(3, 2))
    raw, shift = scaling.folded(weights)
    X = columns_of(scaling, TrainingSet(data)).data.X
    filled = np.where(np.isnan(X), scaling.missing, X)
    scale = 1.0 + np.abs(filled).max(axis=0, initial=0.0) @ np.abs(raw)
    np.testing.assert_allclose((filled @ raw + shift) / scale, apply(scaling, data) @ weights / scale, atol=1e-13)
    one, added = scaling.folded(weights[:, 0])
    assert one.tolist() == raw[:, 0].tolist()
    assert float(added) == pytest.approx(shift[0], rel=1e-12)


@given(judged(), st.sampled_from(SCALINGS))
def test_scaled_features_come_in_canonical_order(data, name):
    train = TrainingSet(data)
    scaling = learned_scaling(name, train)
    assert scaled_features(scaling, train).tobytes() == apply(scaling, data)[train.canonical_rows].tobytes()


@pytest.mark.parametrize("name", ["zscore", "", None, "Global", 3])
def test_an_unknown_scaling_is_refused(name):
    with pytest.raises(InputError, match="scaling must be one of 'none', 'query-minmax', 'query-zscore', 'glob"):
        learned_scaling(name, TrainingSet(TRAIN))

"""Members of a mixture share their columns, and score as they did alone."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rankwright.base.errors import InputError
from rankwright.data.categories import Category
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import QueryFeature, standardised
from rankwright.ensembling.mixtures import mix_standardised, uniform_mixture, within_query
from rankwright.ensembling.pool import Member
from rankwright.models import (
    Combination,
    FeatureScorer,
    LinearScorer,
    NetworkScorer,
    QueryFeatureScorer,
    StandardisedScorer,
    nested_scorers,
    share_columns,
)
from rankwright.models.model_file import decode, encode
from reference.query_features import standardised as in_python
from reference.trees import random_ensemble

SCORES = st.sampled_from([-1.5, 0.0, 0.1, 7.0]) | st.floats(-1e200, 1e200)


@st.composite
def scored_queries(draw):
    qid = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=20))
    return draw(npst.arrays(np.float64, len(qid), elements=SCORES)), qid


def slow(scores, qid):
    values = np.zeros(len(scores))
    for query in set(qid):
        rows = [row for row, one in enumerate(qid) if one == query]
        own = [float(scores[row]) for row in rows]
        largest = max(map(abs, own)) or 1.0
        own = [one / largest for one in own]
        mean = sum(own) / len(own)
        spread = (sum((one - mean) ** 2 for one in own) / len(own)) ** 0.5
        for row, one in zip(rows, own, strict=True):
            values[row] = 0.0 if min(own) == max(own) else (one - mean) / spread
    return values


@given(scored_queries())
def test_equals_the_slow_twin_or_is_nearer_the_truth(data):
    scores, qid = data
    found = standardised(scores, QueryGroups.of(qid))
    assert (np.abs(found) <= np.sqrt(len(scores)) + 1e-9).all()
    for rows in QueryGroups.of(qid):
        own = scores[rows]
        if np.ptp(own) > 1e-6 * np.abs(own).max():  # of closer scores, sums of the plain formula keep nothing
            np.testing.assert_allclose(found[rows], slow(scores, qid)[rows], atol=1e-6)
        elif np.ptp(own) == 0:
            assert not found[rows].any()


@given(scored_queries())
def test_equals_the_same_sums_in_python(data):
    scores, qid = data
    found = standardised(scores, QueryGroups.of(qid))
    np.testing.assert_array_equal(found, in_python(scores, qid))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 128, 129, 300, 1000])
def test_equals_the_same_sums_in_python_for_any_size(size):
    rng = np.random.default_rng(size)
    qid = rng.permutation(np.repeat([1, 2, 3], size))
    scores = rng.normal(size=len(qid))
    found = [standardised(scores, QueryGroups.of(qid), n_threads) for n_threads in (1, 3)]
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_array_equal(found[0], in_python(scores, qid.tolist()))


@given(scored_queries(), st.data())
def test_ranks_as_the_scores_do_whatever_the_order_of_rows(data, draw):
    scores, qid = data
    found = standardised(scores, QueryGroups.of(qid))
    for rows in QueryGroups.of(qid):
        order = np.argsort(scores[rows], kind="stable")
        assert (np.diff(found[rows][order]) >= 0).all()
    rows = draw.draw(st.permutations(range(len(qid))))
    shuffled = standardised(scores[rows], QueryGroups.of([qid[row] for row in rows]))
    np.testing.assert_array_equal(shuffled, found[rows])


def test_a_scorer_on_the_scale_of_the_query():
    scorer = StandardisedScorer(LinearScorer([10.0, 0.0], [0.0, 0.0], intercept=3.0))
    X = np.array([[1, 0], [2, 0], [3, 0], [5, 0]])
    np.testing.assert_allclose(scorer.predict(X, [1, 1, 2, 2]), [-1, 1, -1, 1])
    assert scorer.needs_queries
    assert scorer.used_features.tolist() == [0]
    assert (
        decode(encode(scorer), "a file").predict(X, [1, 2, 1, 2]).tolist()
        == scorer.predict(X, [1, 2, 1, 2]).tolist()
    )


def test_scorers_of_any_scale_weigh_alike():
    loud, quiet = FeatureScorer(0, n_features=2, missing=0.0), LinearScorer([0.0, -1e-6], [0.0, 0.0])
    X, qid = np.array([[1000, 1], [0, 3], [5, 9], [5, 2]]), [1, 1, 2, 2]
    mixture = mix_standardised([loud.described(feature_names=["a", "b"]), quiet])
    np.testing.assert_allclose(mixture.predict(X, qid), [1, -1, -0.5, 0.5])
    assert mixture.feature_names == ("a", "b")
    with pytest.raises(InputError, match="at least one scorer"):
        mix_standardised([])


@given(scored_queries(), st.data())
def test_contributions_are_standardised_like_the_scores(data, draw):
    values, qid = data
    X = np.stack([np.sign(values) * np.log1p(np.abs(values)), np.arange(len(values)) % 3], axis=1)
    X = X.astype(np.float32)
    inner = LinearScorer([2.0, 1.0], [0.0, 0.0], intercept=5.0)
    scorer = StandardisedScorer(inner)
    found, scores = scorer.contributions(X, qid), inner.predict(X)
    for rows in QueryGroups.of(qid):
        if np.ptp(scores[rows]) > 1e-6:
            own = inner.contributions(X)[rows]
            np.testing.assert_allclose(found[rows], (own - own.mean(axis=0)) / scores[rows].std(), atol=1e-6)
            np.testing.assert_allclose(found[rows].sum(axis=1), scorer.predict(X, qid)[rows], atol=1e-6)
        elif np.ptp(scores[rows]) == 0:
            assert not found[rows].any()
    rows = draw.draw(st.permutations(range(len(qid))))
    shuffled = scorer.contributions(X[rows], [qid[row] for row in rows])
    np.testing.assert_array_equal(shuffled, found[rows])


def test_contributions_by_hand():
    scorer = StandardisedScorer(LinearScorer([10.0, 1.0], [0.0, 0.0], intercept=3.0))
    X, qid = np.array([[1, 0], [2, 0], [3, 10], [4, 0], [7, 7]]), [1, 1, 2, 2, 3]
    assert scorer.contributions(X, qid).tolist() == [[-1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_a_network_still_has_no_contributions():
    network = NetworkScorer(np.array([2, 1, 1]), np.ones(5), np.zeros(2))
    with pytest.raises(InputError, match="A scorer of kind 'network' cannot compute contributions of features"):
        mix_standardised([network]).contributions(np.zeros((1, 2)), 1)


ZSCORE, RANK, MINMAX = QueryFeature
N_FEATURES = 2
THRESHOLDS = np.array([-1.0, 0.0, 0.3, 0.5], dtype=np.float32)
COLUMNS = [
    ((ZSCORE, RANK), True),
    ((ZSCORE, RANK), False),
    ((ZSCORE,), False),
    ((MINMAX,), False),
    ((RANK,), True),
]


def trees(seed, n_columns, n_trees=3):
    return random_ensemble(np.random.default_rng(seed), [5] * n_trees, THRESHOLDS, n_features=n_columns)


def linear(seed, n_columns):
    rng = np.random.default_rng(seed)
    return LinearScorer(rng.integers(-2, 3, n_columns) / 2, rng.normal(size=n_columns), intercept=0.5)


def network(seed, n_columns):
    parameters = np.random.default_rng(seed).normal(size=(n_columns + 1) * 3 + 4)
    return NetworkScorer(np.array([n_columns, 3, 1]), parameters, np.zeros(n_columns))


@st.composite
def members(draw):
    """Scorers of features, or of columns made from them, some of them standardised."""
    make, seed = draw(st.sampled_from([trees, linear, network])), draw(st.integers(0, 100))
    columns = draw(st.none() | st.sampled_from(COLUMNS))
    if columns is None:
        scorer = make(seed, N_FEATURES)
    else:
        kinds, raw = columns
        scorer = QueryFeatureScorer(make(seed, N_FEATURES * (raw + len(kinds))), kinds, raw)
    return StandardisedScorer(scorer) if draw(st.booleans()) else scorer


@st.composite
def documents(draw):
    """Queries of one or more documents, with ties, missing values and columns that are constant."""
    qid = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=12))
    elements = st.sampled_from([-1.5, 0.0, 0.1, 7.0, np.nan]) | st.floats(-1e6, 1e6, width=32)
    X = draw(npst.arrays(np.float32, (len(qid), N_FEATURES), elements=elements))
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    return X, qid


@given(st.lists(members(), min_size=1, max_size=6), st.data(), documents())
def test_scores_are_those_of_the_members_alone(parts, data, documents):
    weights = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=len(parts), max_size=len(parts))))
    plain = Combination(tuple(parts), weights)
    shared = share_columns(plain)
    X, qid = documents
    alone = [np.abs(one.predict(X, qid)).max() for one in parts]
    tolerance = 1e-14 * (1.0 + np.abs(weights) @ alone)
    np.testing.assert_allclose(shared.predict(X, qid), plain.predict(X, qid), rtol=0, atol=tolerance)
    assert shared.needs_queries == plain.needs_queries
    assert shared.n_rounds == plain.n_rounds
    assert shared.used_features.tolist() == plain.used_features.tolist()
    assert shared.columns_per_feature <= plain.columns_per_feature
    loaded = decode(encode(shared), "a file")
    assert loaded.predict(X, qid).tobytes() == shared.predict(X, qid).tobytes()


def typical():
    """Trees with two columns beside each feature, and linear scorers of one or two kinds of columns."""
    wide, narrow = ((ZSCORE, RANK), True), ((ZSCORE,), False)
    return [
        QueryFeatureScorer(trees(1, 6), *wide),
        QueryFeatureScorer(trees(2, 6, n_trees=7), *wide),
        QueryFeatureScorer(linear(3, 2), *narrow),
        QueryFeatureScorer(linear(4, 4), (ZSCORE, RANK), raw=False),
    ]


@given(documents())
def test_in_one_group_not_a_bit_changes(documents):
    X, qid = documents
    plain = Combination(tuple(within_query(one) for one in typical()), np.full(4, 0.25))
    shared = mix_standardised(typical())
    assert len(shared.members) == 1
    assert shared.predict(X, qid).tobytes() == plain.predict(X, qid).tobytes()


@pytest.fixture
def made(monkeypatch):
    """The kinds of columns that are made, each with how often."""
    counts, make = Counter(), nested_scorers.with_query_features

    def counted(X, groups, kinds, **options):
        counts.update(kinds)
        return make(X, groups, kinds, **options)

    monkeypatch.setattr(nested_scorers, "with_query_features", counted)
    return counts


X = np.array([[1, 5], [2, np.nan], [3, 3], [3, 4]], dtype=np.float32)
QID = ["a", "a", "a", "b"]


def test_columns_are_made_once(made):
    mix_standardised(typical()).predict(X, QID)
    assert made == {ZSCORE: 1, RANK: 1}
    mix_standardised([*typical(), QueryFeatureScorer(network(1, 2), (ZSCORE,), raw=False)]).predict(X, QID)
    assert made == {ZSCORE: 3, RANK: 2}  # a network takes only its own columns


def test_what_shares_nothing_stays_as_it_is():
    parts = (FeatureScorer(0, n_features=2, missing=0.0), QueryFeatureScorer(linear(1, 2), (MINMAX,), raw=False))
    plain = Combination(parts, [2.0, 3.0])
    shared = share_columns(plain)
    assert shared.weights.tolist() == [2.0, 3.0]
    assert shared.members == plain.members


def test_names_facts_and_rounds_stay():
    named = [one.described(feature_names=("bm25", "age")) for one in typical()]
    shared = uniform_mixture([Member(name="one", scorer=within_query(one)) for one in named]).scorer()
    assert shared.feature_names == ("bm25", "age")
    about = share_columns(Combination(tuple(named), np.ones(4)).described(about={"ranker": "mixture"})).about
    assert about == {"ranker": "mixture"}
    plain = Combination(tuple(within_query(one) for one in named), np.full(4, 0.25))
    assert shared.n_rounds == 7
    for n_rounds in (0, 2, 5, 7):
        first = shared.first(n_rounds)
        assert first.n_rounds == n_rounds
        assert first.predict(X, QID).tobytes() == plain.first(n_rounds).predict(X, QID).tobytes()


def test_categories_stay():
    category = Category("colour", ("red", "blue"), one_hot=True)
    names = {"feature_names": ("colour=red", "colour=blue"), "categories": (category,)}
    shared = mix_standardised([one.described(**names) for one in typical()])
    frame = pd.DataFrame({"colour": ["blue", "red", "red", "blue"]})
    encoded = np.array([[0, 1], [1, 0], [1, 0], [0, 1]], dtype=np.float32)
    assert shared.categories == (category,)
    assert decode(encode(shared), "a file").predict(frame, QID).tolist() == shared.predict(encoded, QID).tolist()


def test_members_of_other_names_are_refused():
    first, second, *_ = typical()
    with pytest.raises(InputError, match="same feature names"):
        mix_standardised([first.described(feature_names=("a", "b")), second.described(feature_names=("b", "a"))])

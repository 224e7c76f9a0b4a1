import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.data.query_features import standardised
from rankwright.ensembling.mixtures import mix_standardised
from rankwright.models import FeatureScorer, LinearScorer, NetworkScorer, StandardisedScorer
from rankwright.models.model_file import decode, encode
from reference.query_features import standardised as in_python

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

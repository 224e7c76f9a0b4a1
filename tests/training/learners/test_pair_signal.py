import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from rankwright import _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.rankers.shared.distances import Binary, Linear, Logarithmic, Logistic
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.learners import pair_signal as module
from rankwright.training.learners.pair_signal import FactoredPairs, LabelPairs, ListedPairs
from rankwright.training.training_set import QueryLabels
from reference import pairs as slow

BOTH = pytest.mark.parametrize("kind", [FactoredPairs, ListedPairs])
DISTANCES = st.sampled_from([Binary(), Linear(0.4), Logarithmic(1.5), Logistic(0.7)])
LABELS = st.sampled_from([0.0, 1.0, 2.0, 0.5, -3.0])


@st.composite
def states(draw):
    """Queries with at least one pair, scores with ties, weights with zeros, features with missing values."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    n = sum(sizes) + 2
    y = np.array([*draw(st.lists(LABELS, min_size=n - 2, max_size=n - 2)), 0.0, 1.0])
    qid = np.repeat(np.arange(len(sizes) + 1), [*sizes, 2])
    scores = draw(st.sampled_from([1.0, 0.0, 30.0])) * np.array(
        draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float
    )
    weights = np.array([*draw(st.lists(st.sampled_from([1.0, 0.0, 2.5]), min_size=n - 2, max_size=n - 2)), 1, 1.0])
    value = st.sampled_from([0.0, 1.0, 2.0, np.nan])
    X = np.array(draw(st.lists(st.tuples(value, value), min_size=n, max_size=n)), dtype=np.float32)
    return X, y, qid, scores, weights


def make(kind, state, distance, *, n_threads=1, weighted=True, by_query=False):
    _, y, qid, _, weights = state
    judged = QueryLabels(y, QueryGroups.of(qid))
    most = 32 if kind is FactoredPairs else 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module._native, "MOST_LABELS", most)
        pairs = LabelPairs.of(
            judged, distance.between, weights=weights if weighted else None, by_query=by_query, n_threads=n_threads
        )
    assert type(pairs) is kind
    return pairs


def twin(state, distance, *, weighted=True, by_query=False):
    _, y, qid, _, weights = state
    given = weights.tolist() if weighted else None
    return slow.pairs_of(y.tolist(), qid.tolist(), distance.between, weights=given, by_query=by_query)


@BOTH
@examples(80)
@given(state=states(), distance=DISTANCES, weighted=st.booleans(), by_query=st.booleans())
def test_gradients_are_the_sums_over_all_pairs(kind, state, distance, weighted, by_query):
    scores = state[3]
    options = {"weighted": weighted, "by_query": by_query}
    pairs, wanted = make(kind, state, distance, **options), twin(state, distance, **options)
    signal = pairs.signal(scores)
    gradient, hessian = slow.gradients(slow.reweighted(wanted, scores), len(scores))
    np.testing.assert_allclose(signal.gradient, gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(signal.hessian, hessian, rtol=1e-9, atol=1e-12)
    assert signal.log_loss - pairs.log_loss_at_first == pytest.approx(np.log(slow.loss(wanted, scores)), abs=1e-9)
    assert pairs.misordered(scores) == pytest.approx(slow.misordered(wanted, scores), abs=1e-12)


@BOTH
@examples(80)
@given(state=states(), distance=DISTANCES, squared=st.booleans())
def test_crossing_weights_are_the_sums_over_pairs_that_cross(kind, state, distance, squared):
    X, scores = state[0], state[3]
    pairs, wanted = make(kind, state, distance), slow.reweighted(twin(state, distance), scores)
    binned = BinnedFeatures.of(X, np.arange(len(X)))
    sums = pairs.crossing_weights(binned, pairs.signal(scores), squared=squared)
    codes = binned.matrix.codes()
    for feature in range(2):
        for code in range(binned.n_features + 2):
            high = (codes[:, feature] >= code) & (codes[:, feature] != 255)
            crossing = sum(
                one.weight * (one.strength**2 if squared else 1) for one in wanted if high[one.i] != high[one.j]
            )
            assert sums[feature, code:255].sum() == pytest.approx(crossing, abs=1e-12)


@BOTH
@pytest.mark.parametrize("apart", [1e3, 1e6, 1e200])
def test_scores_that_drift_far_apart_do_not_overflow(kind, apart):
    y, qid = np.array([1.0, 0.0, 2.0, 1.0, 0.0]), np.array([0, 0, 1, 1, 1])
    X = np.arange(10, dtype=np.float32).reshape(5, 2)
    scores = np.array([0.0, apart, -apart, 0.0, 2.0])
    pairs = make(kind, (X, y, qid, scores, np.ones(5)), Linear(0.5))
    signal = pairs.signal(scores)
    # Labels 2 and 0 have all the weight: labels 1 and 0 lie as far apart, but count half.
    np.testing.assert_allclose(signal.gradient, [0, 0, 1, 0, -1] if apart > 2e3 else signal.gradient, atol=1e-9)
    assert np.isfinite(signal.gradient).all()
    assert np.isfinite(signal.hessian).all()
    assert np.isfinite(signal.log_loss)
    binned = BinnedFeatures.of(X, np.arange(5))
    assert np.isfinite(pairs.crossing_weights(binned, signal, squared=False)).all()
    assert pairs.misordered(scores) == pytest.approx(4 / 4)


def noisy(n_queries, n_labels, seed=1):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 40, n_queries)
    n = int(sizes.sum())
    X = np.where(random.random((n, 7)) < 0.1, np.nan, random.normal(size=(n, 7))).astype(np.float32)
    y = random.integers(0, n_labels, n).astype(float)
    return X, y, np.repeat(np.arange(n_queries), sizes), random.normal(size=n), np.ones(n)


@BOTH
@pytest.mark.parametrize("n_labels", [2, 3, 4, 5, 7])
def test_the_number_of_threads_changes_no_bit(kind, n_labels):
    state = noisy(50, n_labels)
    binned = BinnedFeatures.of(state[0], np.arange(len(state[0])))
    results = []
    for n_threads in (1, 2, 3):
        pairs = make(kind, state, Logistic(), n_threads=n_threads)
        signal = pairs.signal(state[3])
        crossing = pairs.crossing_weights(binned, signal, squared=True)
        results.append((signal.gradient.tobytes(), signal.hessian.tobytes(), crossing.tobytes(), signal.log_loss))
        results[-1] += (pairs.misordered(state[3]),)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("n_labels", [2, 3, 4, 5, 7, 20])
@pytest.mark.parametrize("at_once", [1, 50, 2**20])
def test_blocks_of_pairs_and_factors_agree(n_labels, at_once, monkeypatch):
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", at_once)
    state = noisy(8, n_labels)
    binned = BinnedFeatures.of(state[0], np.arange(len(state[0])))
    factored, listed = (make(kind, state, Linear(0.2), by_query=True) for kind in (FactoredPairs, ListedPairs))
    one, other = factored.signal(state[3]), listed.signal(state[3])
    np.testing.assert_allclose(one.gradient, other.gradient, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(one.hessian, other.hessian, rtol=1e-9, atol=1e-13)
    assert one.log_loss == pytest.approx(other.log_loss)
    for squared in (False, True):
        crossing = (
            pairs.crossing_weights(binned, pairs.signal(state[3]), squared=squared) for pairs in (factored, listed)
        )
        np.testing.assert_allclose(*crossing, rtol=0, atol=1e-13)
    assert factored.misordered(state[3]) == pytest.approx(listed.misordered(state[3]))


def test_documents_without_weight_teach_nothing():
    judged = QueryLabels(np.array([1.0, 0.0, 1.0]), QueryGroups.of([0, 0, 0]))
    with pytest.raises(InputError, match="nothing to learn: all pairs of different labels have weight 0"):
        LabelPairs.of(judged, Binary().between, weights=np.array([1.0, 0.0, 1.0]), n_threads=1)


def native_arguments(**changes):
    given = {
        "offsets": np.array([0, 2]),
        "labels": np.array([1, 0], dtype=np.uint8),
        "strengths": np.array([[0.0, 0.0], [1.0, 0.0]]),
        "shares": np.ones(2),
        "scores": np.zeros(2),
        "n_threads": 1,
    }
    return {**given, **changes}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"offsets": np.array([0, 3])}, "offsets must run from 0"),
        ({"labels": np.array([2, 0], dtype=np.uint8)}, "a label is out of range"),
        ({"labels": np.zeros(3, dtype=np.uint8)}, "there must be one label per row"),
        ({"strengths": np.zeros((2, 3))}, "strengths must be square"),
        ({"strengths": np.zeros((2, 2))}, "strengths must be finite and positive"),
        ({"strengths": np.array([[0.0, 0.0], [np.inf, 0.0]])}, "strengths must be finite and positive"),
        ({"strengths": np.ones((33, 33))}, "there are too many labels"),
        ({"shares": np.array([1.0, -1.0])}, "shares must not be negative"),
        ({"shares": np.ones(3)}, "one finite share per row"),
        ({"scores": np.array([0.0, np.nan])}, "one finite score per row"),
    ],
)
def test_the_binding_refuses_what_would_leave_its_arrays(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        _native.pair_gradients(**native_arguments(**changes))


def test_the_bindings_of_sums_check_their_rows():
    binned = BinnedFeatures.of(np.zeros((3, 2), dtype=np.float32), np.arange(3)).matrix
    rows, ones = np.arange(3), np.ones(9)
    with pytest.raises(ValueError, match="a range must lie within the rows"):
        _native.crossing_of_pairs(binned, rows, np.zeros(3, dtype=int), np.full(3, 4), ones, 1)
    with pytest.raises(ValueError, match="there must be one weight per pair"):
        _native.crossing_of_pairs(binned, rows, np.zeros(3, dtype=int), np.full(3, 2), ones, 1)
    with pytest.raises(ValueError, match="a row is out of range"):
        _native.crossing_of_pairs(binned, rows + 1, np.zeros(3, dtype=int), np.full(3, 3), ones, 1)
    with pytest.raises(ValueError, match="there must be one number per row"):
        _native.sum_by_code(binned, np.ones(2), 1)
    with pytest.raises(ValueError, match="there is no such feature"):
        _native.column_codes(binned, 2)
    with pytest.raises(ValueError, match="offsets must run from 0"):
        _native.SortedCodes(binned, np.array([0, 4]), 1)
    codes = _native.SortedCodes(binned, np.array([0, 3]), 1)
    given = native_arguments(labels=np.array([1, 0, 0], dtype=np.uint8), shares=np.ones(3), scores=np.zeros(3))
    del given["offsets"]
    with pytest.raises(ValueError, match="log_sum must be finite"):
        _native.crossing_weights(codes, **given, log_sum=-np.inf, squared=False)
    with pytest.raises(ValueError, match="there must be one label per row"):
        _native.crossing_weights(
            codes, **given | {"labels": np.zeros(2, dtype=np.uint8)}, log_sum=0.0, squared=False
        )

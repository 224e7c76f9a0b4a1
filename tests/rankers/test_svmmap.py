import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright import RankingData, SVMmap, _native
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups, Ranking
from rankwright.metrics import AP
from rankwright.rankers.svmmap import PrecisionRisk
from reference import margin as slow


def violation(order, scores, relevant):
    """The average precision that an order loses, plus F of the order minus F of a perfect one."""
    hits = [rank for rank, row in enumerate(order, start=1) if relevant[row]]
    precision = sum(found / rank for found, rank in enumerate(hits, start=1)) / len(hits)
    perfect = sorted(order, key=lambda row: not relevant[row])
    here, there = (slow.mixed_score(one, scores, relevant) for one in (order, perfect))
    return 1.0 - precision + here - there


def most_violated_value(scores, relevant):
    """By enumeration of all permutations."""
    plain = scores.tolist(), relevant.tolist()
    return max(violation(order, *plain) for order in slow.orders(len(scores)))


@st.composite
def one_query(draw):
    n = draw(st.integers(2, 5))
    relevant = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda one: 0 < sum(one) < n)))
    scores = np.array(draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n))) / draw(
        st.sampled_from([1, 4, 50])
    )
    return scores, relevant


@examples(40)
@given(one_query())
def test_the_most_violated_ranking_is_that_of_all_permutations(query):
    scores, relevant = query
    worst = most_violated_value(scores, relevant)
    plane = PrecisionRisk(scores[:, None], relevant, QueryGroups.of_one(len(scores)), 1).plane(np.ones(1))
    assert plane.slope[0] + plane.offset == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_so_it_is_for_seven_documents(seed):
    rng = np.random.default_rng(seed)
    scores, relevant = rng.normal(size=7), rng.permutation([True] * 3 + [False] * 4)
    worst = most_violated_value(scores, relevant)
    plane = PrecisionRisk(scores[:, None], relevant, QueryGroups.of_one(7), 1).plane(np.ones(1))
    assert plane.slope[0] + plane.offset == pytest.approx(worst, abs=1e-12)


def most_violated(scores, relevant, groups, n_threads=1):
    return _native.most_violated_precision(Ranking.of(scores, groups).native, relevant, n_threads)


def test_passed_documents_are_the_last_ones():
    scores, relevant = np.array([3.0, 0.1, 0.0, 0.2, -5.0]), np.array([True, True, True, False, False])
    crossings, lost = most_violated(scores, relevant, QueryGroups.of_one(5))
    assert crossings.tolist() == [0, 1, 1, 2, 0]
    assert lost[0] == pytest.approx(1.0 - AP().of_ranking(np.array([1.0, 0, 1, 1, 0])))


def test_all_is_lost_where_scores_are_equal():
    relevant = np.array([True] * 3 + [False] * 4)
    _, lost = most_violated(np.zeros(7), relevant, QueryGroups.of_one(7))
    assert lost[0] == pytest.approx(1.0 - AP().of_ranking(np.array([0.0, 0, 0, 0, 1, 1, 1])))


@examples(80)
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(0, 999), st.sampled_from([0.01, 0.3, 3.0])
)
def test_the_search_equals_its_slow_twin(sizes, seed, scale):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    scores, relevant = np.round(scale * rng.normal(size=n), 3), rng.random(n) < rng.random()
    groups = QueryGroups.of(rng.permutation(np.repeat([f"q{one}" for one in range(len(sizes))], sizes)))
    crossings, lost = most_violated(scores, relevant, groups)
    for query, rows in enumerate(groups):
        wanted, best = slow.most_violated_precision(scores[rows], relevant[rows])
        n_pairs = max(1, relevant[rows].sum() * (~relevant[rows]).sum())
        found = lost[query] - 2.0 * (np.where(relevant, crossings, -crossings) * scores)[rows].sum() / n_pairs
        assert found == pytest.approx(best, abs=1e-12)  # equally violated rankings may differ
        if wanted is not None:
            assert crossings[rows].tolist() == wanted
    for found, wanted in zip(most_violated(scores, relevant, groups, 2), (crossings, lost), strict=True):
        assert found.tobytes() == wanted.tobytes()


def test_memory_grows_with_the_documents_not_with_their_pairs():
    rng = np.random.default_rng(0)
    scores, relevant = rng.normal(size=100_000), rng.random(100_000) < 0.5
    risk = PrecisionRisk(scores[:, None], relevant, QueryGroups.of_one(100_000), 1)
    tracemalloc.start()
    plane = risk.plane(np.ones(1))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < plane.offset < 1
    assert most < 100 * len(scores)  # bytes; all pairs would take 20 GB


@pytest.mark.parametrize("relevant", [np.zeros(2, dtype=bool), np.ones(4, dtype=bool)])
def test_the_binding_checks_its_arrays(relevant):
    with pytest.raises(ValueError, match="relevant must be true or false for every score"):
        most_violated(np.zeros(3), relevant, QueryGroups.of_one(3))
    with pytest.raises(ValueError, match="scores must be finite"):
        most_violated(np.array([0, np.inf, 1]), np.ones(3, dtype=bool), QueryGroups.of_one(3))


def noisy(n_queries=20, *, seed=1, n_documents=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_documents, 4)).astype(np.float32)
    y = np.clip(np.round(X[:, :2].sum(axis=1) + rng.normal(size=len(X)) / 2), 0, 2)
    return RankingData(X, y, np.repeat(np.arange(n_queries), n_documents))


def objective(ranker, data, threshold):
    """Half |w|^2 + C times the mean slack, by enumeration of all permutations."""
    w, slacks = ranker.model_.weights, []
    for rows in data.groups:
        relevant = data.y[rows] >= threshold
        if 0 < relevant.sum() < len(rows):
            scores = data.X[rows].astype(np.float64) @ w
            slacks.append(most_violated_value(scores, relevant))
    return 0.5 * w @ w + ranker.C * np.mean(slacks)


def test_it_reaches_the_gap_it_states():
    data = noisy(5, n_documents=5)
    loose, tight = (SVMmap(C=5.0, scaling="none", tolerance=one).fit(data) for one in (0.05, 1e-7))
    best = objective(tight, data, 1.0)
    assert best <= objective(loose, data, 1.0) <= best / (1.0 - 0.05)
    for change in np.vstack([np.eye(4), -np.eye(4)]) * 1e-3:  # nothing near is better
        moved = rw.models.LinearScorer(tight.model_.weights + change, np.zeros(4))
        tight.model_, kept = moved, tight.model_
        assert objective(tight, data, 1.0) >= best * (1.0 - 1e-6)
        tight.model_ = kept


def test_graded_labels_are_cut_at_the_threshold():
    data = noisy()
    by_default, same, strict = (SVMmap(threshold=one).fit(data) for one in (None, 1.0, 2.0))
    binary = RankingData(data.X, data.y >= 2.0, data.qid)
    np.testing.assert_array_equal(by_default.predict(data), same.predict(data))
    np.testing.assert_allclose(strict.predict(data), SVMmap().fit(binary).predict(data), rtol=1e-9)
    assert (by_default.predict(data) != strict.predict(data)).any()
    assert [one.model_.about["relevant_from"] for one in (by_default, same, strict)] == [1.0, 1.0, 2.0]


def test_a_threshold_that_no_query_meets_is_told():
    with pytest.raises(InputError, match=r"no query has documents both below threshold=7 and from it up\."):
        SVMmap(threshold=7.0).fit(noisy())


def test_queries_without_both_kinds_are_skipped_and_counted():
    data = noisy()
    y = data.y.copy()
    y[data.qid == 3], y[data.qid == 4] = 0.0, 2.0
    one_kind = sum((y[rows] >= 1).all() or not (y[rows] >= 1).any() for rows in data.groups)
    ranker = SVMmap().fit(data.X, y, data.qid)
    assert ranker.skipped_queries_ == ranker.model_.about["skipped_queries"] == one_kind >= 2


def test_no_convergence_is_told_with_its_gap():
    with pytest.warns(UserWarning, match=r"SVMmap stopped after 3 iterations: .* more than tolerance=1e-08"):
        SVMmap(C=100.0, max_iterations=3, tolerance=1e-8).fit(noisy())


def test_ctrl_c_keeps_the_planes_so_far():
    def interrupt(this):
        if this.number == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Interrupted after round 4; the model is that of round 4"):
        ranker = SVMmap(C=100.0).fit(noisy(), on_round=interrupt)
    assert ranker.history_.interrupted
    assert np.isfinite(ranker.predict(noisy())).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"C": 0.0}, "C must be a positive number, not 0.0."),
        ({"threshold": "high"}, "threshold must be None or a finite number, not 'high'."),
        ({"threshold": np.nan}, "threshold must be None or a finite number, not nan."),
        ({"tolerance": -1}, "tolerance must be a positive number, not -1."),
        ({"max_iterations": 2.5}, "max_iterations must be a positive integer, not 2.5."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        SVMmap(**parameters).fit(noisy())


def test_weights_are_refused():
    data = noisy()
    with pytest.raises(InputError, match=r"SVMmap takes no weights: every query counts the same\."):
        SVMmap().fit(data, query_weight=np.ones(20))

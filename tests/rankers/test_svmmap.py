import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright import RankingData, SVMmap
from rankwright.data import QueryGroups
from rankwright.errors import InputError
from rankwright.metrics import AP
from rankwright.rankers.svmmap import PrecisionRisk, lost_precision, most_violated
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
    plane = PrecisionRisk(scores[:, None], relevant, QueryGroups.of_one(len(scores))).plane(np.ones(1))
    assert plane.slope[0] + plane.offset == pytest.approx(worst, abs=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_so_it_is_for_seven_documents(seed):
    rng = np.random.default_rng(seed)
    scores, relevant = rng.normal(size=7), rng.permutation([True] * 3 + [False] * 4)
    worst = most_violated_value(scores, relevant)
    plane = PrecisionRisk(scores[:, None], relevant, QueryGroups.of_one(7)).plane(np.ones(1))
    assert plane.slope[0] + plane.offset == pytest.approx(worst, abs=1e-12)


def test_passed_documents_are_the_last_ones():
    good, bad = np.array([3.0, 0.1, 0.0]), np.array([0.2, -5.0])
    before = most_violated(good, bad, lost_precision(3, 2))
    assert before.tolist() == [[False, False], [True, False], [True, False]]


def test_what_is_lost_adds_up_to_average_precision():
    reversed_order = AP().of_ranking(np.array([0.0, 0, 0, 0, 1, 1, 1]))
    assert lost_precision(3, 4).sum() == pytest.approx(1.0 - reversed_order)


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
    with pytest.raises(InputError, match=r"SVMmap takes no weights: every query counts alike\."):
        SVMmap().fit(data, query_weights=np.ones(20))

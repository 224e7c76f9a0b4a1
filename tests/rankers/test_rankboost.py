import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

import rankwright as rw
from properties import examples
from rankwright import RankBoost
from rankwright.base.errors import InputError
from rankwright.metrics import NDCG, KendallTau
from rankwright.rankers.shared.distances import Binary
from reference import pairs as slow
from shared_data import SHARED, needs_shared_data
from training.learners.test_pair_signal import states


def noisy(n_queries=30, *, seed=1, missing=0.0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_queries * 8, 6))
    y = np.clip(np.round(X[:, :3].sum(axis=1) + random.normal(size=len(X))), 0, 3)
    return np.where(random.random(X.shape) < missing, np.nan, X), y, np.repeat(np.arange(n_queries), 8)


def scores_by_round(ranker, X):
    """The ensemble's scores after each round."""
    return [ranker.model_.first(number).predict(X) for number in range(1, len(ranker.history_) + 1)]


@examples(60)
@given(state=states(), by_query=st.booleans(), directions=st.sampled_from(["up", "both"]))
def test_every_round_takes_the_vote_and_the_weight_of_brute_force(state, by_query, directions):
    X, y, qid, *_ = state
    pairs = slow.pairs_of(y.tolist(), qid.tolist(), Binary().between, by_query=by_query)
    ways = (1, -1) if directions == "both" else (1,)
    assume(slow.largest_agreement(pairs, X, ways) > slow.CLOSE)
    ranker = RankBoost(
        KendallTau(), rounds=4, pair_weights="query" if by_query else "uniform", directions=directions, n_jobs=1
    ).fit(X, y, qid)
    before = np.zeros(len(y))
    for this, scores in zip(ranker.history_, scores_by_round(ranker, X), strict=True):
        weighed = slow.reweighted(pairs, before)
        r = slow.largest_agreement(weighed, X, ways)
        assert this.diagnostics["r"] == pytest.approx(r, abs=slow.CLOSE)
        assert this.weight == pytest.approx(
            0.5 * np.log((1 + min(r, 1 - 1e-12)) / (1 - min(r, 1 - 1e-12))), rel=1e-3
        )
        assert this.diagnostics["Z"] == pytest.approx(
            slow.loss(pairs, scores) / slow.loss(pairs, before), rel=1e-6
        )
        assert this.diagnostics["bound"] == pytest.approx(slow.loss(pairs, scores), rel=1e-6)
        assert this.diagnostics["misordered"] == pytest.approx(slow.misordered(pairs, scores), abs=1e-9)
        before = scores


@pytest.mark.parametrize("directions", ["up", "both"])
def test_every_threshold_of_a_feature_with_many_values(directions):
    X, y, qid = noisy(n_queries=75, missing=0.05)
    X = X[:, :2].astype(np.float32)
    pairs = slow.pairs_of(y.tolist(), qid.tolist(), Binary().between, by_query=False)
    ways = (1, -1) if directions == "both" else (1,)
    options = {"rounds": 2, "directions": directions, "n_jobs": 1}
    ranker = RankBoost(**options, all_thresholds=True).fit(X, y, qid)
    before = np.zeros(len(y))
    for this, scores in zip(ranker.history_, scores_by_round(ranker, X), strict=True):
        r = slow.largest_agreement(slow.reweighted(pairs, before), X, ways)
        assert this.diagnostics["r"] == pytest.approx(r, rel=1e-9)
        assert this.diagnostics["Z"] == pytest.approx(
            slow.loss(pairs, scores) / slow.loss(pairs, before), rel=1e-6
        )
        before = scores
    assert ranker.model_.feature.max() < 2
    binned = RankBoost(**options, max_bins=10).fit(X, y, qid)
    assert binned.history_[0].diagnostics["r"] < ranker.history_[0].diagnostics["r"]
    with pytest.raises(InputError, match="choose='metric' measures one vote per feature"):
        RankBoost(all_thresholds=True, choose="metric").fit(X, y, qid)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("pair_weights", ["query", "uniform"])
@pytest.mark.parametrize("choose", ["r", "metric"])
def test_the_bound_holds_and_falls_every_round(missing, pair_weights, choose):
    history = RankBoost(rounds=40, pair_weights=pair_weights, choose=choose).fit(*noisy(missing=missing)).history_
    bound, misordered = history.curve("bound"), history.curve("misordered")
    assert (misordered <= bound + 1e-12).all()
    assert (np.diff(bound) < 0).all()  # the third method's step lowers Z below 1 whatever the vote
    assert (history.curve("Z") <= np.sqrt(1 - history.curve("r") ** 2) + 1e-12).all()
    np.testing.assert_allclose(np.cumprod(history.curve("Z")), bound)


def test_a_missing_value_moves_no_score():
    X, y, qid = noisy(missing=0.2)
    model = RankBoost(rounds=20).fit(X, y, qid).model_
    assert model.predict(np.full((1, 6), np.nan)).tolist() == [0.0]


def test_a_perfect_feature_has_a_finite_weight():
    X = np.array([[1.0], [0.0], [1.0], [0.0]])
    ranker = RankBoost(rounds=3).fit(X, [1, 0, 1, 0], [1, 1, 2, 2])
    assert np.isfinite(ranker.predict(X)).all()
    assert ranker.score(X, [1, 0, 1, 0], [1, 1, 2, 2]) == 1.0


@pytest.mark.parametrize("pair_weights", ["uniform", "query"])
def test_weights_count(pair_weights):
    # The first feature ranks the first query, the second feature the second one.
    X, y, qid = np.array([[2, 1], [1, 2], [1, 2], [2, 1]]), [1, 0, 1, 0], [1, 1, 2, 2]
    for weights, feature in (([3, 1], 0), ([1, 3], 1)):
        ranker = RankBoost(rounds=1, pair_weights=pair_weights)
        by_query = clone(ranker).fit(X, y, qid, query_weight=weights)
        by_document = clone(ranker).fit(X, y, qid, sample_weight=np.repeat(weights, 2))
        assert by_query.model_.used_features.tolist() == by_document.model_.used_features.tolist() == [feature]


def test_by_query_a_query_with_many_pairs_counts_no_more_than_others():
    small, many = [[0, 1], [1, 0]], [[1, 0]] * 5 + [[0, 1]] * 5
    X, y = np.array([*small, *small, *many]), [1, 0, 1, 0] + [1] * 5 + [0] * 5
    qid = [1, 1, 2, 2] + [3] * 10
    by_pair, by_query = (
        RankBoost(rounds=1, pair_weights=how).fit(X, y, qid).model_.used_features for how in ("uniform", "query")
    )
    assert (by_pair.tolist(), by_query.tolist()) == ([0], [1])


def test_many_labels_go_the_long_way_round_to_the_same_place():
    X, y, qid = noisy()
    real = y + np.linspace(0, 1e-9, len(y))  # every label its own, the order of pairs almost that of before
    ranker = RankBoost(rounds=5).fit(X, real, qid)
    assert len(np.unique(real)) > 32
    assert (ranker.history_.curve("misordered") <= ranker.history_.curve("bound")).all()


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"choose": "Z"}, "choose must be 'r' or 'metric', not 'Z'."),
        ({"pair_weights": "document"}, "pair_weights must be 'uniform' or 'query', not 'document'."),
        ({"directions": "down"}, "directions must be 'up' or 'both', not 'down'."),
        ({"max_bins": 256}, "max_bins must be an integer from 2 to 255, not 256."),
    ],
)
def test_wrong_parameters_are_told(parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        RankBoost(**parameters).fit(*noisy())


def test_features_that_only_mislead_teach_nothing():
    with pytest.raises(InputError, match="nothing to learn: no feature tells better documents from worse ones"):
        RankBoost().fit([[0.0], [1.0]], [1, 0], [1, 1])
    assert RankBoost(directions="both").fit([[0.0], [1.0]], [1, 0], [1, 1]).rank([[0.0], [1.0]], 1).tolist() == [
        1,
        2,
    ]


@needs_shared_data
@pytest.mark.parametrize("collection", ["OHSUMED", "MQ2008"])
def test_the_bound_holds_on_real_folds(collection):
    train, valid, _ = rw.read_fold(SHARED / "letor" / collection / "Fold1")
    history = RankBoost(NDCG(k=10), rounds=100).fit(train, validation=valid).history_
    assert (history.curve("misordered") <= history.curve("bound")).all()
    assert len(history) == 100

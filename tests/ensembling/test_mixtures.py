import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.ensembling.mixtures import mix_exponentially, within_query
from rankwright.ensembling.weights import exponential_weights, prune_weights
from rankwright.metrics import NDCG
from rankwright.models import Combination, FeatureScorer


def judged(seed=1, n_queries=20):
    """The first two features help, the third is noise, the fourth says nothing."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_queries * 10, 4)).astype(np.float32)
    X[:, 3] = 0.5
    y = np.digitize(X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=len(X)), [0.8, 1.3])
    return RankingData(X, y, np.repeat(np.arange(n_queries), 10))


POOL = [FeatureScorer(feature, n_features=4, missing=0.0) for feature in range(4)]


def test_weights_are_exponential_and_sum_to_1():
    weights = exponential_weights([0.4, 0.5, 0.45], 100.0)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[1] / weights[0] == pytest.approx(np.exp(10))
    assert exponential_weights([0.4, 0.5], 0.0).tolist() == [0.5, 0.5]
    assert exponential_weights([0.0, 1e6], 200.0).tolist() == [0.0, 1.0]


def test_negligible_members_are_dropped_and_the_others_sum_to_1():
    kept = prune_weights(np.array([0.004, 0.6, 0.3, 0.096]), 0.99)
    assert np.flatnonzero(kept).tolist() == [1, 2, 3]
    assert kept.sum() == pytest.approx(1.0)
    assert prune_weights(np.array([0.5, 0.5]), 1.0).tolist() == [0.5, 0.5]
    assert prune_weights(np.array([0.2, 0.8]), 0.5).tolist() == [0.0, 1.0]


def test_a_mixture_beats_its_members_where_they_differ():
    data, test = judged(), judged(2, 200)
    mixture = mix_exponentially(POOL, data)
    metric = NDCG(k=10)
    assert mixture.about["value"] == pytest.approx(metric(data.y, mixture.predict(data), data.qid))
    singles = [metric(test.y, one.predict(test), test.qid) for one in POOL]
    assert metric(test.y, mixture.predict(test), test.qid) > max(singles)


def test_the_exponent_is_the_best_of_those_tried():
    data, metric = judged(), NDCG(k=10)
    values = {
        c: mix_exponentially(POOL, data, exponents=[c], kept_weight=1.0).about["value"] for c in (0, 20, 200)
    }
    chosen = mix_exponentially(POOL, data, exponents=[200, 0, 20], kept_weight=1.0)
    assert chosen.about["value"] == max(values.values())
    assert values[chosen.about["exponent"]] == max(values.values())
    assert metric(data.y, chosen.predict(data), data.qid) == pytest.approx(max(values.values()))


def test_a_pool_of_constant_scores_is_mixed_evenly():
    mixture = mix_exponentially([POOL[3], POOL[3]], judged())
    assert mixture.weights.tolist() == [0.5, 0.5]
    assert mixture.about["exponent"] == 0.0


@pytest.mark.parametrize("values", [[], [np.nan], [[1.0]]])
def test_wrong_values_are_refused(values):
    with pytest.raises(InputError, match="values must be at least one number, and all of them finite"):
        exponential_weights(values, 1.0)


def test_queries_that_do_not_count_cannot_judge():
    data = judged()
    nothing = RankingData(data.X, np.zeros(len(data)), data.qid)
    with pytest.raises(InputError, match="ranker 1 has no finite value: the judging queries must count for ndcg"):
        mix_exponentially(POOL, nothing, metric=NDCG(empty=None))


def test_fitted_rankers_are_mixed_as_their_scorers_are():
    data = judged()
    rankers = [rw.RankSVM(C=C, n_jobs=1).fit(*data) for C in (0.01, 1.0)]
    mixtures = (mix_exponentially(pool, data) for pool in (rankers, [one.model_ for one in rankers]))
    by_rankers, by_scorers = (one.predict(data).tolist() for one in mixtures)
    assert by_rankers == by_scorers
    assert rw.mix_exponentially is mix_exponentially


def test_what_cannot_score_is_refused():
    with pytest.raises(InputError, match="Ranker 2 must be a fitted ranker or a scorer, not RankSVM"):
        mix_exponentially([POOL[0], rw.RankSVM()], judged())


def test_an_empty_pool_is_refused():
    with pytest.raises(InputError, match="at least one scorer"):
        mix_exponentially([], judged())


@pytest.fixture(scope="module")
def everything():
    """A mixture of rankers of every kind that has contributions, trees with and without columns among them."""
    columns = {"rounds": 5, "query_features": ("zscore", "rank")}
    rankers = [
        rw.LambdaMART(rounds=5),
        rw.LambdaMART(**columns),
        rw.MART(**columns),
        rw.McRank(**columns),
        rw.McRank(rounds=5, classes="ordinal"),
        rw.RankSVM(),
        rw.ListNet(rounds=3),
        rw.AdaRank(rounds=5),
        rw.RankBoost(rounds=5),
        rw.MPBoost(rounds=5),
        rw.CalibratedAdaBoost(leaves=(3,), rounds_tried=(3,), splits=2),
    ]
    return [one.fit(judged()) for one in rankers]


def test_contributions_to_a_mixture_of_everything_sum_to_its_scores(everything):
    test, mixture = judged(3), rw.mix_standardised(everything)
    found = mixture.contributions(test)
    np.testing.assert_allclose(found.sum(axis=1), mixture.predict(test), rtol=0, atol=1e-12)
    assert np.abs(found[:, -1]).max() < 1e-12  # relative to the mean of the query
    assert not found[:, 3].any()  # says nothing
    spreads = found[:, :3].std(axis=0)
    assert spreads[2] < 0.5 * min(spreads[:2])


def test_a_mixture_of_everything_scores_as_its_members_and_survives_a_file(everything, tmp_path):
    test, mixture = judged(3), rw.mix_standardised(everything)
    plain = Combination(
        tuple(within_query(one.model_) for one in everything), np.full(len(everything), 1 / len(everything))
    )
    np.testing.assert_allclose(mixture.predict(test), plain.predict(test), rtol=0, atol=1e-13)
    rw.save(mixture, tmp_path / "mixture.rw")
    loaded = rw.load(tmp_path / "mixture.rw")
    assert loaded.predict(test).tobytes() == mixture.predict(test).tobytes()
    assert loaded.contributions(test).tobytes() == mixture.contributions(test).tobytes()
    cut = mixture.first(3)
    assert cut.n_rounds == 3
    np.testing.assert_allclose(cut.predict(test), plain.first(3).predict(test), rtol=0, atol=1e-13)

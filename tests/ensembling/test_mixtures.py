import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.ensembling.mixtures import (
    best_alone,
    exponential_weights,
    mix_exponentially,
    plausible_weights,
    prune_weights,
    weighted_sum,
    within_query,
)
from rankwright.metrics import NDCG
from rankwright.models import Combination, FeatureScorer
from reference import auto as slow


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

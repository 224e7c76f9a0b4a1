import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import t

import rankwright as rw
from auto.examples import METRIC, judge, judged, made_entry, plan_of, rankers
from rankwright.auto import estimate as module
from rankwright.auto import plan as planning
from rankwright.auto.estimate import Estimate, estimate, interval_of
from rankwright.auto.mixing import mix
from rankwright.data.dataset import RankingData
from rankwright.ensembling.mixtures import best_alone, plausible_weights
from rankwright.metrics import NDCG
from rankwright.statistics.intervals import Rival
from rankwright.statistics.paired_tests import compare_values
from reference import auto as slow

PLAN = plan_of(judged())


def estimated(entries, weigh, plan, metric, n_threads):
    return estimate(entries, partial(mix, entries, weigh), plan, metric, n_threads)


@pytest.fixture(scope="module")
def members():
    return judge(rankers(), PLAN)


@pytest.fixture(scope="module")
def held_out_plan():
    """One part of 12 queries judges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "MANY_QUERIES", 20)
        return plan_of(judged(60))


def other_queries(plan):
    """For each part, its judgements and those of all queries that do not judge in it."""
    query, part = plan.held_out.query, plan.held_out.part
    for number in range(part.max() + 1):
        own = {query[this] for this in np.flatnonzero(part == number)}
        yield part == number, np.array([one not in own for one in query])


def literal(plan, values_of_choice):
    """The value of each query: every part is judged by what the other queries chose."""
    found = np.full(len(plan.held_out.query), np.nan)
    for judging, choosing in other_queries(plan):
        found[judging] = values_of_choice(choosing)[judging]
    return np.array(slow.by_query(plan.held_out.query.tolist(), found.tolist()))


def mixture_values(plan, entries):
    return literal(
        plan, lambda some: plan.held_out.values(METRIC, mix(entries, plausible_weights, some).scores, n_threads=1)
    )


def test_the_value_is_that_of_choices_by_the_other_queries(members):
    found = estimated(members, plausible_weights, PLAN, METRIC, 1)
    own = mixture_values(PLAN, members)
    assert found.value == pytest.approx(own.mean(), rel=1e-12)
    expected = slow.interval(own.tolist(), t.ppf(0.975, len(own) - 1))
    assert found.interval == pytest.approx(expected, rel=1e-9)
    assert (found.metric, found.queries) == ("ndcg@10", 12)
    low, high = found.interval
    limits = f"95 % interval {low:.4f} to {high:.4f}, from 12 queries"
    assert found.summary == f"On new queries, expect a mean ndcg@10 of {found.value:.4f} ({limits})."


@pytest.mark.parametrize(
    ("ahead", "p_value", "words", "shade"),
    [
        (0.02, 0.01, "+0.0200", 0.5),
        (-0.01, 0.01, "-0.0100 (behind)", -0.5),
        (-0.01, 0.6, "-0.0100 (behind)", -0.15),
    ],
)
def test_a_mixture_that_is_behind_says_so_in_a_word_and_a_colour(ahead, p_value, words, shade):
    shown = Estimate("map", 0.5, (0.4, 0.6), 30, Rival("RankSVM", 0.5 - ahead, ahead, p_value), None)
    assert words in str(shown)
    (_, row) = shown.tables[0].rows
    assert row[2].shade == shade


def marked_entries(plan):
    """Entries whose value in each judgement is the number of its query: `weigh` sees who is choosing."""
    return [made_entry(name, plan, plan.held_out.query.astype(float)) for name in ("a", "bb")]


@pytest.mark.parametrize("which", ["folds", "held out"])
def test_no_query_takes_part_in_a_choice_that_it_judges(which, held_out_plan):
    plan = PLAN if which == "folds" else held_out_plan
    seen = []

    def weigh(values):
        seen.append(set(values[0].tolist()))
        return np.array([1.0, 0.0])

    estimated(marked_entries(plan), weigh, plan, METRIC, 1)
    everyone = set(plan.held_out.query.tolist())
    judging = [everyone - one for one in seen]
    assert all(judging)
    assert set().union(*judging) == everyone
    if which == "folds":
        expected = [set(plan.held_out.query[some].tolist()) for some, _ in other_queries(plan)]
        assert judging == expected
    else:
        assert sorted(map(len, judging)) == [2, 2, 2, 3, 3]
        assert sum(map(len, judging)) == len(everyone)  # each query judges one choice


def test_choosing_among_members_that_are_only_noise_gains_nothing():
    """The best of 30 members that differ by luck looks far better than it is."""
    rng, plan, best, expected = np.random.default_rng(0), plan_of(judged(), repeats=1), [], []
    for _ in range(15):
        values = [rng.uniform(0, 1, len(plan.held_out.query)) for _ in range(30)]
        entries = [made_entry("x" * number, plan, one) for number, one in enumerate(values, start=1)]
        found = estimated(entries, best_alone, plan, METRIC, 1).best_member
        best.append(max(one.mean() for one in values))
        assert values[len(found.name) - 1].mean() == best[-1]
        expected.append(found.value)
    assert np.mean(best) > 0.64
    assert np.mean(expected) == pytest.approx(0.5, abs=0.05)


def test_the_best_member_is_chosen_by_the_other_queries(members):
    found = estimated(members, plausible_weights, PLAN, METRIC, 1).best_member

    def values_of(choosing):
        tables = [one.values[one.best_index(choosing)] for one in members]
        return max(tables, key=lambda one: one[choosing].mean())

    own = literal(PLAN, values_of)
    test = compare_values(mixture_values(PLAN, members), own)
    assert found.value == pytest.approx(own.mean())
    assert found.ahead == pytest.approx(test.difference)
    assert found.p_value == test.p_value
    assert found.name == max(members, key=lambda one: one.curve[one.best_index()]).name


def test_weights_of_one_member_make_it_the_best_member(members):
    found = estimated(members[:1], plausible_weights, PLAN, METRIC, 1)
    assert found.best_member.value == found.value
    assert (found.best_member.ahead, found.best_member.p_value) == (0.0, 1.0)


# The best single feature


def feature_values(plan, X, metric=METRIC):
    """The metric of every judgement for each feature in either direction; a missing value comes last."""
    groups = plan.whole.data.groups
    rows = np.concatenate([np.flatnonzero(groups.query_of_row == one) for one in plan.held_out.query])
    table = {}
    for feature in range(X.shape[1]):
        for sign in (1, -1):
            column = sign * X[rows, feature].astype(float)
            table[feature, sign] = plan.held_out.values(metric, np.nan_to_num(column, nan=-1e300), n_threads=1)
    return table


def best_feature(data, metric=METRIC):
    plan = plan_of(data)
    entries = [made_entry("member", plan, np.full(len(plan.held_out.query), 0.5))]
    return plan, estimated(entries, plausible_weights, plan, metric, 1).best_feature


def checked_best_feature(data):
    plan, found = best_feature(data)
    table = feature_values(plan, plan.whole.data.X)
    own = literal(plan, lambda some: max(table.values(), key=lambda one: one[some].mean()))
    assert found.value == pytest.approx(own.mean(), rel=1e-12)
    return found, max(table, key=lambda one: table[one].mean())


def test_the_best_feature_is_chosen_by_the_other_queries():
    found, (feature, sign) = checked_best_feature(judged())
    assert found.name == f"feature {feature + 1}"
    assert sign == 1


def test_lower_values_may_be_better():
    data = judged(feature_names=["age", "length", "price", "views"])
    down = RankingData(-data.X, data.y, data.qid, feature_names=data.feature_names)
    found, (feature, sign) = checked_best_feature(down)
    assert found.name == f"{data.feature_names[feature]}, ascending"
    assert sign == -1


def with_missing(data, fraction=0.3):
    X = data.X.copy()
    X[np.random.default_rng(0).uniform(size=X.shape) < fraction] = np.nan
    return RankingData(X, data.y, data.qid)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_missing_value_comes_last_in_either_direction(sign):
    data = with_missing(judged())
    found, (_, best) = checked_best_feature(RankingData(sign * data.X, data.y, data.qid))
    assert best == sign
    assert found.name.endswith("ascending") == (sign < 0)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_missing_value_comes_last_even_among_huge_values(sign):
    """To subtract 1 from them changes nothing."""
    data = with_missing(judged())
    checked_best_feature(RankingData(sign * data.X * np.float32(1e30), data.y, data.qid))


@pytest.mark.parametrize("constant", [0.0, 7.0, np.nan])
def test_constant_features_and_missing_ones_cannot_be_the_best(constant):
    data = judged()
    X = data.X.copy()
    X[:, 0] = constant
    X[::2, 1] = np.nan
    X[1::2, 1] = 3.0  # constant where it is known
    found = best_feature(RankingData(X, data.y, data.qid))[1]
    assert found.name in {f"feature {number}{order}" for number in (3, 4) for order in ("", ", ascending")}


def test_there_may_be_no_feature_to_choose():
    data = judged()
    X = np.full_like(data.X, 2.0)
    X[:, 1] = np.nan
    X[:, 2] = np.where(np.arange(len(X)) % 2, np.nan, 1.0).astype(np.float32)
    assert best_feature(RankingData(X, data.y, data.qid))[1] is None


# Queries that do not count


def test_queries_that_do_not_count_are_left_out():
    data = judged()
    y = data.y.copy()
    y[np.isin(data.groups.query_of_row, [0, 4])] = 0
    plan, metric = plan_of(RankingData(data.X, y, data.qid)), NDCG(k=10, empty=None)
    entries = judge(rankers()[:1], plan, metric=metric)
    found = estimated(entries, plausible_weights, plan, metric, 1)
    values = np.array(slow.by_query(plan.held_out.query.tolist(), entries[0].values[0].tolist()))
    assert found.queries == 10
    assert found.value == pytest.approx(np.nanmean(values))
    assert found.interval == pytest.approx(slow.interval(values.tolist(), t.ppf(0.975, 9)))


def test_the_value_of_one_query_has_no_interval():
    assert interval_of(np.array([0.5, np.nan])) == pytest.approx((np.nan, np.nan), nan_ok=True)
    assert interval_of(np.array([0.25, 0.25, np.nan])) == (0.25, 0.25)
    assert interval_of(np.array([0.25, 0.25, np.nan]), 0.125) == (0.375, 0.375)
    assert interval_of(np.array([0.5, 0.75, 1.0]), 0.01)[1] == 1.0
    assert interval_of(np.array([0.0, 0.25, 0.5]), -0.01)[0] == 0.0


def test_a_gain_does_not_lift_the_value_beyond_the_range_of_the_metric(monkeypatch):
    plan = plan_of(judged(40))
    entries = judge([rw.RankSVM()], plan)
    monkeypatch.setattr(module, "learning_gain", lambda *_: 0.9)
    found = estimated(entries, plausible_weights, plan, METRIC, 1)
    assert (found.value, found.interval[1]) == (1.0, 1.0)
    assert found.best_member.value == 1.0
    assert found.best_feature.ahead == 1.0 - found.best_feature.value


def test_the_interval_is_of_plain_numbers(members):
    found = estimated(members, plausible_weights, PLAN, METRIC, 1)
    assert [type(one) for one in (found.value, *found.interval)] == [float] * 3


def test_judgements_that_do_not_count_at_all_give_no_value():
    plan = plan_of(judged())
    nothing = np.full(len(plan.held_out.query), np.nan)
    never = NDCG(k=10, empty=None)
    y = np.zeros_like(plan.held_out.labels.y)
    blank = type(plan.held_out)(plan.held_out.labels._replace(y=y), plan.held_out.query, plan.held_out.part)
    empty = type(plan)(plan.whole, plan.parts, blank, plan.folds, plan.repeats)
    found = estimated([made_entry("member", empty, nothing)], plausible_weights, empty, never, 1)
    assert np.isnan(found.value)
    assert found.queries == 0
    assert np.isnan([found.best_member.value, found.best_feature.value, found.best_feature.p_value]).all()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["value"] is None


# One held-out part


def test_a_single_judging_query_has_nobody_to_choose_for_it(held_out_plan):
    labels, groups = held_out_plan.held_out.labels, held_out_plan.held_out.labels.groups
    rows = groups.rows[: groups.offsets[1]]
    one = type(held_out_plan.held_out)(
        labels._replace(y=labels.y[rows], groups=groups.of_one(len(rows))),
        held_out_plan.held_out.query[:1],
        held_out_plan.held_out.part[:1],
    )
    plan = type(held_out_plan)(held_out_plan.whole, held_out_plan.parts, one, 1, 1)
    found = estimated(
        [made_entry(name, plan, np.array([0.5])) for name in "ab"], plausible_weights, plan, METRIC, 1
    )
    assert 0 <= found.value <= 1
    assert np.isnan(found.interval).all()


def test_the_value_of_held_out_queries(held_out_plan):
    entries = judge(rankers()[:2], held_out_plan)
    found = estimated(entries, plausible_weights, held_out_plan, METRIC, 1)
    assert found.queries == 12
    values = held_out_plan.held_out.values(METRIC, mix(entries, plausible_weights).scores, 1)
    assert found.value == pytest.approx(values.mean(), abs=0.05)
    assert found == estimated(entries, plausible_weights, held_out_plan, METRIC, 3)  # any number of threads


def test_an_estimate_is_plain_json(members):
    found = estimated(members, plausible_weights, PLAN, METRIC, 1)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts == found.to_dict()
    assert list(facts) == ["metric", "value", "interval", "queries", "best_member", "best_feature", "baseline"]
    assert facts["interval"] == list(found.interval)
    assert facts["best_member"]["name"] == found.best_member.name
    assert set(facts["best_feature"]) == {"name", "value", "ahead", "p_value"}


def test_what_is_gained_by_learning_from_all_queries_is_added_and_takes_no_part_in_the_test():
    """With 10 folds, fits learn from 9/10: the shortfall c / n grows by c (2 - 10/9) from there to the halves."""
    plan = plan_of(judged(40))
    entries = judge([rw.RankSVM(), rw.LambdaMART(rounds=12, min_documents=2)], plan)
    found = estimated(entries, plausible_weights, plan, METRIC, 1)
    without = estimated(entries, plausible_weights, replace(plan, halves=None), METRIC, 1)
    chosen = mix(entries, plausible_weights)
    most = METRIC.mean(plan.held_out.labels.y, chosen.scores, plan.held_out.labels.groups)
    half = METRIC.mean(plan.halves.held_out.labels.y, chosen.half_scores, plan.halves.held_out.labels.groups)
    gain = (most - half) / (2 - 10 / 9) * (10 / 9 - 1)
    assert gain != 0
    assert found.value == pytest.approx(without.value + gain, rel=1e-12)
    assert found.best_feature.ahead == pytest.approx(without.best_feature.ahead + gain, rel=1e-9)
    assert found.best_feature.p_value == without.best_feature.p_value
    assert found.best_member.p_value == without.best_member.p_value

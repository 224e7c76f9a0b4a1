import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auto.examples import METRIC, canonical, judged, plan_of, shuffled
from properties import examples
from rankwright.auto import plan as module
from rankwright.auto.plan import FitPlan, HeldOut, division_for
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.metrics import NDCG
from rankwright.training.training_set import QueryLabels, TrainingSet
from reference import auto as slow


def contents(data):
    """The documents of every query, apart from the order of queries, documents and names."""
    return sorted(
        sorted((tuple(x), float(y)) for x, y in zip(data.X[rows].tolist(), data.y[rows], strict=True))
        for rows in data.groups
    )


@pytest.mark.parametrize("n_queries", [2, 3, 4, 5, 12, 23])
def test_every_query_judges_as_often_as_there_are_repeats(n_queries):
    plan = plan_of(judged(n_queries))
    assert plan.folds == min(10, n_queries)
    assert np.bincount(plan.held_out.query, minlength=n_queries).tolist() == [plan.repeats] * n_queries
    assert len(plan.parts) == plan.folds * plan.repeats
    sizes = np.bincount(plan.held_out.part)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("n_queries", [2, 3, 4, 12])
def test_no_query_judges_in_a_part_that_learned_from_it(n_queries):
    plan = plan_of(judged(n_queries))
    everything = contents(plan.whole.data)
    for part in plan.parts:
        learned, judging = contents(part.train.data), contents(part.judges.data)
        assert sorted(learned + judging) == everything
        assert not [one for one in judging if one in learned]
        assert learned


def test_the_rows_of_a_part_are_those_that_it_learns_from():
    plan = plan_of(judged())
    for part in plan.parts:
        np.testing.assert_array_equal(part.train.data.X, plan.whole.data.X[part.rows])
        np.testing.assert_array_equal(part.train.data.y, plan.whole.data.y[part.rows])


def test_judgements_are_those_of_the_parts_one_after_the_other():
    plan = plan_of(judged())
    labels, groups = plan.held_out.labels, plan.whole.data.groups
    np.testing.assert_array_equal(labels.y, np.concatenate([one.judges.data.y for one in plan.parts]))
    sizes = np.concatenate([one.judges.data.groups.sizes for one in plan.parts])
    np.testing.assert_array_equal(labels.groups.sizes, sizes)
    judgements = zip(labels.groups, plan.held_out.query, strict=True)
    for rows, query in judgements:
        own = slice(groups.offsets[query], groups.offsets[query + 1])
        np.testing.assert_array_equal(labels.y[rows], plan.whole.data.y[own])


def test_parts_depend_neither_on_the_order_of_rows_nor_on_the_names_of_queries():
    data = judged(23)
    plans = [plan_of(one) for one in (data, shuffled(data), shuffled(data, seed=6))]
    for other in plans[1:]:
        np.testing.assert_array_equal(other.held_out.query, plans[0].held_out.query)
        np.testing.assert_array_equal(other.held_out.labels.y, plans[0].held_out.labels.y)
        for one, two in zip(plans[0].parts, other.parts, strict=True):
            np.testing.assert_array_equal(one.train.data.X, two.train.data.X)
            np.testing.assert_array_equal(one.judges.data.X, two.judges.data.X)


def test_another_seed_gives_other_parts_and_the_same_seed_the_same():
    whole = canonical(judged(23))
    one, same, other = (FitPlan.of(whole, seed).held_out.query.tolist() for seed in (0, 0, 1))
    assert one == same != other


def test_fewer_queries_have_more_folds_and_repeats():
    assert [division_for(n, 10 * n) for n in (2, 4, 10, 59)] == [(2, 2), (4, 2), (10, 2), (10, 2)]
    assert [division_for(n, 10 * n) for n in (60, 499, 500, 2999)] == [(10, 1), (10, 1), (5, 1), (5, 1)]
    assert [division_for(n, 20_000) for n in (50, 499, 2999)] == [(5, 1)] * 3  # many documents
    assert division_for(3000, 30_000) == (1, 1)
    assert division_for(50, 200_000) == (1, 1)
    assert division_for(49, 200_000) == (5, 1)  # a fifth of so few queries could judge nothing


def test_the_number_of_repeats_can_be_given():
    plan = plan_of(judged(), repeats=1)
    assert (plan.repeats, len(plan.parts)) == (1, 10)
    assert str(plan) == "judged out of fold by 12 queries in 10 folds"
    assert str(plan_of(judged())) == "judged out of fold by 12 queries in 10 folds, 2 times"


@pytest.mark.parametrize("threshold", ["MANY_QUERIES", "MANY_DOCUMENTS"])
def test_one_part_is_held_out_if_there_are_very_many_queries_or_documents(monkeypatch, threshold):
    monkeypatch.setattr(module, threshold, 20)
    plan = plan_of(judged(60, n_docs=2))
    (part,) = plan.parts
    assert (plan.folds, plan.repeats) == (1, 1)
    assert len(part.judges.data.groups) == len(np.unique(plan.held_out.query)) == 12
    assert len(part.train.data.groups) == 48
    assert sorted(contents(part.train.data) + contents(part.judges.data)) == contents(plan.whole.data)
    assert not plan.held_out.part.any()
    assert str(plan) == "judged by 12 queries held out"


@pytest.mark.parametrize("n_queries", [0, 1])
def test_a_single_query_cannot_judge_what_it_taught(n_queries):
    data = judged(2).take_queries(np.arange(n_queries))
    with pytest.raises(InputError, match=r"^AutoRanker needs at least 2 judged queries: some to learn from"):
        FitPlan.of(TrainingSet(data), 0)


def test_values_are_those_of_the_metric():
    plan = plan_of(judged())
    scores = np.random.default_rng(0).normal(size=len(plan.held_out.labels.y))
    found = plan.held_out.values(METRIC, scores, 2)
    labels = plan.held_out.labels
    assert found.tolist() == [METRIC(labels.y[rows], scores[rows]) for rows in labels.groups]


def test_a_query_that_does_not_count_is_left_out_of_the_mean_alone():
    data = judged(4)
    y = data.y.copy()
    y[data.groups.query_of_row == 2] = 0
    plan = plan_of(RankingData(data.X, y, data.qid))
    scores = np.arange(len(plan.held_out.labels.y), dtype=float)
    values = plan.held_out.by_query(plan.held_out.values(NDCG(empty=None), scores, 1))
    assert np.isnan(values).sum() == 1
    assert len(values) == 4


@st.composite
def judgements(draw):
    query = draw(st.lists(st.integers(0, 6), min_size=1, max_size=30))
    value = st.one_of(st.floats(0, 1), st.just(np.nan))
    values = draw(st.lists(value, min_size=len(query), max_size=len(query)))
    mask = draw(st.none() | st.lists(st.booleans(), min_size=len(query), max_size=len(query)))
    return query, values, mask


@examples(200)
@given(judgements())
def test_values_by_query_are_those_of_the_slow_twin(given_values):
    query, values, mask = given_values
    groups = QueryGroups.of_sizes(np.ones(len(query), dtype=int))
    held_out = HeldOut(QueryLabels(np.zeros(len(query)), groups), np.array(query), np.zeros(len(query), dtype=int))
    found = held_out.by_query(np.array(values), None if mask is None else np.array(mask))
    np.testing.assert_allclose(found, slow.by_query(query, values, mask), rtol=1e-12)


def in_weeks(data, n_weeks=6):
    """The same data with a shown column: queries in turn belong to the weeks."""
    return data.with_columns(None, {"week": [f"{int(query) % n_weeks}" for query in data.qid]})


def test_parts_in_time_order_learn_from_earlier_queries():
    plan = plan_of(in_weeks(judged(24)), time_column="week")
    assert (plan.folds, plan.repeats, plan.halves) == (5, 1, None)
    assert plan.periods == ("1", "2", "3", "4", "5")
    assert str(plan) == "judged by 20 later queries in 5 folds in time order, each by fits on earlier queries"
    for number, part in enumerate(plan.parts, start=1):
        weeks = {int(week) for week in part.train.data.shown["week"]}
        assert weeks == set(range(number))
        assert set(part.judges.data.shown["week"]) == {str(number)}
        np.testing.assert_array_equal(plan.whole.data.X[part.rows], part.train.data.X)
    np.testing.assert_array_equal(
        plan.whole.data.y[plan.judging_rows], np.concatenate([part.judges.data.y for part in plan.parts])
    )


def test_many_queries_hold_out_the_latest(monkeypatch):
    monkeypatch.setattr(module, "MANY_QUERIES", 20)
    plan = plan_of(in_weeks(judged(30), 10), time_column="week")
    assert plan.periods == ("8 to 9",)
    assert len(plan.parts[0].train.data.groups) == 24


def test_two_times_are_one_fold():
    plan = plan_of(in_weeks(judged(12), 2), time_column="week")
    assert plan.periods == ("1",)
    assert not plan.is_large  # so that it has the portfolio of few queries
    with pytest.raises(
        InputError, match=r"^2 periods need at least 2 different times; column 'week' has 1 different"
    ):
        plan_of(in_weeks(judged(12), 1), time_column="week")


def test_the_earliest_queries_must_have_something_to_learn_from():
    data = in_weeks(judged(12))
    y = np.where([week == "0" for week in data.shown["week"]], 0, data.y)
    same = RankingData(data.X, y, data.qid).with_columns(None, data.shown)
    with pytest.raises(InputError, match=r"among the earliest ones, from which the first fold learns: 0\.$"):
        plan_of(same, time_column="week")

"""What is told about members, against the same computed slowly and literally."""

from math import isnan, sqrt
from statistics import fmean, stdev
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from auto.small_run import small_ranker
from properties import examples
from rankwright.auto.frontier import MARGIN, Priced, offers
from rankwright.auto.member_analyses import (
    JudgedQueries,
    best_member,
    gains_and_losses,
    likeness,
    slices_of,
    strength,
)
from rankwright.data.groups import QueryGroups


@pytest.fixture(scope="module")
def run():
    return small_ranker().run_


def slow_likeness(one, other, queries):
    found = []
    for rows in queries:
        a, b = ([column[row] for row in rows] for column in (one, other))
        if len(set(a)) > 1 and len(set(b)) > 1:
            found.append(spearmanr(a, b).statistic)
    return fmean(found) if found else np.nan


@examples(50)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 7), min_size=1, max_size=6))
def test_likeness_is_the_mean_of_spearmans_correlations(seed, sizes):
    groups = QueryGroups.of_sizes(sizes)
    random = np.random.default_rng(seed)
    columns = [random.integers(0, levels, groups.n_rows).astype(float) for levels in (2, 4, 100)]
    expected = [[slow_likeness(one, other, groups) for other in columns] for one in columns]
    np.testing.assert_allclose(likeness(columns, groups), expected, atol=1e-12)


def test_queries_of_any_row_order():
    groups = QueryGroups.of([7, 3, 7, 3, 7])
    columns = [np.array([1.0, 5.0, 2.0, 4.0, 3.0]), np.array([1.0, 1.0, 3.0, 2.0, 2.0])]
    assert likeness(columns, groups)[0, 1] == pytest.approx((0.5 - 1.0) / 2)


def test_likeness_is_unknown_where_a_member_tells_nothing_apart():
    found = likeness([np.zeros(3), np.arange(3.0)], QueryGroups.of_sizes([3]))
    assert np.isnan(found[0]).all()
    assert found[1, 1] == pytest.approx(1.0)


def queries_of(documents, relevant, mixture=None):
    n_queries = len(documents)
    values = np.zeros(n_queries) if mixture is None else np.array(mixture, dtype=float)
    return JudgedQueries(np.arange(n_queries), np.array(documents), np.array(relevant), values)


def slow_quarters(amounts):
    """Each amount belongs to the quarter in which its last equal stands among all, in ascending order."""
    known = sorted(one for one in amounts if not isnan(one))
    bounds = [known[-(-len(known) * quarter // 4) - 1] for quarter in (1, 2, 3, 4)]
    quarters = {}
    for query, amount in enumerate(amounts):
        if not isnan(amount):
            quarters.setdefault(next(one for one in bounds if amount <= one), []).append(query)
    return [quarters[bound] for bound in sorted(quarters)]


@examples(100)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=40))
def test_slices_are_quarters_of_the_queries(rows):
    documents, relevant, values = map(list, zip(*rows, strict=True))
    members = [SimpleNamespace(values=np.array(values)), SimpleNamespace(values=np.zeros(len(values)))]
    ease = [one / 2 for one in values]
    found = slices_of(queries_of(documents, relevant), members)
    for by, amounts in (("documents", documents), ("relevant", relevant), ("difficulty", ease)):
        own = [one for one in found if one.by == by]
        assert [np.flatnonzero(one.queries).tolist() for one in own] == slow_quarters(amounts)
        for one in own:
            some = [amounts[query] for query in np.flatnonzero(one.queries)]
            assert (one.low, one.high) == (min(some), max(some))


def test_queries_without_a_value_have_no_difficulty():
    members = [SimpleNamespace(values=np.array([0.1, np.nan, 0.3]))]
    found = [one for one in slices_of(queries_of([1, 1, 1], [1, 1, 1]), members) if one.by == "difficulty"]
    assert [np.flatnonzero(one.queries).tolist() for one in found] == [[0], [2]]


def test_strength_is_the_mean_difference_with_its_error():
    member, mixture = np.array([0.5, 0.9, np.nan, 0.2, 0.7]), np.array([0.4, 0.6, 0.1, 0.4, 0.1])
    found = strength(member, mixture, np.array([True, True, True, True, False]))
    differences = [0.1, 0.3, -0.2]
    assert found.mean == pytest.approx(fmean(differences))
    assert found.error == pytest.approx(stdev(differences) / sqrt(3))


def test_one_query_has_no_error():
    found = strength(np.array([0.5]), np.array([0.25]), np.array([True]))
    assert found.mean == 0.25
    assert isnan(found.error)


@examples(100)
@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan])] * 2), max_size=12), st.integers(1, 4))
def test_greatest_gains_and_losses(pairs, most):
    mixture, member = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    gains, losses = gains_and_losses(mixture, member, most)
    up = sorted((-(a - b), query) for query, (a, b) in enumerate(pairs) if a > b)[:most]
    down = sorted((a - b, query) for query, (a, b) in enumerate(pairs) if a < b)[:most]
    assert [(-one.gain, one.query) for one in gains] == up
    assert [(one.gain, one.query) for one in losses] == down
    assert all((one.mixture, one.member) == pairs[one.query] for one in gains + losses)


def test_offers_are_what_round_budgets_buy():
    frontier = [Priced(None, *one) for one in ((7.0, 0.5), (9.0, 0.6), (4.8, 0.4), (1.9, 0.3), (0.04, 0.1))]
    expected = []
    for budget in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0):
        bought = next(one for one in frontier if one.microseconds <= MARGIN * budget)
        if not expected or expected[-1][1] is not bought:
            expected.append((budget, bought))
    assert [tuple(one) for one in offers(frontier)] == expected
    assert [one.budget for one in offers(frontier)] == [0.05, 5.0, 10.0]


def test_members_are_judged_with_the_rounds_of_their_standings(run):
    members = run.members
    assert tuple(one.standing for one in members) == run.standings.rows
    for one in members:
        assert np.mean(one.values) == pytest.approx(one.standing.value)
        recomputed = run.plan.held_out.values(run.frontier.metric, one.scores, 1)
        np.testing.assert_allclose(run.plan.held_out.by_query(recomputed), one.values)
    assert best_member(members).standing.value == max(one.standing.value for one in members)


def test_queries_are_those_of_the_data(run):
    found, data = run.queries, run.plan.whole.data
    for place, name in enumerate(found.ids):
        labels = data.y[data.qid == name]
        assert found.documents[place] == len(labels)
        assert found.relevant[place] == sum(label > 0 for label in labels)
    assert len(found.ids) == len(set(data.qid))
    assert np.mean(found.mixture) == pytest.approx(run.kept.value)


def test_the_model_is_among_the_mixtures(run):
    assert any(one is run.kept for one in run.mixtures)
    assert len(run.mixtures) == len(list(run.frontier.cheaper_and_cheaper(run.entries)))
    names = {one.name for one in run.standings if one.weight}
    assert {one.split(" (")[0] for one in run.kept.mix.member_names} == names

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import rankwright as rw
from auto.examples import METRIC, judge, judged, made_entry, plan_of, rankers
from rankwright.auto import ranker as ranker_module
from rankwright.auto.estimate import crossed
from rankwright.auto.frontier import MARGIN, Frontier, Prices
from rankwright.base.errors import InputError
from rankwright.ensembling.mixtures import best_alone, plausible_weights
from rankwright.evaluation import timing
from rankwright.metrics.base import mean_over_queries
from rankwright.models import Combination, LinearScorer, TreeEnsemble

DATA = judged()
LINEAR = LinearScorer(np.ones(4), np.zeros(4))
PLAN = plan_of(DATA)
DEEP = [rw.LambdaMART(rounds=30, min_documents=2), rw.MART(rounds=12, min_documents=2), *rankers()[::2]]


@pytest.fixture(scope="module")
def members():
    return judge(DEEP, PLAN)


class FixedPrices(Prices):
    """A linear scorer takes 1 microsecond, a tree 0.5; a mixture what its members take together."""

    def of(self, scorer):
        match scorer:
            case Combination(members=members):
                return sum(map(self.of, members))
            case LinearScorer():
                return 1.0
            case TreeEnsemble():
                return 0.5 * scorer.n_trees
        return self.of(scorer.inner)


def market(weigh=plausible_weights, prices=FixedPrices):
    return Frontier(PLAN.held_out, METRIC, prices.on(PLAN.whole.data), 1, weigh)


def value_of(chosen):
    return mean_over_queries(PLAN.held_out.values(METRIC, chosen.scores, 1))


def test_a_mixture_is_priced_with_its_value_and_its_time(members):
    found = market().priced(members)
    assert found.value == value_of(found.mix)
    assert found.microseconds == FixedPrices(DATA).of(found.mix.scorer())
    assert found.mix.entries == tuple(members)


@pytest.mark.parametrize("weigh", [plausible_weights, best_alone])
def test_mixtures_get_cheaper_and_cheaper_down_to_one_that_cannot_be_cut(members, weigh):
    found = list(market(weigh).cheaper_and_cheaper(members))
    costs = [one.microseconds for one in found]
    assert costs[0] == market(weigh).priced(members).microseconds
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs)
    last = found[-1].mix
    assert len(last.entries) == 1
    assert last.entries[0].rounds[last.round_indices[0]] in (0, 5)
    for one in found:
        assert one.value == value_of(one.mix)
        assert (one.mix.weights > 0).all()
        assert one.mix.weights.sum() == pytest.approx(1.0)


def test_each_step_leaves_out_one_member_or_half_of_the_rounds_of_one(members):
    found = [one.mix for one in market().cheaper_and_cheaper(members)]
    for before, after in pairwise(found):
        rounds = {
            one.name: one.rounds[place] for one, place in zip(before.entries, before.round_indices, strict=True)
        }
        left = {one.name: one.rounds[place] for one, place in zip(after.entries, after.round_indices, strict=True)}
        gone = set(rounds) - set(left)
        fewer = [name for name in left if left[name] < rounds[name]]
        assert set(left) <= set(rounds)
        assert gone or fewer
        if not gone:
            assert left[fewer[0]] <= rounds[fewer[0]] / 2


def test_what_buys_least_per_microsecond_goes_first():
    """Of two members that are nearly as good, the dearer one goes; a poor one is not in the mixture at all."""
    rng = np.random.default_rng(0)
    values = rng.uniform(0.4, 0.9, len(PLAN.held_out.query))
    trees = rw.LambdaMART(rounds=10).fit(DATA).model_
    entries = [
        made_entry("dear", PLAN, values, scorer=trees),
        made_entry("cheap", PLAN, values + 1e-4 * rng.normal(size=len(values)), scorer=LINEAR),
        made_entry("poor one", PLAN, values - rng.uniform(0.3, 0.4, len(values)), scorer=LINEAR),
    ]
    names = [[one.name for one in found.mix.entries] for found in market().cheaper_and_cheaper(entries)]
    scores = {one.name: one.scores[0] for one in entries}
    both = PLAN.held_out.values(METRIC, scores["dear"] + scores["cheap"], 1).mean()
    dear, cheap = (PLAN.held_out.values(METRIC, scores[name], 1).mean() for name in ("dear", "cheap"))
    expected = "cheap" if (cheap - both) / 5 > (dear - both) / 1 else "dear"
    assert names == [["dear", "cheap"], [expected]]


@pytest.mark.parametrize("budget", [100.0, 9.0, 7.0, 4.0, 3.0, 1.2])
def test_the_mixture_is_fast_enough_and_at_least_as_good_as_the_first_that_got_cheap_enough(members, budget):
    path = [one for one in market().cheaper_and_cheaper(members) if one.microseconds <= MARGIN * budget]
    found = market().within(members, budget)
    assert found.microseconds <= MARGIN * budget
    assert found.value == value_of(found.mix)
    if path:
        assert found.value >= path[0].value
    alone = [one.up_to(place) for one in members for place in range(len(one.rounds))]
    fast = [one for one in map(market().priced, ([one] for one in alone)) if one.microseconds <= MARGIN * budget]
    assert found.value >= max(one.value for one in fast) or found.microseconds == path[0].microseconds


def test_a_budget_that_the_whole_mixture_fits_changes_nothing(members):
    whole = market().priced(members)
    found = market().within(members, whole.microseconds / MARGIN + 1e-9)
    assert (found.microseconds, found.value) == (whole.microseconds, whole.value)
    assert found.mix.entries == whole.mix.entries  # those without a weight too: the estimate needs them


@pytest.fixture(scope="module")
def rich_and_poor(members):
    """Trees that are far ahead of a linear model, which is not in their mixture."""
    trees = members[0]
    values = trees.values[trees.best_index()]
    poor = made_entry("poor", PLAN, values - 0.4 - 0.01 * (PLAN.held_out.query % 3), scorer=LINEAR)
    for one in market().cheaper_and_cheaper([trees, poor]):
        assert [member.name for member in one.mix.entries] == ["LambdaMART"]
    return [trees, poor]


def test_a_member_that_is_not_in_the_mixture_is_taken_if_nothing_else_is_fast_enough(rich_and_poor):
    found = market().within(rich_and_poor, 1.5)
    assert [one.name for one in found.mix.entries] == ["poor"]
    assert (found.microseconds, found.value) == (1.0, value_of(found.mix))


def test_of_the_members_that_are_fast_enough_the_best_is_taken(rich_and_poor):
    """5 trees take 2.5 microseconds."""
    found = market(best_alone).within(rich_and_poor, 3.0)
    assert [one.name for one in found.mix.entries] == ["LambdaMART"]
    assert found.mix.entries[0].rounds[found.mix.round_indices[0]] in (3, 5)


def test_a_budget_below_the_cheapest_says_which_would_do(rich_and_poor):
    with pytest.raises(InputError) as caught:
        market().within(rich_and_poor, 0.5)
    message = "No member scores a document in 0.5 microseconds: poor takes 1; max_microseconds=1.3 would do."
    assert str(caught.value) == message
    assert market().within(rich_and_poor, 1.2).microseconds == 1.0


# Times of this machine


def test_scoring_is_timed_on_whole_queries(monkeypatch):
    monkeypatch.setattr(timing, "SAMPLE", 20)
    sample = Prices.on(PLAN.whole.data).sample
    assert len(sample.groups) == 4  # of 6 documents: the first that have at least 20 together
    np.testing.assert_array_equal(sample.X, PLAN.whole.data.X[:24])
    monkeypatch.setattr(timing, "SAMPLE", 10_000)
    assert len(Prices.on(PLAN.whole.data).sample) == len(DATA)


def test_the_time_of_an_entry_is_measured_once(members, monkeypatch):
    prices, timed = Prices.on(PLAN.whole.data), []
    monkeypatch.setattr(Prices, "of", lambda _, scorer: timed.append(scorer.n_rounds) or 1.0)
    for place in (0, 11, 0, 11):
        prices.of_entry(members[0], place)
    assert timed == [3, 30]


def auto(**parameters):
    return rw.AutoRanker(portfolio=DEEP, n_jobs=1, **parameters)


@pytest.fixture(scope="module")
def whole():
    return auto().fit(DATA)


def test_the_budget_holds_as_measured(whole):
    budget = 0.7 * whole.run_.whole.microseconds
    found = auto(max_microseconds=budget).fit(DATA)
    assert found.run_.kept.microseconds <= MARGIN * budget
    assert Prices.on(DATA).of(found.model_) <= 5 * budget  # this machine may be busy
    assert {one.name for one in found.standings_} == {one.name for one in whole.standings_}


def test_the_model_is_the_mixture_within_the_budget(members, monkeypatch):
    monkeypatch.setattr(ranker_module, "Prices", FixedPrices)
    found, expected = auto(max_microseconds=4.0).fit(DATA), market().within(members, 4.0)
    assert (found.run_.kept.microseconds, found.run_.kept.value) == (expected.microseconds, expected.value)
    np.testing.assert_array_equal(found.predict(DATA), expected.mix.scorer().predict(DATA))
    kept = {one.name: one.weight for one in found.standings_ if one.weight}
    names = [one.name for one in expected.mix.entries]
    assert kept == dict(zip(names, expected.mix.weights.tolist(), strict=True))
    assert len(found.standings_) == 4
    assert found.run_.whole.microseconds > 4.0


def test_the_estimate_is_corrected_for_what_the_budget_keeps(members, monkeypatch):
    monkeypatch.setattr(ranker_module, "Prices", FixedPrices)
    held_out = PLAN.held_out

    def chosen_by(judgements):
        found = replace(market(), judgements=judgements).within(members, 4.0)
        return held_out.values(METRIC, found.mix.scores, 1)

    expected = mean_over_queries(held_out.by_query(crossed(held_out, chosen_by)))
    found = auto(max_microseconds=4.0).fit(DATA)
    assert found.estimate_.value == pytest.approx(expected, rel=1e-12)
    assert found.estimate_.value < found.run_.kept.value


@pytest.mark.parametrize("budget", [100.0, 4.0])
def test_other_judgements_neither_choose_nor_value(members, budget):
    some = PLAN.held_out.query % 2 == 0
    rows = some[PLAN.held_out.labels.groups.query_of_row]
    spoiled = [
        replace(
            one,
            scores=[np.where(rows, scores, 0.0) for scores in one.scores],
            values=[np.where(some, values, 0.5) for values in one.values],
        )
        for one in members
    ]
    found, expected = (replace(market(), judgements=some).within(these, budget) for these in (spoiled, members))
    assert (found.value, found.microseconds) == (expected.value, expected.microseconds)
    assert found.mix.round_indices == expected.mix.round_indices
    np.testing.assert_array_equal(found.mix.weights, expected.mix.weights)


def test_a_budget_that_is_no_limit_changes_no_score(whole):
    found = auto(max_microseconds=1e9).fit(DATA)
    kept = {one.name: one.weight for one in found.standings_ if one.weight}
    assert kept == pytest.approx({one.name: one.weight for one in whole.standings_ if one.weight})
    np.testing.assert_allclose(found.predict(DATA), whole.predict(DATA), atol=1e-12)
    assert found.estimate_ == whole.estimate_


def test_a_budget_that_nothing_meets_says_which_would_do():
    with pytest.raises(InputError, match=r"^No member scores a document in 1e-06 microseconds: ") as caught:
        auto(max_microseconds=1e-6).fit(DATA)
    would_do = float(re.search(r"max_microseconds=(\S+) would do\.$", str(caught.value))[1])
    found = auto(max_microseconds=10 * would_do).fit(DATA)  # this machine may be busy
    assert found.run_.kept.microseconds <= 10 * would_do


def test_the_frontier_goes_from_the_whole_mixture_to_one_member(whole):
    frontier = whole.run_.mixtures
    assert frontier is whole.run_.mixtures
    assert len(frontier) > 3
    assert frontier[0].value == whole.run_.whole.value
    assert len(frontier[-1].mix.entries) == 1
    assert frontier[-1].microseconds < frontier[0].microseconds


# Interpretable models


def test_an_interpretable_model_is_the_best_single_member():
    found = rw.AutoRanker(interpretable=True, n_jobs=1).fit(DATA)
    weights = [one.weight for one in found.standings_]
    assert weights == [1.0, 0.0, 0.0, 0.0]
    best = found.standings_[0]
    assert best.value == max(one.value for one in found.standings_)
    (entry,) = (one for one in found.run_.entries if one.name == best.name)
    assert type(found.model_) is type(entry.scorer)
    assert found.model_.n_rounds == best.rounds


@pytest.mark.slow
def test_the_interpretable_portfolio_has_simple_models():
    found = rw.AutoRanker(interpretable=True, n_jobs=1).fit(DATA)
    assert {one.name for one in found.standings_} == {"RankSVM", "ListNet", "AdaRank", "RankBoost"}
    assert not isinstance(found.model_, Combination)


def test_an_interpretable_model_within_a_budget(members):
    cheapest = market(best_alone).within(members, 1.2)
    assert len(cheapest.mix.kept) == 1
    assert cheapest.microseconds == 1.0
    found = rw.AutoRanker(interpretable=True, max_microseconds=1e6, n_jobs=1).fit(DATA)
    assert [one.weight for one in found.standings_] == [1.0, 0.0, 0.0, 0.0]

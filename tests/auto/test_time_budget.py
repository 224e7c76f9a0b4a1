import numpy as np
import pytest

import rankwright as rw
from auto.examples import judged, plan_of
from rankwright.auto import time_budget
from rankwright.auto.portfolio import LARGE_PRESETS, Entry
from rankwright.auto.time_budget import affordable, pilot_seconds
from rankwright.base.errors import InputError

PLAN = plan_of(judged(80))  # 10 folds and 2 halves: 13 fits of each entry
ENTRIES = [Entry("linear", rw.RankSVM(), 1.0), Entry("trees", rw.LambdaMART(rounds=3), 9.0, seeds=3)]


@pytest.fixture(autouse=True)
def _a_second_per_fit_of_one_seed_of_trees(monkeypatch):
    monkeypatch.setattr(time_budget, "pilot_seconds", lambda entry, *_: entry.cost / 3)


@pytest.mark.parametrize(
    ("seconds", "folds", "seeds"),
    [
        (13 * 10 / 3 / 0.7, 10, 3),  # everything fits
        (13 * 4 / 3 / 0.7, 10, 1),
        (6 * 4 / 3 / 0.7, 5, 1),
        (4 * 4 / 3 / 0.7, 3, 1),
        (0.1, 3, 1),  # the least: too few queries for a held-out part
    ],
)
def test_seeds_go_before_folds(seconds, folds, seeds):
    plan, entries, per_cost = affordable(PLAN, ENTRIES, 1.001 * seconds, 1, 0)
    assert (plan.folds, entries[1].seeds) == (folds, seeds)
    assert per_cost == pytest.approx((len(plan.all_parts) + 1) / 3)
    less = affordable(PLAN, ENTRIES, 0.999 * seconds, 1, 0)
    assert (less.plan.folds, less.entries[1].seeds) <= (folds, seeds)


def test_trees_have_fewer_rounds_before_there_are_fewer_members():
    all_rounds = affordable(PLAN, ENTRIES, 1.001 * 4 * 4 / 3 / 0.7, 1, 0).entries
    assert all_rounds == [entry.single() for entry in ENTRIES]
    fewest = affordable(PLAN, ENTRIES, 0.1, 1, 0).entries
    assert fewest[0] == ENTRIES[0]  # no trees
    assert (fewest[1].ranker.rounds, fewest[1].cost) == (1, pytest.approx(1.0))


def test_many_queries_may_be_judged_by_a_part(monkeypatch):
    monkeypatch.setattr(time_budget, "FEWER_FOLDS", {5: 0, 3: 0, 1: 50})
    plan = affordable(PLAN, ENTRIES, 0.1, 2, 0).plan
    assert plan.folds == 1
    assert len(plan.held_out.query) == 16


def test_fewer_folds_judge_every_query_once():
    plan = PLAN.with_folds(3, 0)
    assert sorted(plan.held_out.query) == list(range(80))
    assert plan.halves is None
    assert len(plan.parts) == 3
    for part in plan.parts:
        assert len(part.train) + len(part.judges) == len(plan.whole)


def test_seeds_are_spared_and_given_back():
    entry = ENTRIES[1]
    assert (entry.single().seeds, entry.single().spare_seeds, entry.single().cost) == (1, 2, 3.0)
    assert entry.single().with_all_seeds() == entry


def test_a_pilot_extrapolates_two_fits(monkeypatch):
    monkeypatch.undo()
    clock, sizes = [0.0], []

    class Slow:
        def fitted(self, train, *_):
            sizes.append(len(train))
            clock[0] += 2.0 + 0.01 * len(train)

    monkeypatch.setattr(time_budget, "monotonic", lambda: clock[0])
    assert pilot_seconds(Slow(), PLAN.whole) == pytest.approx(2.0 + 0.01 * len(PLAN.whole))
    assert sizes[0] == sizes[1] < sizes[2] < len(PLAN.whole)


def test_a_pilot_that_would_take_too_long_is_left_out(monkeypatch):
    monkeypatch.undo()
    clock, sizes = [0.0], []

    class Slow:
        def fitted(self, train, *_):
            sizes.append(len(train))
            clock[0] += 0.01 * len(train)

    monkeypatch.setattr(time_budget, "monotonic", lambda: clock[0])
    assert pilot_seconds(Slow(), PLAN.whole, 0.1) == pytest.approx(0.01 * len(PLAN.whole))
    assert len(sizes) == 2


def test_an_entry_that_cannot_tell_the_time_takes_nothing_away(monkeypatch):
    def fail(*_):
        raise InputError("There is nothing to learn.")

    monkeypatch.setattr(time_budget, "pilot_seconds", fail)
    assert affordable(PLAN, ENTRIES, 1e-3, 1, 0) == (PLAN, ENTRIES, 0.0)


def test_presets_of_very_many_queries_differ_too():
    fits = {name: sum(entry.seeds for entry in entries) for name, entries in LARGE_PRESETS.items()}
    assert fits == {"quick": 1, "default": 3, "best": 4}


def test_time_left_over_goes_to_seeds(monkeypatch):
    monkeypatch.setattr("rankwright.auto.ranker.portfolio_for", lambda *_: ENTRIES)
    data = judged(40)
    monkeypatch.setattr(time_budget, "pilot_seconds", lambda *_: 330.0)
    ranker = rw.AutoRanker(time_limit=3600, n_jobs=1).fit(data)
    assert ranker.run_.plan.folds == 3
    assert {entry.name: entry.entry.seeds for entry in ranker.run_.entries}["trees"] in (1, 3)
    heavy = [row.name for row in ranker.standings_ if row.weight >= 0.5]
    for entry in ranker.run_.entries:
        if entry.name in heavy:
            assert entry.entry.spare_seeds == 0


def test_presets_choose_the_portfolio():
    data = judged(12)
    ranker = rw.AutoRanker(preset="quick", n_jobs=1)
    entries = ranker._own_entries(plan_of(data))
    assert [entry.name for entry in entries[:2]] == ["LambdaMART", "RankSVM"]
    assert {entry.seeds + entry.spare_seeds for entry in entries} == {1}
    best = rw.AutoRanker(preset="best")._own_entries(plan_of(data))
    assert {"ListNet", "CalibratedAdaBoost"} <= {entry.name for entry in best}
    assert max(entry.seeds for entry in best) == 3
    for other in ({"interpretable": True}, {"portfolio": ["RankSVM"]}):
        with pytest.raises(InputError, match="preset chooses a portfolio, and so does"):
            rw.AutoRanker(preset="best", **other).fit(data)
    assert np.isfinite(rw.AutoRanker(preset="quick", n_jobs=1).fit(data).estimate_.value)

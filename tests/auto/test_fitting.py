import re

import numpy as np
import pytest

import rankwright as rw
from auto.examples import METRIC, judged, made_entry, plan_of, rankers, shuffled
from rankwright.auto import fitting as module
from rankwright.auto import portfolio as fitting
from rankwright.auto import ranker as ranker_module
from rankwright.auto import time_budget
from rankwright.auto.mixing import JudgedEntry, mix
from rankwright.auto.portfolio import Entry
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.ensembling import pool as pool_module
from rankwright.ensembling.mixtures import plausible_weights
from rankwright.metrics.base import mean_over_queries
from rankwright.models.model_file import encode
from rankwright.training import concurrent_fits

DATA = judged()
N_FITS = 2 * 10 + 1  # of each member


def auto(portfolio=None, **parameters):
    return rw.AutoRanker(portfolio=rankers() if portfolio is None else portfolio, **{"n_jobs": 1} | parameters)


@pytest.fixture(scope="module")
def fitted():
    return auto().fit(DATA)


# The same model, whatever does not matter


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_the_model_does_not_depend_on_the_number_of_threads(fitted, n_jobs):
    assert encode(auto(n_jobs=n_jobs).fit(DATA).model_) == encode(fitted.model_)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_model_depends_neither_on_the_order_of_rows_nor_on_the_names_of_queries(fitted, n_jobs):
    again = auto(n_jobs=n_jobs).fit(shuffled(DATA))
    assert encode(again.model_) == encode(fitted.model_)
    assert again.estimate_ == fitted.estimate_


def test_another_seed_gives_other_parts(fitted):
    assert auto(random_state=2).fit(DATA).estimate_ != fitted.estimate_


def test_members_join_in_order_and_the_history_has_the_value_of_each_mixture(fitted):
    entries = fitted.run_.entries
    assert [one.name for one in entries] == ["RankSVM", "LambdaMART", "AdaRank"]
    held_out = fitted.run_.plan.held_out
    for number, this in enumerate(fitted.history_, start=1):
        values = held_out.values(METRIC, mix(entries[:number], plausible_weights).scores, 1)
        assert (this.number, this.validation) == (number, mean_over_queries(values))
    assert fitted.history_.best_round == len(fitted.history_) == 3
    assert fitted.history_.reason == "all 3 members"
    assert not fitted.history_.interrupted


# Failures

BROKEN = rw.RankSVM(C=-1.0)


def test_a_member_that_fails_is_named_and_the_rest_goes_on(fitted):
    with pytest.warns(UserWarning, match=r"^RankSVM 2 is left out of the pool: C must be") as caught:
        found = auto([rw.RankSVM(), BROKEN, *rankers()[1:]]).fit(DATA)
    assert len(caught) == 1
    assert list(found.run_.failures) == ["RankSVM 2"]
    assert found.run_.failures["RankSVM 2"].startswith("C must be")
    assert [one.weight for one in found.standings_] == [one.weight for one in fitted.standings_]
    np.testing.assert_array_equal(found.predict(DATA), fitted.predict(DATA))


class FailsOnce(rw.RankSVM):
    """Fails on the given documents."""

    unlucky = b""

    def fit(self, X, *args, **options):
        if X.data.X.tobytes() == self.unlucky:
            raise ZeroDivisionError("a fit of bad luck")
        return super().fit(X, *args, **options)


def test_a_member_that_fails_on_one_part_is_left_out(monkeypatch):
    monkeypatch.setattr(FailsOnce, "unlucky", plan_of(DATA).parts[7].train.data.X.tobytes())
    with pytest.warns(UserWarning, match=r"^FailsOnce is left out of the pool: a fit of bad luck"):
        found = auto([FailsOnce(), rw.RankSVM()]).fit(DATA)
    assert [one.name for one in found.standings_] == ["RankSVM"]


@pytest.mark.filterwarnings("ignore:.*left out of the pool")
def test_if_all_members_fail_the_reasons_are_given():
    message = r"^No candidate of the pool could be fitted. RankSVM: C must be .*; LambdaMART: rounds must be"
    with pytest.raises(InputError, match=message):
        auto([BROKEN, rw.LambdaMART(rounds=0)]).fit(DATA)


# Ctrl-C


def interrupt_if(condition):
    """Press Ctrl-C once, when the condition first holds."""
    pressed = []

    def on_progress(progress):
        if condition(progress) and not pressed:
            pressed.append(True)
            raise KeyboardInterrupt

    return on_progress


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_ctrl_c_gives_the_mixture_of_the_members_so_far(n_jobs):
    slow = rw.LambdaMART(rounds=3000)
    with pytest.warns(UserWarning, match=r"^Interrupted; the model is the mixture of 2 of 3 members\.$"):
        found = auto([*rankers()[::2], slow], n_jobs=n_jobs).fit(
            DATA, on_progress=interrupt_if(lambda progress: len(progress.standings) == 2)
        )
    whole = auto(rankers()[::2]).fit(DATA)
    assert found.history_.interrupted
    assert found.history_.best_round == 2
    np.testing.assert_array_equal(found.predict(DATA), whole.predict(DATA))
    assert found.estimate_ == whole.estimate_


def test_ctrl_c_just_before_a_member_joins_keeps_it_with_its_round():
    slow = rw.LambdaMART(rounds=3000)
    with pytest.warns(UserWarning, match="Interrupted; the model is the mixture of 1 of 2 members"):
        found = auto([rw.RankSVM(), slow]).fit(
            DATA, on_progress=interrupt_if(lambda progress: progress.fits == N_FITS)
        )
    assert [one.name for one in found.standings_] == ["RankSVM"]
    assert found.history_.best_round == len(found.history_) == 1
    assert found.history_[0].validation == found.standings_[0].value


def test_ctrl_c_before_the_first_member_is_raised():
    ranker = auto()
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(DATA, on_progress=interrupt_if(lambda progress: progress.fits == 2))
    assert not hasattr(ranker, "model_")


# The time limit


class Clock:
    """A clock that moves by some seconds with every fit; the first fits may take others."""

    def __init__(self, seconds):
        self.now, self.seconds, self.first = 0.0, seconds, iter(())

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock, fit = Clock(1.0), fitting.fitted_scorer

    def timed(*args, **options):
        clock.now += next(clock.first, clock.seconds)
        return fit(*args, **options)

    for one in (concurrent_fits, pool_module, module, time_budget):
        monkeypatch.setattr(one, "monotonic", clock)
    monkeypatch.setattr(fitting, "fitted_scorer", timed)
    return clock


def test_members_that_there_is_no_time_for_are_named_with_the_reason(clock):
    reason = "it would take about 21 s, and 4 s were left"
    with pytest.warns(UserWarning, match=f"^LambdaMART is skipped: {reason}.$") as caught:
        found = auto(rankers()[:2], time_limit=25).fit(DATA)
    assert len(caught) == 1
    assert [one.name for one in found.standings_] == ["RankSVM"]
    assert found.run_.skipped == {"LambdaMART": reason}
    assert found.standings_[0].seconds == N_FITS


def test_a_limit_that_is_long_enough_changes_nothing(fitted, clock):
    found = auto(time_limit="2m").fit(DATA)
    np.testing.assert_array_equal(found.predict(DATA), fitted.predict(DATA))


def test_too_short_a_limit_says_what_would_do(clock):
    with pytest.raises(InputError) as caught:
        auto(time_limit=0.5).fit(DATA)
    reason = "time_limit=0.5 is too short for a single member: RankSVM takes up to 32 seconds"
    assert str(caught.value) == f"{reason}; time_limit=32 would do."  # 1.5 x 21 fits


def test_what_would_do_is_for_all_fits_but_not_for_the_imports_of_the_first(clock):
    clock.first = iter([1.0, 100.0])
    with pytest.raises(InputError, match=r"time_limit=35 would do\.$"):  # 1.5 x 23 fits
        auto(time_limit=0.5).fit(judged(40))


@pytest.mark.slow
def test_the_time_that_would_do_does():
    with pytest.raises(InputError) as caught:
        auto(time_limit=1e-9).fit(judged(40))
    needed = float(re.search(r"time_limit=(\S+) would do\.$", str(caught.value))[1])
    found = auto(rankers()[:1], time_limit=10 * needed).fit(judged(40))  # this machine may be busy
    assert len(found.standings_) == 1


def test_queries_that_teach_nothing_do_not_hide_that_the_limit_is_too_short(clock, monkeypatch):
    """The time is measured on a few queries, whose labels may all be equal."""
    monkeypatch.setattr(time_budget, "FEWEST_QUERIES", 1)
    data = judged(12)
    y = np.where(data.groups.query_of_row < 8, 0, data.y)
    data = RankingData(data.X, y, data.qid)
    first = plan_of(data).whole.data.groups.rows[: data.groups.sizes[0]]
    assert not plan_of(data).whole.data.y[first].any()
    with pytest.raises(InputError, match=r"^time_limit=0.5 is too short for a single member: RankSVM takes"):
        auto(time_limit=0.5).fit(data)


# FitProgress


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress_counts_every_fit(n_jobs):
    seen = []
    found = auto(n_jobs=n_jobs, time_limit=3600).fit(DATA, on_progress=seen.append)
    fits = [one.fits for one in seen]
    assert fits == sorted(fits)
    assert sorted(set(fits)) == list(range(1, 3 * N_FITS + 1))
    assert {one.total for one in seen} == {3 * N_FITS}
    assert [len(one.standings) for one in seen] == sorted(len(one.standings) for one in seen)
    seconds = [one.seconds for one in seen]
    assert seconds == sorted(seconds)
    assert all(one.seconds_left == pytest.approx(3600 - one.seconds) for one in seen)
    last = seen[-1]
    assert last.value == found.history_[-1].validation
    assert {one.name: one.value for one in found.standings_} == {one.name: one.value for one in last.standings}
    assert not last.ended


def test_progress_tells_how_far_the_members_under_way_are():
    seen = []
    auto(rankers()[:2]).fit(DATA, on_progress=seen.append)
    assert (seen[0].ended, seen[0].value, seen[0].standings) == ({"RankSVM": 1}, None, ())
    assert seen[N_FITS - 1].ended == {"RankSVM": N_FITS}
    joined = seen[N_FITS]
    assert (joined.fits, joined.ended, len(joined.standings)) == (N_FITS, {}, 1)
    assert joined.value == joined.standings[0].value
    assert seen[N_FITS + 1].ended == {"LambdaMART": 1}
    assert seen[0].seconds_left is None


@pytest.mark.filterwarnings("ignore:.*left out of the pool")
def test_progress_forgets_a_member_that_failed(monkeypatch):
    monkeypatch.setattr(FailsOnce, "unlucky", plan_of(DATA).parts[7].train.data.X.tobytes())
    seen = []
    auto([FailsOnce(), rw.RankSVM()]).fit(DATA, on_progress=seen.append)
    assert [one.ended for one in seen[6:9]] == [{"FailsOnce": 7}, {}, {"RankSVM": 1}]
    assert not seen[-1].ended


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_exception_in_on_progress_reaches_the_caller(n_jobs):
    def on_progress(progress):
        if progress.fits == N_FITS + 1:
            raise ZeroDivisionError("not your fault")

    ranker = auto(n_jobs=n_jobs)
    with pytest.raises(ZeroDivisionError, match="not your fault"):
        ranker.fit(DATA, on_progress=on_progress)
    assert len(ranker.fit(DATA).standings_) == 3  # without the function that failed


def test_rounds_are_told_as_those_of_every_ranker():
    seen = []
    found = auto().fit(DATA, on_round=seen.append)
    assert seen == list(found.history_)


def rising(rounds, values):
    """An entry whose value of every query is as given after each number of rounds, with a little noise."""
    plan = plan_of(DATA)
    noise = 1e-4 * np.random.default_rng(0).normal(size=len(plan.held_out.query))
    return made_entry("trees", plan, *(value + noise for value in values), rounds=rounds)


def test_an_entry_rises_if_its_last_rounds_raise_the_value():
    rounds = tuple(range(1, 13))
    assert rising(rounds, np.linspace(0.5, 0.8, 12)).rises
    assert not rising(rounds, [0.5] * 4 + [0.8] * 8).rises
    assert not rising(rounds, np.linspace(0.8, 0.5, 12)).rises
    assert not rising((0,), [0.5]).rises


def test_the_built_in_portfolio_gets_rounds_as_long_as_its_value_rises(monkeypatch):
    fitted = []
    entry = Entry("trees", rw.LambdaMART(rounds=2, min_documents=2, learning_rate=0.01))
    monkeypatch.setattr(ranker_module, "portfolio_for", lambda *_: [entry])
    original = Entry.fitted
    monkeypatch.setattr(
        Entry, "fitted", lambda self, *args: fitted.append(self.rounds[-1]) or original(self, *args)
    )
    monkeypatch.setattr(JudgedEntry, "rises", property(lambda self: self.rounds[-1] < 8))
    ranker = rw.AutoRanker(n_jobs=1).fit(DATA)
    assert sorted(set(fitted)) == [2, 4, 8]
    assert len(fitted) == 3 * N_FITS
    assert ranker.run_.entries[0].rounds[-1] == 8


def test_rounds_that_there_is_no_time_for_are_named(monkeypatch):
    entry = Entry("trees", rw.LambdaMART(rounds=2, min_documents=2))
    monkeypatch.setattr(ranker_module, "portfolio_for", lambda *_: [entry])
    monkeypatch.setattr(JudgedEntry, "rises", property(lambda _: True))
    monkeypatch.setattr(module._Report, "seconds_left", property(lambda self: 0.0 if len(self._settled) else 60.0))
    with pytest.warns(module.SkippedMemberWarning, match="trees with 4 rounds is skipped: no time was left"):
        ranker = rw.AutoRanker(n_jobs=1, time_limit=60).fit(DATA)
    assert ranker.run_.entries[0].rounds[-1] == 2


@pytest.mark.parametrize("error", [InputError("too long."), KeyboardInterrupt()], ids=["failure", "ctrl-c"])
def test_what_ends_longer_fits_keeps_the_shorter_ones(monkeypatch, error):
    entry = Entry("trees", rw.LambdaMART(rounds=2, min_documents=2))
    monkeypatch.setattr(ranker_module, "portfolio_for", lambda *_: [entry])
    monkeypatch.setattr(JudgedEntry, "rises", property(lambda _: True))
    original = Entry.fitted

    def failing(self, *parts):
        if self.rounds[-1] > 2:
            raise error
        return original(self, *parts)

    monkeypatch.setattr(Entry, "fitted", failing)
    with pytest.warns(UserWarning, match="trees is left out of the pool: too long|Interrupted; the model is"):
        ranker = rw.AutoRanker(n_jobs=1).fit(DATA)
    assert ranker.run_.entries[0].rounds[-1] == 2
    assert ranker.history_.interrupted == isinstance(error, KeyboardInterrupt)

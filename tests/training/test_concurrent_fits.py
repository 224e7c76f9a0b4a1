import pytest

from rankwright.base.errors import InputError
from rankwright.ensembling import pool as pool_module
from rankwright.ensembling.pool import Candidate, Pool
from rankwright.training import concurrent_fits as module
from rankwright.training.concurrent_fits import NoTimeError, TimeLimit


class Clock:
    """A clock that only moves when it is told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    monkeypatch.setattr(pool_module, "monotonic", clock)
    return clock


def candidate(name="one", cost=1.0, seconds=(), clock=None):
    """A candidate whose fits take so many seconds each."""

    def fit(took):
        def run(n_threads, on_round):
            clock.now += took
            on_round(None)
            return took

        return run

    return Candidate(name, [fit(took) for took in seconds], lambda results: [(name, tuple(results))], cost=cost)


def test_without_a_limit_everything_is_admitted(clock):
    limit = TimeLimit(None, 1)
    limit.note(candidate(seconds=(1,)), 1e9)
    clock.now += 1e9
    limit.admit(candidate(cost=1e9))

    def on_round(this):
        raise AssertionError

    assert limit.ending(on_round) is on_round


def test_the_first_candidate_is_tried_because_nothing_is_known_yet(clock):
    TimeLimit(1.0, 1).admit(candidate(cost=1e9))


def test_a_candidate_that_would_take_longer_than_the_time_left_is_skipped(clock):
    limit = TimeLimit(100.0, 1)
    limit.note(candidate(cost=2.0, seconds=(0, 0)), 10.0)  # one of two fits: 10 seconds per cost
    clock.now += 30.0
    limit.admit(candidate("short", cost=7.0))
    with pytest.raises(NoTimeError, match=r"^it would take about 71 s, and 70 s were left$"):
        limit.admit(candidate("long", cost=7.1))


def test_several_threads_share_the_work(clock):
    limit = TimeLimit(100.0, 4)
    limit.note(candidate(seconds=(0,)), 100.0)
    limit.admit(candidate("short", cost=4.0))
    with pytest.raises(NoTimeError, match=r"^it would take about 105 s, and 100 s were left$"):
        limit.admit(candidate("long", cost=4.2))


def test_the_fits_of_others_do_not_end_a_candidate_that_was_admitted(clock):
    limit, cheap = TimeLimit(100.0, 1), candidate(cost=1.0, seconds=(0,))
    limit.admit(candidate("long", cost=50.0))
    limit.note(cheap, 10.0)
    clock.now += 99.0
    limit.admit(candidate("long", cost=50.0))
    clock.now += 1.0
    with pytest.raises(NoTimeError, match=r"^the time limit of 100 s ended before its fits did$"):
        limit.admit(candidate("long", cost=50.0))


def test_a_candidate_whose_own_fits_are_too_slow_is_skipped_at_once(clock):
    """The first one has nothing before it to go by; it must not take the time of all others."""
    limit, slow = TimeLimit(100.0, 2), candidate("slow", seconds=(0,) * 11)
    for _ in range(2):
        limit.admit(slow)
    clock.now += 20.0
    limit.note(slow, 20.0)
    with pytest.raises(NoTimeError, match=r"^the rest of its fits would take 90 s, and 80 s were left$"):
        limit.admit(slow)  # 9 fits of 20 seconds, two at once
    limit.admit(candidate("quick", cost=0.1))


def test_a_candidate_whose_own_fits_are_fast_enough_goes_on(clock):
    limit, fast = TimeLimit(100.0, 2), candidate("fast", seconds=(0,) * 11)
    for _ in range(11):
        limit.admit(fast)
        limit.note(fast, 15.0)
        clock.now += 7.5


def test_a_skipped_candidate_stays_so_for_the_same_reason(clock):
    limit = TimeLimit(10.0, 1)
    limit.note(candidate(seconds=(0,)), 20.0)
    for _ in range(2):
        with pytest.raises(NoTimeError, match=r"^it would take about 20 s, and 10 s were left$"):
            limit.admit(candidate())
        clock.now += 5.0


def test_nothing_begins_when_the_time_is_over(clock):
    limit = TimeLimit(2.5, 1)
    clock.now += 2.5
    with pytest.raises(NoTimeError, match=r"^no time was left of 2.5 s$"):
        limit.admit(candidate())


def test_a_fit_ends_at_the_first_round_after_the_limit(clock):
    seen = []
    on_round = TimeLimit(3.0, 1).ending(seen.append)
    on_round(1)
    clock.now += 3.0
    on_round(2)
    clock.now += 0.1
    with pytest.raises(NoTimeError, match=r"^the time limit of 3 s ended before its fits did$"):
        on_round(3)
    assert seen == [1, 2, 3]


# In a pool


def test_a_pool_passes_over_what_does_not_fit_and_goes_on_with_what_does(clock):
    pool = Pool()
    candidates = [
        candidate("first", 1.0, (2.0, 2.0), clock),
        candidate("dear", 5.0, (10.0, 10.0), clock),
        candidate("cheap", 0.5, (1.0, 1.0), clock),
    ]
    pool.fill(candidates, n_jobs=1, time_limit=10.0)
    assert [name for name, _ in pool] == ["first", "cheap"]
    assert pool.skipped == [("dear", "it would take about 20 s, and 6 s were left")]
    assert not pool.failures
    assert not pool.interrupted


def test_a_first_candidate_that_is_too_slow_leaves_time_for_others(clock):
    pool = Pool()
    slow, fast = candidate("slow", 1.0, (3.0,) * 11, clock), candidate("fast", 0.1, (0.1,) * 3, clock)
    pool.fill([slow, fast], n_jobs=1, time_limit=10.0)
    assert [name for name, _ in pool] == ["fast"]
    assert pool.skipped == [("slow", "the rest of its fits would take 30 s, and 7 s were left")]


def test_a_fit_that_is_longer_than_expected_ends_and_so_do_those_after_it(clock):
    pool, ran = Pool(), []
    slow = candidate("slow", 1.0, (1.0, 20.0, 1.0), clock)
    last = candidate("last", 0.1, (0.1,), clock)
    pool.fill([candidate("first", 1.0, (3.0,), clock), slow, last], n_jobs=1, time_limit=10.0, on_fit=ran.append)
    assert [name for name, _ in pool] == ["first"]
    assert pool.skipped == [
        ("slow", "the time limit of 10 s ended before its fits did"),
        ("last", "no time was left of 10 s"),
    ]
    assert ran == ["first", "slow"]


def test_a_pool_without_time_for_anything_has_no_members(clock):
    pool = Pool()
    pool.fill([candidate("slow", 1.0, (20.0,), clock)], n_jobs=1, time_limit=10.0)
    assert not len(pool)
    assert [name for name, _ in pool.skipped] == ["slow"]


@pytest.mark.filterwarnings("ignore:.*left out of the pool")
def test_failures_and_lack_of_time_together_leave_no_member(clock):
    def broken(n_threads, on_round):
        clock.now += 20.0
        raise InputError("no luck")

    candidates = [Candidate("broken", [broken], list), candidate("late", 1.0, (1.0,), clock)]
    with pytest.raises(InputError, match=r"broken: no luck; late: no time was left of 10 s"):
        Pool().fill(candidates, n_jobs=1, time_limit=10.0, skip_failures=True)

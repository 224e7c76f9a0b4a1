import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankwright.base import threads
from rankwright.base.errors import InputError
from rankwright.data.groups import QueryGroups
from rankwright.data.ranking import Ranking


@pytest.mark.parametrize("n_jobs", [1, 7, np.int32(7)])
def test_a_given_number_is_kept(n_jobs):
    assert threads.resolve_threads(n_jobs) == int(n_jobs)


def test_none_and_minus_one_are_all_that_this_process_may_use():
    assert threads.resolve_threads(-1) == threads.resolve_threads(None) == threads.available_threads()


def test_none_means_what_the_machine_allows():
    assert threads.resolve_threads(None) == threads.available_threads() >= 1


def test_more_than_the_core_ever_starts_is_no_mistake():
    assert Ranking.of([1, 2], QueryGroups.of([7, 7]), n_jobs=2**40).ranks().tolist() == [2, 1]


@pytest.mark.parametrize("n_jobs", [0, -2, 2.0, "2", True], ids=repr)
def test_other_numbers_are_refused(n_jobs):
    with pytest.raises(InputError, match="n_jobs must be None, -1 or a positive integer, not "):
        threads.resolve_threads(n_jobs)


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, None),
        ({"cpu.max": "max 100000\n"}, None),
        ({"cpu.max": "350000 100000\n"}, 3),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "nonsense"}, None),
        ({"cpu.max": ""}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n"}, None),
        ({"cpu/cpu.cfs_quota_us": "200000\n", "cpu/cpu.cfs_period_us": "0\n"}, None),
    ],
    ids=str,
)
def test_quota_of_a_container(tmp_path, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert threads._cgroup_cores(tmp_path) == cores


def test_quota_cuts_the_cores(monkeypatch):
    monkeypatch.setattr(threads, "_cgroup_cores", lambda: 1)
    assert threads.available_threads.__wrapped__() == 1


def rank_many_queries(seed: int, n_jobs: int) -> bytes:
    rng = np.random.default_rng(seed)
    groups = QueryGroups.of_sizes(np.full(2000, 20))
    return Ranking.of(rng.integers(9, size=groups.n_rows), groups, n_jobs=n_jobs).order.tobytes()


def test_several_callers_share_the_pool():
    expected = [rank_many_queries(seed, 1) for seed in range(40)]
    with ThreadPoolExecutor(8) as callers:
        assert list(callers.map(lambda seed: rank_many_queries(seed, 1 + seed % 5), range(40))) == expected


def rank_in_a_child(results) -> None:
    results.put(rank_many_queries(1, 3))


# Python 3.12 warns of any fork in a process with threads: that is the case under test.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_child_has_a_pool_of_its_own():
    expected = rank_many_queries(1, 3)  # the parent's pool has its threads by now
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    child = fork.Process(target=rank_in_a_child, args=(results,))
    child.start()
    try:
        assert results.get(timeout=30) == expected
        child.join(timeout=30)
        assert child.exitcode == 0
    finally:
        child.kill()

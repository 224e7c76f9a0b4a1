import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rankwright.base import resources
from rankwright.base.errors import InputError
from rankwright.base.resources import _container_bytes, _machine_bytes, available_memory
from rankwright.data.groups import QueryGroups, Ranking


@pytest.mark.parametrize("n_jobs", [1, 7, np.int32(7)])
def test_a_given_number_is_kept(n_jobs):
    assert resources.resolve_threads(n_jobs) == int(n_jobs)


def test_none_and_minus_one_are_all_that_this_process_may_use():
    assert resources.resolve_threads(-1) == resources.resolve_threads(None) == resources.available_threads()


def test_none_means_what_the_machine_allows():
    assert resources.resolve_threads(None) == resources.available_threads() >= 1


def test_more_than_the_core_ever_starts_is_no_mistake():
    assert Ranking.of([1, 2], QueryGroups.of([7, 7]), n_jobs=2**40).ranks().tolist() == [2, 1]


@pytest.mark.parametrize("n_jobs", [0, -2, 2.0, "2", True], ids=repr)
def test_other_numbers_are_refused(n_jobs):
    with pytest.raises(InputError, match="n_jobs must be None, -1 or a positive integer, not "):
        resources.resolve_threads(n_jobs)


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
    assert resources._cgroup_cores(tmp_path) == cores


def test_quota_cuts_the_cores(monkeypatch):
    monkeypatch.setattr(resources, "_cgroup_cores", lambda: 1)
    assert resources.available_threads.__wrapped__() == 1


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


@pytest.mark.slow
def test_memory_in_use_is_not_available():
    before = available_memory()
    taken = np.ones(1 << 27)  # 1 GiB
    assert available_memory() < before - taken.nbytes / 2


def test_the_available_memory_of_the_machine(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:       1000 kB\nMemFree:  10 kB\nMemAvailable:    300 kB\n")
    assert _machine_bytes(tmp_path / "meminfo") == 300 * 1024
    assert _machine_bytes(tmp_path / "none") >= _machine_bytes()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"memory.max": "4096\n", "memory.current": "1000\n"}, 3096),
        ({"memory.max": "4096\n"}, 4096),
        ({"memory.max": "4096", "memory.current": "5000"}, 0),
        ({"memory.max": "9000", "memory.current": "8000", "memory.stat": "anon 1\ninactive_file 500\n"}, 1500),
        ({"memory.max": "max\n", "memory.current": "1000\n"}, None),
        ({"memory/memory.limit_in_bytes": "512", "memory/memory.usage_in_bytes": "12"}, 500),
        ({}, None),
    ],
)
def test_what_is_left_of_the_containers_limit(tmp_path, files, expected):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _container_bytes(tmp_path) == expected

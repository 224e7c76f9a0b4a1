"""Every engine keeps the same promises: answers, errors, losses, restarts, time limits."""

import math
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.resources import available_threads

TIMEOUT = 60.0  # of a busy machine


def _processes(**options):
    return rw.distributed.Processes(**options)


def _ray(**options):
    pytest.importorskip("ray")
    return rw.distributed.Ray(**options)


def _dask(**options):
    pytest.importorskip("distributed")
    return rw.distributed.Dask(**options)


CLUSTERS = [pytest.param(_ray, marks=pytest.mark.clusters), pytest.param(_dask, marks=pytest.mark.clusters)]


@pytest.fixture(params=[_processes, *CLUSTERS], scope="module")
def engine(request):
    with request.param(workers=2, timeout=TIMEOUT) as started:
        yield started


@pytest.fixture
def actors(engine):
    started = engine.start(partial(Tally, 10), 2)
    yield started
    engine.end(started)


class Tally:
    """What an actor of these tests is."""

    def __init__(self, start):
        self.total = start

    def add(self, values):
        self.total += int(values.sum())
        return self.total, os.getpid()

    def fail(self):
        raise rw.InputError("The file part-7.parquet is gone.")

    def sleep(self, seconds):
        time.sleep(seconds)


def attempt(path):
    """End the process the first time."""
    with open(path, "x" if not os.path.exists(path) else "r+") as file:  # noqa: PTH123, PTH110
        if file.mode == "x":
            os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def _answers(engine, calls):
    answers, losses = engine.wait(calls)
    assert losses == []
    return [done.answer for done in answers]


def test_an_engine_says_how_many_workers_it_has(engine):
    assert engine.n_workers == 2


def test_actors_keep_their_state_in_processes_of_their_own(engine, actors):
    values = np.arange(100_000)
    for sums in (10 + values.sum(), 10 + 2 * values.sum()):
        totals, pids = zip(*_answers(engine, [engine.call(actor, "add", values) for actor in actors]), strict=True)
        assert totals == (sums, sums)
        assert len({*pids, os.getpid()}) == 3


def test_what_a_method_raises_is_raised_here_and_the_actor_lives_on(engine, actors):
    with pytest.raises(rw.InputError, match=r"part-7.parquet is gone"):
        engine.wait([engine.call(actors[0], "fail")])
    assert _answers(engine, [engine.call(actors[0], "add", np.ones(1))])[0][0] == 11


@pytest.mark.slow
def test_a_killed_actor_is_lost_at_once_and_replaced(engine, actors):
    victim = _answers(engine, [engine.call(actors[1], "add", np.ones(1))])[0][1]
    busy = engine.call(actors[1], "sleep", 60)
    time.sleep(0.3)
    os.kill(victim, signal.SIGKILL)
    start = time.monotonic()
    answers, losses = engine.wait([engine.call(actors[0], "add", np.ones(1)), busy])
    assert time.monotonic() - start < TIMEOUT
    assert [done.call.actor for done in answers] == [actors[0]]
    assert [lost.call.actor for lost in losses] == [actors[1]]
    assert losses[0].reason
    replaced = actors[1] = engine.restart(actors[1])
    assert replaced.number == 1
    assert _answers(engine, [engine.call(replaced, "add", np.ones(1))])[0][0] == 11
    assert _answers(engine, [engine.call(actors[0], "add", np.ones(1))])[0][0] == 12


@pytest.mark.slow
def test_an_actor_that_computes_for_long_is_not_lost(engine, actors):
    answers, losses = engine.wait([engine.call(actor, "sleep", 8) for actor in actors], timeout=5)
    assert (len(answers), losses) == (2, [])


@pytest.mark.slow
def test_a_stopped_actor_is_lost_after_the_timeout_and_replaced(engine, actors):
    (_, other), (_, victim) = _answers(engine, [engine.call(actor, "add", np.ones(1)) for actor in actors])
    assert other != victim
    os.kill(victim, signal.SIGSTOP)
    try:
        large = np.ones(1_000_000)  # more than a pipe holds
        answers, losses = engine.wait([engine.call(actor, "add", large) for actor in actors], timeout=3)
        assert [done.call.actor for done in answers] == [actors[0]]
        assert [lost.reason for lost in losses] == ["it gave no sign of life for 3 s"]
        replaced = actors[1] = engine.restart(actors[1])
        assert _answers(engine, [engine.call(replaced, "add", np.ones(1))])[0][0] == 11
    finally:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGCONT)


def test_functions_run_elsewhere(engine):
    assert _answers(engine, [engine.submit(math.factorial, number) for number in range(8)]) == [
        math.factorial(number) for number in range(8)
    ]


@pytest.mark.slow
def test_a_function_runs_again_when_its_process_ends(engine, tmp_path):
    assert _answers(engine, [engine.submit(attempt, str(tmp_path / "tried"))]) == ["done"]


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_the_number_of_workers_is_checked(workers):
    with pytest.raises(rw.InputError, match="workers must be a positive integer"):
        rw.distributed.Processes(workers)


def test_the_timeout_is_checked():
    with pytest.raises(rw.InputError, match="timeout must be a positive number of seconds, not 0"):
        rw.distributed.Processes(1, timeout=0)


@pytest.mark.parametrize(
    ("error", "again", "sentence"),
    [
        (ValueError("num_cpus is wrong"), False, "Ray did not start: num_cpus is wrong"),
        (PermissionError(13, "denied", "/tmp/ray"), False, "Ray did not start: .*denied"),
        (
            Exception("The current node timed out"),
            True,
            "Ray did not start within 0.2 s: The current node timed out",
        ),
        (RuntimeError("Failed to start GCS"), True, "Ray did not start within 0.2 s: Failed to start GCS"),
    ],
)
def test_ray_is_started_again_only_where_it_waited_in_vain(error, again, sentence, monkeypatch):
    tries = []

    def init(**_options):
        tries.append(time.sleep(0.09))
        raise error

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False, init=init))
    with pytest.raises(rw.InputError, match=sentence):
        rw.distributed.Ray(timeout=0.2)
    assert (len(tries) > 1) == again


def test_an_address_of_ray_that_is_none_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(is_initialized=lambda: False))
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(rw.InputError, match=f"There is no Ray cluster at 127.0.0.1:{port}: .*refused"):
            rw.distributed.Ray(f"127.0.0.1:{port}", timeout=5)
    with pytest.raises(rw.InputError, match="'head' is not an address of Ray"):
        rw.distributed.Ray("head", timeout=5)


@pytest.mark.clusters
def test_an_address_at_which_nothing_listens_is_one_sentence():
    pytest.importorskip("ray")
    start = time.monotonic()
    with pytest.raises(rw.InputError, match=r"There is no Ray cluster at 127.0.0.1:9: .*refused"):
        rw.distributed.Ray("127.0.0.1:9", timeout=5)
    with pytest.raises(rw.InputError, match=r"tcp://127.0.0.1:9 .*answer"):
        rw.distributed.Dask("tcp://127.0.0.1:9", timeout=5)
    assert time.monotonic() - start < 20  # importing both takes seconds


@pytest.mark.clusters
def test_an_address_that_is_silent_is_one_sentence_within_the_timeout():
    pytest.importorskip("ray")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        for connect, name in ((rw.distributed.Ray, address), (rw.distributed.Dask, f"tcp://{address}")):
            start = time.monotonic()
            with pytest.raises(rw.InputError, match=r"answer"):
                connect(name, timeout=4)
            assert time.monotonic() - start < 12


@pytest.mark.clusters
def test_an_ended_actor_of_ray_gives_no_sign_and_needs_room_for_another():
    pytest.importorskip("ray")
    with rw.distributed.Ray(workers=1, cpus=available_threads(), timeout=10) as engine:
        (ended,) = engine.start(partial(Tally, 10), 1)
        engine.end([ended])
        engine.start(partial(Tally, 10), 1)
        for _ in range(3):
            assert engine.last_sign(ended) == 0.0
            time.sleep(0.5)
        with pytest.raises(rw.InputError, match="Ray had no room for another worker within 10 s"):
            engine.restart(ended)


@pytest.mark.clusters
def test_a_call_is_lost_if_the_scheduler_of_dask_is(monkeypatch):
    pytest.importorskip("distributed")

    async def refuse():
        raise ConnectionRefusedError("it refused")

    with rw.distributed.Dask(workers=1, timeout=TIMEOUT) as engine:
        actors = engine.start(partial(Tally, 10), 1)
        monkeypatch.setattr(engine, "_known", refuse)
        _, losses = engine.wait([engine.call(actors[0], "sleep", 5)])
        assert [lost.reason for lost in losses] == ["the scheduler cannot be reached: it refused"]

"""Runs several fits concurrently, here or on an engine, and within a time limit."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event, Lock, local
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rankwright.base.resources import one_thread_for_libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    OnRound = Callable[[Any], None]

# Python waits in steps: a signal that arrives just before a wait begins does not end it, so Ctrl-C could be lost.
SECONDS_PER_WAIT = 0.2

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


class _StoppedError(Exception):
    """Ends a fit whose result is no longer needed."""


class FitEngine(Protocol):
    """Runs whole fits in other processes; see `rankwright.distributed.fits_on`."""

    @property
    def n_workers(self) -> int: ...

    def run(
        self, function: Callable[..., Outcome], *arguments: Any, is_stopped: Callable[[], bool]
    ) -> Outcome | None:
        """Return what the function returns there; None if the wait for it was stopped."""


class _Thread(local):
    """Where the fits of this thread run, if elsewhere, and whether they are no longer needed."""

    engine: FitEngine | None = None

    @staticmethod
    def is_stopped() -> bool:
        return False


_thread = _Thread()
_engines: list[FitEngine] = []  # the last one runs the fits that begin now


@contextmanager
def sent_to(engine: FitEngine) -> Iterator[None]:
    """Let an engine run the fits that `fits_at_once` begins in this block."""
    _engines.append(engine)
    try:
        yield
    finally:
        _engines.remove(engine)


def is_sent() -> bool:
    """Return whether the fits of this thread run on an engine."""
    return _thread.engine is not None


def run_elsewhere(function: Callable[..., Outcome], *arguments: Any) -> Outcome:
    """Return what a function returns on the engine of this thread."""
    assert _thread.engine is not None
    outcome = _thread.engine.run(function, *arguments, is_stopped=_thread.is_stopped)
    if outcome is None:
        raise _StoppedError
    return outcome


def n_at_once(workers: int) -> int:
    """Return the number of fits that run at once: `workers`, or as many as the engine of this block has."""
    return _engines[-1].n_workers if _engines else workers


@contextmanager
def fits_at_once(
    work: Callable[[Task, OnRound], Outcome], tasks: Sequence[Task], *, workers: int
) -> Iterator[list[Future[Outcome]]]:
    """Run `work(task, on_round)` of every task on `workers` threads; yield the futures in the order of the tasks.

    Threads suffice and share the data, because the native code runs without Python's global lock. If the block
    raises, for example on Ctrl-C, fits that have not begun are cancelled, and the others end at their next call of
    `on_round`. Within `sent_to`, there is a thread per worker of the engine, which waits for the fits there.
    """
    stopped, engine, is_outer_stopped = Event(), _engines[-1] if _engines else None, _thread.is_stopped

    def is_stopped() -> bool:
        return stopped.is_set() or is_outer_stopped()

    def begin() -> None:
        _thread.engine, _thread.is_stopped = engine, is_stopped  # type: ignore[method-assign]

    def on_round(_: Any) -> None:
        if is_stopped():
            raise _StoppedError

    with one_thread_for_libraries(), ThreadPoolExecutor(n_at_once(workers), initializer=begin) as executor:
        try:
            yield [executor.submit(work, task, on_round) for task in tasks]
        except BaseException:
            stopped.set()
            executor.shutdown(wait=False, cancel_futures=True)
            raise


def run_all(
    work: Callable[[Task, OnRound], Outcome], tasks: Sequence[Task], *, workers: int, on_done: Callable[[], None]
) -> list[Outcome]:
    """Return `work(task, on_round)` of every task, in order; the first failure ends all fits."""
    with fits_at_once(work, tasks, workers=workers) as running:
        pending = set(running)
        while pending:
            done, pending = wait(pending, SECONDS_PER_WAIT, return_when=FIRST_COMPLETED)
            for fit in done:
                fit.result()
                on_done()
    return [fit.result() for fit in running]


def run_in_order(work: Callable[..., Outcome], tasks: Iterable[Task]) -> Iterator[Outcome]:
    """Yield `work(task)` of every task, in order: one after the other here, or on an engine many at once."""
    if not _engines:
        yield from map(work, tasks)
        return
    with fits_at_once(work, list(tasks), workers=1) as running:
        yield from map(result_of, running)


def result_of(fit: Future[Outcome]) -> Outcome:
    """Return the result of a fit once it has ended; Ctrl-C ends the wait."""
    while not fit.done():
        wait([fit], SECONDS_PER_WAIT)
    return fit.result()


class NoTimeError(Exception):
    """There is no time for a fit."""


class Timed(Protocol):
    """A candidate: its name, the relative time that it takes, and its fits."""

    @property
    def name(self) -> str: ...

    @property
    def cost(self) -> float: ...

    @property
    def fits(self) -> Sequence[Any]: ...


class TimeLimit:
    """Skips candidates that would need more than the time left, and ends fits when it is over.

    How long a candidate takes is estimated from its cost and the seconds per cost of the fits before it; once one
    of its own fits has ended, from the seconds of those. Threads may share a limit.

    Parameters
    ----------
    seconds
        The time for all fits; None for no limit.
    n_threads
        Number of fits that run at once.
    spent, cost
        Seconds and cost of fits before these, which tell how long the first will take; 0 if there are none.
    """

    def __init__(self, seconds: float | None, n_threads: int, spent: float = 0.0, cost: float = 0.0) -> None:
        self._seconds, self._n_threads = seconds, n_threads
        self._end = None if seconds is None else monotonic() + seconds
        self._lock = Lock()
        self._spent, self._cost = spent, cost  # seconds of the fits that have ended, and their cost
        self._begun = Counter[str]()  # fits of each candidate
        self._seconds_of: dict[str, list[float]] = {}  # of the fits of each candidate that have ended
        self._reasons: dict[str, str | None] = {}  # why each candidate is skipped; None if it is not

    def admit(self, candidate: Timed) -> None:
        """Raise `NoTimeError` if a candidate's fit should not begin."""
        if self._end is None:
            return
        with self._lock:
            left, name = self._end - monotonic(), candidate.name
            if name not in self._reasons:
                first = not self._reasons and not self._seconds_of  # always begins: expectations may be wrong
                self._reasons[name] = self._reason(0.0 if first else candidate.cost, left)
            elif self._reasons[name] is None:
                self._reasons[name] = self._overrun(candidate, left)
            reason = self._reasons[name]
            self._begun[name] += 1
        if reason is not None:
            raise NoTimeError(reason)

    def note(self, candidate: Timed, seconds: float) -> None:
        """Record the seconds of one of a candidate's fits."""
        with self._lock:
            if candidate.cost:  # a candidate without cost does not tell how long others take
                self._spent += seconds
                self._cost += candidate.cost / len(candidate.fits)
            self._seconds_of.setdefault(candidate.name, []).append(seconds)

    def ending(self, on_round: OnRound) -> OnRound:
        """Return `on_round` that also ends the fit when the time is over."""
        if self._end is None:
            return on_round
        end = self._end

        def checked(ended: Any) -> None:
            on_round(ended)
            if monotonic() > end:
                raise NoTimeError(self._ended)

        return checked

    @property
    def _ended(self) -> str:
        return f"the time limit of {self._seconds:.3g} s ended before its fits did"

    def _reason(self, cost: float, left: float) -> str | None:
        """Return why a candidate of this cost does not fit into the seconds left; None if it does."""
        if left <= 0:
            return f"no time was left of {self._seconds:.3g} s"
        needed = cost * self._spent / self._cost / self._n_threads if self._cost else 0.0
        return None if needed <= left else f"it would take about {needed:.3g} s, and {left:.3g} s were left"

    def _overrun(self, candidate: Timed, left: float) -> str | None:
        """Return why the fits of a candidate under way do not fit into the seconds left; None if they do."""
        if left <= 0:
            return self._ended
        known = self._seconds_of.get(candidate.name)
        if not known:
            return None
        to_begin = len(candidate.fits) - self._begun[candidate.name]
        needed = to_begin * sum(known) / len(known) / self._n_threads
        return (
            None
            if needed <= left
            else f"the rest of its fits would take {needed:.3g} s, and {left:.3g} s were left"
        )

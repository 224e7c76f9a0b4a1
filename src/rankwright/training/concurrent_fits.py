"""Runs several fits concurrently."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    OnRound = Callable[[Any], None]

# Python waits in steps: a signal that arrives just before a wait begins does not end it, so Ctrl-C could be lost.
SECONDS_PER_WAIT = 0.2

Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


class _StoppedError(Exception):
    """Ends a fit whose result is no longer needed."""


@contextmanager
def fits_at_once(
    work: Callable[[Task, OnRound], Outcome], tasks: Sequence[Task], *, workers: int
) -> Iterator[list[Future[Outcome]]]:
    """Run `work(task, on_round)` of every task on `workers` threads; yield the futures in the order of the tasks.

    Threads suffice and share the data, because the native code runs without Python's global lock. If the block
    raises, for example on Ctrl-C, fits that have not begun are cancelled, and the others end at their next call of
    `on_round`.
    """
    stopped = Event()

    def on_round(_: Any) -> None:
        if stopped.is_set():
            raise _StoppedError

    with ThreadPoolExecutor(workers) as executor:
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


def result_of(fit: Future[Outcome]) -> Outcome:
    """Return the result of a fit once it has ended; Ctrl-C ends the wait."""
    while not fit.done():
        wait([fit], SECONDS_PER_WAIT)
    return fit.result()

"""Runs several fits concurrently."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    OnRound = Callable[[Any], None]

Task = TypeVar("Task")
Result = TypeVar("Result")


class _StoppedError(Exception):
    """Ends a fit whose result is no longer needed."""


@contextmanager
def fits_at_once(
    work: Callable[[Task, OnRound], Result], tasks: Sequence[Task], *, workers: int
) -> Iterator[list[Future[Result]]]:
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
    work: Callable[[Task, OnRound], Result],
    tasks: Sequence[Task],
    *,
    workers: int,
    on_done: Callable[[], None],
) -> list[Result]:
    """Return `work(task, on_round)` of every task, in order; the first failure ends all fits."""
    with fits_at_once(work, tasks, workers=workers) as running:
        for done in as_completed(running):
            done.result()
            on_done()
    return [done.result() for done in running]

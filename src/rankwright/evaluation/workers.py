"""Many fits at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    OnRound = Callable[[Any], None]

Task = TypeVar("Task")
Result = TypeVar("Result")


class _StoppedError(Exception):
    """Ends a fit whose result nobody waits for any more."""


def run_all(
    work: Callable[[Task, OnRound], Result],
    tasks: Sequence[Task],
    *,
    workers: int,
    on_done: Callable[[], None],
) -> list[Result]:
    """Return `work(task, on_round)` of every task, in order, on so many threads.

    Threads will do, and share the data: the native core does the work and leaves Python's lock alone. Ctrl-C or
    the first failure ends all fits, each at its next call of `on_round`.
    """
    stopped = Event()

    def on_round(_: Any) -> None:
        if stopped.is_set():
            raise _StoppedError

    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(work, task, on_round) for task in tasks]
        try:
            for done in as_completed(running):
                done.result()
                on_done()
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [done.result() for done in running]

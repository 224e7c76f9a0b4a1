"""What training asks of an engine: actors in processes of their own, whose calls may be lost.

An actor is an object in another process, and a call runs one of its methods there. A call whose process ended, or
was stopped, or is silent for too long, is lost; a new actor can then take the place of the old one. An actor that
computes for long gives signs of life meanwhile; they say that its process lives, not that the call advances.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from rankwright.base.errors import InputError, parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

TIMEOUT = 60.0
SECONDS_PER_WAIT = 0.2  # a signal that arrives just before a wait begins does not end it
SECONDS_PER_SIGN = 1.0  # of life
STRAGGLER = 10.0  # times as long as the timeout and the slowest answered call
MAX_ATTEMPTS = 3  # of a submitted function whose process ends


Connection = TypeVar("Connection")


class LostError(Exception):
    """A process that should have answered has ended."""


@dataclass(frozen=True, eq=False)
class Actor:
    """An object in another process.

    Parameters
    ----------
    number
        Which of the actors that were started together it is; the actor that replaces it has the same.
    make
        Makes the object there.
    handle
        What the engine knows of it.
    """

    number: int
    make: Callable[[], object]
    handle: Any


@dataclass(frozen=True, eq=False)
class Call:
    """A call whose answer will come, or not."""

    actor: Actor | None  # None for a submitted function
    future: Future[Any]


class CallAnswer(NamedTuple):
    """A call and its answer."""

    call: Call
    answer: Any


class Lost(NamedTuple):
    """A call that will have no answer, and why."""

    call: Call
    reason: str


class Engine(ABC):
    """Runs actors and functions in other processes.

    Parameters
    ----------
    timeout
        Seconds after which a silent actor counts as lost.
    """

    def __init__(self, timeout: float = TIMEOUT) -> None:
        if not timeout > 0:
            raise InputError(f"{parameter('timeout')} must be a positive number of seconds, not {timeout!r}.")
        self.timeout = timeout
        self._slowest = 0.0  # seconds of the slowest request that was answered so far

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """The number of workers that there is room for now; it grows when machines join a cluster."""

    @abstractmethod
    def start(self, make: Callable[[], object], n: int) -> list[Actor]:
        """Start `n` actors; `make()` makes each object in its process."""

    @abstractmethod
    def call(self, actor: Actor, method: str, *arguments: Any) -> Call:
        """Call a method of an actor and return at once; the calls of an actor run one after the other."""

    @abstractmethod
    def last_sign(self, actor: Actor) -> float:
        """Return when, by `monotonic`, an actor last gave a sign of life during a call; 0 if it never did."""

    @abstractmethod
    def end(self, actors: Iterable[Actor]) -> None:
        """End actors that are no longer needed."""

    @abstractmethod
    def restart(self, actor: Actor) -> Actor:
        """Return a new actor in place of a lost one, and end what is left of that."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Call:
        """Call a function in some process, and again elsewhere if that ends."""

    @abstractmethod
    def close(self) -> None:
        """End all actors, and what the engine itself started."""

    def wait(self, calls: Iterable[Call], timeout: float | None = None) -> tuple[list[CallAnswer], list[Lost]]:
        """Wait for all calls; raise what a method raised.

        Returns
        -------
        answers, losses
            Each in the order of the calls. The call of an actor that gives no sign of life for `timeout` seconds
            (None: the engine's, as for all requests but those that load) is lost, and one that takes 10 times as
            long as that and as all calls that have been answered here or, as long as none is, as all requests
            before; a submitted function may take any time.
        """
        calls, seconds, start = list(calls), self.timeout if timeout is None else timeout, monotonic()
        took: list[float] = []  # seconds, of each call that has been answered

        def note(ended: Future[Any]) -> None:
            if not ended.cancelled() and ended.exception() is None:
                took.append(monotonic() - start)

        def overdue(call: Call) -> str:  # why it is lost; empty while it is awaited
            waited = monotonic() - start
            if call.actor is None or waited < min(seconds, SECONDS_PER_SIGN):
                return ""
            if waited > (most := STRAGGLER * max(seconds, max(took, default=self._slowest))):
                return f"it did not answer within {most:g} s; a longer timeout gives it more"
            is_silent = monotonic() - max(start, self.last_sign(call.actor)) >= seconds
            return f"it gave no sign of life for {seconds:g} s" if is_silent else ""

        for call in calls:
            call.future.add_done_callback(note)
        reasons = dict.fromkeys(calls, "")
        while awaited := [call for call in calls if not call.future.done() and not reasons[call]]:
            wait_for([call.future for call in awaited], SECONDS_PER_WAIT)
            reasons = {call: overdue(call) for call in calls if not call.future.done()}
        if timeout is None:
            self._slowest = max(self._slowest, *took, 0.0)
        answers, losses = [], []
        for call in calls:
            if not call.future.done():
                losses.append(Lost(call, reasons[call]))
                continue
            try:
                answers.append(CallAnswer(call, call.future.result()))
            except LostError as error:
                losses.append(Lost(call, str(error)))
        return answers, losses

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Host:
    """The object of an actor, made and called in the actor's process."""

    def __init__(self, make: Callable[[], object]) -> None:
        self._object = make()

    def ready(self) -> None:
        """Do nothing: an answer says that the object is made."""

    def call(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Call a method of the object."""
        return getattr(self._object, method)(*arguments)


def checked_workers(workers: int) -> int:
    """Return a number of workers, which must be positive."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"{parameter('workers')} must be a positive integer, not {workers!r}.")
    return workers


def connected(connect: Callable[[], Connection], timeout: float) -> Connection:
    """Return what `connect()` returns within the timeout; libraries wait for minutes for what is silent."""
    outcome: Future[Connection] = Future()

    def run() -> None:
        try:
            outcome.set_result(connect())
        except BaseException as error:
            outcome.set_exception(error)

    Thread(target=run, daemon=True).start()
    return outcome.result(timeout)

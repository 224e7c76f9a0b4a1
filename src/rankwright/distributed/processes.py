"""Workers as processes of this machine, which are asked through their standard input and output."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import available_threads
from rankwright.distributed.engine import (
    MAX_ATTEMPTS,
    SECONDS_PER_SIGN,
    TIMEOUT,
    Actor,
    Call,
    Engine,
    Host,
    LostError,
    checked_workers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

COMMAND = "from rankwright.distributed.processes import answer_calls; answer_calls()"
SECONDS_TO_END = 5.0
HEADER = 8  # bytes of a message's length
PIPE_BYTES = 1 << 20  # instead of 64 KiB: a process waits less often for the other
ROOM = PIPE_BYTES // 2 if sys.platform == "linux" else 1 << 12  # of an empty pipe


Message = list[memoryview]  # the bytes of a message, and those of its arrays


class Processes(Engine):
    """Workers as processes of this machine.

    They import only what the messages name, so a script needs no `if __name__ == "__main__"`; what is sent to them
    must be importable, not defined in a script or a notebook. They end with the process that started them.

    Parameters
    ----------
    workers
        Number of processes; None: one per core.
    timeout
        Seconds after which a silent process counts as lost.

    Examples
    --------
    >>> import math
    >>> with rw.distributed.Processes(2) as engine:
    ...     calls = [engine.submit(math.factorial, number) for number in (3, 4, 5)]
    ...     answers, losses = engine.wait(calls)
    >>> [done.answer for done in answers], losses
    ([6, 24, 120], [])
    """

    def __init__(self, workers: int | None = None, *, timeout: float = TIMEOUT) -> None:
        super().__init__(timeout)
        self._n_workers = available_threads() if workers is None else checked_workers(workers)
        self._channels: set[_Channel] = set()
        self._idle: SimpleQueue[_Channel] | None = None  # processes for submitted functions
        self._threads: ThreadPoolExecutor | None = None

    @property
    def n_workers(self) -> int:
        return self._n_workers

    def start(self, make: Callable[[], object], n: int) -> list[Actor]:
        return [Actor(number, make, self._open(make)) for number in range(n)]

    def call(self, actor: Actor, method: str, *arguments: Any) -> Call:
        return Call(actor, actor.handle.ask(method, arguments))

    def last_sign(self, actor: Actor) -> float:
        last: float = actor.handle.last_sign
        return last

    def end(self, actors: Iterable[Actor]) -> None:
        for actor in actors:
            self._close(actor.handle)

    def restart(self, actor: Actor) -> Actor:
        self.end([actor])
        return Actor(actor.number, actor.make, self._open(actor.make))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Call:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._n_workers)
            self._idle = SimpleQueue()
            for _ in range(self._n_workers):
                self._idle.put(self._open(_Functions))
        return Call(None, self._threads.submit(self._run, function, arguments))

    def close(self) -> None:
        for channel in list(self._channels):
            self._close(channel)
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Call a function in an idle process; in a new one if that ends."""
        assert self._idle is not None
        channel = self._idle.get()
        try:
            for attempt in range(1, MAX_ATTEMPTS + 1):
                try:
                    return channel.ask("run", (function, arguments)).result()
                except LostError:
                    self._close(channel)
                    if self._threads is None or attempt == MAX_ATTEMPTS:
                        raise
                    channel = self._open(_Functions)
        finally:
            self._idle.put(channel)
        raise AssertionError

    def _open(self, make: Callable[[], object]) -> _Channel:
        channel = _Channel(make)
        self._channels.add(channel)
        return channel

    def _close(self, channel: _Channel) -> None:
        self._channels.discard(channel)
        channel.close()


class _Functions:
    """Runs functions."""

    def run(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        return function(*arguments)


class _Channel:
    """A process, and the thread that receives its answers."""

    def __init__(self, make: Callable[[], object]) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pipesize=PIPE_BYTES,
            env=environment,
        )
        self.last_sign = 0.0
        self._lock, self._awaited, self._end = Lock(), deque[Future[Any]](), ""
        self._writer = ThreadPoolExecutor(1)  # a write to a stopped process blocks once the pipe is full
        self._writer.submit(self._send, _packed(make))
        self._receiver = Thread(target=self._receive, daemon=True)
        self._receiver.start()

    def ask(self, method: str, arguments: tuple[Any, ...]) -> Future[Any]:
        """Send a call, for one thread at a time; return the future of its answer, or of what the method raised."""
        answer: Future[Any] = Future()
        try:
            message = _packed((method, arguments))
        except InputError as error:
            answer.set_exception(error)
            return answer
        with self._lock:
            if self._end:
                answer.set_exception(LostError(self._end))
                return answer
            is_idle = self.last_sign > 0.0 and not self._awaited  # what was sent before has been read
            self._awaited.append(answer)
        if is_idle and sum(map(len, message)) < ROOM:
            self._send(message)
        else:
            self._writer.submit(self._send, message)
        return answer

    def close(self) -> None:
        """End the process, also a stopped one."""
        self.process.kill()
        self.process.wait()
        self._writer.shutdown(wait=True, cancel_futures=True)
        self._receiver.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()

    def _send(self, message: Message) -> None:
        assert self.process.stdin is not None
        with suppress(OSError):  # the receiver notices that the process has ended
            _write(self.process.stdin, message)

    def _receive(self) -> None:
        assert self.process.stdout is not None
        with suppress(OSError, EOFError, ValueError):
            while True:
                reply = _read(self.process.stdout)
                self.last_sign = monotonic()
                if reply:  # a sign of life has no parts
                    self._answer(reply)
        end = self._how_it_ended()
        with self._lock:
            self._end = end
        for answer in self._awaited:
            answer.set_exception(LostError(end))

    def _answer(self, reply: Message) -> None:
        try:
            failure, result = _unpacked(reply)
        except Exception as error:
            failure, result = error, None
        with self._lock:
            answer = self._awaited.popleft()
        if failure is None:
            answer.set_result(result)
        else:
            answer.set_exception(failure)

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            status = self.process.wait(SECONDS_TO_END)
            if status < 0:
                return f"its process was ended by {signal.Signals(-status).name}"
            return f"its process ended with status {status}"
        return "its process closed its output"


def answer_calls() -> None:
    """Answer the calls that arrive on standard input, until it ends; what is printed goes to standard error."""
    with suppress(KeyboardInterrupt):  # it reaches all processes of a terminal
        calls, answers = sys.stdin.buffer, _Answers(os.fdopen(os.dup(1), "wb"))
        os.dup2(2, 1)
        host = None
        with suppress(EOFError, BrokenPipeError):
            make = _read(calls)
            while True:
                message = _read(calls)
                answers.is_awaited = True
                try:
                    host = host or Host(_unpacked(make))
                    reply = _packed((None, host.call(*_unpacked(message))))
                except Exception as error:
                    reply = _packed((error, None))
                answers.is_awaited = False
                answers.write(reply)


class _Answers:
    """Where answers go, and signs of life while one is awaited."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe, self._lock, self.is_awaited = pipe, Lock(), False
        Thread(target=self._give_signs, daemon=True).start()

    def write(self, message: Message) -> None:
        with self._lock:
            _write(self._pipe, message)

    def _give_signs(self) -> None:
        with suppress(OSError, ValueError):
            while True:
                sleep(SECONDS_PER_SIGN)
                if self.is_awaited:
                    self.write([])


def _packed(message: object) -> Message:
    """Return a message as bytes, followed by its arrays, which are then not copied."""
    arrays: list[pickle.PickleBuffer] = []
    try:
        data = pickle.dumps(message, protocol=5, buffer_callback=arrays.append)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"{error}: what is sent to a process must be importable there.") from None
    return [memoryview(data), *(array.raw() for array in arrays)]


def _unpacked(message: Message) -> Any:
    return pickle.loads(message[0], buffers=message[1:])


def _read(pipe: IO[bytes]) -> Message:
    n_parts = int.from_bytes(_exactly(pipe, HEADER), "little")
    sizes = [int.from_bytes(_exactly(pipe, HEADER), "little") for _ in range(n_parts)]
    return [_exactly(pipe, size) for size in sizes]


def _exactly(pipe: IO[bytes], n_bytes: int) -> memoryview:
    data = np.empty(n_bytes, np.uint8).data
    n_read = 0
    while n_read < n_bytes:
        n_more = pipe.readinto(data[n_read:])  # type: ignore[attr-defined]
        if not n_more:
            raise EOFError
        n_read += n_more
    return data


def _write(pipe: IO[bytes], message: Message) -> None:
    for number in (len(message), *map(len, message)):
        pipe.write(number.to_bytes(HEADER, "little"))
    for part in message:
        pipe.write(part)
    pipe.flush()

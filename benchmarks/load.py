"""Load for an HTTP server: the same request over a few connections, as fast as it is answered or at a given rate.

One thread without an event loop, whose timers would round to milliseconds, so that the load takes little of the
processor that it shares with the server and sends each request when it is due.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

END_OF_HEAD = b"\r\n\r\n"
LARGEST_READ = 1 << 18


class Connection:
    """A connection that sends one request after another."""

    def __init__(self, port: int, request: bytes) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        self._request = memoryview(request)

    def fileno(self) -> int:
        return self._socket.fileno()

    def start(self, due: float) -> None:
        """Send the request, which was due at this time: waiting for a free connection counts too."""
        self.due, self.unsent = due, self._request
        self._answer, self._size = b"", 0
        self.send()

    def send(self) -> None:
        """Send as much as the system takes."""
        try:
            self.unsent = self.unsent[self._socket.send(self.unsent) :]
        except BlockingIOError:
            return

    def receive(self) -> bool:
        """Read what has arrived, and return whether the answer is complete."""
        received = self._socket.recv(LARGEST_READ)
        self._answer += received
        if not self._size:
            head, end, _ = self._answer.partition(END_OF_HEAD)
            if not received or (end and not head.startswith(b"HTTP/1.1 200")):
                raise RuntimeError(f"The server answered {self._answer[:200]!r}.")
            if end:
                length = head.lower().partition(b"content-length: ")[2]
                self._size = len(head) + len(end) + int(length.partition(b"\r")[0])
        return 0 < self._size <= len(self._answer)

    def close(self) -> None:
        self._socket.close()


def saturate(port: int, request: bytes, n_connections: int, seconds: float) -> float:
    """Return requests per second if each connection sends a request as soon as its last was answered."""
    start = time.perf_counter()
    latencies = _drive(port, request, n_connections, _always(start + seconds))
    return len(latencies) / (time.perf_counter() - start)


def pace(port: int, request: bytes, n_connections: int, seconds: float, rate: float) -> list[float]:
    """Return latencies of requests that come at random at a given rate, whether others were answered or not."""
    return _drive(port, request, n_connections, _at_random(time.perf_counter() + seconds, rate))


def _always(end: float) -> Iterator[float]:
    while time.perf_counter() < end:
        yield time.perf_counter()


def _at_random(end: float, rate: float) -> Iterator[float]:
    random = np.random.default_rng(0)
    due = time.perf_counter()
    while due < end:
        yield due
        due += random.exponential(1 / rate)


def _drive(port: int, request: bytes, n_connections: int, times: Iterator[float]) -> list[float]:
    """Send requests when they are due, and return how long after that each was answered."""
    free = deque(
        Connection(port, request) for _ in range(n_connections)
    )  # in turn, so that all processes are asked
    busy: set[Connection] = set()
    latencies: list[float] = []
    due = next(times, None)
    while busy or due is not None:
        while free and due is not None and due <= time.perf_counter():
            connection = free.popleft()
            connection.start(due)
            busy.add(connection)
            due = next(times, None)
        waits = max(0.0, due - time.perf_counter()) if free and due is not None else None
        sending = [one for one in busy if one.unsent]
        readable, writable, _ = select.select(busy, sending, [], waits)
        for connection in writable:
            connection.send()
        for connection in readable:
            if connection.receive():
                latencies.append(time.perf_counter() - connection.due)
                busy.remove(connection)
                free.append(connection)
    for connection in free:
        connection.close()
    return latencies

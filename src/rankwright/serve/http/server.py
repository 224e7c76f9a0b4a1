"""Listening with uvicorn: limits on slow clients, and a graceful shutdown."""

from __future__ import annotations

import asyncio
import errno
import logging
import secrets
import signal
import socket
import time
from collections import deque
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from rankwright.base.errors import InputError
from rankwright.serve.http import prometheus
from rankwright.serve.http.application import UNKNOWN, Application, Served
from rankwright.serve.http.exchange import CLOSE, JSON, Response
from rankwright.serve.http.logs import ServerLog, log
from rankwright.serve.http.routes import routes_of
from rankwright.serve.models.file_watcher import Watcher
from rankwright.serve.protocols.messages import Error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

    from rankwright.serve.http.exchange import Route
    from rankwright.serve.service import Service
    from rankwright.serve.settings import Listening

KEEP_ALIVE = 75  # seconds that a connection may wait for its next request
BACKLOG = 1024
MAX_HEADER = 1 << 16  # bytes
FIELD = 32  # bytes that each header counts besides its name and value, as in HTTP/2 (RFC 9113, 6.5.2)
TOO_LONG = f"Headers must not have more than {MAX_HEADER:,} bytes, counting {FIELD} more for each of them."
MAX_KEPT = 1 << 20  # bytes of a body
PATIENCE = 2.0  # seconds in which the first request of a new connection arrives


class HeadWithBody(asyncio.Transport):
    """Sends the head of a response with its body in one packet; has only the methods that uvicorn calls."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._head = b""

    def write(self, data: Any) -> None:
        if self._head:
            self._transport.write(self._head + data)
        else:
            self._head = data

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()


class TooLongError(Exception):
    """The headers or trailers of a request are too long."""


class Connection(HttpToolsProtocol):
    """A connection with limits: on the size and time of headers, and on the time in which answers are read.

    Trailers, the headers after a body in chunks, count as headers do, and are dropped.
    """

    def __init__(self, *, timeout: float, **parts: Any) -> None:
        super().__init__(**parts)
        self._timeout = timeout
        self._unanswered: deque[RequestResponseCycle] = deque()
        self._write_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._unparsed_bytes = 0
        self._is_refused = False
        self._header_timer: asyncio.TimerHandle | None = None
        self._is_new = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        self.resume_writing()
        for cycle in self._unanswered:  # uvicorn tells the last of them only
            cycle.disconnected = True
            cycle.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        self._unparsed_bytes += len(data)
        super().data_received(data)
        if self._header_bytes + self._unparsed_bytes > MAX_HEADER and not self._is_refused:
            self.send_400_response(TOO_LONG)

    def send_400_response(self, msg: str) -> None:
        self._refuse(HTTPStatus.BAD_REQUEST, TOO_LONG if self._header_bytes > MAX_HEADER else msg)

    def _count_header(self, size: int) -> None:
        """Count bytes of headers; an exception ends the parsing, and uvicorn calls `send_400_response`."""
        self._unparsed_bytes = max(0, self._unparsed_bytes - size)
        self._header_bytes += size
        if self._header_bytes > MAX_HEADER:
            raise TooLongError

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        """Refuse an invalid request and close the connection, after earlier requests are answered."""
        self._is_refused = True
        complete = [cycle for cycle in self._unanswered if not cycle.more_body]
        if complete:
            last = complete[-1]
            last.keep_alive = False
            last.scope["headers"] = [*last.scope["headers"], CLOSE]  # uvicorn below 0.53 needs it
            return
        name = secrets.token_hex(8)
        body = Response.json(Error(sentence, name)).body
        head = (
            f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {JSON}\r\ncontent-length: {len(body)}\r\n"
            f"x-request-id: {name}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
        prometheus.requests_by(UNKNOWN, str(status.value)).inc()
        log("request", request=name, route=UNKNOWN, status=status.value)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_bytes = 0
        self._is_new = False
        self._await_header()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_header(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_header(len(name) + len(value) + FIELD)
        if self._header_timer is not None:  # otherwise it is a trailer
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()
        # After HEAD no body follows; after an expectation "100 Continue" is written before the head.
        if self.scope["method"] != "HEAD" and not self.expect_100_continue:
            self.cycle.transport = HeadWithBody(self.transport)
        self._unanswered.append(self.cycle)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._unanswered.popleft()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait for a client that does not read its answers, until the timeout."""
        self._write_timer = self.loop.call_later(self._timeout, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
        super().resume_writing()

    def on_body(self, body: bytes) -> None:
        """Buffer a body until it is complete or long, so that the application is woken once."""
        self._unparsed_bytes = 0
        if len(self.cycle.body) + len(body) > MAX_KEPT or self.cycle.response_complete:
            super().on_body(body)
        else:
            self.cycle.body += body

    def _await_header(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self._timeout, self._end_waiting)

    def _end_waiting(self) -> None:
        if self._is_new:
            self.transport.close()
        else:
            seconds = f"{self._timeout:g} seconds"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, f"The request did not arrive within {seconds}.")

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


class GracefulServer(uvicorn.Server):
    """A server with a graceful shutdown."""

    def __init__(self, service: Served, routes: Sequence[Route]) -> None:
        self._service = service
        super().__init__(
            uvicorn.Config(
                Application(service, routes),
                http=partial(Connection, timeout=service.settings.timeout),  # type: ignore[arg-type]
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE,
                timeout_graceful_shutdown=max(1, round(service.settings.timeout)),
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Say that the service is stopping, then close the port, then idle connections; answer all requests.

        In the time of grace new requests are still answered, and with each answer its connection is closed: a
        balancer sees that the service is not ready, and clients come back elsewhere.
        """
        self._service.is_draining = True
        await asyncio.sleep(self._service.settings.grace)
        await self._close_port(sockets or [])
        await self._await_first_requests()
        await super().shutdown(sockets)
        self._service.close()

    async def _close_port(self, sockets: list[socket.socket]) -> None:
        """Close the port, but accept the connections that the system has queued: a plain close would drop them."""
        spares = [listening.dup() for listening in sockets]
        for server in self.servers:
            server.close()
        accepted = [connection for spare in spares for connection in _accepted(spare)]
        for connection in accepted:
            await asyncio.get_running_loop().connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    async def _await_first_requests(self) -> None:
        """Wait for the first requests of new connections."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and any(connection.cycle is None for connection in self._connections()):
            await asyncio.sleep(0.01)

    def _connections(self) -> list[Connection]:
        return [connection for connection in self.server_state.connections if isinstance(connection, Connection)]

    def handle_exit(self, sig: int, _frame: FrameType | None) -> None:
        """Start the shutdown; a second Ctrl-C ends the process at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


class Server(GracefulServer):
    """The server of a service of models, which reloads its files at SIGHUP."""

    def __init__(self, service: Service) -> None:
        self._watcher = Watcher(service)
        self._models = service.models
        super().__init__(service, routes_of(service))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections and to watch files."""
        await self._watcher.catch_up()
        await super().startup(sockets)
        loop = asyncio.get_running_loop()
        self._watching = loop.create_task(self._watcher.run())
        loop.add_signal_handler(signal.SIGHUP, self._watcher.reload_all)
        log("ready", models=[model.source.reference for model in self._models])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to watch files, then shut down."""
        log("stopping", connections=len(self.server_state.connections))
        self._watching.cancel()
        await super().shutdown(sockets)
        log("stopped", requests=self.server_state.total_requests)


def _accepted(listening: socket.socket) -> list[socket.socket]:
    """Return all queued connections of a port, and close it right after the last."""
    accepted = []
    with listening:
        listening.setblocking(False)
        listening.listen(0)  # later clients retry, and then find the port closed
        with suppress(BlockingIOError):
            while True:
                accepted.append(listening.accept()[0])
    return accepted


def bound(settings: Listening) -> socket.socket:
    """Return a socket that listens at the address of the settings."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        where = f"port {settings.port} of {settings.host}"
        if error.errno == errno.EADDRINUSE:
            raise InputError(f"Another program listens at {where}; choose another --port.") from None
        raise InputError(f"The service cannot listen at {where}: {error.strerror or error}.") from None
    except OverflowError:
        listening.close()
        raise InputError(f"--port must be from 0 to 65535, not {settings.port}.") from None
    return listening


def run(server: GracefulServer, listening: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    server_log = logging.getLogger("uvicorn")
    server_log.handlers = [ServerLog(logging.WARNING)]
    server_log.propagate = False
    server.run(sockets=[listening])

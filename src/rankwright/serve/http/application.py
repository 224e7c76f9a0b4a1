"""The ASGI application: checks the token, finds the handler, answers errors, logs each request.

There is no framework: for each request it would take as long as scoring 100 documents (`benchmarks/serving.py`).
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

from rankwright.base.errors import InputError
from rankwright.serve.http import prometheus
from rankwright.serve.http.exchange import CLOSE, DisconnectedError, Exchange, RefusalError, Response, Route
from rankwright.serve.http.logs import log
from rankwright.serve.protocols.messages import Error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rankwright.serve.http.tokens import KnownTokens
    from rankwright.serve.settings import Listening

UNKNOWN = "unknown"
GONE = 499  # logged for a client that has disconnected, as other servers do; never sent
SECURITY_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Served(Protocol):
    """What the application asks of a service; handlers of routes get the service itself."""

    is_draining: bool

    @property
    def settings(self) -> Listening:
        """Where the service listens, and its limits."""

    @property
    def tokens(self) -> KnownTokens | None:
        """The valid tokens; None if requests need none."""

    async def in_background(self, function: Callable[[], None]) -> None:
        """Call a function for which no answer waits."""

    def close(self) -> None:
        """End the threads after their current work."""


class Routes:
    """Finds the route of a request."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.all = tuple(routes)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = tuple(route for route in self.all if "{" in route.path)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return a route and the arguments in the path."""
        method = "GET" if method == "HEAD" else method
        plain = self._plain.get((method, path))
        if plain is not None:
            return plain, {}
        matching = self._matching(path)
        for route, arguments in matching:
            if route.method == method:
                return route, arguments
        allowed = {route.method for route, _ in matching}
        allowed |= {known_method for known_method, known_path in self._plain if known_path == path}
        if not allowed:
            raise RefusalError(404, "There is nothing at this address; GET / shows what there is.")
        allow = ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))
        raise RefusalError(405, f"This address takes {allow}.", headers=((b"allow", allow.encode()),))

    def _matching(self, path: str) -> list[tuple[Route, dict[str, str]]]:
        segments = path.split("/")
        tried = ((route, route.arguments(segments)) for route in self._others)
        return [(route, arguments) for route, arguments in tried if arguments is not None]


class Application:
    """Answers the requests to a service."""

    def __init__(self, service: Served, routes: Sequence[Route]) -> None:
        self._service = service
        self._settings = service.settings
        self._routes = Routes(routes)
        self._public = frozenset(route.path for route in self._routes.all if route.public)

    async def __call__(
        self, scope: Any, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]
    ) -> None:
        """Answer one request."""
        start = time.perf_counter()
        deadline = asyncio.get_running_loop().time() + self._settings.timeout
        exchange = Exchange(scope, receive, self._settings.max_body)
        with prometheus.in_flight.track_inprogress():
            route, response = await self._response(exchange, deadline)
            if response is not None:
                if exchange.has_unread_body:
                    await exchange.discard_body(deadline)
                await self._send(send, exchange, response)
        self._record(exchange, route, GONE if response is None else response.status, time.perf_counter() - start)
        if response is not None and response.afterwards is not None:
            await self._service.in_background(response.afterwards)

    async def _response(self, exchange: Exchange, deadline: float) -> tuple[str, Response | None]:
        """Return the name of the route and the response; None if the client has disconnected."""
        name = UNKNOWN
        try:
            self._require_host(exchange)
            self._require_token(exchange)
            route, arguments = self._routes.find(exchange.method, exchange.path)
            name = f"{route.method} {route.path}"
            async with asyncio.timeout_at(deadline):
                return name, await route.handler(self._service, exchange, **arguments)
        except RefusalError as refusal:
            return name, _error(exchange, refusal.status, refusal.sentence, refusal.headers)
        except InputError as error:
            return name, _error(exchange, 422, str(error))
        except DisconnectedError:
            return name, None
        except TimeoutError:
            return name, self._late(exchange)
        except Exception as error:  # a bug of ours must not end the service
            log("failure", level="error", request=exchange.id, route=name, error=_origin(error))
            return name, _error(exchange, 500, "The service failed; its log says where.")

    def _require_host(self, exchange: Exchange) -> None:
        """Refuse requests under another name than those of this service.

        A page whose name was made to resolve to this machine (DNS rebinding) has them sent by a browser.
        """
        allowed, given = self._settings.allowed_hosts, exchange.host
        if allowed is not None and given is not None and given not in allowed:
            raise RefusalError(
                421, f"This service does not answer as {given[:60]!r}; allow that name with --allow-host."
            )

    def _require_token(self, exchange: Exchange) -> None:
        tokens = self._service.tokens
        if tokens is None or tokens.allow(exchange.headers.get(b"authorization", b"")):
            return
        if exchange.path not in self._public:
            challenge = ((b"www-authenticate", b"Bearer"),)
            raise RefusalError(401, "A bearer token of this service is needed.", headers=challenge)

    def _late(self, exchange: Exchange) -> Response:
        seconds = f"{self._settings.timeout:g} seconds"
        if exchange.is_reading:
            return _error(exchange, 408, f"The request did not arrive within {seconds}.")
        return _error(exchange, 503, f"The answer was not ready within {seconds}.")

    async def _send(self, send: Callable[..., Awaitable[None]], exchange: Exchange, response: Response) -> None:
        headers = [
            (b"content-type", response.media_type.encode()),
            (b"content-length", str(len(response.body)).encode()),
            (b"x-request-id", exchange.id.encode()),
            *SECURITY_HEADERS,
            *response.headers,
        ]
        if self._service.is_draining or exchange.has_unread_body:
            headers.append(CLOSE)
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": response.body})

    def _record(self, exchange: Exchange, route: str, status: int, seconds: float) -> None:
        prometheus.requests_by(route, str(status)).inc()
        prometheus.seconds_by(route).observe(seconds)
        if not self._settings.log_requests and status < 400:
            return
        log(
            "request",
            level="info" if status < 500 else "error",
            request=exchange.id,
            route=route,
            status=status,
            ms=round(seconds * 1e3, 3),
            bytes=exchange.size,
            model=exchange.model,
            documents=exchange.n_documents,
        )


def _error(
    exchange: Exchange, status: int, sentence: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> Response:
    return Response.json(Error(sentence, exchange.id), status, headers=headers)


def _origin(error: Exception) -> str:
    """Return the kind of an error and where it happened, without its message, which may hold a document."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__}{where}"

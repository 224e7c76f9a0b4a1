"""The ASGI application: checks the token, finds the route, answers errors, and logs each request.

There is no framework: one would take as long for a request as scoring 100 documents does: see
`benchmarks/serving.py`.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.serve.http import prometheus
from rankwright.serve.http.exchange import CLOSE, DisconnectedError, Exchange, RefusalError, Response
from rankwright.serve.http.logs import log
from rankwright.serve.http.routes import Routes
from rankwright.serve.protocols.messages import Error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from rankwright.serve.service import Service

UNKNOWN = "unknown"
GONE = 499  # what others log for a client that has gone; it is never sent
HARMLESS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


class Application:
    """Answers the requests to a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._settings = service.settings
        self._routes = Routes(with_search=service.search is not None)
        self._public = frozenset(route.path for route in self._routes.all if route.public)

    async def __call__(
        self, scope: Any, receive: Callable[..., Any], send: Callable[..., Awaitable[None]]
    ) -> None:
        """Answer one request."""
        start = time.perf_counter()
        exchange = Exchange(scope, receive, self._settings.max_body)
        with prometheus.in_flight.track_inprogress():
            route, response = await self._response(exchange)
            if response is not None:
                await self._send(send, exchange, response)
        self._record(exchange, route, GONE if response is None else response.status, time.perf_counter() - start)
        if response is not None and response.afterwards is not None:
            await self._service.in_background(response.afterwards)

    async def _response(self, exchange: Exchange) -> tuple[str, Response | None]:
        """Return the name of the route and the response; None if the client has gone."""
        name = UNKNOWN
        try:
            self._require_token(exchange)
            route, arguments = self._routes.find(exchange.method, exchange.path)
            name = f"{route.method} {route.path}"
            async with asyncio.timeout(self._settings.timeout):
                return name, await route.handler(self._service, exchange, **arguments)
        except RefusalError as refusal:
            return name, _error(exchange, refusal.status, refusal.sentence, refusal.headers)
        except InputError as error:
            return name, _error(exchange, 422, str(error))
        except DisconnectedError:
            return name, None
        except TimeoutError:
            return name, self._late(exchange)
        except Exception as error:  # a mistake of ours, which must not end the service
            log("failure", level="error", request=exchange.id, route=name, error=_origin(error))
            return name, _error(exchange, 500, "The service failed; its log has the place.")

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
            return _error(exchange, 408, f"The request did not arrive within {seconds}.", (CLOSE,))
        return _error(exchange, 503, f"The answer was not ready within {seconds}.")

    async def _send(self, send: Callable[..., Awaitable[None]], exchange: Exchange, response: Response) -> None:
        headers = [
            (b"content-type", response.media_type.encode()),
            (b"content-length", str(len(response.body)).encode()),
            (b"x-request-id", exchange.id.encode()),
            *HARMLESS,
            *response.headers,
        ]
        if self._service.is_draining and CLOSE not in response.headers:
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
            model=None if exchange.model is None else exchange.model.source.reference,
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

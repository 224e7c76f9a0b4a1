"""The ASGI application and its routes: checks the token, finds the handler, answers errors, logs each request.

There is no framework: for each request it would take as long as scoring 100 documents (`benchmarks/serving.py`).
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.serve.http import health, prometheus
from rankwright.serve.http.exchange import CLOSE, DisconnectedError, Exchange, RefusalError, Response, Route
from rankwright.serve.http.logs import log
from rankwright.serve.protocols import messages, mlflow, rank, search
from rankwright.serve.protocols import open_inference as v2
from rankwright.serve.protocols.messages import Error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rankwright.serve.service import Service

UNKNOWN = "unknown"
GONE = 499  # logged for a client that has disconnected, as other servers do; never sent
SECURITY_HEADERS = ((b"x-content-type-options", b"nosniff"), (b"cache-control", b"no-store"))


POLICY = (  # the page is one file: nothing comes from elsewhere, and it asks this service only
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    b"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
RANKING, INFERENCE, MLFLOW = "Ranking", "Open Inference Protocol", "MLflow"
INTERLEAVING, SEARCHING, STATUS = "Interleaving", "Search", "Status"


async def openapi(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document of this service."""
    from rankwright.serve.http.openapi import document

    exchange.query()
    return Response.json(document(service, _routes_of(service)))


async def page(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document as a page that needs no network."""
    from rankwright.serve.http.openapi import document, html

    exchange.query()
    return Response(
        html(document(service, _routes_of(service))),
        media_type=health.PAGE_TYPE,
        headers=((b"content-security-policy", POLICY),),
    )


def _routes_of(service: Service) -> Sequence[Route]:
    return Routes(with_search=service.search is not None).all


def _get(path: str, handler: Any, answer: type[Any] | None, tag: str, summary: str, **parts: Any) -> Route:
    return Route("GET", path, handler, answer, tag, summary, **parts)


def _post(path: str, handler: Any, messages: tuple[Any, Any], tag: str, summary: str, **parts: Any) -> Route:
    request, answer = messages
    return Route("POST", path, handler, answer, tag, summary, request, **parts)


RANK = (messages.RankRequest, messages.RankResponse)
SCORE = (messages.ScoreRequest, messages.ScoreResponse)
EXPLAIN = (messages.ExplainRequest, messages.ExplainResponse)
CLICKS = (messages.ClickRequest, messages.ClickResponse)
SEARCH = (messages.SearchRequest, messages.SearchResponse)
INFER = (v2.InferRequest, v2.InferResponse)
INVOKE = (mlflow.Invocation, mlflow.Predictions)
MODEL, VERSION = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
AFTER_RANK = {"parameters": ("model", "version", "top", "interleave"), "takes_matrix": True}
AFTER_EXPLAIN = {"parameters": ("model", "version", "top"), "takes_matrix": True}
AFTER_SCORE = {"parameters": ("model", "version"), "takes_matrix": True}
WORDS = ("q", "n", "snippets", "model", "version")
IS_ALIVE, IS_READY = "Whether the service is alive", "Whether it takes requests"
ROUTES = (
    _post("/rank", rank.rank, RANK, RANKING, "Rank documents, best first", gives_matrix=True, **AFTER_RANK),
    _post("/score", rank.score, SCORE, RANKING, "Score documents, in order", gives_matrix=True, **AFTER_SCORE),
    _post("/explain", rank.explain, EXPLAIN, RANKING, "Explain scores by features", **AFTER_EXPLAIN),
    _get("/models", health.models, messages.ModelsResponse, RANKING, "The models in service"),
    _post("/clicks", rank.clicks, CLICKS, INTERLEAVING, "Report the clicks on an impression"),
    _get("/interleaving", rank.standings, messages.CreditsResponse, INTERLEAVING, "The credits so far"),
    _get("/search", search.search_by_address, SEARCH[1], SEARCHING, "Search, by address", parameters=WORDS),
    _post("/search", search.search, SEARCH, SEARCHING, "Search"),
    _get("/v2", v2.server, v2.ServerMetadata, INFERENCE, "The service"),
    _get("/v2/health/live", v2.live, v2.ServerLive, INFERENCE, IS_ALIVE, public=True),
    _get("/v2/health/ready", v2.ready, v2.ServerReady, INFERENCE, IS_READY, public=True),
    _get(MODEL, v2.metadata, v2.ModelMetadata, INFERENCE, "Inputs and outputs of a model"),
    _get(VERSION, v2.metadata, v2.ModelMetadata, INFERENCE, "Inputs and outputs of a version"),
    _get(f"{MODEL}/ready", v2.model_ready, v2.ModelReady, INFERENCE, "Whether a model is there"),
    _get(f"{VERSION}/ready", v2.model_ready, v2.ModelReady, INFERENCE, "Whether a version is there"),
    _post(f"{MODEL}/infer", v2.infer, INFER, INFERENCE, "Score documents with a model"),
    _post(f"{VERSION}/infer", v2.infer, INFER, INFERENCE, "Score documents with a version"),
    _post("/invocations", mlflow.invocations, INVOKE, MLFLOW, "Score documents with the first model"),
    _get("/ping", health.ready, messages.Health, MLFLOW, IS_READY, public=True),
    _get("/health/live", health.live, messages.Health, STATUS, IS_ALIVE, public=True),
    _get("/health/ready", health.ready, messages.Health, STATUS, IS_READY, public=True),
    _get("/metrics", health.metrics, None, STATUS, "Values for Prometheus"),
    _get("/openapi.json", openapi, None, STATUS, "This description, for programs"),
    _get("/", page, None, STATUS, "This description, for people"),
)


class Routes:
    """Finds the route of a request."""

    def __init__(self, *, with_search: bool) -> None:
        self.all = tuple(route for route in ROUTES if with_search or route.tag != SEARCHING)
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

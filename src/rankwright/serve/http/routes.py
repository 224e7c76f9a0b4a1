"""Routes: which handler answers which address, and what the OpenAPI document says about it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwright.serve.http import health
from rankwright.serve.http.exchange import RefusalError
from rankwright.serve.protocols import messages, mlflow, rank, search
from rankwright.serve.protocols import open_inference as v2

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from rankwright.serve.http.exchange import Response

RANKING, INFERENCE, MLFLOW = "Ranking", "Open Inference Protocol", "MLflow"
INTERLEAVING, SEARCHING, STATUS = "Interleaving", "Search", "Status"


@dataclass(frozen=True)
class Route:
    """A method and an address with its handler; parts of the address in braces are arguments.

    `parameters` stand after `?`; a public route needs no token; `takes_matrix` and `gives_matrix` say whether
    bodies may be in numpy's format.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Response]]
    answer: type[Any] | None
    tag: str
    summary: str
    request: type[Any] | None = None
    parameters: tuple[str, ...] = ()
    public: bool = False
    takes_matrix: bool = False
    gives_matrix: bool = False

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The parts of the address."""
        return tuple(self.path.split("/"))

    def arguments(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the arguments in an address; None if it is not one of this route."""
        if len(segments) != len(self.segments):
            return None
        arguments = {}
        for given, own in zip(segments, self.segments, strict=True):
            if own.startswith("{") and given:
                arguments[own[1:-1]] = given
            elif given != own:
                return None
        return arguments


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
AFTER_RANK = {"parameters": ("model", "version", "top"), "takes_matrix": True}
AFTER_SCORE = {"parameters": ("model", "version"), "takes_matrix": True}
WORDS = ("q", "n", "snippets", "model", "version")
IS_ALIVE, IS_READY = "Whether the service is alive", "Whether it takes requests"
ROUTES = (
    _post("/rank", rank.rank, RANK, RANKING, "Rank documents, best first", gives_matrix=True, **AFTER_RANK),
    _post("/score", rank.score, SCORE, RANKING, "Score documents, in order", gives_matrix=True, **AFTER_SCORE),
    _post("/explain", rank.explain, EXPLAIN, RANKING, "Explain scores by features", **AFTER_RANK),
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
    _get("/openapi.json", health.openapi, None, STATUS, "This description, for programs"),
    _get("/", health.page, None, STATUS, "This description, for people"),
)


class Routes:
    """Finds the route of a request."""

    def __init__(self, *, with_search: bool) -> None:
        self.all = tuple(route for route in ROUTES if with_search or route.tag != SEARCHING)
        self._plain = {(route.method, route.path): route for route in self.all if "{" not in route.path}
        self._others = tuple(route for route in self.all if "{" in route.path)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return a route and the arguments in the address."""
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

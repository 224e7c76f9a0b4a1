"""Which handler answers which address. The OpenAPI document is made from the same declarations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankwright.serve.http import health as status
from rankwright.serve.http.refusals import RefusalError
from rankwright.serve.protocols import messages, mlflow
from rankwright.serve.protocols import open_inference as inference
from rankwright.serve.protocols import rank as ranking
from rankwright.serve.protocols import search as searching

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
        found = {}
        for given, own in zip(segments, self.segments, strict=True):
            if own.startswith("{") and given:
                found[own[1:-1]] = given
            elif given != own:
                return None
        return found


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
INFER = (inference.InferRequest, inference.InferResponse)
INVOKE = (mlflow.Invocation, mlflow.Predictions)
MODEL, VERSION = "/v2/models/{model}", "/v2/models/{model}/versions/{version}"
AFTER_RANK = {"parameters": ("model", "version", "top"), "takes_matrix": True}
AFTER_SCORE = {"parameters": ("model", "version"), "takes_matrix": True}
WORDS = ("q", "n", "snippets", "model", "version")
IS_ALIVE, IS_READY = "Whether the service is alive", "Whether it takes requests"
ROUTES = (
    _post("/rank", ranking.rank, RANK, RANKING, "Rank documents, best first", gives_matrix=True, **AFTER_RANK),
    _post("/score", ranking.score, SCORE, RANKING, "Score documents, in order", gives_matrix=True, **AFTER_SCORE),
    _post("/explain", ranking.explain, EXPLAIN, RANKING, "Explain scores by features", **AFTER_RANK),
    _get("/models", status.models, messages.ModelsResponse, RANKING, "The models in service"),
    _post("/clicks", ranking.clicks, CLICKS, INTERLEAVING, "Report the clicks on an impression"),
    _get("/interleaving", ranking.standings, messages.CreditsResponse, INTERLEAVING, "The credits so far"),
    _get("/search", searching.search_by_address, SEARCH[1], SEARCHING, "Search, by address", parameters=WORDS),
    _post("/search", searching.search, SEARCH, SEARCHING, "Search"),
    _get("/v2", inference.server, inference.ServerMetadata, INFERENCE, "The service"),
    _get("/v2/health/live", inference.live, inference.ServerLive, INFERENCE, IS_ALIVE, public=True),
    _get("/v2/health/ready", inference.ready, inference.ServerReady, INFERENCE, IS_READY, public=True),
    _get(MODEL, inference.metadata, inference.ModelMetadata, INFERENCE, "Inputs and outputs of a model"),
    _get(VERSION, inference.metadata, inference.ModelMetadata, INFERENCE, "Inputs and outputs of a version"),
    _get(f"{MODEL}/ready", inference.model_ready, inference.ModelReady, INFERENCE, "Whether a model is there"),
    _get(f"{VERSION}/ready", inference.model_ready, inference.ModelReady, INFERENCE, "Whether a version is there"),
    _post(f"{MODEL}/infer", inference.infer, INFER, INFERENCE, "Score documents with a model"),
    _post(f"{VERSION}/infer", inference.infer, INFER, INFERENCE, "Score documents with a version"),
    _post("/invocations", mlflow.invocations, INVOKE, MLFLOW, "Score documents with the first model"),
    _get("/ping", status.ready, messages.Health, MLFLOW, IS_READY, public=True),
    _get("/health/live", status.live, messages.Health, STATUS, IS_ALIVE, public=True),
    _get("/health/ready", status.ready, messages.Health, STATUS, IS_READY, public=True),
    _get("/metrics", status.metrics, None, STATUS, "Values for Prometheus"),
    _get("/openapi.json", status.openapi, None, STATUS, "This description, for programs"),
    _get("/", status.page, None, STATUS, "This description, for people"),
)


class Routes:
    """Finds the route of a request."""

    def __init__(self, *, search: bool) -> None:
        self.all = tuple(one for one in ROUTES if search or one.tag != SEARCHING)
        self._plain = {(one.method, one.path): one for one in self.all if "{" not in one.path}
        self._others = tuple(one for one in self.all if "{" in one.path)

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """Return a route and the arguments in the address."""
        method = "GET" if method == "HEAD" else method
        plain = self._plain.get((method, path))
        if plain is not None:
            return plain, {}
        found = self._matching(path)
        for route, arguments in found:
            if route.method == method:
                return route, arguments
        allowed = {route.method for route, _ in found} | {one for one, known in self._plain if known == path}
        if not allowed:
            raise RefusalError(404, "There is nothing at this address; GET / shows what there is.")
        allow = ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set())))
        raise RefusalError(405, f"This address takes {allow}.", headers=((b"allow", allow.encode()),))

    def _matching(self, path: str) -> list[tuple[Route, dict[str, str]]]:
        segments = path.split("/")
        found = ((one, one.arguments(segments)) for one in self._others)
        return [(route, arguments) for route, arguments in found if arguments is not None]

"""The routes of a service of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.serve.http import health
from rankwright.serve.http.exchange import PAGE_POLICY, PAGE_TYPE, Response, Route
from rankwright.serve.protocols import messages, mlflow, rank, search
from rankwright.serve.protocols import open_inference as v2

if TYPE_CHECKING:
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.service import Service

RANKING, INFERENCE, MLFLOW = "Ranking", "Open Inference Protocol", "MLflow"
INTERLEAVING, SEARCHING, STATUS = "Interleaving", "Search", "Status"


async def openapi(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document of this service."""
    from rankwright.serve.http.openapi import document

    exchange.query()
    return Response.json(document(service, routes_of(service)))


async def page(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document as a page that needs no network."""
    from rankwright.serve.http.openapi import document, html

    exchange.query()
    return Response(
        html(document(service, routes_of(service))),
        media_type=PAGE_TYPE,
        headers=PAGE_POLICY,
    )


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


def routes_of(service: Service) -> tuple[Route, ...]:
    """Return the routes of a service; those of searches only if it has an index."""
    return tuple(route for route in ROUTES if service.search is not None or route.tag != SEARCHING)

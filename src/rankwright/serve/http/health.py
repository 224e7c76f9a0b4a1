"""Health, metrics and model routes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rankwright.serve.http import prometheus
from rankwright.serve.http.exchange import RefusalError, Response
from rankwright.serve.protocols.messages import Health, ModelFacts, ModelsResponse

if TYPE_CHECKING:
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

PAGE_TYPE = "text/html; charset=utf-8"
POLICY = (  # the page is one file: nothing comes from elsewhere, and it asks this service only
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    b"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


async def live(_service: Service, exchange: Exchange) -> Response:
    """Answer that the process is alive."""
    exchange.query()
    return Response.json(Health("live"))


async def ready(service: Service, exchange: Exchange) -> Response:
    """Answer whether the service takes requests: not during a graceful shutdown."""
    exchange.query()
    if service.is_draining:
        raise RefusalError(503, "The service is stopping.")
    return Response.json(Health("ready"))


async def metrics(service: Service, exchange: Exchange) -> Response:
    """Return the metrics for Prometheus."""
    exchange.query()
    return Response(await service.in_thread(prometheus.exposition), media_type=METRICS_TYPE)


async def models(service: Service, exchange: Exchange) -> Response:
    """Return the models in service."""
    exchange.query()
    return Response.json(ModelsResponse([_facts(service, model) for model in service.models]))


def _facts(service: Service, model: ServedModel) -> ModelFacts:
    scorer, source = model.scorer, model.source
    return ModelFacts(
        source.name,
        source.version,
        model.revision,
        scorer.kind,
        scorer.n_features,
        None if scorer.feature_names is None else list(model.columns),
        scorer.n_trees,
        datetime.fromtimestamp(model.loaded, UTC).isoformat(timespec="seconds"),
        scorer.needs_queries,
        service.models.problems.get(source.reference),
    )


async def openapi(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document of this service."""
    from rankwright.serve.http.openapi import document

    exchange.query()
    return Response.json(document(service))


async def page(service: Service, exchange: Exchange) -> Response:
    """Return the OpenAPI document as a page that needs no network."""
    from rankwright.serve.http.openapi import document, html

    exchange.query()
    return Response(html(document(service)), media_type=PAGE_TYPE, headers=((b"content-security-policy", POLICY),))

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
    service.monitor.flush()
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

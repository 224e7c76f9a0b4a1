"""Our own routes: rank, score and explain documents, and count the clicks on interleaved rankings."""

from __future__ import annotations

from math import comb, erfc, isfinite, isnan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import UNSET

from rankwright.serve.http import prometheus
from rankwright.serve.http.exchange import Decoder, Response
from rankwright.serve.http.logs import log
from rankwright.serve.http.request_bodies import read_documents, read_json
from rankwright.serve.models.interleaving import flip, team_draft
from rankwright.serve.models.loaded_models import new_columns, order_of
from rankwright.serve.models.shadow_models import compare_with_shadow
from rankwright.serve.protocols import npy
from rankwright.serve.protocols.messages import (
    ClickRequest,
    ClickResponse,
    Contribution,
    Credits,
    CreditsResponse,
    ExplainRequest,
    ExplainResponse,
    Explanation,
    Ranked,
    RankRequest,
    RankResponse,
    ScoreRequest,
    ScoreResponse,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.http.request_bodies import Asked
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

_rank_request = Decoder(RankRequest)
_score_request = Decoder(ScoreRequest)
_explain_request = Decoder(ExplainRequest)
_click_request = Decoder(ClickRequest)
TIE = "tie"
MAX_SHOWN_FEATURES = 10  # features in an explanation
LARGEST_EXACT = 1_000  # wins; for more, the normal approximation has the same three digits


async def score(service: Service, exchange: Exchange) -> Response:
    """Return one score per document, in the order of the request."""
    asked = await read_documents(service, exchange, _score_request)
    request, model = asked.request, asked.model
    scores = await service.scores(exchange, model, asked.X)
    afterwards = _shadowing(service, exchange, asked, scores)
    if exchange.accepts(npy.MEDIA_TYPE):
        return _array(scores, model, afterwards)
    ids = UNSET if request.ids is None else request.ids
    return Response.json(ScoreResponse(*_identity(model), scores.tolist(), ids), afterwards=afterwards)


async def rank(service: Service, exchange: Exchange) -> Response:
    """Return the documents, best first."""
    asked = await read_documents(service, exchange, _rank_request)
    request, model = asked.request, asked.model
    scores = await service.scores(exchange, model, asked.X)
    afterwards = _shadowing(service, exchange, asked, scores)
    rival = None if request.interleave is False else service.rival(model)
    if rival is not None:
        answer = await _interleaved(service, exchange, asked, rival, scores)
        return Response.json(answer, afterwards=afterwards)
    order = order_of(scores)[: _count(request.top)]
    if exchange.accepts(npy.MEDIA_TYPE):
        return _array(np.array(order), model, afterwards)
    ranking = _ranked(order, request.ids, scores[order].tolist())
    return Response.json(RankResponse(*_identity(model), ranking), afterwards=afterwards)


async def explain(service: Service, exchange: Exchange) -> Response:
    """Return the contributions of features to the score of each document."""
    asked = await read_documents(service, exchange, _explain_request, scored=False)
    exchange.model, exchange.n_documents = asked.model.source.reference, len(asked.X)
    return await service.in_thread(_explained, asked)


async def clicks(service: Service, exchange: Exchange) -> Response:
    """Count the clicks on an interleaved list."""
    request = await read_json(exchange, _click_request)
    impression = service.impressions.read(request.impression)
    first, second = impression.clicks([*map(int, request.ranks)])
    pair = (impression.first, impression.second)
    winner = None if first == second else pair[int(second > first)]
    is_first = service.impressions.report(impression)
    counted = {pair[0]: first, pair[1]: second}
    if is_first:
        prometheus.reports.labels(*pair, winner or TIE).inc()
        for model, count in counted.items():
            prometheus.clicks.labels(*pair, model).inc(count)
    units: dict[str, Any] = {"session": request.session, "user": request.user}
    log("clicks", request=exchange.id, impression=impression.number, clicks=counted, counted=is_first, **units)
    return Response.json(ClickResponse(counted, winner, is_first))


async def standings(_service: Service, exchange: Exchange) -> Response:
    """Return how often each of two interleaved models got more clicks."""
    exchange.query()
    won, clicked = prometheus.values_of(prometheus.reports), prometheus.values_of(prometheus.clicks)
    pairs = []
    for (first, second), n in prometheus.values_of(prometheus.impressions).items():
        wins = [won.get((first, second, model), 0) for model in (first, second, TIE)]
        counts = [clicked.get((first, second, model), 0) for model in (first, second)]
        p_value = sign_test(wins[0], wins[1])
        pairs.append(
            Credits(first, second, n, sum(wins), wins[0], wins[1], wins[2], counts[0], counts[1], p_value)
        )
    return Response.json(CreditsResponse(pairs))


def sign_test(first: int, second: int) -> float:
    """Return the two-sided p-value of the sign test for the wins of two models."""
    n, fewer = first + second, min(first, second)
    if n > LARGEST_EXACT:
        return erfc(max(abs(first - second) - 1, 0) / sqrt(2 * n))
    tail: int = sum(comb(n, wins) for wins in range(fewer + 1))
    return min(1.0, 2 * tail / float(2**n))


def _count(given: float | None) -> int | None:
    return None if given is None else int(given)


def _identity(model: ServedModel) -> tuple[str, str, str]:
    return model.source.name, model.source.version, model.revision


def _array(values: Any, model: ServedModel, afterwards: Callable[[], None] | None) -> Response:
    """Return an array in numpy's format; a header names the model."""
    named = f"{model.source.reference} {model.revision}".encode()
    headers = ((b"x-model", named),)
    return Response(npy.write_array(values), media_type=npy.MEDIA_TYPE, headers=headers, afterwards=afterwards)


def _ranked(order: list[int], ids: Sequence[str | int] | None, scores: Sequence[Any]) -> list[Ranked]:
    names: list[Any] = [UNSET] * len(order) if ids is None else [ids[row] for row in order]
    return [
        Ranked(rank, row, name, score)
        for rank, (row, name, score) in enumerate(zip(order, names, scores, strict=True), start=1)
    ]


async def _interleaved(
    service: Service, exchange: Exchange, asked: Asked[RankRequest], rival: ServedModel, scores: Doubles
) -> RankResponse:
    """Return the interleaved ranking of two models."""
    request, model = asked.request, asked.model
    others = await service.scores(exchange, rival, asked.matrix_for(rival))
    exchange.model = model.source.reference
    draft = team_draft(order_of(scores), order_of(others), flip)
    top = _count(request.top)
    order, teams = draft.order[:top], draft.teams[:top]
    names = (model.source.reference, rival.source.reference)
    prometheus.impressions.labels(*names).inc()
    ranking = _ranked(order, request.ids, [UNSET] * len(order))
    return RankResponse(*_identity(model), ranking, service.impressions.written(*names, teams))


def _shadowing(
    service: Service, exchange: Exchange, asked: Asked[Any], scores: Doubles
) -> Callable[[], None] | None:
    """Return the comparison with the shadow, to be made after the answer; None without a shadow."""
    shadow = service.shadow(asked.model)
    if shadow is None:
        return None
    if service.is_behind:
        names = (asked.model.source.reference, shadow.source.reference)
        prometheus.shadow_requests.labels(*names, "left out").inc()
        return None
    if not new_columns(asked.model, shadow):  # then the matrix is enough: the body, which is larger, can be freed
        asked = asked._replace(request=None, documents=asked.X)
    return lambda: compare_with_shadow(exchange.id, asked, shadow, scores)


def _explained(asked: Asked[ExplainRequest]) -> Response:
    request, model, _, X = asked
    parts = model.contributions(X)
    top = _count(request.top) or MAX_SHOWN_FEATURES
    explanations = [
        _explanation(row, X[row].tolist(), parts[row], model, top, request.ids) for row in range(len(X))
    ]
    return Response.json(ExplainResponse(*_identity(model), explanations))


def _in_json(value: float) -> float | str | None:
    """Return a value of a feature for JSON, which has neither missing nor infinite numbers."""
    if isfinite(value):
        return value
    return None if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _explanation(
    row: int, values: list[float], parts: Doubles, model: ServedModel, top: int, ids: Sequence[str | int] | None
) -> Explanation:
    largest = np.argsort(-np.abs(parts[:-1]), kind="stable")[:top].tolist()
    shown = [
        Contribution(model.names[feature], _in_json(values[feature]), float(parts[feature]))
        for feature in largest
        if parts[feature]
    ]
    total = float(parts.sum())
    rest = total - float(parts[-1]) - sum(part.contribution for part in shown)
    return Explanation(row, total, float(parts[-1]), shown, rest, UNSET if ids is None else ids[row])

"""Shadow models: they score the requests to a live model, for the log only."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.serve.http import prometheus
from rankwright.serve.http.logs import log
from rankwright.serve.models.loaded_models import order_of

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.serve.http.request_bodies import Asked
    from rankwright.serve.models.loaded_models import ServedModel

DEPTH = 10


def compare_with_shadow(request_id: str, asked: Asked[Any], shadow: ServedModel, scores: Doubles) -> None:
    """Score the documents of an answered request with a shadow model, and log how the two rankings differ."""
    names = (asked.model.source.reference, shadow.source.reference)
    start = time.perf_counter()
    try:
        other = shadow.scores(asked.matrix_for(shadow))
    except Exception as error:  # the request has been answered
        skipped = isinstance(error, InputError)  # such as without a new feature of the shadow
        level, problem = ("info", str(error)) if skipped else ("warning", type(error).__name__)
        prometheus.shadow_requests.labels(*names, "skipped" if skipped else "failed").inc()
        log("shadow", level=level, request=request_id, live=names[0], shadow=names[1], problem=problem)
        return
    seconds = time.perf_counter() - start
    ours, theirs = order_of(scores), order_of(other)
    overlap = overlap_at(DEPTH, ours, theirs)
    prometheus.shadow_requests.labels(*names, "same best" if ours[0] == theirs[0] else "other best").inc()
    prometheus.shadow_overlap.labels(*names).inc(overlap)
    prometheus.shadow_seconds.labels(*names).observe(seconds)
    log(
        "shadow",
        request=request_id,
        live=names[0],
        shadow=names[1],
        documents=len(scores),
        same_best=ours[0] == theirs[0],
        overlap=round(overlap, 4),
        largest_difference=float(np.abs(scores - other).max()),
        ms=round(seconds * 1e3, 3),
    )


def overlap_at(depth: int, first: list[int], second: list[int]) -> float:
    """Return the fraction of the first `depth` documents that two rankings share."""
    depth = min(depth, len(first))
    return len(set(first[:depth]) & set(second[:depth])) / depth

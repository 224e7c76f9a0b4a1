"""Metrics for Prometheus, at `/metrics`."""

from __future__ import annotations

import os
from functools import cache

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

PROCESSES = "PROMETHEUS_MULTIPROC_DIR"  # a folder, if several processes are counted together
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)

requests = Counter("rankwright_requests", "Answered requests", ["route", "status"])
seconds = Histogram("rankwright_request_seconds", "Time to answer a request", ["route"], buckets=SECONDS)
in_flight = Gauge("rankwright_requests_in_flight", "Requests being answered", multiprocess_mode="livesum")
documents = Counter("rankwright_documents", "Documents scored for an answer", ["model", "version"])
reloads = Counter("rankwright_reloads", "Changed files that were loaded or refused", ["file", "outcome"])
shadow_requests = Counter(
    "rankwright_shadow_requests", "Requests scored by a shadow model too", ["live", "shadow", "outcome"]
)
shadow_overlap = Counter(
    "rankwright_shadow_overlap",
    "Sum over requests of the fraction of the first 10 that is shared",
    ["live", "shadow"],
)
shadow_seconds = Histogram(
    "rankwright_shadow_seconds", "Time of a shadow model", ["live", "shadow"], buckets=SECONDS
)
impressions = Counter("rankwright_interleaved_impressions", "Interleaved lists returned", ["first", "second"])
reports = Counter(
    "rankwright_interleaved_reports",
    "Impressions reported, by the model with more clicks",
    ["first", "second", "winner"],
)
clicks = Counter("rankwright_interleaved_clicks", "Clicks on documents of a model", ["first", "second", "model"])

feature_values = Counter(
    "rankwright_feature_values",
    "Values of features in scored documents that are missing, out of the range of training, or unseen levels",
    ["model", "version", "feature", "kind"],
)
training_missing = Gauge(
    "rankwright_feature_training_missing",
    "Fraction of the training documents in which a feature was missing",
    ["model", "version", "feature"],
    multiprocess_mode="mostrecent",
)

# By their labels, which take some time to look up for every request.
requests_by = cache(requests.labels)
seconds_by = cache(seconds.labels)
documents_by = cache(documents.labels)
feature_values_by = cache(feature_values.labels)


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format."""
    return generate_latest(_registry())


def values_of(counter: Counter) -> dict[tuple[str, ...], int]:
    """Return the values of a counter over all processes, by its labels in the order of their declaration."""
    samples = (sample for metric in _registry().collect() for sample in metric.samples)
    return {
        tuple(sample.labels[label] for label in counter._labelnames): int(sample.value)
        for sample in samples
        if sample.name == f"{counter._name}_total"
    }


def _registry() -> CollectorRegistry:
    if PROCESSES not in os.environ:
        return REGISTRY
    together = CollectorRegistry()
    multiprocess.MultiProcessCollector(together)  # type: ignore[no-untyped-call]
    return together

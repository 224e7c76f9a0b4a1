"""Counts values of requests that are missing or that training did not have, for Prometheus and the log."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import numpy as np

from rankwright.serve.http import prometheus
from rankwright.serve.http.logs import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Floats, Integers
    from rankwright.data.categories import Category
    from rankwright.serve.models.loaded_models import ServedModel

MAX_FEATURES = 1_000  # of a model; of more, Prometheus would have too many time series
DELAY = 1.0  # seconds until counts are added to Prometheus
PAUSE = 60.0  # seconds between two lines of the log about one column
MISSING, OUTSIDE, UNSEEN = "missing", "outside", "unseen"

_logged: dict[tuple[str, str], float] = {}


class FeatureMonitor:
    """Counts missing numbers, and those out of the range of training if a model knows it.

    Counters of Prometheus are slow beside scoring, so counts are added to them once per second.
    """

    def __init__(self) -> None:
        self._pending: dict[tuple[str, str], tuple[ServedModel, Integers]] = {}

    @staticmethod
    def show_training(model: ServedModel) -> None:
        """Show how often each feature was missing in training."""
        ranges = model.scorer.ranges
        if ranges is None or len(ranges) > MAX_FEATURES:
            return
        source, missing = model.source, dict(zip(model.names, ranges.missing.tolist(), strict=True))
        columns = {name: name for name, is_number in zip(model.names, model.limits[2], strict=True) if is_number}
        columns |= {category.name: category.columns[0] for category in model.scorer.categories}
        for name, feature in columns.items():
            prometheus.training_missing.labels(source.name, source.version, name).set(missing[feature])

    def add(self, model: ServedModel, columns: Integers, counts: Integers) -> None:
        """Add what `unusual_values` returned; only the event loop's thread does."""
        if not len(columns):
            return
        if not self._pending:
            asyncio.get_running_loop().call_later(DELAY, self.flush)
        key, nothing = (model.source.reference, model.revision), np.zeros((2, len(model.names)), np.int64)
        self._pending.setdefault(key, (model, nothing))[1][:, columns] += counts

    def flush(self) -> None:
        """Add the counts to Prometheus."""
        pending, self._pending = self._pending, {}
        for model, counts in pending.values():
            for kind, of_kind in zip((MISSING, OUTSIDE), counts, strict=True):
                for feature in np.flatnonzero(of_kind).tolist():
                    _add(model, model.names[feature], kind, int(of_kind[feature]))


def unusual_values(model: ServedModel, X: Floats) -> tuple[Integers, Integers]:
    """Return which features have missing numbers or ones out of range, and how many of both kinds."""
    low, high, is_number = model.limits
    if len(low) > MAX_FEATURES:
        return np.zeros(0, np.int64), np.zeros((2, 0), np.int64)
    is_usual = (np.minimum.reduce(X) >= low) & (np.maximum.reduce(X) <= high)  # neither is true of NaN
    columns = np.flatnonzero(~is_usual & is_number)
    values = X[:, columns]
    outside = (values < low[columns]) | (values > high[columns])
    return columns, np.array([np.count_nonzero(np.isnan(values), axis=0), np.count_nonzero(outside, axis=0)])


def _add(model: ServedModel, feature: str, kind: str, count: int) -> None:
    if count:
        prometheus.feature_values_by(model.source.name, model.source.version, feature, kind).inc(count)


def count_levels(model: ServedModel, category: Category, texts: Sequence[str | None], codes: Integers) -> None:
    """Count the missing and the unseen levels of a category, and log unseen ones from time to time."""
    missing = sum(text is None for text in texts)
    unseen = int(np.count_nonzero(codes < 0)) - missing
    _add(model, category.name, MISSING, missing)
    _add(model, category.name, UNSEEN, unseen)
    key, now = (model.source.reference, category.name), time.monotonic()
    if unseen and now - _logged.get(key, -PAUSE) >= PAUSE:
        _logged[key] = now
        log("unseen levels", level="warning", model=key[0], feature=category.name, documents=unseen)

"""Click models of a log: fitted to a part of its sessions, and chosen by the clicks of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.models.chains import DependentClickModel
from rankwright.clicks.models.features import (
    BrowsingFeatures,
    FeatureModel,
    PositionFeatures,
    TrustFeatures,
)
from rankwright.clicks.models.fitting import PredictedClicks, click_logarithms
from rankwright.clicks.models.rates import DocumentRates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.log import ClickLog
    from rankwright.clicks.models.click_model import ClickModel
    from rankwright.data.dataset import Documents

NAIVE = "naive"
CORRECTIONS: dict[str, Any] = {  # from few to many assumptions about what users remember
    "position": PositionFeatures,
    "trust": TrustFeatures,
    "browsing": BrowsingFeatures,
    "dependent": DependentClickModel,
}
LEAST_EXAMINED = 0.05  # expected examinations of a document: inverse propensity weights are at most 20


class ExaminedLog(NamedTuple):
    """Log-likelihood per held-out list and perplexity by method, the best model of the whole log, and doubt."""

    predicted: dict[str, tuple[float, float]]
    best: str
    model: ClickModel
    doubt: str

    @classmethod
    def fit(
        cls, log: ClickLog, data: Documents, names: Sequence[str], seed: int, n_jobs: int | None
    ) -> ExaminedLog:
        """Fit the models to three quarters of the sessions, and the best one to all."""
        for name in names:
            if name not in CORRECTIONS:
                raise InputError(f"There is no correction {name!r}{nearest(name, CORRECTIONS)}")
        train, test = log.split(random_state=seed)
        if train.n_clicks == 0 or test.n_clicks == 0:
            raise InputError("The log has too few sessions with clicks to hold some of them out.")
        counts = ClickCounts.of(train)
        models: dict[str, ClickModel] = {NAIVE: DocumentRates.fit(counts)}
        first: FeatureModel | None = None
        for name in names:
            models[name] = fitted = _fitted(name, counts, data, first, seed, n_jobs)
            first = fitted if first is None and isinstance(fitted, FeatureModel) else first
        by_list = {name: _by_list(model, test) for name, model in models.items()}
        best = _simplest_of_best({name: by_list[name] for name in names})
        started = models[best]
        after = started if isinstance(started, FeatureModel) else None
        model = _fitted(best, ClickCounts.of(log), data, after, seed, n_jobs)
        perplexities = {name: PredictedClicks.of(each, test).perplexity for name, each in models.items()}
        predicted = {name: (float(by_list[name].mean()), perplexities[name]) for name in models}
        return cls(predicted, best, model, _doubt(model, by_list[best] - by_list[NAIVE]))


def _fitted(
    name: str, counts: ClickCounts, data: Documents, after: FeatureModel | None, seed: int, n_jobs: int | None
) -> ClickModel:
    kind = CORRECTIONS[name]
    fitted: ClickModel = (
        kind.fit_features(counts, data, after=after, with_errors=False, random_state=seed, n_jobs=n_jobs)
        if issubclass(kind, FeatureModel)
        else kind.fit(counts)
    )
    return fitted


def _by_list(model: ClickModel, log: ClickLog) -> Doubles:
    """Return the log-likelihood of the clicks of each list."""
    return np.asarray(np.add.reduceat(click_logarithms(model.conditional(log), log), log.offsets[:-1]))


def _simplest_of_best(by_list: Mapping[str, Doubles]) -> str:
    """Return the first model that is within a standard error of the best."""
    best = max(by_list, key=lambda name: float(by_list[name].mean()))
    for name, values in by_list.items():
        behind = by_list[best] - values
        if behind.mean() <= behind.std() / np.sqrt(len(behind)):
            return name
    return best


def _doubt(model: ClickModel, ahead: Doubles) -> str:
    """Return why clicks should not be corrected by a model, in a sentence; nothing if they should."""
    if isinstance(model, FeatureModel) and not model.is_biased:
        return "Clicks show no position bias beyond what features explain, so there is nothing to correct."
    if isinstance(model, FeatureModel) and not model.is_identified:
        return (
            "This log cannot tell position bias from relevance, so that correcting might do harm: log two "
            "rankers, or a few lists in random order."
        )
    if ahead.mean() <= 0:
        return "No click model predicts held-out clicks better than click rates do, so none is trusted."
    return ""


def weighted_clicks(model: ClickModel, log: ClickLog, data: Documents) -> Doubles:
    """Return the clicks on each document, without those by trust, per expected examination.

    These are inverse propensity weights with clipping, unbiased if the model of examination is right: a document
    that is hardly ever examined counts 0, or much in the few logs in which it is clicked.
    """
    rows, (slope, intercept) = log.rows_in(data), model.affine(log)
    known = rows >= 0
    clicks, examined = (
        np.bincount(rows[known], each[known], minlength=len(data)) for each in (log.clicked - intercept, slope)
    )
    return np.asarray(clicks / np.maximum(examined, LEAST_EXAMINED))

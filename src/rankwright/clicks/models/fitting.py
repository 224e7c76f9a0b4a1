"""Fits click models by name, and compares them by the clicks of sessions that they did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, measured, nearest
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.log import ClickLog
from rankwright.clicks.models.bayesian import BayesianModel
from rankwright.clicks.models.chains import CascadeModel, DependentClickModel, SimplifiedBayesianModel
from rankwright.clicks.models.click_model import CERTAIN
from rankwright.clicks.models.examination import PositionBasedModel, UserBrowsingModel
from rankwright.clicks.models.rates import ClicksOverExpected, DocumentRates, PositionRates
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.clicks.models.click_model import ClickModel
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

MODELS: dict[str, Any] = {
    "position_rates": PositionRates,
    "document_rates": DocumentRates,
    "coec": ClicksOverExpected,
    "position": PositionBasedModel,
    "browsing": UserBrowsingModel,
    "cascade": CascadeModel,
    "dependent": DependentClickModel,
    "simplified_bayesian": SimplifiedBayesianModel,
    "bayesian": BayesianModel,
}
BY_EM = ("position", "browsing", "bayesian")


def fit_click_model(log: ClickLog | ClickCounts, model: str = "position", **options: Any) -> ClickModel:
    """Fit a click model.

    Parameters
    ----------
    log
        A log, or its counts, which may be of a log that is longer than memory.
    model
        `position_rates`, `document_rates`, `coec` (clicks over expected clicks), `position` (position-based),
        `browsing` (user browsing), `cascade`, `dependent` (dependent click), `simplified_bayesian` or
        `bayesian` (dynamic Bayesian network), which needs a log, not counts.
    options
        For `position`, `browsing` and `bayesian`: `max_steps`, `tolerance` and `n_jobs`.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=2)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=200)
    >>> model = rw.clicks.fit_click_model(log, "position")
    >>> model.position.tolist(), model.examination.round(1).tolist()  # the truth is 1 / position
    ([1, 2, 3, 4, 5], [1.0, 0.5, 0.3, 0.3, 0.2])
    """
    counts = ClickCounts.of(log) if isinstance(log, ClickLog) else log
    require_type(counts, ClickCounts, "A click model is fitted to a ClickLog or ClickCounts")
    if model not in MODELS:
        raise InputError(f"There is no click model {model!r}{nearest(model, MODELS)}")
    if len(counts) == 0:
        raise InputError(" ".join(("The log has no impressions.", *counts.notes)))
    if not counts.clicked.any():
        raise InputError("The log has no clicks, from which nothing can be learned.")
    if options and model not in BY_EM:
        raise InputError(f"The click model {model!r} has no option {next(iter(options))!r}.")
    if model == "bayesian" and not isinstance(log, ClickLog):
        raise InputError("The click model 'bayesian' is fitted to a ClickLog; counts do not hold whole lists.")
    fitted: ClickModel = MODELS[model].fit(log if model == "bayesian" else counts, **options)
    return fitted


@dataclass(frozen=True)
class PredictedClicks:
    """How well a model predicts the clicks of a log.

    Parameters
    ----------
    log_likelihood
        Mean over result lists of the logarithm of the probability of all their clicks.
    perplexity
        Mean over positions of the perplexity of clicks there: 1 for certainty, 2 for a guess.
    by_position
        Perplexity at each position, from 1; NaN where nothing was shown.
    """

    log_likelihood: float
    perplexity: float
    by_position: tuple[float, ...]

    @classmethod
    def of(cls, model: ClickModel, log: ClickLog) -> PredictedClicks:
        """Measure a model on a log."""
        likelihood = click_logarithms(model.conditional(log), log).sum() / log.n_lists
        bits = click_logarithms(model.marginal(log), log) / np.log(2.0)
        shown = np.bincount(log.position)[1:]
        mean = np.bincount(log.position, bits)[1:] / np.where(shown, shown, np.nan)
        perplexities = np.exp2(-mean)
        return cls(float(likelihood), float(np.nanmean(perplexities)), tuple(perplexities.tolist()))


def click_logarithms(chances: Doubles, log: ClickLog) -> Doubles:
    """Return the logarithm of the probability of what happened at each impression, clicked or not."""
    bounded = np.clip(chances, CERTAIN, 1.0 - CERTAIN)
    return np.log(np.where(log.clicked > 0, bounded, 1.0 - bounded))


@dataclass(frozen=True, repr=False, eq=False)
class ClickModelComparison(Result):
    """Click models beside each other, by the clicks of sessions that they were not fitted to.

    Parameters
    ----------
    models
        The models by name.
    predicted
        How well each predicts the held-out clicks.
    n_lists
        Number of held-out result lists.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=2)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=200)
    >>> result = rw.clicks.compare_click_models(log, ["position", "cascade"])
    >>> isinstance(result, rw.clicks.ClickModelComparison), result.best
    (True, 'position')
    """

    models: dict[str, ClickModel]
    predicted: dict[str, PredictedClicks]
    n_lists: int

    @property
    def best(self) -> str:
        """The model with the highest log-likelihood."""
        return self._ranked[0]

    @property
    def _ranked(self) -> list[str]:
        return sorted(self.predicted, key=lambda name: -self.predicted[name].log_likelihood)

    @property
    def summary(self) -> str:
        value = measured(self.predicted[self.best].log_likelihood)
        models, lists = counted(len(self.models), "click model"), counted(self.n_lists, "held-out list")
        return f"Of {models}, {self.best} predicts {lists} best: log-likelihood {value}."

    def blocks(self) -> Iterator[Block]:
        columns = [Column("model", Kind.TEXT), Column("log-likelihood", Kind.MEASURED), Column("perplexity")]
        best_first = [(name, self.predicted[name]) for name in self._ranked]
        rows = [(name, each.log_likelihood, each.perplexity) for name, each in best_first]
        yield Table(columns, rows)
        yield Figure(self.chart, "Perplexity by position: 1 is certainty.")
        for note in dict.fromkeys(note for model in self.models.values() for note in model.notes):
            yield Note(note)

    def chart(self) -> Chart:
        """Return the perplexity at each position."""
        from rankwright.reports.charts.lines import line_chart

        curves = {
            name: [(float(position), value) for position, value in enumerate(self.predicted[name].by_position, 1)]
            for name in self._ranked
        }
        return line_chart(curves, "position", "perplexity", description="Perplexity of clicks by position.")

    def to_dict(self) -> dict[str, Any]:
        notes = {name: list(model.notes) for name, model in self.models.items()}
        return {"best": self.best, "lists": self.n_lists, "models": self.predicted, "notes": notes}


def compare_click_models(
    log: ClickLog,
    models: Sequence[str] | None = None,
    *,
    fraction: float = 0.25,
    random_state: int = 0,
) -> ClickModelComparison:
    """Fit click models to a part of the sessions, and measure how well they predict the clicks of the others.

    Parameters
    ----------
    log
        The log.
    models
        Names of models: position_rates, document_rates, coec, position,
        browsing, cascade, dependent, simplified_bayesian, bayesian. By default all.
    fraction
        Fraction of the sessions that are held out.
    random_state
        Seed of the division.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=2)
    >>> log = rw.clicks.simulate(data, data.X[:, 0], "cascade", sessions=200)
    >>> rw.clicks.compare_click_models(log, ["position_rates", "cascade"]).best
    'cascade'
    """
    require_type(log, ClickLog, "compare_click_models takes a ClickLog")
    train, test = log.split(fraction, random_state=random_state)
    if train.n_lists == 0 or test.n_lists == 0:
        raise InputError("The log has too few sessions to hold some of them out.")
    counts = ClickCounts.of(train)
    fitted = {name: fit_click_model(train if name == "bayesian" else counts, name) for name in models or MODELS}
    predicted = {name: PredictedClicks.of(model, test) for name, model in fitted.items()}
    return ClickModelComparison(fitted, predicted, test.n_lists)

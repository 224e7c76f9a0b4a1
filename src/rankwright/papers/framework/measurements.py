"""The measurements of an experiment: arrays by model, measure and trial."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from itertools import combinations
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.statistics.paired_tests import compare_values, t_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankwright.base.arrays import Doubles
    from rankwright.statistics.paired_tests import Comparison


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything that was measured of every model on every trial.

    Parameters
    ----------
    trials
        Names of the trials, in order.
    arrays
        By model, name of the measure and trial.
    """

    trials: tuple[str, ...]
    arrays: Mapping[tuple[str, str, str], Doubles]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(dict.fromkeys(model for model, _, _ in self.arrays))

    def on_trial(self, model: str, measured: str, trial: str) -> Doubles:
        """Return what was measured on one trial."""
        if (model, measured, trial) not in self.arrays:
            raise InputError(f"{measured!r} of {model!r} was not measured on {trial}.")
        return self.arrays[model, measured, trial]

    def by_trial(self, model: str, measured: str) -> list[Doubles]:
        """Return what was measured on every trial."""
        return [self.on_trial(model, measured, trial) for trial in self.trials]

    def values(self, model: str, measured: str) -> Doubles:
        """Return the values of all queries of all trials; the last axis has the queries."""
        return np.concatenate(self.by_trial(model, measured), axis=-1)

    def query_means(self, model: str, measured: str, queries: str) -> Doubles:
        """Return the mean of each query over the trials that it is in, by ascending number of the query."""
        values, ids = self.values(model, measured), self.values(model, queries)
        _, query = np.unique(ids, return_inverse=True)
        return np.bincount(query, values) / np.bincount(query)

    def mean(self, model: str, measured: str) -> float:
        """Return the mean over trials of the mean over queries, as papers report it for folds."""
        return float(np.mean([np.nanmean(values) for values in self.by_trial(model, measured)]))

    def interval(self, model: str, measured: str, queries: str = "") -> tuple[float, float]:
        """Return the 95 % interval of the mean, by the t distribution over the queries of all trials.

        For queries that are in several trials, `queries` is the measure that tells which query a value is of: each
        then counts once.
        """
        values = self.query_means(model, measured, queries) if queries else self.values(model, measured)
        mean = self.mean(model, measured)
        reach = _half_width(values)
        return mean - reach, mean + reach

    def paired_reach(self, measured: str) -> float:
        """Return by how much a mean over these queries differs from another one by chance alone.

        That is the half-width of the paired 95 % interval, the median over all pairs of models that have the
        measure; 0 for a single model.
        """
        models = [model for model in self.models if (model, measured, self.trials[0]) in self.arrays]
        values = {model: self.values(model, measured) for model in models}
        reaches = [_half_width(values[model] - values[other]) for model, other in combinations(models, 2)]
        return float(np.median(reaches)) if reaches else 0.0

    def compare(self, model: str, other: str, measured: str) -> Comparison:
        """Compare two models query by query, over the queries of all trials."""
        return compare_values(self.values(model, measured), self.values(other, measured))


def _half_width(values: Doubles) -> float:
    """Return half the width of the 95 % interval of a mean, by the t distribution; NaN for a single value."""
    known = values[~np.isnan(values)]
    return float(t_limit(len(known), 0.95) * known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan


Settings = ParamSpec("Settings")
Outcome = TypeVar("Outcome")


def curried(
    function: Callable[Concatenate[Measurements, Settings], Outcome],
) -> Callable[Settings, Callable[[Measurements], Outcome]]:
    """Turn a function of measurements and settings into one of the settings, which returns one of measurements.

    Papers declare tests of claims and figures before anything is measured: `better("A", ("B",), "map")`.
    """

    @wraps(function)
    def with_settings(*settings: Settings.args, **options: Settings.kwargs) -> Callable[[Measurements], Outcome]:
        return lambda results: function(results, *settings, **options)

    return with_settings

"""The results of an experiment, and the rows that tell what was reached."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.statistics.paired_tests import compare_values
from rankwright.statistics.power import t_limit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.papers.framework.experiment import Claim, Experiment, Published
    from rankwright.statistics.paired_tests import Comparison

REACHED = "reached"
WITHIN = "within the interval"  # below the published number, which lies in the interval of ours
NOT_REACHED = "not reached"
NOT_SHOWN = "not shown"  # the claim's direction, but the queries do not show it
OPPOSITE = "opposite"
OTHER_DATA = "other data"
NO_DATA = "no data"
STATES = (REACHED, WITHIN, NOT_REACHED, NOT_SHOWN, OPPOSITE, OTHER_DATA, NO_DATA)


@dataclass(frozen=True)
class Row:
    """A published number or claim, and what was found: one line of the table.

    Parameters
    ----------
    experiment, data
        Names of the experiment and of its data.
    where, what
        The place in the paper, and the number or claim in words.
    published
        The published number; None for a claim.
    ours, low, high
        What was measured, with its 95 % interval; None if there is no single number.
    p_value
        Of the test that decided, corrected for the number of comparisons of this claim.
    state
        One of `STATES`.
    measured
        What was measured, in words.
    why
        Why a number was not reached, where that is known.
    """

    experiment: str
    data: str
    where: str
    what: str
    published: float | None
    ours: float | None
    low: float | None
    high: float | None
    p_value: float | None
    state: str
    measured: str = ""
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class Results:
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
        values, place = self.values(model, measured), self.values(model, queries)
        _, query = np.unique(place, return_inverse=True)
        return np.bincount(query, values) / np.bincount(query)

    def mean(self, model: str, measured: str) -> float:
        """Return the mean over trials of the mean over queries, as papers report it for folds."""
        return float(np.mean([np.nanmean(one) for one in self.by_trial(model, measured)]))

    def interval(self, model: str, measured: str, queries: str = "") -> tuple[float, float]:
        """Return the 95 % interval of the mean, by the t distribution over the queries of all trials.

        For queries that are in several trials, `queries` is the measure that tells which query a value is of: each
        then counts once.
        """
        values = self.query_means(model, measured, queries) if queries else self.values(model, measured)
        values, mean = values[~np.isnan(values)], self.mean(model, measured)
        if len(values) < 2:
            return float("nan"), float("nan")
        reach = float(t_limit(len(values), 0.95) * values.std(ddof=1) / np.sqrt(len(values)))
        return mean - reach, mean + reach

    def compare(self, one: str, other: str, measured: str) -> Comparison:
        """Compare two models query by query, over the queries of all trials."""
        return compare_values(self.values(one, measured), self.values(other, measured))


def rows_of(experiment: Experiment, results: Results | None) -> list[Row]:
    """Return a row for every published number and claim; results are None where there are no data."""
    numbers = [_number_row(experiment, one, results) for one in experiment.published]
    return numbers + [_claim_row(experiment, one, results) for one in experiment.claims]


def _number_row(experiment: Experiment, published: Published, results: Results | None) -> Row:
    ours = low = high = None
    state, why = NO_DATA, getattr(experiment.source, "why", "")
    if results is not None:
        ours = results.mean(published.system, published.measured)
        low, high = results.interval(published.system, published.measured)
        state, why = _state(published, ours, high), published.why
    return Row(
        experiment.name,
        experiment.source.title,
        published.where,
        f"{published.system}, {published.measured}",
        published.value,
        ours,
        low,
        high,
        None,
        state,
        why="" if state == REACHED else why,
    )


def _state(published: Published, ours: float, high: float) -> str:
    if not published.comparable:
        return OTHER_DATA
    if round(ours, published.digits) >= published.value:
        return REACHED
    return WITHIN if published.value <= high else NOT_REACHED


def _claim_row(experiment: Experiment, claim: Claim, results: Results | None) -> Row:
    place = (experiment.name, experiment.source.title, claim.where, claim.text, None)
    if results is None:
        return Row(*place, None, None, None, None, NO_DATA, why=getattr(experiment.source, "why", ""))
    found = claim.test(results)
    low, high = found.interval or (None, None)
    why = "" if found.state == REACHED else claim.why
    return Row(*place, found.value, low, high, found.p_value, found.state, found.measured, why)


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows there are of each state, in the order of `STATES`."""
    return {state: n for state in STATES if (n := sum(row.state == state for row in rows))}

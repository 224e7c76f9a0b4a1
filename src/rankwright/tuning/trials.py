"""Trials: a setting of a ranker, and its value by its curve over rounds on the judging queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.data.groups import Ranking
from rankwright.rankers.parameters.spelling import spelled
from rankwright.training.history import smoothed, smoothing_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.history import Round
    from rankwright.tuning.judging_queries import JudgingPart

COMPLETE, PRUNED, FAILED = "complete", "pruned", "failed"


@dataclass(frozen=True)
class Trial:
    """A setting, its best number of rounds, and the smoothed mean of the ranker's metric there.

    Parameters
    ----------
    parameters, rounds, value
        The setting and its result; NaN if it failed.
    values
        The same for every judging query, part by part; only those of the first parts if it was pruned.
    state
        `"complete"`; `"pruned"` if the first parts showed that another setting is better; or `"failed"`.
    number
        Its number among all trials, from 0.
    seconds
        How long its fits took.
    reason
        Why it failed.
    """

    parameters: Mapping[str, Any]
    rounds: int
    value: float
    values: Doubles | None = field(default=None, repr=False, compare=False)
    state: str = COMPLETE
    number: int = field(default=0, compare=False)
    seconds: float = field(default=0.0, repr=False, compare=False)
    reason: str = field(default="", repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return setting and value as JSON values."""
        result = {"parameters": dict(self.parameters), "rounds": self.rounds, "value": self.value}
        return result if self.state == COMPLETE else {**result, "state": self.state}

    def details(self) -> dict[str, Any]:
        """Return all but the values of queries as JSON values; settings are spelled as on the command line."""
        return {
            "number": self.number,
            "state": self.state,
            "parameters": {name: spelled(value) for name, value in self.parameters.items()},
            "rounds": self.rounds,
            "value": self.value,
            "seconds": self.seconds,
            **({"reason": self.reason} if self.reason else {}),
        }


class RoundsCurve(NamedTuple):
    """The metric after every round of a fit: its mean, and a row of one value per judging query.

    There is a single row if the model cannot be judged before its last round.
    """

    means: Doubles
    values: Doubles
    converging: bool

    def values_at(self, rounds: slice) -> Doubles:
        """Return each query's mean over these rounds; a fit that ended early keeps its last value."""
        rows = np.minimum(np.arange(rounds.start, rounds.stop), len(self.values) - 1)
        return np.asarray(self.values[rows].mean(axis=0))


class SettingChoice(NamedTuple):
    """The best number of rounds, the smoothed mean of the metric there, and the same for every query."""

    rounds: int
    value: float
    values: Doubles


def judged_curve(ranker: Ranker, part: JudgingPart, on_round: OnRound) -> RoundsCurve:
    """Fit a ranker on the training queries of a part, and return its curve on the judging ones."""
    rows: list[Doubles] = []

    def keep(round_: Round) -> None:
        if round_.values is not None:
            rows.append(round_.values)
        on_round(round_)

    history = ranker.fit(part.train, validation=part.judges, on_round=keep).history_
    if len(rows) != len(history):  # a pool, which is judged as a whole
        judges = part.judges.data
        ranking = Ranking.of(ranker.predict(judges), judges.groups, n_jobs=ranker.n_jobs)
        rows = [ranker.metric.per_query(judges.y, ranking, n_jobs=ranker.n_jobs)]
    return RoundsCurve(history.validation, np.array(rows), history.converging)


def best_rounds(curves: Sequence[RoundsCurve]) -> SettingChoice:
    """Return the best number of rounds of a setting by its curves on several parts.

    The curve of a setting is the mean over parts of the ranker's metric after each round. It is smoothed, because
    on a few dozen queries differences between single rounds are mostly noise. Its maximum gives the value and the
    number of rounds of the setting; if rounds converge, its last point does.
    """
    mean = mean_curve([curve.means for curve in curves])
    last = len(mean) - 1
    if curves[0].converging:
        best, value, window = last, float(mean[-1]), slice(last, last + 1)
    else:
        smooth = smoothed(mean)
        best = int(np.argmax(smooth))
        value, window = float(smooth[best]), smoothing_window(len(mean), best)
    return SettingChoice(best + 1, value, np.concatenate([curve.values_at(window) for curve in curves]))


def mean_curve(curves: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean of curves; a curve that ended early is extended by its last value."""
    longest = max(map(len, curves))
    extended = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(extended, axis=0))


def best_of(trials: Sequence[Trial]) -> Trial:
    """Return the complete trial with the highest value; the first one if several are equal."""
    return max((trial for trial in trials if trial.state == COMPLETE), key=lambda trial: trial.value)


def configured(ranker: Ranker, parameters: Mapping[str, Any]) -> Ranker:
    """Return an unfitted copy of the ranker with these parameters."""
    return ranker.unfitted().set_params(**parameters)


def chosen_parameters(ranker: Ranker, trial: Trial) -> dict[str, Any]:
    """Return the setting of a trial and, if the ranker has rounds, the number of rounds."""
    rounds = {"rounds": trial.rounds} if "rounds" in ranker.get_params(deep=False) else {}
    return {**trial.parameters, **rounds}

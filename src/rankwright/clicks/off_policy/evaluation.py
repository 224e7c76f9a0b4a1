"""off_policy: estimates what the clicks on new rankings would have been, for several rankers beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.wording import counted, interval, listed, metric_value, percent, plain, rounded_percent
from rankwright.clicks.log import ClickLog
from rankwright.clicks.off_policy.estimators import (
    CLIPPED,
    DIRECT,
    DOUBLY_ROBUST,
    IPS,
    SELF_NORMALISED,
    OffPolicyEstimate,
    checked_clip,
    normal_quantile,
)
from rankwright.clicks.off_policy.logged_lists import ASSUMPTIONS, CLICKS, DCG, POSITION, LoggedLists
from rankwright.clicks.off_policy.predictions import CrossFitted
from rankwright.clicks.position_bias import NORMAL_95, Propensities, propensities
from rankwright.clicks.simulation import ranking_by
from rankwright.data.dataset import Documents
from rankwright.evaluation.evaluate import named_systems
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.intervals import checked_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.base.arrays import Integers
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

LEAST_SUPPORT = 0.9  # of what a new ranker would show; below, nothing is estimated
FEW = 100  # effective impressions
LOGGED = "as logged"
METHODS = ("model", "pivot", "shuffled", "features")  # of propensities
NAMES = {
    IPS: "IPS",
    CLIPPED: "clipped",
    SELF_NORMALISED: "self-normalised",
    DIRECT: "direct",
    DOUBLY_ROBUST: "doubly robust",
}


@dataclass(frozen=True)
class OffPolicySystem:
    """The estimates for one ranker by name, and the part of its lists that the log has shown.

    Without enough support there are no estimates.
    """

    support: float
    estimates: Mapping[str, OffPolicyEstimate]


@dataclass(frozen=True, repr=False, eq=False)
class OffPolicyEvaluation(Result):
    """What the clicks per result list would have been with other rankers.

    Parameters
    ----------
    systems
        The estimates for each ranker, by name: `ips`, `clipped`, `self_normalised`, `direct` and `doubly_robust`.
    reward
        What was estimated: `clicks` or `dcg` per list.
    assume
        What clicks may depend on.
    n_lists
        Number of lists of the log that were used.
    logged
        The same per list as logged.
    notes
        What was left out or refused, in sentences.
    level
        Level of the intervals.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=200)
    >>> result = rw.clicks.off_policy(log, {"third": data.X[:, 2]}, data)
    >>> isinstance(result, rw.clicks.OffPolicyEvaluation), result.estimate("third").low > 0
    (True, True)
    """

    systems: Mapping[str, OffPolicySystem]
    reward: str
    assume: str
    n_lists: int
    logged: float
    notes: tuple[str, ...]
    level: float = 0.95

    def estimate(self, system: str, estimator: str = SELF_NORMALISED) -> OffPolicyEstimate:
        """Return an estimate for a system; refuse it if the log has not shown enough of its lists."""
        if system not in self.systems:
            raise InputError(f"There is no system {system!r}; there are {', '.join(self.systems)}.")
        known = self.systems[system]
        if not known.estimates:
            raise InputError(self._refusal(system, known.support))
        if estimator not in known.estimates:
            raise InputError(f"There is no estimator {estimator!r} here; there are {', '.join(known.estimates)}.")
        return known.estimates[estimator]

    @property
    def measured(self) -> str:
        """What was estimated, in words."""
        return "clicks per list" if self.reward == CLICKS else "DCG per list"

    @property
    def summary(self) -> str:
        known = {name: self.estimate(name) for name, each in self.systems.items() if each.estimates}
        if not known:
            return f"Nothing can be estimated from {counted(self.n_lists, 'list')}: the log lacks support."
        best = max(known, key=lambda name: known[name].value)
        of_best = f"{metric_value(known[best].value)} ({interval(known[best].low, known[best].high)})"
        logged = f"{metric_value(self.logged)} as logged in {counted(self.n_lists, 'list')}"
        return f"{best} would have had {of_best} {self.measured}; there were {logged}."

    def blocks(self) -> Iterator[Block]:
        used = [
            name for name in NAMES if any(self._differs(name, each.estimates) for each in self.systems.values())
        ]
        columns = [Column("system", Kind.TEXT), *(Column(NAMES[name]) for name in used)]
        columns += [Column("effective impressions", Kind.COUNT), Column("support", Kind.PERCENT)]
        rows = [(name, *self._cells(each, used)) for name, each in self.systems.items()]
        yield Table(columns, rows, f"Estimated {self.measured}, with {percent(self.level)} intervals")
        yield Figure(self.chart, f"Estimated {self.measured}, self-normalised, with its interval.")
        for note in (ASSUMPTIONS[self.assume], *self.notes):
            yield Note(note)
        for name, each in self.systems.items():
            if not each.estimates:
                yield Note(self._refusal(name, each.support))
            elif each.estimates[IPS].effective < FEW:
                size = f"{each.estimates[IPS].effective:.1f} effective impressions"
                yield Note(f"The estimates for {name} rest on {size} alone: its intervals may be too narrow.")

    def _differs(self, name: str, estimates: Mapping[str, OffPolicyEstimate]) -> bool:
        """Return whether an estimate is worth a column; a clipped one is not if no weight was clipped."""
        return name in estimates and (name != CLIPPED or estimates[name].value != estimates[IPS].value)

    def _cells(self, system: OffPolicySystem, used: list[str]) -> Iterator[Any]:
        for name in used:
            each = system.estimates.get(name)
            yield (
                None
                if each is None
                else each.value
                if np.isnan(each.low)
                else Interval(each.value, each.low, each.high)
            )
        yield system.estimates[IPS].effective if system.estimates else None
        yield system.support

    def _refusal(self, name: str, support: float) -> str:
        return (
            f"Nothing is estimated for {name}: the log has shown {rounded_percent(support)} of what it would show "
            f"as the assumption {self.assume!r} needs it, and at least {rounded_percent(LEAST_SUPPORT)} is needed."
        )

    def chart(self) -> Chart:
        """Return the self-normalised estimates with their intervals, and what was logged."""
        from rankwright.reports.charts.bars import described, interval_chart

        known = {name: self.estimate(name) for name, each in self.systems.items() if each.estimates}
        rows = [(name, each.value, each.low, each.high) for name, each in known.items()]
        rows.append((LOGGED, self.logged, np.nan, np.nan))
        return interval_chart(rows, self.measured, description=f"Estimated {self.measured}: {described(rows)}.")

    def to_dict(self) -> dict[str, Any]:
        return {
            "reward": self.reward,
            "assume": self.assume,
            "lists": self.n_lists,
            "logged": self.logged,
            "level": self.level,
            "systems": {
                name: {"support": each.support, "estimates": plain(dict(each.estimates))}
                for name, each in self.systems.items()
            },
            "notes": list(self.notes),
        }


def off_policy(
    log: ClickLog,
    systems: Any,
    data: Documents,
    *,
    reward: str = "clicks",
    assume: str = "position",
    examination: Propensities | str = "model",
    clip: float | None = None,
    model: str | None = "position",
    level: float = 0.95,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> OffPolicyEvaluation:
    """Estimate how many clicks rankers would have had, from a log of what another ranker showed.

    Parameters
    ----------
    log
        The log. If it has propensities, they are the probabilities with which its policy showed the document at
        the position (with `assume="list"`, the whole list); otherwise these are counted in the log.
    systems
        Rankers, models, scores or columns by name, as for `evaluate`, or a single one.
    data
        The documents of the log's queries.
    reward
        `clicks` per list (graded actions count by their grade); or `dcg`, which discounts clicks by
        log2(1 + position), and with `assume="position"` is the DCG of attraction.
    assume
        What clicks depend on: `position` (examination by position, and attraction), `item_position`, `list` (all
        of the list), or `first`, for the first position alone. Less assumed needs more support.
    examination
        For `position`, the propensities of positions, or the method by which `propensities` estimates them, such
        as `features` if the data have features. The estimates depend much on it.
    clip
        Largest weight of the clipped estimate; by default the root of the number of lists. If it is given, the
        doubly robust estimate clips too.
    model
        Click model that predicts clicks for the doubly robust estimate; None for none.
    level
        Level of the intervals, in which the lists of a session count as one observation.
    random_state
        Seed of the halves in which the click model is fitted.
    n_jobs
        Number of threads for scoring.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(100, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=100)
    >>> result = rw.clicks.off_policy(log, {"ideal": data.y, "worst": -data.y}, data)
    >>> result.estimate("ideal").low > result.estimate("worst").high
    True
    """
    require_type(log, ClickLog, "off_policy takes a ClickLog")
    require_type(data, Documents, "off_policy takes the documents of the log's queries")
    checked_clip(clip)
    lists = logged_lists(log, data, assume, reward, examination)
    halves, notes = _predictions(lists, model, random_state)
    evaluated = {}
    for name, system in named_systems(systems).items():
        ranks = ranking_by(name, system, data, n_jobs).ranks()
        evaluated[name] = _evaluated(lists, ranks, data, halves, clip, checked_level(level))
    notes = (*lists.notes, *notes, *_unused(log, assume))
    return OffPolicyEvaluation(evaluated, reward, assume, lists.log.n_lists, lists.as_logged, notes, level)


def logged_lists(
    log: ClickLog, data: Documents, assume: str, reward: str, examination: Propensities | str
) -> LoggedLists:
    """Return the log's lists, to be weighted for rankings of the documents."""
    for name, value, known in (("reward", reward, (CLICKS, DCG)), ("assume", assume, tuple(ASSUMPTIONS))):
        if value not in known:
            raise InputError(f"{parameter(name)} must be {listed(known)}, not {value!r}.")
    values = upper = np.ones(log.max_position + 1)
    if assume == POSITION:
        estimated = _examination(log, data, examination)
        values, upper = (estimated.by_position(log.max_position, each) for each in (None, estimated.high))
    return LoggedLists.of(log, data, assume, reward, values, upper)


def _unused(log: ClickLog, assume: str) -> Iterator[str]:
    if log.weight is not None:
        yield "Weights of the log are not used."
    if log.propensity is not None and assume == POSITION:
        yield f"Propensities of the log are not used with the assumption {assume!r}."


def _examination(log: ClickLog, data: Documents, examination: Propensities | str) -> Propensities:
    if isinstance(examination, str):
        if examination not in METHODS:
            raise InputError(f"{parameter('examination')} must be {listed(METHODS)}, not {examination!r}.")
        examination = propensities(log, examination, data=data)
    require_type(examination, Propensities, "examination takes Propensities or the name of a method")
    if examination.trust is not None:
        raise InputError(
            f"{parameter('examination')} takes no propensities with trust, whose clicks weights cannot move to "
            f"other positions; estimate them by {listed(METHODS)}."
        )
    return examination


def _predictions(
    lists: LoggedLists, model: str | None, random_state: int
) -> tuple[CrossFitted | None, tuple[str, ...]]:
    if model is None:
        return None, ()
    try:
        return CrossFitted(lists, model, random_state), ()
    except InputError as error:
        if lists.log.n_clicks > FEW:
            raise
        return None, (f"There is no doubly robust estimate: {error}",)


def _evaluated(
    lists: LoggedLists,
    ranks: Integers,
    data: Documents,
    halves: CrossFitted | None,
    clip: float | None,
    level: float,
) -> OffPolicySystem:
    sample = lists.weighted(ranks)
    support = lists.support(ranks, sample)
    if support < LEAST_SUPPORT:
        return OffPolicySystem(support, {})
    if halves is not None:
        sample = halves.applied(sample, data, ranks)
    estimates = sample.estimates(clip=clip, level=level)
    if limits := [each.weighted(ranks).estimates()[IPS].value for each in lists.at_limits()]:
        # Predicted clicks depend on examination as much as weights do, so this is the reach of all estimates.
        reach = float(np.ptp(limits)) / 2.0 * normal_quantile(level) / NORMAL_95
        estimates = {name: each.widened(reach) for name, each in estimates.items()}
    return OffPolicySystem(support, estimates)

"""ab_test: what two rankers got from the sessions or users that were given either of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import measured, plain
from rankwright.clicks.experiments.any_time import Path, Verdict, always_valid, running_moments
from rankwright.clicks.experiments.interleaving import STOPPING, path_chart, verdict_sentence, verdict_table
from rankwright.clicks.log import ClickLog
from rankwright.reports.blocks import Column, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.experiments.interleaving import InterleavingResult
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart


@dataclass(frozen=True, repr=False, eq=False)
class ABTestResult(Result):
    """The mean outcome of two arms and their difference.

    Parameters
    ----------
    names
        The arms; the difference is that of the second minus the first.
    means, sizes
        Of each arm: the mean over its units, and the number of units.
    verdict
        The test of the difference.
    unit
        `session` or `user`.
    level
        Level of the intervals.
    path, reaches
        The difference after each unit, and half the width of its interval at any time.

    Examples
    --------
    >>> result = rw.clicks.ab_test([1, 0, 1, 0] * 100, ["new", "old"] * 200, names=("old", "new"))
    >>> isinstance(result, rw.clicks.ABTestResult), result.means
    (True, (0.0, 1.0))
    """

    names: tuple[str, str]
    means: tuple[float, float]
    sizes: tuple[int, int]
    verdict: Verdict
    unit: str
    level: float
    path: Path
    reaches: Doubles

    @property
    def summary(self) -> str:
        size = measured(abs(self.verdict.difference))
        return verdict_sentence(self.verdict, self.names, self.unit, "{} is better than {}", size)

    def blocks(self) -> Iterator[Block]:
        columns = [Column("arm", Kind.TEXT), Column(f"{self.unit}s", Kind.COUNT), Column("mean", Kind.MEASURED)]
        yield Table(columns, list(zip(self.names, self.sizes, self.means, strict=True)), "Means of the arms")
        yield verdict_table({self.unit: self.verdict}, "difference", self.level)
        yield Figure(self.chart, "Difference over time, with the interval that holds at any time.")
        yield Note(f"Positive: {self.names[1]} is better. {STOPPING}")

    def chart(self) -> Chart:
        """Return the difference over time with the interval that holds at any time."""
        return path_chart(self.path, self.reaches, self.unit, "difference")

    def to_dict(self) -> dict[str, Any]:
        facts = {"names": self.names, "means": self.means, "sizes": self.sizes, "unit": self.unit}
        return dict(plain(facts | {"verdict": self.verdict}))


def ab_test(
    outcomes: ArrayLike,
    arms: Sequence[Any],
    *,
    users: Sequence[Any] | None = None,
    names: tuple[Any, Any] | None = None,
    level: float = 0.95,
    planned: int = 10_000,
) -> ABTestResult:
    """Compare the outcomes of sessions, such as numbers of clicks, between two arms of an A/B test.

    Parameters
    ----------
    outcomes
        One number per session, in the order of time.
    arms
        The arm of each session, such as the ranker that it was given.
    users
        The user of each session, if users and not sessions were assigned to arms: then each user counts once, with
        the mean of the sessions. A user in both arms is refused.
    names
        The first and the second arm; by default in the order in which they appear.
    level, planned
        As for `clicks.interleaving`.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> arms = random.choice(["old", "new"], 4000)
    >>> clicks = random.random(4000) < np.where(arms == "new", 0.4, 0.3)
    >>> print(rw.clicks.ab_test(clicks, arms, names=("old", "new"), planned=4000).summary)
    new is better than old by 0.1124 (0.0671 to 0.1578 at any time, p < 0.001) over 4,000 sessions.
    """
    values, labels = checked_numbers(outcomes, "outcomes"), [str(arm) for arm in arms]
    if values.ndim != 1 or len(labels) != len(values) or (users is not None and len(users) != len(values)):
        raise InputError("outcomes, arms and users must have one value per session.")
    if not np.isfinite(values).all():
        raise InputError(f"Outcome {int((~np.isfinite(values)).argmax())} is not a finite number.")
    first, second = _two_arms(labels, names)
    rows = [row for row, label in enumerate(labels) if label in (first, second)]
    means, treated = values[rows], np.array([labels[row] == second for row in rows])
    if users is not None:
        means, treated = _by_user(means, treated, [str(users[row]) for row in rows])
    sizes = int((~treated).sum()), int(treated.sum())
    if min(sizes) < 2:
        raise InputError("Each arm needs at least two units.")
    path = _path(means, treated)
    verdict = Verdict.of(path, _welch(means, treated), level, planned)
    _, reaches = always_valid(path, 1.0 - level, planned)
    unit = "session" if users is None else "user"
    averages = float(means[~treated].mean()), float(means[treated].mean())
    return ABTestResult((first, second), averages, sizes, verdict, unit, level, path, reaches)


def _two_arms(labels: Sequence[str], names: tuple[Any, Any] | None) -> tuple[str, str]:
    """Return the first and the second arm."""
    known = list(dict.fromkeys(labels))
    first, second = map(str, names) if names else known if len(known) == 2 else ("", "")
    if first == second or not {first, second} <= set(known):
        raise InputError(
            f"An A/B test has two arms; there are {', '.join(known) or 'none'}: name two of them in names."
        )
    return first, second


def session_outcomes(log: ClickLog) -> tuple[Doubles, list[str]]:
    """Return the clicks per list of each session of a log, and the policy of the session, for `ab_test`.

    Sessions are in the order of time if the log has times, otherwise in its own. A session with lists of several
    policies is refused.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=1)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "ideal": data.y}, sessions=50)
    >>> print(rw.clicks.ab_test(*rw.clicks.session_outcomes(log), names=("old", "ideal"), planned=2500).summary)
    ideal is better than old by 0.1737 (0.0942 to 0.2533 at any time, p < 0.001) over 2,500 sessions.
    """
    require_type(log, ClickLog, "session_outcomes takes a ClickLog")
    if log.policy is None or log.policy_ids is None:
        raise InputError("The log has no policies, whose sessions an A/B test compares.")
    session = log.session[log.offsets[:-1]]
    policy = log.policy[log.offsets[:-1]]
    _, first, code = np.unique(session, return_index=True, return_inverse=True)
    if (mixed := policy != policy[first][code]).any():
        name = log.session_ids[session[int(mixed.argmax())]]
        raise InputError(f"Session {name} has lists of several policies; an A/B test gives each session one.")
    clicks = np.bincount(code, np.add.reduceat(log.clicked, log.offsets[:-1]))
    order = np.argsort(first if log.time is None else log.time[log.offsets[:-1]][first], kind="stable")
    arms = [str(log.policy_ids[each]) for each in policy[first][order].tolist()]
    return (clicks / np.bincount(code))[order], arms


def _by_user(values: Doubles, treated: Any, users: list[str]) -> tuple[Doubles, Any]:
    numbers: dict[str, int] = {}
    codes: Integers = np.array([numbers.setdefault(user, len(numbers)) for user in users], dtype=np.int64)
    n_sessions, n_treated = np.bincount(codes), np.bincount(codes, treated)
    if mixed := np.flatnonzero((n_treated > 0) & (n_treated < n_sessions)).tolist():
        raise InputError(f"User {list(numbers)[mixed[0]]!r} is in both arms; users must be assigned to one.")
    return np.bincount(codes, values) / n_sessions, n_treated > 0


def _path(values: Doubles, arm: Any) -> Path:
    """Return the difference of the arms' means after each unit, from two of each on."""
    total, moments = np.arange(1.0, len(values) + 1.0), []
    for side in (~arm, arm):
        n, mean, variance = running_moments(values[side])
        so_far = np.cumsum(side)
        padded = [np.concatenate([[np.nan], each])[so_far] for each in (mean, variance)]
        moments.append((np.concatenate([[0.0], n])[so_far], *padded))
    ready = np.flatnonzero((moments[0][0] > 1) & (moments[1][0] > 1))
    difference, variance = moments[1][1] - moments[0][1], moments[1][2] + moments[0][2]
    return Path(total[ready], difference[ready], variance[ready])


def _welch(values: Doubles, arm: Any) -> float:
    """Return the degrees of freedom of Welch's test."""
    parts = [(float(values[side].var(ddof=1)) / int(side.sum()), int(side.sum())) for side in (~arm, arm)]
    total = sum(part for part, _ in parts)
    return total**2 / sum(part**2 / (n - 1) for part, n in parts) if total > 0 else float(len(values) - 2)


@dataclass(frozen=True, repr=False, eq=False)
class ExperimentBalance(Result):
    """An interleaving experiment beside an A/B test of the same rankers.

    Parameters
    ----------
    interleaved, ab
        The two results.

    Examples
    --------
    >>> import numpy as np
    >>> signs = np.array([1, 1, -1] * 200)
    >>> interleaved = rw.clicks.interleaving(rw.clicks.TeamCredits(signs < 0, signs > 0, names=("old", "new")))
    >>> ab = rw.clicks.ab_test([0, 1, 1, 1] * 150, ["old", "new"] * 300, names=("old", "new"))
    >>> balance = rw.clicks.ExperimentBalance(interleaved, ab)
    >>> balance.agree
    True
    """

    interleaved: InterleavingResult
    ab: ABTestResult

    @property
    def agree(self) -> bool:
        """Whether both favour the same ranker."""
        return self.interleaved.verdict.difference * self._turned * self.ab.verdict.difference > 0

    @property
    def _turned(self) -> float:
        pairs = self.interleaved.names, self.ab.names
        if set(pairs[0]) != set(pairs[1]):
            raise InputError(f"These compare other rankers: {' and '.join(pairs[0])}; {' and '.join(pairs[1])}.")
        return 1.0 if pairs[0] == pairs[1] else -1.0

    @property
    def sensitivity(self) -> float:
        """How many times as many units the A/B test needs for the same certainty, by the observed effects."""
        per_unit = []
        for verdict in (self.interleaved.verdict, self.ab.verdict):
            error = (verdict.high - verdict.low) / 2.0
            per_unit.append((verdict.difference / error) ** 2 / verdict.n_units if error > 0 else np.nan)
        return float(per_unit[0] / per_unit[1]) if per_unit[1] > 0 else float("inf")

    @property
    def summary(self) -> str:
        agreement = "favour the same ranker" if self.agree else "favour different rankers"
        times = (
            f"{self.sensitivity:.1f} times as many units" if np.isfinite(self.sensitivity) else "far more units"
        )
        return f"Interleaving and the A/B test {agreement}; the A/B test needs {times} for the same certainty."

    def blocks(self) -> Iterator[Block]:
        sides = (self.interleaved.unit, self.interleaved.verdict), (self.ab.unit, self.ab.verdict)
        verdicts = {
            f"{kind}, by {unit}": verdict
            for kind, (unit, verdict) in zip(("interleaving", "A/B"), sides, strict=True)
        }
        yield verdict_table(verdicts, "difference", self.interleaved.level)
        yield Note("A preference and a difference of outcomes have other units: compare signs and p-values.")

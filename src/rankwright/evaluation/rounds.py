"""Speed against accuracy: boosted models cut to their first rounds (Wu, Burges, Svore & Gao 2010, figure 2)."""

from __future__ import annotations

from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

from rankwright.chart import line_chart
from rankwright.errors import InputError
from rankwright.evaluation.measurement import evaluate
from rankwright.models import Scorer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.data import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.metrics import Convention, Metric
    from rankwright.models.fitted import Fitted


@dataclass(frozen=True, eq=False)
class RoundsReport:
    """What systems come to with their first rounds alone; in `report` each cut is a system of its own."""

    systems: tuple[str, ...]
    rounds: tuple[int, ...]
    report: Report

    def mean(self, system: str, rounds: int, metric: str) -> float:
        """Return the mean over queries of a system cut to so many rounds."""
        return self.report.mean(cut_name(system, rounds), metric)

    def curve(self, system: str, metric: str) -> list[tuple[float, float]]:
        """Return the means by number of rounds."""
        return [(rounds, self.mean(system, rounds, metric)) for rounds in self.rounds]

    def plot(self, metric: str) -> str:
        """Return the curves of all systems as an SVG file."""
        curves = {system: self.curve(system, metric) for system in self.systems}
        return line_chart(curves, "rounds", metric)

    def to_dict(self) -> dict[str, Any]:
        """Return means and counts as plain JSON."""
        facts = self.report.to_dict()
        facts["systems"] = {
            system: {str(rounds): facts["systems"][cut_name(system, rounds)] for rounds in self.rounds}
            for system in self.systems
        }
        return facts


def evaluate_rounds(
    systems: Mapping[str, Scorer | Fitted],
    data: RankingData,
    rounds: Sequence[int],
    *,
    metrics: Sequence[Metric | str] = ("ndcg@10", "map"),
    convention: str | Convention = "standard",
    n_jobs: int | None = None,
) -> RoundsReport:
    """Measure boosted models with their first rounds alone, query by query.

    A model that is cut scores faster by as much. Where it was started from trees, these come first.

    Parameters
    ----------
    systems
        Rankers or scorers by name.
    data
        The judged documents.
    rounds
        Numbers of rounds to cut to, none of them more than a system has.
    metrics, convention
        As for `evaluate`.
    """
    wanted = _checked_rounds(rounds)
    cut = {
        cut_name(name, number): _scorer_of(name, system, number).first(number)
        for name, system in systems.items()
        for number in wanted
    }
    report = evaluate(cut, data, metrics=metrics, convention=convention, n_jobs=n_jobs)
    return RoundsReport(tuple(systems), wanted, report)


def cut_name(system: str, rounds: int) -> str:
    """Return the name of a system that is cut."""
    return f"{system}, {rounds} rounds"


def _checked_rounds(rounds: Sequence[int]) -> tuple[int, ...]:
    try:
        wanted = tuple(sorted({index(number) for number in rounds}))
    except TypeError:
        wanted = ()
    if not wanted or wanted[0] < 1:
        raise InputError(f"rounds must be whole numbers from 1, one at least, not {rounds!r}.")
    return wanted


def _scorer_of(name: str, system: Any, most: int) -> Scorer:
    scorer = system if isinstance(system, Scorer) else getattr(system, "model_", None)
    if not isinstance(scorer, Scorer):
        raise InputError(f"{name} is no model of rankwright, nor a ranker that was fitted.")
    if not scorer.n_rounds:
        raise InputError(f"{name} is of kind {scorer.kind!r}, which has no rounds to cut.")
    if scorer.n_rounds < most:
        raise InputError(f"{name} has {scorer.n_rounds} rounds; it cannot be cut to {most}.")
    return scorer

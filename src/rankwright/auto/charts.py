"""Charts of a run of AutoRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.member_analyses import mixture_members, priced_mixtures
from rankwright.base.wording import counted
from rankwright.reports.charts.lines import line_chart
from rankwright.reports.charts.points import Point, scatter_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.auto.frontier import Priced
    from rankwright.auto.member_analyses import JudgedMember
    from rankwright.auto.run import Run
    from rankwright.reports.charts.chart import Chart

SMALL = 240, 150  # width and height of one of several charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic


def learning_curves(members: Sequence[JudgedMember], metric: str) -> list[tuple[JudgedMember, Chart]]:
    """Return one small chart for every member that has rounds: its curve in front of those of the others."""
    with_rounds = [one for one in members if len(one.entry.rounds) > 1 and np.isfinite(one.entry.curve).all()]
    return [(one, _learning_curve(one, with_rounds, metric)) for one in with_rounds]


def _learning_curve(member: JudgedMember, all_members: Sequence[JudgedMember], metric: str) -> Chart:
    standing, (width, height) = member.standing, SMALL
    others = {one.standing.name: _curve(one) for one in all_members if one is not member}
    description = (
        f"{metric} of {standing.name} by number of rounds, out of fold: {standing.value:.4f} with the chosen "
        f"{counted(standing.rounds, 'round')}, before the curves of {counted(len(others), 'other member')}."
    )
    return line_chart(
        {"": _curve(member)} | others,
        "rounds",
        metric,
        description=description,
        marked={"": (standing.rounds, standing.value)},
        faint=others,
        x_log=True,
        width=width,
        height=height,
    )


def _curve(member: JudgedMember) -> list[tuple[float, float]]:
    return list(zip(member.entry.rounds, member.entry.curve, strict=True))


def frontier_chart(run: Run, members: Sequence[JudgedMember]) -> Chart | None:
    """Return the values of mixtures and of single members by the microseconds that they take per document.

    None if no mixture has a value.
    """
    known = [one for one in priced_mixtures(run) if np.isfinite(one.value)]
    mixtures = sorted(known, key=lambda one: one.microseconds)
    if not mixtures:
        return None
    points = [
        *(
            Point(_title(one), one.microseconds, one.value, "mixtures", "")
            for one in mixtures
            if one is not run.kept
        ),
        Point(_title(run.kept), run.kept.microseconds, run.kept.value, "this model", "this model"),
        *(
            Point(one.standing.name, one.standing.microseconds, one.standing.value, "members alone")
            for one in members
            if one.standing.microseconds is not None
        ),
    ]
    costs = [one.x for one in points]
    metric = str(run.market.metric)
    description = (
        f"{metric} out of fold by microseconds per document: {counted(len(mixtures), 'mixture')}, from the "
        f"cheapest ({_title(mixtures[0])}) to the best; this model: {_title(run.kept)}."
    )
    return scatter_chart(
        points,
        "microseconds per document, one thread",
        metric,
        description=description,
        x_log=max(costs) > WIDE_RANGE * min(costs),
        lines={"mixtures": [(one.microseconds, one.value) for one in mixtures]},
    )


def _title(priced: Priced) -> str:
    members = ", ".join(mixture_members(priced))
    return f"{priced.value:.4f} at {priced.microseconds:.2g} \N{MICRO SIGN}s with {members}"

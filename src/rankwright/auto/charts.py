"""Charts of a run of AutoRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.analyses import mixture_members, priced_mixtures
from rankwright.chart import Chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.auto.analyses import JudgedMember
    from rankwright.auto.budget import Priced
    from rankwright.auto.run import Run

STYLE = """
.other { stroke: rgb(var(--rule)); stroke-width: 1; } .curve, .mixtures { stroke: rgb(var(--blue)); }
.chosen, .mixed { fill: rgb(var(--blue)); } .alone { fill: rgb(var(--orange)); }
.model { fill: rgb(var(--page)); stroke: rgb(var(--blue)); stroke-width: 3; }
svg text.named { fill: rgb(var(--text)); }
"""
SMALL = 240, 170  # width and height of one of several charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic


def learning_curves(members: Sequence[JudgedMember], metric: str) -> list[tuple[JudgedMember, str]]:
    """Return one small chart for every member that has rounds: its curve in front of those of the others."""
    with_rounds = [one for one in members if len(one.entry.rounds) > 1 and np.isfinite(one.entry.curve).all()]
    if not with_rounds:
        return []
    rounds = [number for one in with_rounds for number in one.entry.rounds]
    values = [value for one in with_rounds for value in one.entry.curve]
    width, height = SMALL
    chart = Chart(_reach(rounds), _reach(values), "rounds", metric, x_log=True, width=width, height=height)
    return [(one, _learning_curve(chart, one, with_rounds)) for one in with_rounds]


def _learning_curve(chart: Chart, member: JudgedMember, all_members: Sequence[JudgedMember]) -> str:
    standing = member.standing
    others = [chart.line("other", _curve(one)) for one in all_members if one is not member]
    title = f"{standing.value:.4f} with {standing.rounds} rounds"
    return chart.drawn(
        [
            *others,
            chart.upright("kept", standing.rounds),
            chart.line("curve", _curve(member)),
            chart.point("chosen", standing.rounds, standing.value, title),
        ]
    )


def _curve(member: JudgedMember) -> list[tuple[float, float]]:
    return list(zip(member.entry.rounds, member.entry.curve, strict=True))


def frontier_chart(run: Run, members: Sequence[JudgedMember]) -> str:
    """Return the values of mixtures and of single members by the microseconds that they take per document."""
    known = [one for one in priced_mixtures(run) if np.isfinite(one.value)]
    mixtures = sorted(known, key=lambda one: one.microseconds)
    alone = [
        (number, one.standing.microseconds, one)
        for number, one in enumerate(members, start=1)
        if one.standing.microseconds is not None and np.isfinite(one.standing.value)
    ]
    if not mixtures:
        return ""
    costs = [*(one.microseconds for one in mixtures), *(cost for _, cost, _ in alone)]
    values = [*(one.value for one in mixtures), *(one.standing.value for *_, one in alone)]
    wide = max(costs) > WIDE_RANGE * min(costs)
    x_range = (min(costs) / 1.2, max(costs) * 1.2) if wide else (0.0, max(costs) * 1.05)
    label = "microseconds per document, one thread"
    chart = Chart(x_range, _padded(_reach(values)), label, str(run.market.metric), x_whole=False, x_log=wide)
    marks = [chart.line("mixtures", [(one.microseconds, one.value) for one in mixtures])]
    marks += [chart.point("mixed", one.microseconds, one.value, _title(one), 3) for one in mixtures]
    marks.append(chart.point("model", run.kept.microseconds, run.kept.value, f"the model: {_title(run.kept)}", 6))
    for _, cost, one in alone:
        title = f"{one.standing.name}: {one.standing.value:.4f} at {cost:.2g} µs"
        marks.append(chart.point("alone", cost, one.standing.value, title))
    names = [(cost, one.standing.value, str(number)) for number, cost, one in alone]
    return chart.drawn([*marks, chart.names("named", names)])


def _title(priced: Priced) -> str:
    members = ", ".join(mixture_members(priced))
    return f"{priced.value:.4f} at {priced.microseconds:.2g} µs: {members}"


def _padded(reach: tuple[float, float]) -> tuple[float, float]:
    """Return the range with room for marks on its edges."""
    low, high = reach
    room = 0.06 * (high - low)
    return low - room, high + room


def _reach(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)

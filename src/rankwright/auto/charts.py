"""Charts of a run of AutoRanker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.analyses import priced_mixtures
from rankwright.charts import Point, line_chart, scatter_chart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.auto.analyses import JudgedMember
    from rankwright.auto.run import Run
    from rankwright.charts import Chart

SMALL = 240, 170  # width and height of one of several charts side by side
WIDE_RANGE = 20.0  # from so large a ratio on, the axis is logarithmic


def with_rounds(members: Sequence[JudgedMember]) -> list[JudgedMember]:
    """Return the members that have rounds to choose, and so a learning curve."""
    return [one for one in members if len(one.entry.rounds) > 1 and np.isfinite(one.entry.curve).all()]


def learning_curve(member: JudgedMember, metric: str) -> Chart:
    """Return the small chart of a member's metric by its number of rounds, with the number that was chosen."""
    standing, (width, height) = member.standing, SMALL
    chosen = f"{standing.value:.4f} with {standing.rounds} rounds"
    return line_chart(
        {"": list(zip(member.entry.rounds, member.entry.curve, strict=True))},
        "rounds",
        metric,
        description=f"Learning curve of {standing.name}: {metric} out of fold by rounds; chosen: {chosen}.",
        marked={"": (standing.rounds, standing.value)},
        x_log=True,
        width=width,
        height=height,
    )


def frontier_chart(run: Run, members: Sequence[JudgedMember]) -> Chart | None:
    """Return the values of mixtures and of single members by the microseconds that they take per document."""
    known = [one for one in priced_mixtures(run) if np.isfinite(one.value)]
    if not known:
        return None
    line = sorted((one.microseconds, one.value) for one in known)
    mixtures = [Point("", cost, value, "mixtures") for cost, value in line]
    alone = [
        Point(str(number), one.standing.microseconds, one.standing.value, "members alone")
        for number, one in enumerate(members, start=1)
        if one.standing.microseconds is not None and np.isfinite(one.standing.value)
    ]
    own = Point("this model", run.kept.microseconds, run.kept.value, "this model")
    points = [*mixtures, *alone, own]
    costs = [one.x for one in points]
    return scatter_chart(
        points,
        "microseconds per document, one thread",
        str(run.market.metric),
        description=(
            f"{run.market.metric} by microseconds per document: {len(mixtures)} mixtures from {line[0][1]:.4f} at "
            f"{line[0][0]:.2g} to {line[-1][1]:.4f} at {line[-1][0]:.2g}, and {len(alone)} members alone."
        ),
        x_log=max(costs) > WIDE_RANGE * min(costs),
        lines={"mixtures": line},
    )

"""The sections about the members of a mixture: standings, learning curves, likeness, strengths and weaknesses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.auto.member_analyses import best_member, gains_and_losses, likeness, slices_of, strength
from rankwright.base.wording import counted, metric_value
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.blocks import Cell, Column, Figure, Figures, Kind, Note, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankwright.auto.member_analyses import JudgedMember, JudgedQueries
    from rankwright.auto.mixing import Standings
    from rankwright.data.groups import QueryGroups
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

MAX_QUERIES = 5  # of the greatest gains, and of the greatest losses
SURE = 4.0  # standard errors that give the strongest tile
UNLIKE = 0.5  # correlation without a shade, if no two members have a lower one
SMALL = 240, 150  # width and height of one of several charts side by side


def standings_section(standings: Standings, left_out: Mapping[str, Mapping[str, str]]) -> Section:
    """Return the members, and the entries that are no members, with the reasons, by outcome."""
    reasons = [
        (name, outcome, reason) for outcome, entries in left_out.items() for name, reason in entries.items()
    ]
    titles = [Column(title, Kind.TEXT) for title in ("not a member", "outcome", "reason")]
    others = [Table(titles, reasons, "Rankers of the portfolio that are no members.")] if reasons else []
    return Section("Members", [*standings.blocks(), *others])


def learning_curves_section(members: Sequence[JudgedMember], metric: str) -> Section:
    """Return one small chart for every member that has rounds: its curve in front of those of the others."""
    curves = {member.name: member.curve for member in members if member.curve}
    figures = [
        Figure(partial(_learning_curve, member, curves, metric), _numbered(number, member))
        for number, member in enumerate(members, start=1)
        if member.name in curves
    ]
    before = ", before the curves of the other members" if len(curves) > 1 else ""
    legend = (
        f"The metric out of fold by the number of rounds{before}; the large dot is the number that was "
        "chosen, the middle of those at most one standard error below the best."
    )
    return Section("Learning curves", [Figures(figures), Note(legend)] if figures else [])


def _learning_curve(member: JudgedMember, curves: Mapping[str, list[tuple[float, float]]], metric: str) -> Chart:
    from rankwright.reports.charts.lines import line_chart

    standing, (width, height) = member.standing, SMALL
    others = {name: curve for name, curve in curves.items() if name != member.name}
    before = f", before the curves of {counted(len(others), 'other member')}" if others else ""
    description = (
        f"{metric} of {member.name} by number of rounds, out of fold: {metric_value(standing.value)} with the "
        f"chosen {counted(standing.rounds, 'round')}{before}."
    )
    return line_chart(
        {"": member.curve} | others,
        "rounds",
        metric,
        description=description,
        marked={"": (standing.rounds, standing.value)},
        faint=others,
        x_log=True,
        width=width,
        height=height,
    )


def likeness_section(members: Sequence[JudgedMember], groups: QueryGroups) -> Section:
    """Return the rank correlations of all pairs of members; nothing for a single one."""
    title = "How alike members are"
    if len(members) < 2:
        return Section(title, [])
    correlations = likeness([member.scores for member in members], groups)
    lowest = min([UNLIKE, *correlations[np.isfinite(correlations)].tolist()])
    rows = [
        (
            _numbered(index + 1, member),
            *(
                None if other == index else Cell(value, shade=_shade((value - lowest) / (1.0 - lowest)))
                for other, value in enumerate(correlations[index].tolist())
            ),
        )
        for index, member in enumerate(members)
    ]
    meaning = (
        "Spearman's rank correlation of the scores of two members within the query, mean over queries, out of "
        "fold. Members that are good and unlike each other add most to a mixture."
    )
    columns = [Column("member", Kind.TEXT), *_numbers(members, Kind.CORRELATION)]
    return Section(title, [Table(columns, rows, meaning, tiles=True)])


def strengths_section(members: Sequence[JudgedMember], queries: JudgedQueries) -> Section:
    """Return how far each member is ahead of the mixture, by slices of the queries."""
    rows: list[tuple[Any, ...]] = []
    for part in slices_of(queries, members):
        differences = [strength(member.values, queries.mixture, part.queries) for member in members]
        tiles = [
            Cell(ahead.mean, shade=_shade(ahead.mean / ahead.error / SURE) if ahead.error > 0 else 0.0)
            for ahead in differences
        ]
        rows.append((part.name, int(part.queries.sum()), mean_over_queries(queries.mixture[part.queries]), *tiles))
    meaning = (
        "Quarters of the queries by their documents, their relevant documents, and the mean value of all members; "
        "for each, the value of the mixture, and how far each member (by its number above) is ahead of the "
        "mixture (blue) or behind it (orange), in thousandths. The stronger the colour, the surer: strongest are "
        f"{SURE:g} standard errors from 0, below 2 may be chance."
    )
    columns = [Column("queries with", Kind.TEXT), Column("number", Kind.COUNT), Column("mixture")]
    table = Table([*columns, *_numbers(members, Kind.THOUSANDTHS)], rows, meaning, tiles=True)
    return Section("Which queries each member is good at", [table])


def changes_section(members: Sequence[JudgedMember], queries: JudgedQueries) -> Section:
    """Return the queries with the greatest gains and losses of the mixture over its best member."""
    best = best_member(members)
    columns = [
        Column("query", Kind.TEXT),
        Column("documents", Kind.COUNT),
        Column("relevant", Kind.COUNT),
        Column(best.name),
        Column("mixture"),
        Column("difference", Kind.DIFFERENCE),
    ]
    changes = dict(
        zip(
            ("Greatest gains over", "Greatest losses against"),
            gains_and_losses(queries.mixture, best.values, MAX_QUERIES),
            strict=True,
        )
    )
    tables: list[Block] = [
        Table(
            columns,
            [
                (
                    str(queries.ids[change.query]),
                    queries.documents[change.query],
                    queries.relevant[change.query],
                    change.member,
                    change.mixture,
                    change.gain,
                )
                for change in greatest
            ],
            f"{kind} {best.name}, the best single member.",
        )
        for kind, greatest in changes.items()
        if greatest
    ]
    return Section("Where the mixture differs most from its best member", tables)


def _shade(fraction: float) -> float:
    return float(np.clip(fraction, -1.0, 1.0)) if np.isfinite(fraction) else 0.0


def _numbered(number: int, member: JudgedMember) -> str:
    return f"{number} {member.name}"


def _numbers(members: Sequence[JudgedMember], kind: Kind) -> list[Column]:
    return [Column(str(number), kind) for number in range(1, len(members) + 1)]

"""The sections about a fitted AutoRanker: the estimate, the members, and what each microsecond buys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.charts import frontier_chart, learning_curves
from rankwright.auto.member_analyses import (
    best_member,
    gains_and_losses,
    judged_members,
    judged_queries,
    likeness,
    mixture_members,
    offers,
    priced_mixtures,
    slices_of,
    strength,
)
from rankwright.base.wording import counted
from rankwright.metrics.base import mean_over_queries
from rankwright.reports.pages.blocks import Cell, Column, Figure, Figures, Note, Section, Table, Text
from rankwright.reports.pages.cells import UNKNOWN, number, p_value, shown, words
from rankwright.statistics.intervals import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.auto.estimate import Estimate
    from rankwright.auto.member_analyses import Change, Difference, JudgedMember, JudgedQueries, Slice
    from rankwright.auto.ranker import AutoRanker
    from rankwright.auto.run import Run
    from rankwright.base.arrays import Doubles
    from rankwright.reports.pages.blocks import Block, Row
    from rankwright.statistics.intervals import Rival

SIGNED = "+z.4f"  # without a sign where nothing is left after rounding
MOST_QUERIES = 5  # of the greatest gains, and of the greatest losses
SURE = 4.0  # standard errors that give the strongest tile
UNLIKE = 0.5  # correlation without a shade, if no two members have a lower one


def summary_of(ranker: AutoRanker) -> str:
    """Return what to expect of the mixture, in one sentence."""
    found = ranker.estimate_
    low, high = found.interval
    interval = (
        "too few queries for an interval"
        if np.isnan(low)
        else f"{LEVEL:.0%} interval {low:.4f} to {high:.4f}, from {counted(found.queries, 'query')}"
    )
    return f"{found.metric} of {shown(found.value)} is expected on new queries ({interval})."


def auto_sections(ranker: AutoRanker) -> list[Section]:
    """Return the sections of a fitted AutoRanker.

    They have the estimate, the members with their learning curves, how alike they are, which queries each is good
    at, and what each microsecond of scoring buys.
    """
    run = ranker.run_
    members, queries = judged_members(run), judged_queries(run)
    sections = [
        _estimate(ranker),
        _members(run, members),
        _learning_curves(members, str(ranker.metric)),
        _likeness(run, members),
        _strengths(members, queries),
        _changes(members, queries),
        _frontier(run, members),
    ]
    return [section for section in sections if section.blocks]


def _estimate(ranker: AutoRanker) -> Section:
    found, run = ranker.estimate_, ranker.run_
    data = run.plan.whole.data
    size = f"{counted(len(data.groups), 'query')}, {counted(len(data), 'document')}"
    judged = (
        f"Fitted on {size}, {counted(data.n_features, 'feature')}; {run.plan}. Whatever was chosen (rounds, "
        "weights, member, feature) was chosen without the queries that judge it. p: paired randomisation test "
        "over queries."
    )
    return Section("What to expect", [_rivals(found), Note(judged), Text(_cost(ranker))])


def _rivals(found: Estimate) -> Table:
    rivals = {"best single member": found.best_member, "best single feature": found.best_feature}
    rows: list[Row] = [(words("this model"), number(found.value), Cell(""), Cell(""))]
    rows += [_rival(kind, one) for kind, one in rivals.items() if one is not None]
    columns = [Column("choice", is_text=True), *map(Column, (found.metric, "this model is ahead by", "p"))]
    return Table(columns, rows, "The expected value on new queries, and that of simpler choices.")


def _rival(kind: str, rival: Rival) -> Row:
    return words(kind, rival.name), number(rival.value), number(rival.ahead, SIGNED), p_value(rival.p_value)


def _cost(ranker: AutoRanker) -> str:
    kept, whole = ranker.run_.kept, ranker.run_.whole
    text = f"Scoring takes {_microseconds(kept.microseconds)} per document on one thread of the fitting machine."
    if ranker.max_microseconds is not None:
        text += (
            f" The budget of {_microseconds(ranker.max_microseconds)} changes the value out of fold from "
            f"{shown(whole.value)}, at {_microseconds(whole.microseconds)}, to {shown(kept.value)} "
            f"({shown(kept.value - whole.value, SIGNED)}). The same queries chose what to keep; the estimate is "
            "corrected for that. The best single member need not keep the budget."
        )
    return text


def _members(run: Run, members: Sequence[JudgedMember]) -> Section:
    largest = max(one.standing.weight for one in members)
    titles = (str(run.market.metric), "weight", "rounds", "µs", "seconds")
    columns = [Column("number"), Column("member", is_text=True), *map(Column, titles)]
    rows = [_member(place, one, largest) for place, one in enumerate(members, start=1)]
    meaning = (
        "Each member alone, out of fold. Rounds: the number that was chosen, if there was one to choose. µs: per "
        "document, on one thread. Seconds: of all its fits, each on one thread."
    )
    return Section("Members", [Table(columns, rows, meaning), *_left_out(run)])


def _member(place: int, member: JudgedMember, largest: float) -> Row:
    one = member.standing
    weight = f"{one.weight:.1%}" if one.weight else "left out"
    return (
        number(place, "d"),
        words(one.name),
        number(one.value),
        Cell(weight, value=one.weight, bar=one.weight / largest if largest else 0.0),
        number(one.rounds, ",") if one.rounds else Cell(""),
        Cell("") if one.microseconds is None else number(one.microseconds, ".2g"),
        number(one.seconds, ".1f"),
    )


def _left_out(run: Run) -> list[Block]:
    """Return the members that failed and those that there was no time for, with the reasons."""
    rows = [
        (words(name), words(kind), words(reason))
        for kind, some in (("failed", run.failures), ("passed over", run.passed_over))
        for name, reason in some.items()
    ]
    columns = [Column(title, is_text=True) for title in ("not a member", "outcome", "reason")]
    return [Table(columns, rows, "Rankers of the portfolio that are no members.")] if rows else []


def _learning_curves(members: Sequence[JudgedMember], metric: str) -> Section:
    place = {one.standing.name: number for number, one in enumerate(members, start=1)}
    figures = [
        Figure(chart, f"{place[one.standing.name]} {one.standing.name}")
        for one, chart in learning_curves(members, metric)
    ]
    legend = (
        "The metric out of fold by the number of rounds, before the curves of the other members; the dot is the "
        "number that was chosen."
    )
    return Section("Learning curves", [Figures(figures), Note(legend)] if figures else [])


def _likeness(run: Run, members: Sequence[JudgedMember]) -> Section:
    title = "How alike members are"
    if len(members) < 2:
        return Section(title, [])
    found = likeness([one.scores for one in members], run.plan.held_out.labels.groups)
    lowest = min([UNLIKE, *found[np.isfinite(found)].tolist()])
    rows = [
        (words(_numbered(place + 1, one)), *_likeness_row(found[place], place, lowest))
        for place, one in enumerate(members)
    ]
    meaning = (
        "Spearman's rank correlation of the scores of two members within the query, mean over queries, out of "
        "fold. Members that are good and unlike each other add most to a mixture."
    )
    return Section(title, [Table(_numbered_columns("member", members), rows, meaning, tiles=True)])


def _likeness_row(correlations: Doubles, own: int, lowest: float) -> Iterator[Cell]:
    for place, value in enumerate(correlations.tolist()):
        shade = _shade((value - lowest) / (1.0 - lowest))
        yield Cell("") if place == own else number(value, ".2f", shade=shade)


def _strengths(members: Sequence[JudgedMember], queries: JudgedQueries) -> Section:
    rows = [_strength_row(one, members, queries.mixture) for one in slices_of(queries, members)]
    columns = [Column("queries with", is_text=True), Column("number"), Column("mixture")]
    meaning = (
        "Quarters of the queries by their documents, their relevant documents, and the mean value of all members; "
        "for each, the value of the mixture, and how far each member (by its number above) is ahead of the "
        "mixture (blue) or behind it (orange), in thousandths. The stronger the colour, the surer: strongest are "
        f"{SURE:g} standard errors from 0, below 2 may be chance."
    )
    table = Table([*columns, *_numbered_columns("", members)[1:]], rows, meaning, tiles=True)
    return Section("Which queries each member is good at", [table])


def _strength_row(some: Slice, members: Sequence[JudgedMember], mixture: Doubles) -> Row:
    own = number(mean_over_queries(mixture[some.queries]), ".3f")
    tiles = [_strength_tile(strength(one.values, mixture, some.queries)) for one in members]
    return words(_slice_name(some)), number(int(some.queries.sum()), ","), own, *tiles


def _strength_tile(found: Difference) -> Cell:
    sure = found.mean / found.error / SURE if found.error > 0 else 0.0
    return number(1000 * found.mean, "+z.0f", shade=_shade(sure))


def _shade(share: float) -> float:
    return float(np.clip(share, -1.0, 1.0)) if np.isfinite(share) else 0.0


def _slice_name(some: Slice) -> str:
    if some.by == "difficulty":
        return f"mean value {some.low:.3f} to {some.high:.3f}"
    upper = f" to {some.high:,.0f}" if some.low < some.high else ""
    return f"{some.low:,.0f}{upper} {some.by}"


def _changes(members: Sequence[JudgedMember], queries: JudgedQueries) -> Section:
    best = best_member(members)
    gains, losses = gains_and_losses(queries.mixture, best.values, MOST_QUERIES)
    name = best.standing.name
    columns = [
        Column("query", is_text=True),
        *map(Column, ("documents", "relevant", name, "mixture", "difference")),
    ]
    tables = [
        Table(columns, [_change(one, queries) for one in some], f"{kind} over {name}, the best single member.")
        for kind, some in (("Greatest gains", gains), ("Greatest losses", losses))
        if some
    ]
    return Section("Where the mixture differs most from its best member", tables)


def _change(one: Change, queries: JudgedQueries) -> Row:
    return (
        words(queries.ids[one.query]),
        number(int(queries.documents[one.query]), ","),
        number(int(queries.relevant[one.query]), ","),
        number(one.member),
        number(one.mixture),
        number(one.gain, SIGNED),
    )


def _frontier(run: Run, members: Sequence[JudgedMember]) -> Section:
    legend = (
        "Line: mixtures, from the cheapest member to the whole mixture; points: members alone. Values are out of "
        "fold, but of rounds and weights that were chosen by the same queries; the estimate at the top is "
        "corrected for that."
    )
    columns = [
        *map(Column, ("budget (µs)", "takes", str(run.market.metric))),
        Column("members (rounds)", is_text=True),
    ]
    rows = [
        (
            number(one.budget, "g"),
            number(one.priced.microseconds, ".2g"),
            number(one.priced.value),
            words(", ".join(mixture_members(one.priced)) or UNKNOWN),
        )
        for one in offers(priced_mixtures(run))
    ]
    chart = frontier_chart(run, members)
    figures: list[Block] = [] if chart is None else [Figure(chart, legend)]
    table = Table(columns, rows, "What max_microseconds buys at least.")
    return Section("What each microsecond buys", [*figures, table])


def _microseconds(amount: float) -> str:
    return f"{amount:.2g}\N{NO-BREAK SPACE}µs"


def _numbered(place: int, member: JudgedMember) -> str:
    return f"{place} {member.standing.name}"


def _numbered_columns(title: str, members: Sequence[JudgedMember]) -> list[Column]:
    return [Column(title, is_text=True), *(Column(str(place)) for place in range(1, len(members) + 1))]

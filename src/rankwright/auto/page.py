"""Writes what is known of a fitted AutoRanker as one self-contained HTML page, without scripts or other files."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.analyses import (
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
from rankwright.auto.charts import STYLE as CHART_STYLE
from rankwright.auto.charts import frontier_chart, learning_curves
from rankwright.data.counted import counted
from rankwright.evaluation.expected import LEVEL
from rankwright.evaluation.html import note, shown, shown_p_value, table, write_html
from rankwright.metrics.base import mean_over_queries

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from rankwright.arrays import Doubles
    from rankwright.auto.analyses import Change, Difference, JudgedMember, JudgedQueries, Slice
    from rankwright.auto.estimate import Estimate
    from rankwright.auto.ranker import AutoRanker
    from rankwright.auto.run import Run
    from rankwright.evaluation.expected import Rival

STYLE = """
.lead { font-size: 1.5rem; line-height: 1.3; margin: 1rem 0; } .lead small { display: block; font-size: 1rem; }
.number { display: inline-block; min-width: 1.6em; color: rgb(var(--muted)); }
.weight { display: inline-block; width: 6rem; text-align: left; vertical-align: middle; }
.weight span { display: block; height: .7rem; background: rgb(var(--blue)); }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 1rem; }
figure { margin: 0; max-width: 260px; } figcaption { overflow-wrap: anywhere; }
.wide { overflow-x: auto; } .wide th:first-child { min-width: 10rem; }
.texts td:nth-child(2) { white-space: nowrap; } .texts th:last-child, .texts td:last-child { text-align: left; }
.tiles td { padding: 1px; } .tiles th { padding: .2rem; }
.tiles th:first-child, .tiles td:first-child { padding: .2rem .4rem .2rem 0; }
.tile { display: block; padding: .15rem .2rem; }
"""
SIGNED = "+z.4f"  # without a sign where nothing is left after rounding
MOST_QUERIES = 5  # of the greatest gains, and of the greatest losses
STRONGEST = 0.55  # opacity of a tile; text on it must be readable in light and dark
SURE = 4.0  # standard errors that give the strongest tile
UNLIKE = 0.5  # correlation without a shade, if no two members have a lower one


def write_auto_page(ranker: AutoRanker, path: str | os.PathLike[str]) -> None:
    """Write the page of a fitted AutoRanker.

    It has the estimate, the members with their learning curves, how alike they are, which queries each is good at,
    and what each microsecond of scoring buys.
    """
    run = ranker.run_
    members, queries = judged_members(run), judged_queries(run)
    parts = [
        _head(ranker),
        _members(run, members),
        _learning_curves(members, str(ranker.metric)),
        _likeness(run, members),
        _strengths(members, queries),
        _changes(members, queries),
        _frontier(run, members),
    ]
    write_html(path, "AutoRanker report", parts, CHART_STYLE + STYLE)


def _head(ranker: AutoRanker) -> str:
    found, run = ranker.estimate_, ranker.run_
    data = run.plan.whole.data
    low, high = found.interval
    interval = (
        "Too few queries for an interval"
        if np.isnan(low)
        else f"{LEVEL:.0%} interval {low:.4f} to {high:.4f}, from {counted(found.queries, 'query')}"
    )
    size = f"{counted(len(data.groups), 'query')}, {counted(len(data), 'document')}"
    judged = (
        f"Fitted on {size}, {counted(data.n_features, 'feature')}; {escape(str(run.plan))}. Whatever was chosen "
        "(rounds, weights, member, feature) was chosen without the queries that judge it. "
        "p: paired randomisation test over queries."
    )
    value = f"{escape(found.metric)} of <b>{shown(found.value)}</b> is expected on new queries"
    return f'<p class="lead">{value}<small>{interval}</small></p>{_rivals(found)}{note(judged)}{_cost(ranker)}'


def _rivals(found: Estimate) -> str:
    rivals = {"best single member": found.best_member, "best single feature": found.best_feature}
    rows: list[tuple[str, ...]] = [("this model", shown(found.value), "", "")]
    rows += [_rival(kind, one) for kind, one in rivals.items() if one is not None]
    return table(("", escape(found.metric), "this model is ahead by", "p"), rows)


def _rival(kind: str, rival: Rival) -> tuple[str, ...]:
    name = f"{kind}<small>{escape(rival.name)}</small>"
    return name, shown(rival.value), shown(rival.ahead, SIGNED), shown_p_value(rival.p_value)


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
    return f"<p>{text}</p>"


def _members(run: Run, members: Sequence[JudgedMember]) -> str:
    largest = max(one.standing.weight for one in members)
    head = ("member", escape(str(run.market.metric)), "weight", "", "rounds", "µs", "seconds")
    rows = [_member(number, one, largest) for number, one in enumerate(members, start=1)]
    meaning = (
        "Each member alone, out of fold. Rounds: the number that was chosen, if there was one to choose. µs: per "
        "document, on one thread. Seconds: of all its fits, each on one thread."
    )
    return f"<h2>Members</h2>{_wide(table(head, rows))}{note(meaning)}{_left_out(run)}"


def _member(number: int, member: JudgedMember, largest: float) -> tuple[str, ...]:
    one = member.standing
    bar = f'<span class="weight"><span style="width: {one.weight / largest:.1%}"></span></span>'
    microseconds = "" if one.microseconds is None else f"{one.microseconds:.2g}"
    return (
        _numbered(number, one.name),
        shown(one.value),
        f"{one.weight:.1%}" if one.weight else "left out",
        bar,
        str(one.rounds or ""),
        microseconds,
        f"{one.seconds:.1f}",
    )


def _left_out(run: Run) -> str:
    """Return the members that failed and those that there was no time for, with the reasons."""
    rows = [
        (escape(name), kind, escape(reason))
        for kind, some in (("failed", run.failures), ("passed over", run.passed_over))
        for name, reason in some.items()
    ]
    return _wide(table(("not a member", "", "reason"), rows), "texts") if rows else ""


def _learning_curves(members: Sequence[JudgedMember], metric: str) -> str:
    numbered = {one: _numbered(number, one.standing.name) for number, one in enumerate(members, start=1)}
    figures = [
        f"<figure><figcaption>{numbered[one]}</figcaption>{svg}</figure>"
        for one, svg in learning_curves(members, metric)
    ]
    if not figures:
        return ""
    legend = "The metric out of fold by the number of rounds; the dashed line is the number that was chosen."
    return f'<h2>Learning curves</h2><div class="curves">{"".join(figures)}</div>{note(legend)}'


def _likeness(run: Run, members: Sequence[JudgedMember]) -> str:
    if len(members) < 2:
        return ""
    found = likeness([one.scores for one in members], run.plan.held_out.labels.groups)
    lowest = min([UNLIKE, *found[np.isfinite(found)].tolist()])
    rows = [
        (_numbered(place + 1, one.standing.name), *_likeness_row(found[place], place, lowest))
        for place, one in enumerate(members)
    ]
    meaning = (
        "Spearman's rank correlation of the scores of two members within the query, mean over queries, out of "
        "fold. Members that are good and unlike each other add most to a mixture."
    )
    return f"<h2>How alike members are</h2>{_tiles(('member', *_numbers(members)), rows)}{note(meaning)}"


def _likeness_row(correlations: Doubles, own: int, lowest: float) -> Iterator[str]:
    for place, value in enumerate(correlations.tolist()):
        yield "" if place == own else _tile(shown(value, ".2f"), (value - lowest) / (1.0 - lowest), "blue")


def _strengths(members: Sequence[JudgedMember], queries: JudgedQueries) -> str:
    rows = [_strength_row(one, members, queries.mixture) for one in slices_of(queries, members)]
    head = ("queries with", "number", "mixture", *_numbers(members))
    meaning = (
        "Quarters of the queries by their documents, their relevant documents, and the mean value of all members; "
        "for each, the value of the mixture, and how far each member (by its number above) is "
        '<b class="better">ahead</b> of the mixture or <b class="worse">behind</b> it, in thousandths. The '
        f"stronger the colour, the surer: strongest are {SURE:g} standard errors from 0, below 2 may be chance."
    )
    return f"<h2>Which queries each member is good at</h2>{_tiles(head, rows)}{note(meaning)}"


def _strength_row(some: Slice, members: Sequence[JudgedMember], mixture: Doubles) -> tuple[str, ...]:
    own = shown(mean_over_queries(mixture[some.queries]), ".3f")
    tiles = [_strength_tile(strength(one.values, mixture, some.queries)) for one in members]
    return _slice_name(some), _tile(f"{some.queries.sum():,}"), _tile(own), *tiles


def _strength_tile(found: Difference) -> str:
    sure = abs(found.mean) / found.error / SURE if found.error > 0 else 0.0
    return _tile(shown(1000 * found.mean, "+z.0f"), sure, "blue" if found.mean > 0 else "orange")


def _slice_name(some: Slice) -> str:
    if some.by == "difficulty":
        return f"mean value {some.low:.3f} to {some.high:.3f}"
    upper = f" to {some.high:,.0f}" if some.low < some.high else ""
    return f"{some.low:,.0f}{upper} {some.by}"


def _changes(members: Sequence[JudgedMember], queries: JudgedQueries) -> str:
    best = best_member(members)
    gains, losses = gains_and_losses(queries.mixture, best.values, MOST_QUERIES)
    if not gains and not losses:
        return ""
    name = escape(best.standing.name)
    head = ("query", "documents", "relevant", name, "mixture", "difference")
    tables = [
        f"<p>{words}</p>{_wide(table(head, [_change(one, queries) for one in some]))}"
        for words, some in (("Greatest gains", gains), ("Greatest losses", losses))
        if some
    ]
    heading = f"<h2>Queries where the mixture differs most from its best member, {name}</h2>"
    return heading + "".join(tables)


def _change(one: Change, queries: JudgedQueries) -> tuple[str, ...]:
    return (
        escape(str(queries.ids[one.query])),
        f"{queries.documents[one.query]:,}",
        f"{queries.relevant[one.query]:,}",
        shown(one.member),
        shown(one.mixture),
        shown(one.gain, SIGNED),
    )


def _frontier(run: Run, members: Sequence[JudgedMember]) -> str:
    legend = (
        'Line: <b class="better">mixtures</b>, from the cheapest member to the whole mixture; ring: this model; '
        'numbers: <b class="worse">members alone</b>. Values are out of fold, but of rounds and weights that were '
        "chosen by the same queries; the estimate at the top is corrected for that. Table: what max_microseconds "
        "buys at least."
    )
    head = ("budget (µs)", "takes", escape(str(run.market.metric)), "members (rounds)")
    rows = [
        (
            f"{one.budget:g}",
            f"{one.priced.microseconds:.2g}",
            shown(one.priced.value),
            escape(", ".join(mixture_members(one.priced))),
        )
        for one in offers(priced_mixtures(run))
    ]
    chart = frontier_chart(run, members)
    return f"<h2>What each microsecond buys</h2>{chart}{note(legend)}{_wide(table(head, rows), 'texts')}"


def _microseconds(number: float) -> str:
    return f"{number:.2g}&nbsp;µs"


def _numbered(number: int, name: str) -> str:
    return f'<span class="number">{number}</span>{escape(name)}'


def _numbers(members: Sequence[JudgedMember]) -> list[str]:
    return [str(number) for number in range(1, len(members) + 1)]


def _tile(text: str, share: float = 0.0, colour: str = "blue") -> str:
    """Return a text on a ground whose colour is the stronger the nearer `share` is to 1."""
    opacity = STRONGEST * min(1.0, max(0.0, share)) if np.isfinite(share) else 0.0
    return f'<span class="tile" style="background: rgb(var(--{colour}) / {opacity:.2f})">{text}</span>'


def _tiles(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _wide(table(head, rows), "tiles")


def _wide(html: str, kind: str = "numbers") -> str:
    """Return a table that can be scrolled where it is wider than the page; the last column may have texts."""
    return f'<div class="wide {kind}">{html}</div>'

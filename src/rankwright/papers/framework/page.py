"""The page about a reproduction: the table first, then every experiment with its remarks and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.papers.framework.results import NOT_REACHED, OPPOSITE, REACHED, WITHIN
from rankwright.papers.framework.table import HEAD, cells
from rankwright.reports.pages.blocks import Cell, Code, Column, Figure, Section, Table, Text
from rankwright.reports.pages.page import Page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.papers.framework.reproduce import Done, Reproduction
    from rankwright.papers.framework.results import Row
    from rankwright.reports.pages.blocks import Block

NUMBERS = {"published", "ours"}
REMARKS = ("what", "state", "remarks")  # long texts, which would leave the other columns of one table no room


def page_of(result: Reproduction, *, command: str = "") -> Page:
    """Return the page."""
    paper = result.paper
    sections = [Section("Published numbers and claims", [_table(result.rows), Text(_legend(result))])]
    sections += [Section(one.experiment.name, list(_blocks(one))) for one in result.done]
    if command:
        sections.append(Section("How to reproduce", [Code(command)]))
    return Page(f"{paper.title} ({paper.authors})", result.summary(), sections)


def _legend(result: Reproduction) -> str:
    return (
        "A number is reached if ours is at least as high; it is within the interval if the 95 % interval of ours, "
        "over test queries, holds it. A claim is reached if its direction is significant (p < .05, paired "
        "randomisation test, Holm's correction over the comparisons of the claim), not shown if only the "
        "direction is right, and opposite if the other direction is found, significant or not. A claim about all "
        "measures compares means without a test. That systems are alike is reached if no significant difference "
        "contradicts it. Other data: the "
        "paper's are not public, and ours are generated. What was measured for a claim, and why a number is not "
        f"reached, is said with each experiment. All fits and measurements took {result.seconds / 60:.1f} minutes "
        "of processor time."
    )


def _table(rows: Sequence[Row]) -> Table:
    titles = [title for title in HEAD if title != "remarks"]
    caption = "All published numbers and claims that the data allow."
    return Table(_columns(titles), [_cells(row, titles) for row in rows], caption)


def _remarks(rows: Sequence[Row]) -> Table:
    return Table(_columns(REMARKS), [_cells(row, REMARKS) for row in rows], "What was measured, and remarks.")


def _columns(titles: Sequence[str]) -> list[Column]:
    return [Column(title, is_text=title not in NUMBERS) for title in titles]


def _cells(row: Row, titles: Sequence[str]) -> list[Cell]:
    texts = dict(zip(HEAD, cells(row), strict=True))
    values = {"published": row.published, "ours": row.ours}
    shades = {REACHED: 0.4, WITHIN: 0.15, OPPOSITE: -0.3, NOT_REACHED: -0.3}
    return [
        Cell(
            texts[title],
            value=values.get(title),
            shade=shades.get(row.state, 0.0) if title == "state" else 0.0,
        )
        for title in titles
    ]


def _blocks(done: Done) -> Iterator[Block]:
    experiment = done.experiment
    yield Text(experiment.about)
    if done.results is None:
        yield Text(f"Left out: {getattr(experiment.source, 'why', 'there are no data')}.")
        return
    if remarked := [row for row in done.rows if row.measured or row.why]:
        yield _remarks(remarked)
    for picture in experiment.figures:
        yield Figure(picture.draw(done.results), f"{picture.where}. {picture.claim}")

"""The table of a reproduction: one row per published number and claim, and whether it is reached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.wording import counted, enumerated, measured, said_p_value
from rankwright.reports.blocks import Cell, Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.experiment import Claim, Experiment, Published
    from rankwright.papers.framework.measurements import Measurements

REACHED = "reached"  # a number within the interval of ours, or a claim that the queries show
HIGHER = "higher than published"  # the interval of ours lies above the published number
NOT_REACHED = "not reached"  # the interval of ours lies below the published number
NOT_SHOWN = "not shown"  # the queries show neither the claim nor its opposite
OPPOSITE = "opposite"  # the queries show the opposite of the claim
OTHER_DATA = "other data"
NO_DATA = "no data"
STATES = (REACHED, HIGHER, NOT_REACHED, NOT_SHOWN, OPPOSITE, OTHER_DATA, NO_DATA)
SHADES = {REACHED: 0.4, HIGHER: 0.4, OPPOSITE: -0.3, NOT_REACHED: -0.3}
KINDS = {
    "where": Kind.TEXT,
    "data": Kind.TEXT,
    "what": Kind.TEXT,
    "published": Kind.MEASURED,
    "ours": Kind.MEASURED,
    "interval": Kind.TEXT,
    "p": Kind.PRECISE_P_VALUE,
    "state": Kind.TEXT,
    "against published": Kind.TEXT,
    "remarks": Kind.TEXT,
}
TITLES = tuple(KINDS)
NUMBER_TITLES = ("where", "data", "what", "published", "ours", "interval", "state")
CLAIM_TITLES = ("where", "data", "what", "ours", "p", "state", "against published")


@dataclass(frozen=True)
class Row:
    """A published number or claim beside ours: one line of the table.

    Parameters
    ----------
    experiment, data
        Names of the experiment and of its data.
    where, what
        The table, figure or section of the paper, and the number or claim in words.
    published
        The published number; None for a claim.
    ours, low, high
        What was measured, with its 95 % interval; None if there is no single number.
    p_value
        Of the test that decided, corrected for the number of comparisons of this claim.
    state
        One of `STATES`.
    measured
        What was measured, in words.
    why
        Why a number was not reached, where that is known.
    on_these_data
        The state of a claim on the data that stand in for the paper's.
    against_published
        The state of a claim about baselines if it is judged against their published numbers.
    """

    experiment: str
    data: str
    where: str
    what: str
    published: float | None
    ours: float | None
    low: float | None
    high: float | None
    p_value: float | None
    state: str
    measured: str = ""
    why: str = ""
    on_these_data: str = ""
    against_published: str = ""

    @property
    def shown_state(self) -> str:
        """The state, and in brackets what other data say of the claim."""
        return f"{self.state} ({self.on_these_data})" if self.on_these_data else self.state

    @property
    def interval(self) -> str:
        """The limits in words; nothing if there are none."""
        return "" if self.low is None or self.high is None else f"{measured(self.low)} to {measured(self.high)}"

    @property
    def remarks(self) -> str:
        """What was measured, and why the number was not reached."""
        return "; ".join(text.rstrip(".") for text in (self.measured, self.why) if text)


def rows_of(experiment: Experiment, results: Measurements | None) -> list[Row]:
    """Return a row for every published number and claim; results are None where there are no data."""
    numbers = [_number_row(experiment, published, results) for published in experiment.published]
    return numbers + [_claim_row(experiment, claim, results) for claim in experiment.claims]


def _number_row(experiment: Experiment, published: Published, results: Measurements | None) -> Row:
    ours = low = high = None
    state, why = NO_DATA, getattr(experiment.source, "why", "")
    if results is not None:
        ours = results.mean(published.system, published.measured)
        low, high = results.interval(published.system, published.measured)
        state, why = _state(published, experiment, low, high), published.why
    return Row(
        experiment.name,
        experiment.source.title,
        published.where,
        f"{published.system}, {published.measured}",
        published.value,
        ours,
        low,
        high,
        None,
        state,
        why="" if state in (REACHED, HIGHER) else why,
    )


def _state(published: Published, experiment: Experiment, low: float, high: float) -> str:
    if experiment.stand_in or not published.comparable:
        return OTHER_DATA
    if round(low, published.digits) > published.value:
        return HIGHER
    return REACHED if published.value <= round(high, published.digits) else NOT_REACHED


def _claim_row(experiment: Experiment, claim: Claim, results: Measurements | None) -> Row:
    about = (experiment.name, experiment.source.title, claim.where, claim.text, None)
    if results is None:
        return Row(*about, None, None, None, None, NO_DATA, why=getattr(experiment.source, "why", ""))
    finding = claim.test(results)
    low, high = finding.interval or (None, None)
    why = "" if finding.state == REACHED else claim.why
    elsewhere = experiment.stand_in and not claim.proved
    state, on_these_data = (OTHER_DATA, finding.state) if elsewhere else (finding.state, "")
    text, against = finding.measured, ""
    if claim.against_published is not None:
        beside = claim.against_published(results)
        against, text = beside.state, f"{text}; against published numbers: {beside.measured}"
    numbers = (finding.value, low, high, finding.p_value)
    return Row(*about, *numbers, state, text, why, on_these_data, against)


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows there are of each state, in the order of `STATES`."""
    return {state: n for state in STATES if (n := sum(row.state == state for row in rows))}


class Groups(NamedTuple):
    """Rows by what they can show: on the data of the paper, on other data, and without data."""

    numbers: list[Row]
    claims: list[Row]
    other_data: list[Row]
    not_tried: list[Row]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Groups:
        """Divide the rows of a paper."""
        tried = [row for row in rows if row.state not in (OTHER_DATA, NO_DATA)]
        return cls(
            [row for row in tried if row.published is not None],
            [row for row in tried if row.published is None],
            [row for row in rows if row.state == OTHER_DATA],
            [row for row in rows if row.state == NO_DATA],
        )

    def verdict(self) -> str:
        """Return what holds, what does not, and what could not be tried, in a few sentences."""
        sentences = [
            f"Of {counted(len(group), kind)}, {_said(group)}."
            for group, kind in ((self.numbers, "published number"), (self.claims, "claim"))
            if group
        ]
        sentences += _by_place(self.claims)
        if refuted := [f"{row.where}, {row.what}{_p(row)}" for row in self.claims if row.state == OPPOSITE]:
            sentences.append(f"The data show the opposite of: {'; '.join(refuted)}.")
        if claims := [row for row in self.other_data if row.on_these_data]:
            hold, against = (sum(row.on_these_data == state for row in claims) for state in (REACHED, OPPOSITE))
            sentences.append(
                f"Of {counted(len(claims), 'claim')} tried on data that stand in for the paper's, these data show "
                f"{hold}, and the opposite of {against}."
            )
        if self.not_tried:
            missing = enumerated(dict.fromkeys(row.data for row in self.not_tried))
            sentences.append(f"{counted(len(self.not_tried), 'row')} could not be tried, for want of {missing}.")
        return " ".join(sentences)

    def tables(self) -> dict[str, Table]:
        """Return a table of each group that has rows, by title."""
        tables = {
            "Published numbers": table_of(self.numbers, NUMBER_TITLES),
            "Claims": table_of(self.claims, CLAIM_TITLES),
            "On data that stand in for the paper's": table_of(
                self.other_data, ("where", "data", "what", "published", "ours", "p", "state")
            ),
        }
        return {
            title: replace(table.without_empty_columns(), caption=f"{title}.")
            for title, table in tables.items()
            if table.rows
        }


def _by_place(claims: Sequence[Row]) -> list[str]:
    """Return the places of the paper whose claims hold all, and those whose claims hold in part."""
    states: dict[str, list[bool]] = {}
    for row in claims:
        states.setdefault(row.where, []).append(row.state == REACHED)
    whole = [where for where, held in states.items() if all(held)]
    part = [
        f"{where} ({sum(held)} of {len(held)})" for where, held in states.items() if any(held) and not all(held)
    ]
    kinds = (("All claims hold", whole), ("Some claims hold", part))
    return [f"{words}: {'; '.join(places)}." for words, places in kinds if places]


def _p(row: Row) -> str:
    return "" if row.p_value is None else f" ({said_p_value(row.p_value)})"


def _said(rows: Sequence[Row]) -> str:
    return enumerated(f"{n} {'is' if n == 1 else 'are'} {state}" for state, n in counts(rows).items())


def table_of(rows: Sequence[Row], titles: Sequence[str] = TITLES, caption: str = "") -> Table:
    """Return rows as a table with these columns."""

    def cell(row: Row, title: str) -> Any:
        if title == "state":
            return Cell(row.shown_state, shade=SHADES.get(row.state, 0.0))
        if title == "ours" and "interval" not in titles:
            return Cell(row.ours, row.interval)
        return row.p_value if title == "p" else getattr(row, title.replace(" ", "_"))

    columns = [Column(title, KINDS[title]) for title in titles]
    return Table(columns, [[cell(row, title) for title in titles] for row in rows], caption)

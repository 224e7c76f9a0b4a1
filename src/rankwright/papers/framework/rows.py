"""The table of a reproduction: one row per published number and claim, and whether it is reached."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import measured, said_p_value
from rankwright.reports.blocks import Cell, Column, Kind, Table
from rankwright.statistics.paired_tests import holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.experiment import Claim, Experiment, Finding, Published
    from rankwright.papers.framework.measurements import Measurements

REACHED = "reached"  # a number that differs from ours by no more than chance, or a claim that the queries show
HIGHER = "higher than published"  # ours is higher than chance explains
NOT_REACHED = "not reached"  # ours is lower than chance explains
NOT_SHOWN = "not shown"  # the queries show neither the claim nor its opposite
OPPOSITE = "opposite"  # the queries show the opposite of the claim
OTHER_DATA = "other data"
NO_DATA = "no data"
LEVEL = 0.05
DIGITS = 4  # decimal places that tables print; ours are rounded to as many before they are compared
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
        What was measured, and its limits: of a difference the 95 % interval, of the mean beside a published number
        what chance explains. None if there is no single number.
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
    unit
        What our number is, if it is not the value of a metric.
    part_of
        The claim of the paper that several rows test.
    variant
        Whether this is about a variant of the paper's method, which is not counted.
    """

    experiment: str
    data: str
    where: str
    what: str
    published: float | None = None
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    state: str = NO_DATA
    measured: str = ""
    why: str = ""
    on_these_data: str = ""
    against_published: str = ""
    unit: str = ""
    part_of: str = ""
    variant: bool = False

    @property
    def shown_state(self) -> str:
        """The state, and in brackets what other data say of the claim."""
        return f"{self.state} ({self.on_these_data})" if self.on_these_data else self.state

    @property
    def interval(self) -> str:
        """The limits in words; nothing if there are none."""
        return "" if self.low is None or self.high is None else f"{measured(self.low)} to {measured(self.high)}"

    @property
    def note(self) -> str:
        """The unit and the limits of our number."""
        return ", ".join(text for text in (self.unit, self.interval) if text)

    @property
    def remarks(self) -> str:
        """What was measured, and why the number was not reached."""
        return _joined(self.measured, self.why)


def _joined(*texts: str) -> str:
    return "; ".join(text.rstrip(".") for text in texts if text)


def rows_of(experiment: Experiment, results: Measurements | None) -> list[Row]:
    """Return a row for every published number and claim; results are None where there are no data."""
    numbers = [_number_row(experiment, published, results) for published in experiment.published]
    findings = [None] * len(experiment.claims) if results is None else _findings(experiment.claims, results)
    claims = zip(experiment.claims, findings, strict=True)
    return numbers + [_claim_row(experiment, claim, finding, results) for claim, finding in claims]


def _number_row(experiment: Experiment, published: Published, results: Measurements | None) -> Row:
    about = (experiment.name, experiment.source.title, published.where)
    row = Row(*about, spelled_metrics(f"{published.system}, {published.measured}"), published.value)
    row = replace(row, variant=published.variant)
    if results is None:
        return replace(row, why=getattr(experiment.source, "why", ""))
    ours, reach = results.mean(published.system, published.measured), results.paired_reach(published.measured)
    row = replace(row, ours=ours, low=ours - reach, high=ours + reach)
    if experiment.stand_in or not published.comparable:
        low, high = results.interval(published.system, published.measured)
        return replace(row, low=low, high=high, state=OTHER_DATA)
    state = _state(published.value, ours - reach, ours + reach)
    why = "" if state in (REACHED, HIGHER) else published.why
    if published.other_features:
        return replace(row, state=OTHER_DATA, on_these_data=state, why=why)
    return replace(row, state=state, why=why)


def _state(published: float, low: float, high: float) -> str:
    if round(low, DIGITS) > published:
        return HIGHER
    return REACHED if published <= round(high, DIGITS) else NOT_REACHED


def _findings(claims: Sequence[Claim], results: Measurements) -> list[Finding]:
    """Test claims; those that are part of one claim of the paper share Holm's correction."""
    findings = [claim.test(results) for claim in claims]
    families: dict[tuple[str, bool], list[int]] = {}
    for n, (claim, finding) in enumerate(zip(claims, findings, strict=True)):
        if claim.part_of and finding.p_value is not None:
            families.setdefault((claim.part_of, claim.variant), []).append(n)
    for members in families.values():
        corrected = holm(np.array([findings[n].p_value for n in members])).tolist()
        for n, p_value in zip(members, corrected, strict=True):
            findings[n] = _corrected(findings[n], p_value)
    return findings


def _corrected(finding: Finding, p_value: float) -> Finding:
    before = finding.p_value
    if before is None or not before < LEVEL <= p_value:
        return replace(finding, p_value=p_value)
    text = _joined(finding.measured, f"{said_p_value(before)} before the correction for other rows")
    return replace(finding, p_value=p_value, state=NOT_SHOWN, measured=text)


def _claim_row(experiment: Experiment, claim: Claim, finding: Finding | None, results: Measurements | None) -> Row:
    row = Row(experiment.name, experiment.source.title, claim.where, spelled_metrics(claim.text))
    row = replace(row, part_of=spelled_metrics(claim.part_of), variant=claim.variant)
    if finding is None or results is None:
        return replace(row, why=getattr(experiment.source, "why", ""))
    low, high = finding.interval or (None, None)
    elsewhere = experiment.stand_in and not claim.proved
    text, against = finding.measured, ""
    if claim.against_published is not None:
        beside = claim.against_published(results)
        against, text = beside.state, _joined(text, f"against published numbers: {beside.measured}")
    return replace(
        row,
        ours=finding.value,
        low=low,
        high=high,
        p_value=finding.p_value,
        unit="" if finding.value is None else finding.unit,
        state=OTHER_DATA if elsewhere else finding.state,
        on_these_data=finding.state if elsewhere else "",
        measured=spelled_metrics(text),
        why="" if finding.state == REACHED else claim.why,
        against_published=against,
    )


METRICS = {
    r"\bmap\b(\(threshold=2\))?": "MAP",
    r"\bndcg@(\d+)(\(discount=letor\))?": r"NDCG@\1",
    r"\bmean_ndcg\b": "mean NDCG",
}


def spelled_metrics(text: str) -> str:
    """Return a text with metrics as the field writes them, such as NDCG@5."""
    for name, spelling in METRICS.items():
        text = re.sub(name, spelling, text)
    return text


def table_of(rows: Sequence[Row], titles: Sequence[str] = TITLES, caption: str = "") -> Table:
    """Return rows as a table with these columns."""

    def cell(row: Row, title: str) -> Any:
        if title == "state":
            return Cell(row.shown_state, shade=SHADES.get(row.state, 0.0))
        if title == "ours" and "interval" not in titles:
            return Cell(row.ours, row.note)
        return row.p_value if title == "p" else getattr(row, title.replace(" ", "_"))

    columns = [Column(title, KINDS[title]) for title in titles]
    return Table(columns, [[cell(row, title) for title in titles] for row in rows], caption)

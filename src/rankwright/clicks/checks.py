"""Checks of a click log before anything is learned from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type, requiring
from rankwright.base.wording import brief_list, counted, rounded_percent
from rankwright.clicks.log import ClickLog
from rankwright.reports.blocks import Column, Facts, Figure, Kind, Note, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart

ONE_IN_A_HUNDRED = 0.01  # chance that any session of a log without bots is suspected by its clicks
MANY_LISTS = 100  # in one session, and so many times the median
NOTHING_MOVED = (
    "No document was shown at two positions for the same query: clicks cannot tell position from relevance."
)
COLUMNS = [
    Column("position", Kind.COUNT),
    Column("impressions", Kind.COUNT),
    Column("clicks", Kind.COUNT),
    Column("click rate"),
]


@dataclass(frozen=True, repr=False)
class LogCheck(Result):
    """What a click log holds, and what is wrong with it.

    Parameters
    ----------
    facts
        Numbers of impressions, lists, sessions, queries, documents, pairs, clicks, and policies if known.
    problems
        One sentence per problem; none if the log is as it should be.
    impressions, clicks
        By position, from 1.
    suspects
        The ids of sessions that may be bots.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(20, n_documents=5)
    >>> result = rw.clicks.check(rw.clicks.simulate(data, data.X[:, 0]))
    >>> isinstance(result, rw.clicks.LogCheck), len(result.problems)
    (True, 1)
    """

    facts: dict[str, int]
    problems: tuple[str, ...]
    impressions: tuple[float, ...]
    clicks: tuple[float, ...]
    suspects: tuple[Any, ...]

    @property
    def summary(self) -> str:
        size = f"{counted(self.facts['impressions'], 'impression')} with {counted(self.facts['clicks'], 'click')}"
        return f"{size}: {counted(len(self.problems), 'problem') if self.problems else 'no problem'} seen."

    def blocks(self) -> Iterator[Block]:
        yield Facts(self.facts)
        for problem in self.problems:
            yield Note(problem)
        rows = [
            (position, shown, clicked, clicked / shown if shown else None)
            for position, (shown, clicked) in enumerate(zip(self.impressions, self.clicks, strict=True), start=1)
        ]
        yield Table(COLUMNS, rows, "Clicks by position")
        yield Figure(self.chart, "Click rate by position: examination and relevance together.")

    def chart(self) -> Chart:
        """Return the click rate by position."""
        from rankwright.reports.charts.lines import line_chart

        points = [
            (float(position), clicked / shown)
            for position, (shown, clicked) in enumerate(zip(self.impressions, self.clicks, strict=True), start=1)
            if shown
        ]
        return line_chart({"": points}, "position", "click rate", description="Click rate by position.")


def check(log: ClickLog) -> LogCheck:
    """Look for what would mislead a click model: gaps, duplicates, bots, a single policy, no clicks.

    Examples
    --------
    >>> log = rw.clicks.ClickLog([1, 1, 1], ["hats"] * 3, ["d1", "d2", "d2"], [1, 2, 4], [0, 0, 0])
    >>> for problem in rw.clicks.check(log).problems:
    ...     print(problem)
    There are no clicks.
    1 list of 1 lacks positions: its documents are not at 1, 2, 3 and so on.
    1 impression repeats a document of its list.
    """
    require_type(log, ClickLog, "check takes a ClickLog")
    if len(log) == 0:
        raise InputError(" ".join(("The log has no impressions.", *log.notes)))
    suspects = suspected_sessions(log)
    facts = {
        "impressions": len(log),
        "lists": log.n_lists,
        "sessions": len(np.unique(log.session)),
        "queries": len(np.unique(log.query)),
        "documents": len(np.unique(log.document)),
        "pairs of query and document": len(log.pairs.query),
        "clicks": log.n_clicks,
    }
    if log.policy is not None:
        facts["policies"] = len(np.unique(log.policy))
    positions = np.arange(1, log.max_position + 1)
    shown = np.bincount(log.position, minlength=len(positions) + 1)[1:]
    clicked = np.bincount(log.position, log.clicked > 0, minlength=len(positions) + 1)[1:]
    problems = (*log.notes, *_problems(log, suspects))
    return LogCheck(
        facts, problems, tuple(shown.tolist()), tuple(clicked.tolist()), tuple(log.session_ids[suspects].tolist())
    )


def suspected_sessions(log: ClickLog) -> NDArray[np.int64]:
    """Return the numbers of sessions that may be bots: far more clicks than others, or far more lists.

    Clicks are compared with those that the click rates by position let expect, as a Poisson variable.
    """
    with requiring("scipy"):
        from scipy.stats import poisson

    clicked = log.clicked > 0
    rates = np.bincount(log.position, clicked) / np.maximum(np.bincount(log.position), 1)
    n_sessions = len(log.session_ids)
    expected = np.bincount(log.session, rates[log.position], minlength=n_sessions)
    observed = np.bincount(log.session, clicked, minlength=n_sessions)
    improbable = poisson.sf(observed - 1, np.maximum(expected, 1e-300)) * n_sessions < ONE_IN_A_HUNDRED
    lists = np.bincount(log.session[log.offsets[:-1]], minlength=n_sessions)
    many = lists > MANY_LISTS * max(1.0, float(np.median(lists[lists > 0])))
    return np.flatnonzero((improbable & (observed > 1)) | many)


def _problems(log: ClickLog, suspects: NDArray[np.int64]) -> Iterator[str]:
    if log.n_clicks == 0:
        yield "There are no clicks."
    sizes = np.diff(log.offsets)
    within = np.arange(len(log)) - np.repeat(log.offsets[:-1], sizes)
    gaps = np.unique(log.list_of_impression[log.position != within + 1])
    if len(gaps):
        lacks = "lacks positions: its" if len(gaps) == 1 else "lack positions: their"
        yield f"{counted(len(gaps), 'list')} of {log.n_lists:,} {lacks} documents are not at 1, 2, 3 and so on."
    keys = log.list_of_impression * len(log.document_ids) + log.document
    if repeated := len(keys) - len(np.unique(keys)):
        repeats = "repeats a document of its list" if repeated == 1 else "repeat a document of their list"
        yield f"{counted(repeated, 'impression')} {repeats}."
    if len(suspects):
        names = brief_list(str(name) for name in log.session_ids[suspects])
        part = float(np.isin(log.session[log.clicked > 0], suspects).mean()) if log.n_clicks else 0.0
        clicks = f"with {rounded_percent(part)} of the clicks"
        yield f"{counted(len(suspects), 'session')} may be bots, {clicks}: {names}."
    if log.max_position == log.position.min():
        yield f"All impressions are at position {log.max_position}."
    yield from _policy_problems(log)
    if log.time is not None and (backwards := int((np.diff(log.time)[np.diff(log.session) == 0] < 0).sum())):
        yield f"{counted(backwards, 'impression')} earlier than the one before in the same session."


def _policy_problems(log: ClickLog) -> Iterator[str]:
    lowest = np.full(len(log.pairs.query), np.iinfo(np.int32).max)
    highest = np.zeros(len(log.pairs.query), dtype=np.int64)
    np.minimum.at(lowest, log.pairs.of_impression, log.position)
    np.maximum.at(highest, log.pairs.of_impression, log.position)
    moved = lowest < highest
    if not moved.any():
        yield NOTHING_MOVED
    elif log.policy is not None and len(np.unique(log.policy)) == 1:
        part = rounded_percent(moved.mean())
        yield f"One policy ordered all lists; {part} of the documents of queries were at two or more positions."

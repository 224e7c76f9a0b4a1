"""Rows of a reproduction by what they can show: the tables of a page, and its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rankwright.base.wording import counted, enumerated, said_p_value
from rankwright.papers.framework.rows import (
    NO_DATA,
    NOT_SHOWN,
    OPPOSITE,
    OTHER_DATA,
    REACHED,
    STATES,
    Row,
    table_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.reports.blocks import Table

NUMBER_TITLES = ("where", "data", "what", "published", "ours", "interval", "state")
CLAIM_TITLES = ("where", "data", "what", "ours", "p", "state", "against published")
VARIANTS = "Variants of the methods, not counted"
NAMED = 3  # rows of a claim that holds in part
PARTLY = "shown in part"
SAID = {REACHED: "Shown", PARTLY: "Shown in part", NOT_SHOWN: "Not shown", OPPOSITE: "The opposite is shown of"}


def counts(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows there are of each state, in the order of `STATES`."""
    return {state: n for state in STATES if (n := sum(row.state == state for row in rows))}


class Groups(NamedTuple):
    """Rows by what they can show: on the data of the paper, on other data, of variants, and without data."""

    numbers: list[Row]
    claims: list[Row]
    other_data: list[Row]
    variants: list[Row]
    not_tried: list[Row]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Groups:
        """Divide the rows of a paper."""
        tried = [row for row in rows if row.state != NO_DATA]
        counted_rows = [row for row in tried if not row.variant]
        own = [row for row in counted_rows if row.state != OTHER_DATA]
        return cls(
            [row for row in own if row.published is not None],
            [row for row in own if row.published is None],
            [row for row in counted_rows if row.state == OTHER_DATA],
            [row for row in tried if row.variant],
            [row for row in rows if row.state == NO_DATA and not row.variant],
        )

    def verdict(self) -> list[str]:
        """Return what holds, what does not, and what could not be tried, in a few sentences."""
        sentences = _verdict_on(self.claims)
        if self.numbers:
            said = enumerated(
                f"{n} {'is' if n == 1 else 'are'} {state}" for state, n in counts(self.numbers).items()
            )
            sentences.append(f"Of {counted(len(self.numbers), 'published number')}, {said}.")
        if elsewhere := [replace(row, state=row.on_these_data) for row in self.other_data if row.on_these_data]:
            sentences.append(_on_other_data(elsewhere))
        if self.not_tried:
            missing = enumerated(dict.fromkeys(row.data for row in self.not_tried))
            sentences.append(f"{counted(len(self.not_tried), 'row')} could not be tried, for want of {missing}.")
        return sentences

    def tables(self) -> dict[str, Table]:
        """Return a table of each group that has rows, by title."""
        titles = ("where", "data", "what", "published", "ours", "p", "state")
        tables = {
            "Published numbers": table_of(self.numbers, NUMBER_TITLES),
            "Claims": table_of(self.claims, CLAIM_TITLES),
            "On data that are not quite the paper's": table_of(self.other_data, titles),
            VARIANTS: table_of(self.variants, titles),
        }
        folded = {VARIANTS: counted(len(self.variants), "row")}
        return {
            title: replace(table.without_empty_columns(), caption=f"{title}.", folded=folded.get(title, ""))
            for title, table in tables.items()
            if table.rows
        }


def _on_other_data(rows: Sequence[Row]) -> str:
    """Return what data that stand in for the paper's say."""
    claims, numbers = ([row for row in rows if (row.published is None) == is_claim] for is_claim in (True, False))
    said = []
    if numbers:
        states = enumerated(f"{n} {state}" for state, n in counts(numbers).items())
        data = enumerated(dict.fromkeys(row.data for row in numbers))
        said.append(
            f"With other features than the paper's, {counted(len(numbers), 'number')} of {data}: {states}."
        )
    if claims:
        said.append("On data that stand in for the paper's:")
        said += [f"{text[0].lower()}{text[1:]}" for text in _verdict_on(claims, not_shown=False)]
    return " ".join(said)


def _verdict_on(rows: Sequence[Row], *, not_shown: bool = True) -> list[str]:
    """Return sentences that name the claims that the rows show; of those shown on some data only, on which."""
    claims: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        claims.setdefault(row.part_of or row.what, {}).setdefault(row.data, []).append(row)
    said: dict[str, list[str]] = {kind: [] for kind in SAID}
    for name, by_data in claims.items():
        kinds = {data: _kind(own) for data, own in by_data.items()}
        for kind in dict.fromkeys(kinds.values()):
            data = [each for each in by_data if kinds[each] == kind]
            where = f" on {enumerated(data)}" if len(set(kinds.values())) > 1 else ""
            said[kind].append(f"{name}{where}{_detail([row for each in data for row in by_data[each]])}")
    if not not_shown:
        said[NOT_SHOWN] = [counted(len(said[NOT_SHOWN]), "other claim")] if said[NOT_SHOWN] else []
    return [f"{SAID[kind]}: {'; '.join(names)}." for kind, names in said.items() if names]


def _kind(rows: Sequence[Row]) -> str:
    """Return how much of a claim the rows show."""
    states = {row.state for row in rows}
    if REACHED in states:
        return REACHED if states == {REACHED} else PARTLY
    return OPPOSITE if OPPOSITE in states else NOT_SHOWN


def _detail(rows: Sequence[Row]) -> str:
    """Return how many rows hold, which ones if they are few, and the least p-value of the opposite."""
    held, against = ([row for row in rows if row.state == state] for state in (REACHED, OPPOSITE))
    p_values = [row.p_value for row in against if row.p_value is not None]
    named = f": {'; '.join(dict.fromkeys(row.what for row in held))}" if len(held) <= NAMED else ""
    said = [f"{len(held)} of {len(rows)}{named}"] if held and len(held) < len(rows) else []
    said += [f"the opposite in {len(against)} of {len(rows)}"] if against and len(against) < len(rows) else []
    said += [said_p_value(min(p_values))] if p_values else []
    return f" ({', '.join(said)})" if said else ""

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

AGAINST = {REACHED: "shown", NOT_SHOWN: "not shown", OPPOSITE: "the opposite"}


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
        sentences = [f"{kind}: {'; '.join(names)}." for kind, names in _by_kind(self.claims).items()]
        if self.numbers:
            said = enumerated(
                f"{n} {'is' if n == 1 else 'are'} {state}" for state, n in counts(self.numbers).items()
            )
            sentences.append(f"Of {counted(len(self.numbers), 'published number')}, {said}.")
        sentences += self._on_other_data()
        if self.not_tried:
            missing = enumerated(dict.fromkeys(row.data for row in self.not_tried))
            sentences.append(f"{counted(len(self.not_tried), 'row')} could not be tried, for want of {missing}.")
        return sentences

    def _on_other_data(self) -> list[str]:
        """Return what data say that stand in for the paper's, or have other features."""
        rows = [replace(row, state=row.on_these_data) for row in self.other_data if row.on_these_data]
        claims, numbers = (
            [row for row in rows if (row.published is None) == is_claim] for is_claim in (True, False)
        )
        sentences = []
        if numbers:
            states = enumerated(f"{n} {state}" for state, n in counts(numbers).items())
            data = enumerated(dict.fromkeys(row.data for row in numbers))
            sentences.append(f"Of {counted(len(numbers), 'number')} of {data} with other features: {states}.")
        by_kind = _by_kind(claims)
        if left := by_kind.pop(SAID[NOT_SHOWN], []):
            by_kind |= {SAID[NOT_SHOWN]: [counted(len(left), "claim")]}
        where = "On data that stand in for the paper's"
        return sentences + [f"{where}, {kind.lower()}: {'; '.join(names)}." for kind, names in by_kind.items()]

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


def _by_kind(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Return the claims that the rows test by how much of them is shown; on which data, if these differ."""
    claims: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        claims.setdefault(row.part_of or row.what, {}).setdefault(row.data, []).append(row)
    said: dict[str, list[str]] = {kind: [] for kind in SAID.values()}
    for name, by_data in claims.items():
        kinds = {data: _kind(own) for data, own in by_data.items()}
        for kind in dict.fromkeys(kinds.values()):
            data = [each for each in by_data if kinds[each] == kind]
            where = f", on {enumerated(data)}" if len(set(kinds.values())) > 1 else ""
            own = [row for each in data for row in by_data[each]]
            said[SAID[kind]].append(f"{name}{where}{_detail(name, own)}")
    return {kind: names for kind, names in said.items() if names}


def _kind(rows: Sequence[Row]) -> str:
    """Return how much of a claim the rows show."""
    states = {row.state for row in rows}
    if REACHED in states:
        return REACHED if states == {REACHED} else PARTLY
    return OPPOSITE if OPPOSITE in states else NOT_SHOWN


def _detail(name: str, rows: Sequence[Row]) -> str:
    """Return how many rows show a claim or its opposite, which ones if they are few, and the least p-value."""
    held, against = ([row for row in rows if row.state == state] for state in (REACHED, OPPOSITE))
    p_values = [row.p_value for row in against if row.p_value is not None]
    short = dict.fromkeys(row.what.removeprefix(name).strip() for row in held)
    named = f": {', '.join(short)}" if len(held) <= NAMED else ""
    said = [f"{len(held)} of {len(rows)}{named}"] if 0 < len(held) < len(rows) else []
    said += (
        [f"{'the opposite ' if held else ''}in {len(against)} of {len(rows)}"]
        if 0 < len(against) < len(rows)
        else []
    )
    said += [said_p_value(min(p_values))] if p_values else []
    others = [row.against_published for row in rows if row.against_published not in ("", row.state)]
    beside = dict.fromkeys(AGAINST[state] for state in others)
    said += [f"{enumerated(beside)} against published baselines"] if beside else []
    return f" ({'; '.join(said)})" if said else ""

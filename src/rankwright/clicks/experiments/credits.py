"""Credits: the clicks that two interleaved rankers got, by impression, from the service's log or a table."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike

    from rankwright.base.arrays import Doubles

UNITS = ("session", "user")


@dataclass(frozen=True, eq=False, init=False, repr=False)
class TeamCredits:
    """Clicks on the documents of two interleaved rankers, one row per reported impression, in the order of time.

    Parameters
    ----------
    first, second
        Clicks on documents that the first and the second ranker contributed; not negative.
    session, user
        Optional ids of the session and the user of each impression.
    names
        The names of the two rankers.
    notes
        What a reader left out.

    Examples
    --------
    >>> rw.clicks.TeamCredits([1, 0, 0], [0, 2, 0], names=("old", "new"))
    TeamCredits(3 impressions of old and new)
    """

    first: Doubles
    second: Doubles
    session: tuple[str, ...] | None
    user: tuple[str, ...] | None
    names: tuple[str, str]
    notes: tuple[str, ...]

    def __init__(
        self,
        first: ArrayLike,
        second: ArrayLike,
        *,
        session: Sequence[Any] | None = None,
        user: Sequence[Any] | None = None,
        names: tuple[str, str] = ("first", "second"),
        notes: Sequence[str] = (),
    ) -> None:
        columns = {"first": checked_numbers(first, "first"), "second": checked_numbers(second, "second")}
        for name, values in columns.items():
            if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0).all()):
                raise InputError(f"The credits of the {name} ranker must be numbers of clicks, not negative.")
            object.__setattr__(self, name, values)
        ids = {"session": session, "user": user}
        for name, each in ids.items():
            object.__setattr__(self, name, None if each is None else tuple(map(str, each)))
        lengths = {name: len(each) for name, each in (columns | ids).items() if each is not None}
        for name, length in lengths.items():
            if length != lengths["first"]:
                raise InputError(f"There are {counted(lengths['first'], 'impression')} but {length:,} by {name}.")
        object.__setattr__(self, "names", (str(names[0]), str(names[1])))
        object.__setattr__(self, "notes", tuple(notes))

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        return f"TeamCredits({counted(len(self), 'impression')} of {' and '.join(self.names)})"

    @property
    def signs(self) -> Doubles:
        """1 where the second ranker got more clicks, -1 where the first did, 0 for ties."""
        return np.sign(self.second - self.first)


def read_credits(path: str | PathLike[str], *, first: str | None = None, second: str | None = None) -> TeamCredits:
    """Read credits from the log of `rankwright serve --interleave`, or from a table in CSV.

    Of the service's log, the reports of clicks that were counted are used; other lines are not about credits. A
    table has one row per impression and columns `first` and `second`, and may have `session` and `user`.

    Parameters
    ----------
    path
        The file, decompressed if it ends with .gz.
    first, second
        The two rankers, as the log names them, or the columns of their credits; by default the only two.

    Examples
    --------
    >>> from pathlib import Path
    >>> lines = ['{"event": "clicks", "impression": 0, "clicks": {"old@1": 0, "new@1": 1}, "counted": true}',
    ...          '{"event": "clicks", "impression": 0, "clicks": {"old@1": 0, "new@1": 1}, "counted": false}']
    >>> _ = Path("serve.log").write_text(chr(10).join(lines))
    >>> credits = rw.clicks.read_credits("serve.log")
    >>> credits, credits.notes
    (TeamCredits(1 impression of old@1 and new@1), ('1 report sent again left out.',))
    """
    with open_bytes(path) as file:
        head = file.read(1)
    return _of_log(path, first, second) if head == b"{" else _of_table(path, first, second)


def _of_log(path: str | PathLike[str], first: str | None, second: str | None) -> TeamCredits:
    rows, again, broken, pairs = list[dict[str, Any]](), 0, 0, dict[tuple[str, ...], int]()
    for line in _lines(path):
        try:
            record = json.loads(line)
            if not isinstance(record, dict) or record.get("event") != "clicks":
                continue
            pair = tuple(map(str, record["clicks"]))
            is_first = bool(record["counted"])
        except (ValueError, KeyError, TypeError, RecursionError):
            broken += 1
            continue
        if (first is None or first in pair) and (second is None or second in pair) and len(pair) == 2:
            again += not is_first
            if is_first:
                pairs[pair] = pairs.get(pair, 0) + 1
                rows.append(record)
    if not rows:
        raise InputError(f"{path} has no counted reports of clicks on interleaved lists.")
    if len(pairs) > 1:
        known = "; ".join(" and ".join(pair) for pair in pairs)
        raise InputError(f"{path} has several pairs of rankers ({known}); name first and second.")
    pair = next(iter(pairs))
    first_name = first or next(name for name in pair if name != second)
    names = first_name, next(name for name in pair if name != first_name)
    notes = [f"{counted(again, 'report')} sent again left out."] if again else []
    notes += [f"{counted(broken, 'line')} that cannot be read left out."] if broken else []
    ids = {unit: [row.get(unit) for row in rows] for unit in UNITS}
    return TeamCredits(
        [row["clicks"][names[0]] for row in rows],
        [row["clicks"][names[1]] for row in rows],
        names=names,
        notes=[*notes, *_without_ids(ids)],
        **_known_ids(ids),
    )


def _known_ids(ids: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the ids of units that every impression has."""
    return {unit: values for unit, values in ids.items() if None not in values}


def _without_ids(ids: dict[str, list[Any]]) -> Iterator[str]:
    for unit, values in ids.items():
        if None in values and any(value is not None for value in values):
            missing = counted(sum(value is None for value in values), "impression")
            yield f"{missing} without a {unit}: no test by {unit}."


def _of_table(path: str | PathLike[str], first: str | None, second: str | None) -> TeamCredits:
    names = (first or "first", second or "second")
    rows = csv.DictReader(_lines(path))
    for name in names:
        if name not in (rows.fieldnames or ()):
            raise InputError(f"{path} has no column {name!r}; it has {', '.join(rows.fieldnames or ())}.")
    table = list(rows)
    values: list[list[float]] = [[], []]
    for number, row in enumerate(table, start=2):
        for column, name in zip(values, names, strict=True):
            try:
                column.append(float(row[name]))
            except (TypeError, ValueError):
                raise InputError(f"{path}, line {number}: {row[name]!r} in {name!r} is not a number.") from None
    ids = {unit: [row.get(unit) or None for row in table] for unit in UNITS}
    return TeamCredits(values[0], values[1], names=names, notes=[*_without_ids(ids)], **_known_ids(ids))


def _lines(path: str | PathLike[str]) -> Iterator[str]:
    with open_bytes(path) as file:
        for line in file:
            if line.strip():
                yield line.decode(errors="replace")

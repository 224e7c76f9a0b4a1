"""Collects blocks of impressions, whose ids are numbered anew in each block, into one log."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankwright.base.wording import counted
from rankwright.clicks.log import ClickLog, Coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

Block: TypeAlias = "dict[str, Coded | Doubles]"
IDS = ("session", "query", "document", "policy")
REQUIRED = ("session", "query", "document", "position", "clicked")


class ClickLogWarning(UserWarning):
    """Impressions or events of a log were left out; the message counts them."""


class IdNumbers:
    """Numbers ids in the order in which they first appear, over several blocks."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def coded(self, column: Coded) -> NDArray[np.int32]:
        """Return the numbers of a block's ids."""
        numbers = self._numbers
        ids = column.ids.tolist()
        return np.array([numbers.setdefault(name, len(numbers)) for name in ids], dtype=np.int32)[column.codes]

    @property
    def ids(self) -> NDArray[Any]:
        """The ids by number."""
        names = list(self._numbers)
        texts = np.empty(len(names), dtype=object)
        texts[:] = names
        return texts


class LogBuilder:
    """Makes one log of many blocks, and counts what it leaves out by reason.

    Without `keep_sessions`, sessions keep the numbers that they have in their block, which saves memory.
    """

    def __init__(self, *, keep_sessions: bool = True) -> None:
        self._vocabularies = {name: IdNumbers() for name in IDS if keep_sessions or name != "session"}
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self.left_out: Counter[str] = Counter()
        self.notes: list[str] = []

    def usable(self, block: Block) -> dict[str, Any]:
        """Return a block with all ids numbered for the whole log, without the impressions that cannot be used."""
        positions, clicked = block["position"], block["clicked"]
        assert isinstance(positions, np.ndarray)
        assert isinstance(clicked, np.ndarray)
        unknown = {
            "without a position": np.isnan(positions),
            "without a session, query or document": _missing_ids(block),
            "without a value of clicked": np.isnan(clicked),
        }
        kept = np.ones(len(positions), dtype=bool)
        for reason, rows in unknown.items():
            self.left_out[reason] += int((rows & kept).sum())
            kept &= ~rows
        return {name: self._kept(name, values, kept) for name, values in block.items()}

    def _kept(self, name: str, values: Coded | Doubles, kept: NDArray[np.bool_]) -> Any:
        if not isinstance(values, Coded):
            return values[kept]
        if name not in self._vocabularies:
            return Coded(values.codes[kept], values.ids)
        codes = self._vocabularies[name].coded(values)[kept]
        return Coded(codes, self.ids(name))

    def add(self, block: Block) -> None:
        """Add the usable impressions of a block."""
        for name, values in self.usable(block).items():
            self._parts.setdefault(name, []).append(values.codes if isinstance(values, Coded) else values)

    def add_rows(self, rows: Iterable[tuple[Any, Any, Any, float, float]]) -> None:
        """Add impressions: session, query, document, position and clicked of each."""
        columns = dict(zip(REQUIRED, zip(*rows, strict=True), strict=False))  # none without a row
        if columns:
            self.add(
                {
                    name: coded_values(values) if name in IDS else np.array(values, dtype=np.float64)
                    for name, values in columns.items()
                }
            )

    def ids(self, name: str) -> NDArray[Any]:
        """Return the ids of a column by number."""
        return self._vocabularies[name].ids

    def log(self) -> ClickLog:
        """Return the log; warn of what was left out."""
        columns: dict[str, Any] = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        for name in columns.keys() & set(IDS):
            columns[name] = Coded(columns[name], self.ids(name))
        for name in set(REQUIRED) - columns.keys():
            columns[name] = []
        notes = [*self.notes, *self.remarks()]
        for sentence in notes:
            warnings.warn(sentence, ClickLogWarning, stacklevel=3)
        return ClickLog(**columns, notes=notes)

    def remarks(self) -> list[str]:
        """Return one sentence per reason to leave out impressions."""
        return [
            f"{counted(number, 'impression')} {why} left out." for why, number in self.left_out.items() if number
        ]


def _missing_ids(block: Block) -> NDArray[np.bool_]:
    missing = np.zeros(len(block["position"]), dtype=bool)
    for name in ("session", "query", "document"):
        column = block[name]
        assert isinstance(column, Coded)
        absent = np.array([text in ("", None) for text in column.ids.tolist()], dtype=bool)
        missing |= absent[column.codes]
    return missing


def as_texts(values: Iterable[Any]) -> list[str]:
    """Return ids as texts; None and NaN become empty."""
    return ["" if value is None or value != value else str(value) for value in values]


def coded_values(values: Sequence[Any]) -> Coded:
    """Return a column of any ids as numbers and texts."""
    numbers: dict[Any, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int32, len(values))
    ids = np.empty(len(numbers), dtype=object)
    ids[:] = as_texts(numbers)
    return Coded(codes, ids)

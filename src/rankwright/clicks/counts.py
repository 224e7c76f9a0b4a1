"""ClickCounts: a log summed by query, document, position and last click, which most click models need alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted
from rankwright.clicks.log import ClickLog, Coded
from rankwright.clicks.readers.log_builder import IdNumbers, LogBuilder
from rankwright.clicks.readers.tables import table_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.clicks.readers.log_builder import Block

SUMS = ("shown", "clicked", "read", "ended")


@dataclass(frozen=True, eq=False, repr=False)
class ClickCounts:
    """Impressions summed into cells: one per query, document, position and position of the last click above.

    Its size depends on how many different cells a log has, not on its length. Cells are sorted by query, document,
    position and last click. With weights in the log, all sums are of weights.

    Parameters
    ----------
    query, document
        Numbers of the ids, one per cell.
    position, last
        The position, and that of the last click above it in the list; 0 if there is none.
    shown, clicked
        Numbers of impressions and of clicks.
    read
        Impressions at or above the last click of their list, or in a list without clicks.
    ended
        Clicks that were the last of their list.
    query_ids, document_ids
        The ids by number.
    n_lists
        Number of result lists.
    notes
        Sentences about what a reader changed or left out.

    Examples
    --------
    >>> log = rw.clicks.from_sessions([("hats", ["d1", "d2"], [1, 0]), ("hats", ["d1", "d2"], [0, 0])])
    >>> counts = rw.clicks.ClickCounts.of(log)
    >>> counts
    ClickCounts(4 impressions, 2 lists, 3 cells)
    >>> list(zip(counts.position.tolist(), counts.last.tolist(), counts.shown.tolist()))
    [(1, 0, 2.0), (2, 0, 1.0), (2, 1, 1.0)]
    """

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    position: NDArray[np.int32]
    last: NDArray[np.int32]
    shown: Doubles
    clicked: Doubles
    read: Doubles
    ended: Doubles
    query_ids: NDArray[Any]
    document_ids: NDArray[Any]
    n_lists: int
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, log: ClickLog) -> ClickCounts:
        """Sum a log."""
        return cls(**_decoded(_summed(_cells(log))), **_ids(log), n_lists=log.n_lists, notes=log.notes)

    def __len__(self) -> int:
        return len(self.query)

    def __repr__(self) -> str:
        sizes = counted(round(self.shown.sum()), "impression"), counted(self.n_lists, "list")
        return f"ClickCounts({', '.join(sizes)}, {counted(len(self), 'cell')})"

    @cached_property
    def pair_offsets(self) -> Integers:
        """The first cell of each pair of query and document, and after them the number of cells."""
        if len(self) == 0:
            return np.zeros(1, dtype=np.int64)
        begins = (np.diff(self.query) != 0) | (np.diff(self.document) != 0)
        return np.concatenate([[0], np.flatnonzero(begins) + 1, [len(self)]]).astype(np.int64)

    @property
    def pair(self) -> Integers:
        """The number of the pair of each cell."""
        return np.repeat(np.arange(len(self.pair_offsets) - 1), np.diff(self.pair_offsets))

    def by_pair(self, values: Doubles) -> Doubles:
        """Return the sums of values, one per cell, over the cells of each pair."""
        return np.asarray(np.add.reduceat(values, self.pair_offsets[:-1])) if len(self) else values

    def by_position(self, values: Doubles) -> Doubles:
        """Return the sums of values, one per cell, over the cells of each position, from 0."""
        return np.bincount(self.position, values).astype(np.float64)


def read_counts(path: str | PathLike[str], *, delimiter: str | None = None, **columns: str) -> ClickCounts:
    """Sum a table of impressions that may be longer than memory: `ClickCounts.of(read_log(path))`, block by block.

    The rows of each session must be adjacent. The parameters are those of `read_log`.

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = ["session,query,document,position,clicked", "s1,hats,d1,1,0", "s2,hats,d1,1,1"]
    >>> _ = Path("log.csv").write_text(chr(10).join(rows))
    >>> rw.clicks.read_counts("log.csv")
    ClickCounts(2 impressions, 2 lists, 1 cell)
    """
    builder, total, n_lists, lowest = LogBuilder(keep_sessions=False), _Cells(), 0, np.inf
    for block in _whole_sessions(table_blocks(path, delimiter, columns)):
        usable = builder.usable(block)
        if len(usable["position"]) == 0:
            continue
        lowest = min(lowest, usable["position"].min())
        usable["position"] = usable["position"] + 1.0  # whether positions are counted from 0 is known at the end
        log = ClickLog(**usable)
        n_lists += log.n_lists
        total.add(_cells(log))
    cells = _decoded(total.summed())
    notes = tuple(builder.remarks())
    if lowest == 0:
        notes += ("Positions are counted from 0 in the input, and from 1 here.",)
    else:
        cells["position"] -= 1
        cells["last"] -= cells["last"] > 0
    ids = {f"{name}_ids": builder.ids(name) for name in ("query", "document")}
    return ClickCounts(**cells, **ids, n_lists=n_lists, notes=notes)


class _Cells:
    """A growing sum of cells; new ones are merged when they are as many as those summed before."""

    def __init__(self) -> None:
        self._parts: list[dict[str, NDArray[Any]]] = []
        self._n_pending = self._n_summed = 0

    def add(self, cells: dict[str, NDArray[Any]]) -> None:
        self._parts.append(_summed(cells))
        self._n_pending += len(self._parts[-1]["pair"])
        if self._n_pending > self._n_summed:
            self._parts = [self.summed()]
            self._n_pending, self._n_summed = 0, len(self._parts[0]["pair"])

    def summed(self) -> dict[str, NDArray[Any]]:
        if not self._parts:
            empty = {"pair": np.zeros(0, np.int64), "spot": np.zeros(0, np.int64)}
            return empty | {name: np.zeros(0) for name in SUMS}
        joined = {name: np.concatenate([part[name] for part in self._parts]) for name in self._parts[0]}
        return _summed(joined)


def _cells(log: ClickLog) -> dict[str, NDArray[Any]]:
    """Return one cell per impression: keys of the pair and of position and last click, and what it adds."""
    weight = np.ones(len(log)) if log.weight is None else log.weight
    clicked = log.clicked > 0
    positions: Integers = np.where(clicked, log.position, 0).astype(np.int64)
    last_of_list = np.maximum.reduceat(positions, log.offsets[:-1]) if len(log) else positions
    last = last_of_list[log.list_of_impression]
    return {
        "pair": (log.query.astype(np.int64) << 32) | log.document,
        "spot": (log.position.astype(np.int64) << 32) | log.last_clicks(),
        "shown": weight,
        "clicked": weight * clicked,
        "read": weight * ((log.position <= last) | (last == 0)),
        "ended": weight * (clicked & (log.position == last)),
    }


def _summed(cells: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the sums of cells with the same keys, in the order of the keys."""
    order = np.lexsort((cells["spot"], cells["pair"]))
    pair, spot = cells["pair"][order], cells["spot"][order]
    if len(order) == 0:
        return cells
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(pair) != 0) | (np.diff(spot) != 0)]))
    sums = {name: np.add.reduceat(cells[name][order], begins) for name in SUMS}
    return {"pair": pair[begins], "spot": spot[begins], **sums}


def _decoded(cells: dict[str, NDArray[Any]]) -> dict[str, Any]:
    low = 0xFFFF_FFFF
    return {
        "query": (cells["pair"] >> 32).astype(np.int32),
        "document": (cells["pair"] & low).astype(np.int32),
        "position": (cells["spot"] >> 32).astype(np.int32),
        "last": (cells["spot"] & low).astype(np.int32),
        **{name: cells[name] for name in SUMS},
    }


def _ids(log: ClickLog) -> dict[str, Any]:
    return {"query_ids": log.query_ids, "document_ids": log.document_ids}


def _whole_sessions(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks again, each without the rows of its last session, which begin the next one."""
    pending: Block = {}
    for block in blocks:
        joined = {name: _joined(pending[name], values) if pending else values for name, values in block.items()}
        session = joined["session"]
        assert isinstance(session, Coded)
        codes = session.codes
        others = np.flatnonzero(codes != codes[-1:])
        end = int(others[-1]) + 1 if len(others) else 0
        yield {name: _part(values, slice(None, end)) for name, values in joined.items()}
        pending = {name: _part(values, slice(end, None)) for name, values in joined.items()}
    if pending:
        yield pending


def _part(values: Any, rows: slice) -> Any:
    return Coded(values.codes[rows], values.ids) if isinstance(values, Coded) else values[rows]


def _joined(first: Any, second: Any) -> Any:
    if not isinstance(first, Coded):
        return np.concatenate([first, second])
    both = IdNumbers()
    used = np.unique(first.codes)  # of a long block only the last session is left
    renumbered = np.zeros(len(first.ids), dtype=np.int32)
    renumbered[used] = np.arange(len(used))
    few = Coded(renumbered[first.codes], first.ids[used])
    return Coded(np.concatenate([both.coded(few), both.coded(second)]), both.ids)

"""ClickLog: which documents were shown at which position, and which of them were clicked."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rankwright.base.arrays import checked_numbers, sealed
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted
from rankwright.data.groups import QueryGroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.data.dataset import Documents

Codes = np.int32  # sessions, queries and documents are numbered in the order in which they first appear
MAX_POSITION = 1_000_000
MAX_WEIGHT = 1e12


class Coded(NamedTuple):
    """A column of ids: the number of each row's id, and the ids by number."""

    codes: NDArray[np.int32]
    ids: NDArray[Any]


class Pairs(NamedTuple):
    """The different pairs of query and document of a log, and the pair of each impression."""

    query: NDArray[np.int32]
    document: NDArray[np.int32]
    of_impression: Integers


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ClickLog:
    """Impressions: documents that were shown for queries, at positions, and what users did with them.

    A plain value of read-only columns, one row per impression. A result list is what was shown at once: the rows
    of one query in one session. Rows are kept list by list, in the order in which lists first appear, and by
    position within each.

    Parameters
    ----------
    session, query, document
        Ids, integers or strings. A session may have several queries, each with one result list.
    position
        The position of each document in its list, from 1. If the smallest position is 0, all are counted from 0,
        and 1 is added.
    clicked
        0 without a click, 1 with one; larger numbers for actions that mean more, such as 2 for a purchase.
    propensity
        Optional probability with which the impression's position was examined or chosen, above 0 and at most 1.
    weight
        Optional weight of each impression, not negative.
    time
        Optional time, in any unit.
    policy
        Optional id of the ranker that ordered the list.
    notes
        Sentences about what a reader changed or left out.

    Examples
    --------
    >>> log = rw.clicks.ClickLog([7, 7, 8], ["hats"] * 3, ["d1", "d2", "d1"], [1, 2, 1], [0, 1, 1])
    >>> log
    ClickLog(3 impressions, 2 lists, 1 query, 2 documents, 2 clicks)
    >>> log.document_ids[log.document].tolist(), log.position.tolist()
    (['d1', 'd2', 'd1'], [1, 2, 1])
    """

    session: NDArray[np.int32]
    query: NDArray[np.int32]
    document: NDArray[np.int32]
    position: NDArray[np.int32]
    clicked: Floats
    propensity: Doubles | None
    weight: Doubles | None
    time: Doubles | None
    policy: NDArray[np.int32] | None
    session_ids: NDArray[Any]
    query_ids: NDArray[Any]
    document_ids: NDArray[Any]
    policy_ids: NDArray[Any] | None
    notes: tuple[str, ...]

    def __init__(
        self,
        session: ArrayLike | Coded,
        query: ArrayLike | Coded,
        document: ArrayLike | Coded,
        position: ArrayLike,
        clicked: ArrayLike,
        *,
        propensity: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        time: ArrayLike | None = None,
        policy: ArrayLike | Coded | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        names = {"session": session, "query": query, "document": document, "policy": policy}
        columns = {name: coded(values, name) for name, values in names.items() if values is not None}
        counted_from, positions = checked_positions(position)
        numbers: dict[str, Any] = {
            "position": positions,
            "clicked": _checked_actions(clicked),
            "propensity": None if propensity is None else _checked_propensities(propensity),
            "weight": None if weight is None else _checked_weights(weight),
            "time": None if time is None else _checked_times(time),
        }
        rows: dict[str, Any] = {name: column.codes for name, column in columns.items()} | numbers
        _require_equal_lengths({name: len(values) for name, values in rows.items() if values is not None})
        order = _by_list(rows["session"], rows["query"], positions, len(columns["query"].ids))
        for name, values in ({"policy": None} | rows).items():
            self._set(name, None if values is None else sealed(values.copy() if order is None else values[order]))
        for name in names:
            self._set(f"{name}_ids", sealed(columns[name].ids) if name in columns else None)
        shift = "Positions are counted from 0 in the input, and from 1 here." if counted_from == 0 else None
        self._set("notes", (*notes, shift) if shift else tuple(notes))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone, without anything computed from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the fields; arrays are read-only again, which pickle does not keep."""
        for name, value in state.items():
            self._set(name, sealed(value) if isinstance(value, np.ndarray) else value)

    def __len__(self) -> int:
        return len(self.position)

    def __repr__(self) -> str:
        counts = {
            "impression": len(self),
            "list": self.n_lists,
            "query": len(self.query_ids),
            "document": len(self.document_ids),
            "click": self.n_clicks,
        }
        return f"ClickLog({', '.join(counted(number, noun) for noun, number in counts.items())})"

    @cached_property
    def offsets(self) -> Integers:
        """The first row of each list, and after them the number of rows."""
        if len(self) == 0:
            return np.zeros(1, dtype=np.int64)
        begins = (np.diff(self.session) != 0) | (np.diff(self.query) != 0)
        return sealed(np.concatenate([[0], np.flatnonzero(begins) + 1, [len(self)]]).astype(np.int64))

    @property
    def n_lists(self) -> int:
        """Number of result lists."""
        return len(self.offsets) - 1

    @property
    def n_clicks(self) -> int:
        """Number of impressions with a click or another action."""
        return int(np.count_nonzero(self.clicked))

    @property
    def max_position(self) -> int:
        """The largest position."""
        return int(self.position.max(initial=0))

    @cached_property
    def list_of_impression(self) -> Integers:
        """The number of the list that each impression is in."""
        return np.repeat(np.arange(self.n_lists), np.diff(self.offsets))

    @cached_property
    def pairs(self) -> Pairs:
        """The different pairs of query and document, by query and then by document."""
        keys = self.query.astype(np.int64) * max(1, len(self.document_ids)) + self.document
        pairs, of_impression = np.unique(keys, return_inverse=True)
        query, document = np.divmod(pairs, max(1, len(self.document_ids)))
        return Pairs(query.astype(Codes), document.astype(Codes), of_impression)

    def last_clicks(self) -> Integers:
        """Return the position of the last click before each impression in its list; 0 if there is none."""
        span = self.max_position + 1
        lists = self.list_of_impression * span
        latest = np.maximum.accumulate(lists + np.where(self.clicked > 0, self.position, 0))
        before = np.concatenate([[0], latest[:-1]]) if len(self) else latest
        return np.asarray(np.maximum(before - lists, 0))

    def take_lists(self, lists: ArrayLike) -> Self:
        """Return the given lists, by number or mask, in their old order; all ids keep their numbers."""
        wanted = np.zeros(self.n_lists, dtype=bool)
        wanted[np.asarray(lists)] = True
        rows = wanted[self.list_of_impression]
        taken = object.__new__(type(self))
        for name, value in self.__getstate__().items():
            is_column = isinstance(value, np.ndarray) and not name.endswith("_ids")
            taken._set(name, sealed(value[rows]) if is_column else value)
        return taken

    def split(self, fraction: float = 0.25, *, random_state: int = 0) -> tuple[Self, Self]:
        """Divide the log by session: return a part to fit, and one with this fraction of sessions to test."""
        if not 0.0 < fraction < 1.0:
            raise InputError(f"{parameter('fraction')} must lie between 0 and 1, not {fraction}.")
        drawn = np.random.default_rng(random_state).random(len(self.session_ids)) < fraction
        held_out = drawn[self.session[self.offsets[:-1]]]
        return self.take_lists(~held_out), self.take_lists(held_out)

    def rows_in(self, data: Documents) -> Integers:
        """Return the row of each impression's document in the data, by query id and document id; -1 if unknown."""
        queries, names = data.qid.tolist(), data.document_names.tolist()
        row_of = {(str(query), name): row for row, (query, name) in enumerate(zip(queries, names, strict=True))}
        pairs = zip(self.pairs.query.tolist(), self.pairs.document.tolist(), strict=True)
        query_names, document_names = ([str(name) for name in ids] for ids in (self.query_ids, self.document_ids))
        rows = [row_of.get((query_names[query], document_names[document]), -1) for query, document in pairs]
        return np.array(rows, dtype=np.int64)[self.pairs.of_impression]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of a table with one row per impression, ids in place of their numbers."""
        table: dict[str, NDArray[Any]] = {
            "session": self.session_ids[self.session],
            "query": self.query_ids[self.query],
            "document": self.document_ids[self.document],
            "position": self.position,
            "clicked": self.clicked.astype(np.int64) if (self.clicked % 1 == 0).all() else self.clicked,
        }
        optional = {"propensity": self.propensity, "weight": self.weight, "time": self.time}
        table |= {name: values for name, values in optional.items() if values is not None}
        if self.policy is not None and self.policy_ids is not None:
            table["policy"] = self.policy_ids[self.policy]
        return table


def coded(values: ArrayLike | Coded, name: str) -> Coded:
    """Return ids, integers or strings, as numbers in the order in which they first appear."""
    if isinstance(values, Coded):
        return values
    ids: NDArray[Any] = np.asarray(values)
    if ids.ndim != 1:
        raise InputError(f"{parameter(name)} must have one id per impression, not shape {ids.shape}.")
    if len(ids) == 0:
        return Coded(np.zeros(0, dtype=Codes), np.zeros(0, dtype=object))
    if ids.dtype.kind in "iub":
        unique, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        number = np.empty(len(unique), dtype=Codes)
        number[by_appearance] = np.arange(len(unique))
        return Coded(number[inverse], unique[by_appearance])
    return coded_texts(ids.tolist(), name)


def coded_texts(values: Sequence[Any], name: str) -> Coded:
    """Return ids that are strings as numbers in the order in which they first appear."""
    numbers: dict[Any, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), Codes, len(values))
    for value in numbers:
        if not isinstance(value, str):
            raise InputError(f"{parameter(name)} must hold integers or strings, not {value!r}.")
    ids = np.empty(len(numbers), dtype=object)
    ids[:] = list(numbers)
    return Coded(codes, ids)


def checked_positions(position: ArrayLike) -> tuple[int, NDArray[np.int32]]:
    """Return the number that positions are counted from, 0 or 1, and the positions counted from 1."""
    values = checked_numbers(position, "Positions")
    if values.ndim != 1:
        raise InputError(f"Positions must be one number per impression, not shape {values.shape}.")
    wrong = ~((values >= 0) & (values <= MAX_POSITION) & (values == np.floor(values)))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"The position of row {row} is {values[row]:g}; positions are integers from 1.")
    counted_from = 0 if len(values) and values.min() == 0 else 1
    return counted_from, (values + (1 - counted_from)).astype(Codes)


def _checked_actions(clicked: ArrayLike) -> Floats:
    values = checked_numbers(clicked, "Clicks")
    _refuse(values, ~((values >= 0) & np.isfinite(values)), "clicked", "0, 1 or a larger number")
    return values.astype(np.float32)


def _checked_propensities(propensity: ArrayLike) -> Doubles:
    values = checked_numbers(propensity, "Propensities")
    _refuse(values, ~((values > 0) & (values <= 1)), "propensity", "above 0 and at most 1")
    return values


def _checked_weights(weight: ArrayLike) -> Doubles:
    values = checked_numbers(weight, "Weights")
    _refuse(values, ~((values >= 0) & (values <= MAX_WEIGHT)), "weight", f"between 0 and {MAX_WEIGHT:g}")
    return values


def _checked_times(time: ArrayLike) -> Doubles:
    values = checked_numbers(time, "Times")
    _refuse(values, ~np.isfinite(values), "time", "finite")
    return values


def _refuse(values: Doubles, wrong: NDArray[np.bool_], name: str, expected: str) -> None:
    if values.ndim != 1:
        raise InputError(f"{parameter(name)} must have one number per impression, not shape {values.shape}.")
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(f"{parameter(name)} of row {row} is {values[row]:g}; it must be {expected}.")


def _require_equal_lengths(lengths: dict[str, int]) -> None:
    for name, length in lengths.items():
        if length != lengths["session"]:
            raise InputError(
                f"There are {counted(lengths['session'], 'impression')} by session but {length:,} by {name}."
            )


def _by_list(
    session: NDArray[np.int32], query: NDArray[np.int32], position: NDArray[np.int32], n_queries: int
) -> Integers | None:
    """Return the order of the rows by list and position; None if they are in this order already."""
    groups = QueryGroups.of(session.astype(np.int64) * max(1, n_queries) + query)
    list_of_row = groups.query_of_row
    steps = np.diff(list_of_row)
    if bool(((steps > 0) | ((steps == 0) & (np.diff(position) >= 0))).all()):
        return None
    return np.lexsort((position, list_of_row))

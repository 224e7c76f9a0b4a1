"""Lists of sessions: Python values, text as Yandex's challenge has it, and LightGBM's positions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_numbers
from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted
from rankwright.clicks.log import ClickLog, coded
from rankwright.clicks.readers.log_builder import LogBuilder
from rankwright.evaluation.evaluate import checked_judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import ArrayLike

POSITION_SUFFIX = ".position"


def from_sessions(sessions: Iterable[tuple[Any, Sequence[Any], Sequence[Any]]]) -> ClickLog:
    """Return the log of result lists: each a query, the documents from the top, and whether each was clicked.

    Examples
    --------
    >>> rw.clicks.from_sessions([("hats", ["d1", "d2", "d3"], [0, 1, 0]), ("hats", ["d2", "d1"], [1, 1])])
    ClickLog(5 impressions, 2 lists, 1 query, 3 documents, 3 clicks)
    """
    builder = LogBuilder()
    add_lists(builder, ((number, *_three(number, session)) for number, session in enumerate(sessions, start=1)))
    return builder.log()


def _three(number: int, session: Sequence[Any]) -> tuple[Any, Any, Any]:
    if len(session) != 3:
        raise InputError(f"Session {number}: expected a query, its documents and their clicks.")
    return session[0], session[1], session[2]


def read_yandex(path: str | PathLike[str]) -> ClickLog:
    """Read sessions as Yandex's relevance prediction challenge has them, which other logs follow.

    A line of a query is `SessionID TimePassed Q QueryID RegionID URLID URLID ...`, one of a click `SessionID
    TimePassed C URLID`, separated by tabs. A click belongs to the last query of its session that shows the
    document; others are counted and left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> lines = ["7 0 Q 12 1 51 52 53", "7 4 C 52", "7 9 C 99"]
    >>> _ = Path("yandex.txt").write_text(chr(10).join(line.replace(" ", chr(9)) for line in lines))
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     log = rw.clicks.read_yandex("yandex.txt")
    >>> log, log.notes
    (ClickLog(3 impressions, 1 list, 1 query, 3 documents, 1 click), ('1 click without an impression left out.',))
    """
    builder, lists = LogBuilder(), list[tuple[str, str, list[str], list[int]]]()
    of_session: dict[str, list[int]] = {}
    strays = 0
    for number, words in _lines(path):
        if len(words) >= 6 and words[2] == "Q":
            of_session.setdefault(words[0], []).append(len(lists))
            lists.append((words[0], words[3], words[5:], [0] * len(words[5:])))
        elif len(words) == 4 and words[2] == "C":
            own = [lists[row] for row in of_session.get(words[0], ())]
            shown = next((each for each in reversed(own) if words[3] in each[2]), None)
            if shown is None:
                strays += 1
            else:
                shown[3][shown[2].index(words[3])] = 1
        else:
            raise InputError(f"{path}, line {number}: expected a query (Q) or a click (C), separated by tabs.")
    if strays:
        builder.notes.append(f"{counted(strays, 'click')} without an impression left out.")
    add_lists(builder, with_repeats(lists))
    return builder.log()


def from_positions(data: Any, positions: ArrayLike) -> ClickLog:
    """Return the log of documents whose labels are clicks, at the given positions: each query is one result list.

    This is LightGBM's form: one query per session, and positions in a file beside the data, which `read_positions`
    reads.

    Examples
    --------
    >>> data = rw.RankingData([[0.1], [0.9]], [0, 1], [5, 5])
    >>> rw.clicks.from_positions(data, [0, 1])
    ClickLog(2 impressions, 1 list, 1 query, 2 documents, 1 click)
    """
    judged = checked_judged(data)
    queries = coded(judged.groups.ids[judged.groups.query_of_row], "query")
    return ClickLog(queries, queries, coded(judged.document_names, "document"), positions, judged.y)


def read_positions(path: str | PathLike[str]) -> Any:
    """Read positions, one per line, from LightGBM's file beside the data: `train.txt.position` for `train.txt`.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("train.txt.position").write_text('''0
    ... 1''')
    >>> rw.clicks.read_positions("train.txt").tolist()
    [0, 1]
    """
    side = Path(path) if str(path).endswith(POSITION_SUFFIX) else Path(f"{path}{POSITION_SUFFIX}")
    positions = []
    for number, words in _lines(side):
        if len(words) != 1 or not words[0].isdigit():
            raise InputError(f"{side}, line {number}: expected one position, an integer from 0 or 1.")
        positions.append(int(words[0]))
    return np.array(positions, dtype=np.int64)


def _lines(path: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line.decode(errors="replace").strip("\r\n").split("\t")


def with_repeats(lists: Iterable[tuple[str, str, Any, Any]]) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield the lists; the same query again in a session is another list, in a part of the session."""
    repeats = Counter[tuple[str, str]]()
    for session, query, documents, clicks in lists:
        repeats[session, query] += 1
        times = repeats[session, query]
        yield session if times == 1 else f"{session}/{times}", query, documents, clicks


def add_lists(builder: LogBuilder, lists: Iterable[tuple[Any, Any, Sequence[Any], Sequence[Any]]]) -> None:
    """Add result lists: session, query, documents from the top, and clicks."""
    rows: list[tuple[Any, ...]] = []
    for session, query, documents, clicks in lists:
        if len(documents) != len(clicks):
            raise InputError(f"Session {session}: {len(documents)} documents but {len(clicks)} clicks.")
        numbers = checked_numbers(clicks, f"Session {session}: clicks").tolist()
        pairs = zip(documents, numbers, strict=True)
        rows += [
            (session, query, document, position, click)
            for position, (document, click) in enumerate(pairs, start=1)
        ]
    builder.add_rows(rows)

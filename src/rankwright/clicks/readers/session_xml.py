"""Sessions in XML, as TianGong-ST has them: the form of TREC's session tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted
from rankwright.clicks.readers.log_builder import LogBuilder
from rankwright.clicks.readers.sessions import add_lists, with_repeats
from rankwright.data.tables import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from xml.etree.ElementTree import Element

    from rankwright.clicks.log import ClickLog


def read_tiangong(path: str | PathLike[str]) -> ClickLog:
    """Read sessions of TianGong-ST (Chen et al. 2019), an XML file that is read session by session.

    A `session` has a `num` and `interaction`s; each of these a `query_id` (or `query`), `results` with a `docid`
    per `result`, from the top, and what was `clicked`, by `rank`. Clicks on ranks that were not shown are counted
    and left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> shown = "".join(f"<result rank='{k}'><docid>d{k}</docid></result>" for k in (1, 2))
    >>> clicked = "<clicked><click num='1'><rank>2</rank></click></clicked>"
    >>> one = f"<interaction num='1'><query_id>q7</query_id><results>{shown}</results>{clicked}</interaction>"
    >>> _ = Path("sessions.xml").write_text(f"<tiangong><session num='5'>{one}</session></tiangong>")
    >>> rw.clicks.read_tiangong("sessions.xml")
    ClickLog(2 impressions, 1 list, 1 query, 2 documents, 1 click)
    """
    builder, lists, strays = LogBuilder(), list[tuple[str, str, list[str], list[int]]](), 0
    for session in _sessions(path):
        number = session.get("num", "")
        for interaction in session.iter("interaction"):
            query = (interaction.findtext("query_id") or interaction.findtext("query") or "").strip()
            results = interaction.findall("results/result")
            ranks = [_rank(path, number, each.get("rank")) for each in results]
            clicked = [_rank(path, number, each.text) for each in interaction.iterfind("clicked/click/rank")]
            strays += sum(rank not in ranks for rank in clicked)
            documents = [(each.findtext("docid") or "").strip() for each in results]
            lists.append((number, query, documents, [int(rank in clicked) for rank in ranks]))
    if strays:
        builder.notes.append(f"{counted(strays, 'click')} without an impression left out.")
    add_lists(builder, with_repeats(lists))
    return builder.log()


def _sessions(path: str | PathLike[str]) -> Iterator[Element]:
    """Yield the sessions, and free each one after it was used."""
    with open_bytes(path) as file:
        try:
            for _, element in ET.iterparse(file):
                if element.tag == "session":
                    yield element
                    element.clear()
        except ET.ParseError as error:
            raise InputError(f"{path} is not XML: {first_line(error)}") from None


def _rank(path: str | PathLike[str], session: str, text: str | None) -> int:
    if text is None or not text.strip().isdigit():
        raise InputError(f"{path}, session {session}: expected a rank, not {text!r}.")
    return int(text)

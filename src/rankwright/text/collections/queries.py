"""Queries: ids and texts, read from files of any known format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, listed
from rankwright.data.readers import irds
from rankwright.text.collections.fields import id_name, id_of
from rankwright.text.collections.formats.recognition import (
    QUERY_FORMATS,
    checked_format,
    first_bytes,
    format_of_file,
)
from rankwright.text.collections.formats.records import ReaderOptions, Record, checked_encoding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike


@dataclass(frozen=True, repr=False)
class Queries:
    """Queries in order: each has an id, which occurs once, and a text. Iterates over pairs of them.

    Parameters
    ----------
    ids, texts
        One per query.

    Examples
    --------
    >>> queries = rw.text.Queries.of({"q1": "lift of wings", "q2": "heat transfer"})
    >>> queries["q2"], len(queries)
    ('heat transfer', 2)
    >>> queries.ids
    ('q1', 'q2')
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        ids, texts = tuple(self.ids), tuple(self.texts)
        object.__setattr__(self, "ids", ids)
        object.__setattr__(self, "texts", texts)
        if len(ids) != len(texts):
            raise InputError(f"There are {len(ids)} query ids but {len(texts)} texts.")
        for text in (*ids, *texts):
            if not isinstance(text, str):
                raise InputError(f"Ids and texts of queries must be strings, not {text!r}.")
        seen: set[str] = set()
        for query in ids:
            if query in seen:
                raise InputError(f"Query {query!r} occurs twice.")
            seen.add(query)

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Queries:
        """Make queries from a mapping of ids to texts."""
        require_type(texts, Mapping, "Queries.of takes a dict of ids and texts")
        return cls(tuple(texts), tuple(texts.values()))

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return zip(self.ids, self.texts, strict=True)

    def __contains__(self, query: object) -> bool:
        return query in self._text_of

    def __getitem__(self, query: str) -> str:
        """Return the text of a query by its id."""
        if query not in self._text_of:
            raise InputError(f"There is no query {query!r}.")
        return self._text_of[query]

    def __repr__(self) -> str:
        return f"Queries({counted(len(self), 'query')})"

    @cached_property
    def _text_of(self) -> dict[str, str]:
        return dict(self)


def read_queries(
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    id: str | None = None,  # noqa: A002
    part: str | Sequence[str] | None = None,
    ids: Literal["file", "place"] = "file",
    encoding: str = "utf-8",
) -> Queries:
    """Read queries from a file, or from one of ir_datasets' data sets. White space becomes single spaces.

    Parameters
    ----------
    path
        A file, decompressed if its name ends with .gz, or `irds:NAME`.
    format
        `jsonl`, `csv`, `tsv` (with a header, or an id and a text without one), `parquet`, `trec` (topics) or
        `smart`; by default recognised by name and first bytes.
    id
        The field or column that holds the ids; by default the format's own, or the first of id, _id, qid,
        query_id, query-id and num.
    part
        The field or fields that make up the text of a query, such as `"desc"` or `["title", "desc"]`; by default
        `title` in topics, `W` in SMART files, and otherwise the first of text, query, title and question.
    ids
        With `"place"`, the ids are the places of the queries in the file, from 1. Cranfield's judgements are keyed
        that way, whatever ids cran.qry has.
    encoding
        The encoding of text files; it must extend ASCII.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("queries.jsonl").write_text('{"id": "q1", "text": "lift of wings"}')
    >>> dict(rw.text.read_queries("queries.jsonl"))
    {'q1': 'lift of wings'}
    """
    if ids not in ("file", "place"):
        raise InputError(f"ids must be 'file' or 'place', not {ids!r}; the column of the ids is called id.")
    records, own_ids, own_texts = _records(path, format, ReaderOptions(checked_encoding(encoding), id))
    names = own_ids if id is None else (id,)
    texts: dict[str, str] = {}
    for number, record in enumerate(records, start=1):
        query = str(number) if ids == "place" else id_of(record, id_name(record, names))
        if query in texts:
            raise InputError(f"{record.where}: query {query!r} occurs twice.")
        texts[query] = " ".join(_text_of(record, part, own_texts).split())
    return Queries.of(texts)


def _records(
    path: str | PathLike[str], name: str | None, options: ReaderOptions
) -> tuple[Iterator[Record], tuple[str, ...], tuple[str, ...]]:
    """Return the queries of a file as records, and the names of the fields that may hold ids and texts."""
    if isinstance(path, str) and irds.is_name(path):
        return starmap(Record, irds.load(path).records("queries")), (irds.QUERY_ID,), irds.QUERY_TEXTS
    file = Path(path)
    if name is None:
        has_tabs = b"\t" in first_bytes(file).partition(b"\n")[0]
        name = format_of_file(file, QUERY_FORMATS, otherwise="tsv" if has_tabs else None)
    kind = QUERY_FORMATS[checked_format(name, QUERY_FORMATS)]
    return kind.read(file, options), kind.ids, kind.texts


def _text_of(record: Record, part: str | Sequence[str] | None, own: tuple[str, ...]) -> str:
    """Return the text of a query: the parts asked for that it has, or the first that its format knows."""
    wanted = own if part is None else (part,) if isinstance(part, str) else tuple(part)
    texts = [record.fields[name] for name in wanted if record.fields.get(name) is not None]
    if not texts:
        names = ", ".join(map(repr, record.fields)) or "none"
        expected = f"expected a field {listed(wanted)}, found {names}"
        raise InputError(f"{record.where}: {expected}; name the part that is the text.")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"{record.where}: the text of a query must be text, not {text!r}.")
    return texts[0] if part is None else "\n".join(texts)

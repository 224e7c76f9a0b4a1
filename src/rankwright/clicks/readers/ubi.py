"""User Behavior Insights (UBI) of OpenSearch and Elasticsearch: queries and events, joined to impressions."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted, shortened
from rankwright.clicks.readers.log_builder import LogBuilder
from rankwright.data.readers.parquet import parquet_files
from rankwright.data.tables import first_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

    from rankwright.clicks.log import ClickLog

    AnyPath = str | PathLike[str]

CLICK = {"click": 1.0}
IMPRESSION = "impression"


@dataclass
class _Shown:
    """One query that was run: its text, the documents shown by position from 0, and the best action on each."""

    text: str
    documents: dict[str, float]
    has_hits: bool
    actions: dict[str, float] = field(default_factory=dict)


def read_ubi(
    queries: str | PathLike[str], events: str | PathLike[str], *, actions: Mapping[str, float] = CLICK
) -> ClickLog:
    """Read the queries and the events that User Behavior Insights logged.

    Every query that was run is a session with one result list: the documents of `query_response_hit_ids` or,
    without them, of events called `impression`, at their `ordinal`, counted from 0 or 1. The query is
    `user_query`. Events that cannot be joined are left out and counted, by reason.

    Parameters
    ----------
    queries, events
        NDJSON files, also as bulk requests or with documents under `_source`, or Parquet files.
    actions
        What an event counts, by its `action_name`; of several on one document, the largest counts.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("queries.ndjson").write_text(
    ...     '{"query_id": "q1", "user_query": "hats", "query_response_hit_ids": ["d1", "d2"]}')
    >>> _ = Path("events.ndjson").write_text(
    ...     '{"query_id": "q1", "action_name": "click", "event_attributes": {"object": {"object_id": "d2"}}}')
    >>> rw.clicks.read_ubi("queries.ndjson", "events.ndjson")
    ClickLog(2 impressions, 1 list, 1 query, 2 documents, 1 click)
    """
    left_out: Counter[str] = Counter()
    shown = _queries(queries, left_out)
    ordinals: Counter[int] = Counter()  # of the ordinal of a click minus its place among the hits, from 0
    for event in _records(events):
        reason = _join(event, shown, actions, ordinals)
        if reason:
            left_out[reason] += 1
    builder = LogBuilder()
    builder.notes = [f"{counted(number, 'UBI record')} {reason} left out." for reason, number in left_out.items()]
    if ordinals and ordinals.keys() - {0, 1}:
        odd = sum(number for shift, number in ordinals.items() if shift not in (0, 1))
        builder.notes.append(f"{counted(odd, 'event')} with another ordinal than the document has among the hits.")
    _add_impressions(builder, shown)
    return builder.log()


def _queries(path: AnyPath, left_out: Counter[str]) -> dict[str, _Shown]:
    shown: dict[str, _Shown] = {}
    for record in _records(path):
        query, text = record.get("query_id"), record.get("user_query")
        if not query or text is None:
            left_out["(queries) without a query_id or user_query"] += 1
        elif str(query) in shown:
            left_out["(queries) with a query_id seen before"] += 1
        else:
            hits = record.get("query_response_hit_ids") or []
            if not isinstance(hits, list):
                left_out["(queries) whose query_response_hit_ids are not a list"] += 1
                continue
            documents = {str(hit): float(position) for position, hit in reversed(list(enumerate(hits)))}
            if repeated := len(hits) - len(documents):
                left_out["(hits) that repeat a document of their list"] += repeated
            shown[str(query)] = _Shown(str(text), documents, bool(hits))
    return shown


def _join(
    event: dict[str, Any], shown: dict[str, _Shown], actions: Mapping[str, float], ordinals: Counter[int]
) -> str | None:
    """Add an event to the query that it belongs to; return why it cannot be joined, or None."""
    name = str(event.get("action_name"))
    if name not in actions and name != IMPRESSION:
        return f"(events) with action {shortened(name)!r}"
    query = shown.get(str(event.get("query_id") or ""))
    if query is None:
        return "(events) with an unknown query_id" if event.get("query_id") else "(events) without a query_id"
    document, ordinal = _attribute(event, "object", "object_id"), _attribute(event, "position", "ordinal")
    if document is None:
        return "(events) without an object_id"
    document, position = str(document), _position(ordinal)
    if document not in query.documents:
        if query.has_hits:
            return "(events) about a document that was not shown"
        if position is None:
            return "(events) about a document without a position"
        query.documents[document] = position
    if name == IMPRESSION:
        return None
    if ordinal is not None and query.has_hits:
        ordinals[-1 if position is None else int(position - query.documents[document])] += 1
    query.actions[document] = max(actions[name], query.actions.get(document, 0.0))
    return None


def _attribute(event: dict[str, Any], group: str, name: str) -> Any:
    """Return an attribute of an event, whose attributes may be JSON in a text, as in tables; None without it."""
    value = event.get("event_attributes")
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    for key in (group, name):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _position(ordinal: Any) -> float | None:
    """Return an ordinal as a number; None if it is not an integer from 0."""
    try:
        number = float(ordinal)
    except (TypeError, ValueError):
        return None
    return number if number >= 0 and number.is_integer() else None


def _add_impressions(builder: LogBuilder, shown: Mapping[str, _Shown]) -> None:
    """Add all lists; positions of hits are counted from 0 here, and so is every ordinal if any of them is 0."""
    by_events = [query for query in shown.values() if not query.has_hits and query.documents]
    from_one = by_events and min(min(query.documents.values()) for query in by_events) >= 1
    rows = [
        (
            session,
            query.text,
            document,
            position + (query.has_hits or not from_one),
            query.actions.get(document, 0.0),
        )
        for session, query in shown.items()
        for document, position in sorted(query.documents.items(), key=lambda item: item[1])
    ]
    if empty := sum(not query.documents for query in shown.values()):
        builder.notes.append(f"{counted(empty, 'UBI query')} without a document that was shown left out.")
    builder.add_rows(rows)


def _records(path: AnyPath) -> Iterator[dict[str, Any]]:
    """Yield the records of a file; lines of a bulk request that say what to do with the next are skipped."""
    if Path(path).suffix.lower() == ".parquet" or Path(path).is_dir():
        yield from _parquet_records(path)
        return
    with open_bytes(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                raise InputError(f"{path}, line {number}: expected one JSON object per line.") from None
            if not isinstance(record, dict):
                raise InputError(f"{path}, line {number}: expected one JSON object per line.")
            if len(record) == 1 and next(iter(record)) in ("index", "create"):
                continue
            source = record.get("_source")
            yield source if isinstance(source, dict) else record


def _parquet_records(path: AnyPath) -> Iterator[dict[str, Any]]:
    try:
        dataset = import_module("pyarrow.dataset")
    except ModuleNotFoundError:
        raise MissingPackageError(
            "Reading a Parquet file needs pyarrow: pip install 'rankwright[pyarrow]'."
        ) from None
    try:
        files = [str(path)] if Path(path).is_file() else parquet_files(path)
        for batch in dataset.dataset(files, format="parquet").to_batches():
            yield from batch.to_pylist()
    except (ValueError, OSError) as error:
        raise InputError(f"{path} is not a readable Parquet file: {first_line(error)}") from None

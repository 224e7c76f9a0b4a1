"""Responses of search engines, one per query, in files or in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.text.collections.formats.jsonl import parsed_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

Responses = Mapping[str, Any] | list[Any] | str | os.PathLike[str]
QUERY, RESPONSE = "qid", "response"  # the members of an object that names its query


def responses_by_query(
    responses: Responses, qid: Sequence[object] | None, member: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the id of each query and its response; a query may occur once.

    Parameters
    ----------
    responses
        A file of JSON or JSON Lines, or what such a file holds, see `read_ltr_log`.
    qid
        The query ids of a list of responses.
    member
        The member by which a single response is told from a mapping of responses.
    """
    content = _loaded(responses) if isinstance(responses, str | os.PathLike) else responses
    seen: set[str] = set()
    for query, response in _pairs(content, qid, member):
        query = str(query)
        if query in seen:
            raise InputError(f"There are two responses for query {query!r}.")
        seen.add(query)
        yield query, _checked(query, response)


def _pairs(content: Any, qid: Sequence[object] | None, member: str) -> Iterable[tuple[object, Any]]:
    """Return query ids and responses, whatever holds them."""
    if isinstance(content, Mapping) and isinstance(content.get("responses"), list):  # of a multi-search
        content = content["responses"]
    elif isinstance(content, Mapping) and (member in content or "error" in content or _names_query(content)):
        content = [content]
    if isinstance(content, Mapping):
        return content.items()
    if not isinstance(content, list | tuple):
        raise InputError(
            f"Responses must be a mapping by query id, a list or a file, not {type(content).__name__}."
        )
    if all(_names_query(item) for item in content):
        return [(item[QUERY], item[RESPONSE]) for item in content]
    if qid is None or len(qid) != len(content):
        given = "none is given" if qid is None else f"there are {len(qid)}"
        raise InputError(f"A list of {len(content)} responses needs as many query ids in qid=; {given}.")
    return zip(qid, content, strict=True)


def _names_query(value: Any) -> bool:
    return isinstance(value, Mapping) and QUERY in value and RESPONSE in value


def _loaded(path: str | PathLike[str]) -> Any:
    """Return what a file holds: one JSON value, or the objects of JSON Lines."""
    with open_bytes(path) as file:
        content = file.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as mistake:
        line = content.count(b"\n", 0, mistake.start) + 1
        raise InputError(f"{path}, line {line}: not valid UTF-8.") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as mistake:
        if mistake.msg != "Extra data":
            where = f"{path}, line {mistake.lineno}"
            raise InputError(f"{where}: broken JSON at column {mistake.colno}: {mistake.msg}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: the JSON is nested too deeply or holds a number that is too long.") from None
    lines = enumerate(text.split("\n"), start=1)
    return [parsed_object(f"{path}, line {number}", line) for number, line in lines if line.strip()]


def _checked(query: str, response: Any) -> Mapping[str, Any]:
    """Return a response, which must be an object and no report of an error."""
    if not isinstance(response, Mapping):
        raise InputError(f"The response to query {query!r} must be a JSON object, not {type(response).__name__}.")
    if "error" in response:
        raise InputError(f"The response to query {query!r} is an error: {str(response['error'])[:200]}.")
    return response

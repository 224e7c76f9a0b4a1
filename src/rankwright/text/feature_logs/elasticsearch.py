"""Features that the learning-to-rank plugin of Elasticsearch and OpenSearch logged into search responses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from rankwright.base.errors import InputError
from rankwright.base.wording import listed
from rankwright.text.feature_logs.responses import LoggedDocuments, logged_value, responses_by_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.text.feature_logs.responses import Responses

EXTRA = "extra_logging"  # what a script logged besides its value: no feature


@overload
def read_ltr_log(
    responses: Responses,
    judgements: None = ...,
    *,
    qid: Sequence[object] | None = ...,
    log: str | None = ...,
) -> Documents: ...
@overload
def read_ltr_log(
    responses: Responses,
    judgements: Judgements,
    *,
    qid: Sequence[object] | None = ...,
    log: str | None = ...,
    unjudged: float | None = ...,
) -> RankingData: ...
def read_ltr_log(
    responses: Responses,
    judgements: Judgements | None = None,
    *,
    qid: Sequence[object] | None = None,
    log: str | None = None,
    unjudged: float | None = 0.0,
) -> Documents:
    """Read the documents and features of search responses with `_ltrlog`, with labels if there are judgements.

    Features have the names of the feature set. A feature that did not match a document is missing (NaN), unless
    the plugin was asked for `missing_as_zero`. What only the responses or only the judgements have is counted in a
    `CoverageWarning`.

    Parameters
    ----------
    responses
        One response per query: a mapping from query ids to responses; a list of
        `{"qid": ..., "response": ...}`; a list of responses or the response of a multi-search, together with
        `qid`; or the path of a JSON or JSON Lines file that holds one of these.
    judgements
        Joined by query and document (`_id`).
    qid
        The query ids of responses that do not name their queries, in their order.
    log
        The name of the log entry, as in `log_specs`; needed if there are several.
    unjudged
        The label of documents without a judgement; None leaves them out.

    Examples
    --------
    >>> log = [{"main": [{"name": "title_bm25", "value": 4.5}, {"name": "clicks", "value": 12}]}]
    >>> response = {"hits": {"hits": [{"_id": "d1", "fields": {"_ltrlog": log}}]}}
    >>> documents = rw.text.read_ltr_log({"q1": response})
    >>> documents.feature_names, documents.X.tolist()
    (('title_bm25', 'clicks'), [[4.5, 12.0]])
    """
    logged = LoggedDocuments()
    for query, response in responses_by_query(responses, qid, "hits"):
        for hit in _hits(query, response):
            document = _document_id(query, hit)
            logged.add(query, document, _features(f"Query {query!r}, document {document!r}", hit, log))
    return logged.documents(math.nan, judgements, unjudged)


def _hits(query: str, response: Mapping[str, Any]) -> list[Any]:
    outer = response.get("hits")
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    if not isinstance(hits, list):
        raise InputError(f"The response to query {query!r} has no list hits.hits.")
    return hits


def _document_id(query: str, hit: Any) -> str:
    if not isinstance(hit, Mapping) or not isinstance(hit.get("_id"), str):
        raise InputError(f"A hit of query {query!r} has no _id.")
    return str(hit["_id"])


def _features(where: str, hit: Mapping[str, Any], log: str | None) -> dict[str, float]:
    features: dict[str, float] = {}
    for item in _entry(where, hit, log):
        if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
            raise InputError(f"{where}: a logged feature has no name.")
        name = item["name"]
        if name == EXTRA and isinstance(item.get("value"), Mapping):
            continue
        features[name] = logged_value(item.get("value"), f"{where}: the feature {name!r}")
    return features


def _entry(where: str, hit: Mapping[str, Any], log: str | None) -> list[Any]:
    """Return the log entry of a hit: a list of names and values."""
    fields = hit.get("fields")
    logs = fields.get("_ltrlog") if isinstance(fields, Mapping) else None
    if not isinstance(logs, list) or not all(isinstance(entry_log, Mapping) for entry_log in logs):
        raise InputError(f"{where}: no fields._ltrlog; does the request have ext.ltr_log?")
    entries = {name: entry for entry_log in logs for name, entry in entry_log.items()}
    if log is None and len(entries) > 1:
        raise InputError(f"{where} has several log entries: choose one with log={listed(entries)}.")
    name = next(iter(entries), None) if log is None else log
    if not isinstance(entries.get(name), list):
        raise InputError(f"{where}: no log entry {name!r} among {', '.join(map(repr, entries)) or 'none'}.")
    entry: list[Any] = entries[name]
    return entry

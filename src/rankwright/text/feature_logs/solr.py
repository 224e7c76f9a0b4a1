"""Features that Solr's learning-to-rank module logged into search responses with the transformer [features]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

from rankwright.base.errors import InputError
from rankwright.text.feature_logs.responses import LoggedDocuments, logged_value, responses_by_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.readers.trec import Judgements
    from rankwright.text.feature_logs.responses import Responses

SEPARATORS = ("=", ",")  # Solr's: csvKeyValueDelimiter and csvFeatureSeparator


@overload
def read_solr_features(
    responses: Responses,
    judgements: None = ...,
    *,
    qid: Sequence[object] | None = ...,
    id: str = ...,
    field: str = ...,
    separators: tuple[str, str] = ...,
    missing: float | Mapping[str, float] = ...,
) -> Documents: ...
@overload
def read_solr_features(
    responses: Responses,
    judgements: Judgements,
    *,
    qid: Sequence[object] | None = ...,
    id: str = ...,
    field: str = ...,
    separators: tuple[str, str] = ...,
    missing: float | Mapping[str, float] = ...,
    unjudged: float | None = ...,
) -> RankingData: ...
def read_solr_features(
    responses: Responses,
    judgements: Judgements | None = None,
    *,
    qid: Sequence[object] | None = None,
    id: str = "id",  # noqa: A002
    field: str = "[features]",
    separators: tuple[str, str] = SEPARATORS,
    missing: float | Mapping[str, float] = 0.0,
    unjudged: float | None = 0.0,
) -> Documents:
    """Read the documents and features of Solr's responses, and their labels if there are judgements.

    The fields `[features]` hold text such as `freshness=0.5,title=1.25`, dense or sparse. What only the responses
    or only the judgements have is counted in a `CoverageWarning`.

    Parameters
    ----------
    responses, judgements, qid, unjudged
        As in `read_ltr_log`; documents are joined by the field `id`.
    id
        The field that holds the ids of the documents.
    field
        The field that holds the features; another if the request renames it, as in `fl=id,f:[features]`.
    separators
        What stands between name and value, and between features, if solrconfig.xml has others than = and a comma.
    missing
        The value of a feature that is not listed. In the sparse format a feature is not listed where it has its
        default value, which is 0; for features with another default, give a mapping from names to values.

    Examples
    --------
    >>> docs = [{"id": "d1", "[features]": "bm25=2.5,clicks=3"}, {"id": "d2", "[features]": "bm25=1.5"}]
    >>> documents = rw.text.read_solr_features({"q1": {"response": {"docs": docs}}})
    >>> documents.feature_names, documents.X.tolist()
    (('bm25', 'clicks'), [[2.5, 3.0], [1.5, 0.0]])
    """
    _require_separators(separators)
    logged = LoggedDocuments()
    for query, response in responses_by_query(responses, qid, "response"):
        for document in _documents(query, response):
            name = _document_id(query, document, id)
            where = f"Query {query!r}, document {name!r}"
            logged.add(query, name, _features(where, document.get(field), field, separators))
    return logged.documents(missing, judgements, unjudged)


def _require_separators(separators: tuple[str, str]) -> None:
    if len(separators) != 2 or len(set(separators)) != 2 or not all(separators):
        raise InputError(f"separators must be two different texts, such as {SEPARATORS}, not {separators!r}.")


def _documents(query: str, response: Mapping[str, Any]) -> list[Any]:
    inner = response.get("response")
    documents = inner.get("docs") if isinstance(inner, Mapping) else None
    if not isinstance(documents, list):
        raise InputError(f"The response to query {query!r} has no list response.docs.")
    return documents


def _document_id(query: str, document: Any, name: str) -> str:
    value = document.get(name) if isinstance(document, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"A document of query {query!r} has no id in {name!r}: add it to fl, or pass id=.")
    return str(value)


def _features(where: str, text: object, field: str, separators: tuple[str, str]) -> dict[str, float]:
    if not isinstance(text, str):
        raise InputError(f"{where}: no text in the field {field!r}; does fl have [features]?")
    equals, comma = separators
    features: dict[str, float] = {}
    for part in text.split(comma) if text else []:
        name, sign, value = part.rpartition(equals)
        if not sign or not name:
            raise InputError(f"{where}: expected name{equals}value, found {part[:60]!r}; pass separators=.")
        features[name] = logged_value(value, f"{where}: the feature {name!r}")
    return features

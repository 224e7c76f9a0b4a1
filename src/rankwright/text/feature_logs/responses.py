"""Responses of search engines, one per query, and the documents with the features that they logged."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted
from rankwright.data.dataset import Documents
from rankwright.data.judged_runs import judge
from rankwright.data.readers.trec import Run
from rankwright.text.collections.coverage import CoverageWarning
from rankwright.text.collections.formats.jsonl import parsed_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.data.judged_runs import JudgedRun
    from rankwright.data.readers.trec import Judgements

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
    if isinstance(content, Mapping) and isinstance(content.get("responses"), list):  # a multi-search
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


@dataclass
class LoggedDocuments:
    """Collects documents, with features by name, in the order of the responses."""

    queries: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    features: list[Mapping[str, float]] = field(default_factory=list)

    def add(self, query: str, document: str, features: Mapping[str, float]) -> None:
        """Add one document of a query."""
        self.queries.append(query)
        self.ids.append(document)
        self.features.append(features)

    def documents(
        self, missing: float | Mapping[str, float], judgements: Judgements | None, unjudged: float | None
    ) -> Documents:
        """Return the documents, with labels if there are judgements; what does not match is counted in a warning.

        Parameters
        ----------
        missing
            The value of a feature that was not logged for a document, for all features or by name.
        judgements
            Joined by query and document.
        unjudged
            The label of documents without a judgement; None leaves them out.
        """
        qid = np.array(self.queries, dtype=np.str_)
        run = Run.of(qid, self.ids, np.zeros(len(qid)))  # refuses a document that occurs twice
        names = tuple(dict.fromkeys(name for features in self.features for name in features))
        if not names:
            raise InputError("No features were logged: no response holds a document with features.")
        X = _matrix(self.features, names, missing)
        documents = Documents(X, qid, document_ids=self.ids, feature_names=names, copy=False)
        return documents if judgements is None else _labelled(documents, run, judgements, unjudged)


def _labelled(documents: Documents, run: Run, judgements: Judgements, unjudged: float | None) -> RankingData:
    judged = judge(run, judgements, unjudged=0.0 if unjudged is None else unjudged)
    _warn_of_unmatched(judged, judgements, left_out=unjudged is None)
    labelled = documents.with_labels(judged.labels)
    if unjudged is not None:
        return labelled
    if not judged.judged.any():
        raise InputError("No document of the responses is judged: do the ids of queries and documents match?")
    return labelled.take(judged.judged)


def _matrix(
    features: list[Mapping[str, float]], names: tuple[str, ...], missing: float | Mapping[str, float]
) -> NDArray[np.float32]:
    column = {name: number for number, name in enumerate(names)}
    defaults = missing if isinstance(missing, Mapping) else dict.fromkeys(names, missing)
    X = np.tile(np.array([defaults.get(name, 0.0) for name in names], dtype=np.float32), (len(features), 1))
    for row, values in enumerate(features):
        for name, value in values.items():
            X[row, column[name]] = value
    return X


def _warn_of_unmatched(judged: JudgedRun, judgements: Judgements, *, left_out: bool) -> None:
    """Warn how many documents have no judgement, and how many judgements have no document."""
    n_missing = len(judgements) - int(judged.judged.sum())
    n_unjudged = judged.coverage.n_unjudged_documents
    if n_missing or n_unjudged:
        warnings.warn(
            f"{counted(n_unjudged, 'document')} of {len(judged.labels):,} without a judgement, "
            f"{'left out' if left_out else 'kept with the label of unjudged='}; "
            f"{counted(n_missing, 'judgement')} of {len(judgements):,} for documents that are in no response, "
            f"with those of {counted(len(judged.coverage.queries_not_retrieved), 'query')} without a response.",
            CoverageWarning,
            stacklevel=5,
        )


def logged_value(value: object, where: str) -> float:
    """Return a logged value as a float, NaN for null."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"{where} must be a number, not {str(value)[:60]!r}.")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise InputError(f"{where} must be a number, not {str(value)[:60]!r}.") from None

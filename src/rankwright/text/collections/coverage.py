"""Coverage: judgements for known and unknown queries and documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright.base.wording import counted
from rankwright.data.readers.trec import Judgements
from rankwright.reports.result import Result
from rankwright.text.collections.queries import Queries

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from rankwright.reports.blocks import Block, Section


class CoverageWarning(UserWarning):
    """Some judgements or documents have no counterpart; the message counts them.

    Examples
    --------
    >>> import warnings
    >>> responses = {"q1": {"response": {"docs": [{"id": "d1", "[features]": "bm25=2.5"}]}}}
    >>> with warnings.catch_warnings(action="error", category=rw.text.CoverageWarning):
    ...     rw.text.read_solr_features(responses, rw.text.generated_collection(50, 5).judgements)
    Traceback (most recent call last):
    ...
    rankwright...CoverageWarning: 1 document of 1 without a judgement...
    """


@dataclass(frozen=True, repr=False)
class JudgementCoverage(Result):
    """How many judgements are about known queries and documents; prints as a sentence.

    Parameters
    ----------
    n_judgements
        All judgements.
    n_unknown
        Judgements for an unknown query or an unknown document.
    unknown_queries, unknown_documents
        The ids that are judged but unknown, each once; only documents of known queries are counted.
    queries_without_judgements
        Known queries without a judgement for a known document.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("qrels.txt").write_text("q1 0 d9 1")
    >>> judgements = rw.read_judgements("qrels.txt")
    >>> coverage = rw.text.known_judgements(judgements, queries=["q1"], documents={"d1"}).coverage
    >>> coverage.unknown_documents, coverage.queries_without_judgements, coverage.complete
    (('d9',), ('q1',), False)
    """

    n_judgements: int
    n_unknown: int
    unknown_queries: tuple[str, ...]
    unknown_documents: tuple[str, ...]
    queries_without_judgements: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every judgement is known and every query judged."""
        return not self.n_unknown and not self.queries_without_judgements

    @property
    def summary(self) -> str:
        return (
            f"{counted(self.n_judgements, 'judgement')}, {self.n_unknown:,} of them left out, for "
            f"{_some('unknown query', self.unknown_queries)} and "
            f"{_some('unknown document', self.unknown_documents)}; "
            f"{_some('query', self.queries_without_judgements)} without judgements."
        )

    def blocks(self) -> list[Block | Section]:
        return []


class KnownJudgements(NamedTuple):
    """Judgements for known queries and documents, and what was left out."""

    judgements: Judgements
    coverage: JudgementCoverage


def known_judgements(
    judgements: Judgements, *, queries: Queries | Iterable[str], documents: Container[str]
) -> KnownJudgements:
    """Keep the judgements whose query and document are known, and count the others.

    Parameters
    ----------
    judgements
        The judgements.
    queries
        The known queries, or their ids.
    documents
        The ids of the known documents: a set, or another container with a fast `in`.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> ids = {document.id for document in documents[:50]}
    >>> kept, coverage = rw.text.known_judgements(judgements, queries=queries, documents=ids)
    >>> len(judgements), len(kept)
    (26, 17)
    """
    ids = dict.fromkeys(queries.ids if isinstance(queries, Queries) else queries)
    pairs = list(zip(judgements.qid.tolist(), judgements.document_ids.tolist(), strict=True))
    known = np.array([query in ids and document in documents for query, document in pairs], dtype=bool)
    kept = Judgements(judgements.qid[known], judgements.document_ids[known], judgements.labels[known])
    judged = set(kept.qid.tolist())
    coverage = JudgementCoverage(
        n_judgements=len(judgements),
        n_unknown=int((~known).sum()),
        unknown_queries=_each_once(query for query, _ in pairs if query not in ids),
        unknown_documents=_each_once(name for query, name in pairs if query in ids and name not in documents),
        queries_without_judgements=tuple(query for query in ids if query not in judged),
    )
    return KnownJudgements(kept, coverage)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _some(noun: str, names: tuple[str, ...]) -> str:
    """Return the number of names, and the first of them."""
    shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return counted(len(names), noun) + (f" ({shown})" if names else "")

"""Judged documents with features, and what is known of them: recall, unjudged and unknown documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted, metric_value
from rankwright.data.readers.trec import Judgements
from rankwright.text.analyser import terms_of_texts
from rankwright.text.collections.coverage import known_judgements
from rankwright.text.collections.queries import Queries
from rankwright.text.features.candidates import candidates_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.text.collections.coverage import JudgementCoverage
    from rankwright.text.features.candidates import CandidatesLike
    from rankwright.text.features.feature_set import FeatureSet
    from rankwright.text.index.index import Index
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.text_documents import TextRankingData

IRRELEVANT, DROP = "irrelevant", "drop"


@dataclass(frozen=True, eq=False)
class JudgedFeatures:
    """Judged documents with features; prints as sentences.

    Parameters
    ----------
    data
        The documents; a `RankingData`.
    coverage
        How many judgements are about known queries and documents.
    n_queries
        Queries with a judgement for a document of the index; `data` has those of them that have documents.
    n_candidates
        The documents that were found for the queries, before others were added or left out.
    n_relevant, n_relevant_found
        Judgements of relevant documents of the index (label above 0), and how many are among the candidates.
    recall
        The fraction of a query's relevant documents that are among its candidates: the mean over the queries that
        have any; NaN if none has.
    n_unjudged, unjudged
        Candidates without a judgement, and what became of them: "irrelevant" (label 0) or "drop" (left out).
    n_added
        Judged documents that were added to the candidates.
    queries_without_words
        Queries of which no document has any word.
    """

    data: TextRankingData
    coverage: JudgementCoverage
    n_queries: int
    n_candidates: int
    n_relevant: int
    n_relevant_found: int
    recall: float
    n_unjudged: int
    unjudged: str
    n_added: int
    queries_without_words: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{counted(self.n_candidates, 'candidate')} of {counted(self.n_queries, 'query')}: recall "
            f"{metric_value(self.recall)} ({self.n_relevant_found:,} of {self.n_relevant:,} relevant documents).",
            f"{self._fate()}; {counted(self.n_added, 'judged document')} added.",
            str(self.coverage),
        ]
        if self.queries_without_words:
            lines.append(f"{counted(len(self.queries_without_words), 'query')} without any known word.")
        return "\n".join(lines)

    def _fate(self) -> str:
        """Return what became of candidates without a judgement."""
        unjudged = f"{counted(self.n_unjudged, 'candidate')} without a judgement"
        if self.unjudged == IRRELEVANT:
            return f"{unjudged} counted as not relevant"
        left = self.n_candidates - self.n_unjudged
        return f"{unjudged} left out, {counted(left, 'candidate')} with one kept"


class _Judged(NamedTuple):
    """The documents of one query with their labels."""

    ids: list[str]
    labels: list[float]
    n_candidates: int
    n_unjudged: int
    n_added: int
    n_relevant: int
    n_relevant_found: int


def judged_features(
    features: FeatureSet,
    index: Index,
    queries: Queries,
    judgements: Judgements,
    *,
    candidates: int | CandidatesLike,
    model: RetrievalModel | None,
    judged_too: bool,
    unjudged: str,
    n_jobs: int | None,
) -> JudgedFeatures:
    """Return judged documents with features; see `FeatureSet.judged`."""
    if unjudged not in (IRRELEVANT, DROP):
        raise InputError(f"unjudged must be 'irrelevant' or 'drop', not {unjudged!r}.")
    if not isinstance(judgements, Judgements):
        raise InputError(f"judgements must be Judgements, see read_judgements, not {type(judgements).__name__}.")
    known, coverage = known_judgements(judgements, queries=queries, documents=_KnownDocuments(index, judgements))
    labels = _labels_by_query(known)
    used = Queries.of({query: text for query, text in queries if query in labels})
    if not len(used):
        raise InputError("No query has a judgement for a document of the index.")
    found = _candidate_ids(index, queries, used, candidates, model, n_jobs)
    judged = [
        _judged(ids, labels[query], judged_too=judged_too, drop=unjudged == DROP)
        for query, ids in zip(used.ids, found, strict=True)
    ]
    chosen = {query: one.ids for query, one in zip(used.ids, judged, strict=True)}
    documents = features.documents(index, used, chosen, n_jobs=n_jobs)
    recalls = [one.n_relevant_found / one.n_relevant for one in judged if one.n_relevant]
    return JudgedFeatures(
        data=documents.with_labels([label for one in judged for label in one.labels]),
        coverage=coverage,
        n_queries=len(used),
        n_candidates=sum(one.n_candidates for one in judged),
        n_relevant=sum(one.n_relevant for one in judged),
        n_relevant_found=sum(one.n_relevant_found for one in judged),
        recall=float(np.mean(recalls)) if recalls else float("nan"),
        n_unjudged=sum(one.n_unjudged for one in judged),
        unjudged=unjudged,
        n_added=sum(one.n_added for one in judged),
        queries_without_words=_without_words(index, used),
    )


class _KnownDocuments:
    """The judged documents that are in the index: found together, which is quicker than one by one."""

    def __init__(self, index: Index, judgements: Judgements) -> None:
        ids = list(dict.fromkeys(judgements.document_ids.tolist()))
        self._ids = {one for one, number in zip(ids, index.collection.find(ids), strict=True) if number >= 0}

    def __contains__(self, document: object) -> bool:
        return document in self._ids


def _labels_by_query(judgements: Judgements) -> dict[str, dict[str, float]]:
    labels: dict[str, dict[str, float]] = {}
    rows = zip(judgements.qid.tolist(), judgements.document_ids.tolist(), judgements.labels.tolist(), strict=True)
    for query, document, label in rows:
        labels.setdefault(query, {})[document] = label
    return labels


def _candidate_ids(
    index: Index,
    queries: Queries,
    used: Queries,
    candidates: Any,
    model: RetrievalModel | None,
    n_jobs: int | None,
) -> list[list[str]]:
    """Return the candidates of each used query, found or given."""
    if isinstance(candidates, int | np.integer) and not isinstance(candidates, bool):
        return [one.ids for one in index.search_all(used.texts, model, int(candidates), n_jobs=n_jobs)]
    if model is not None:
        raise InputError("model says how candidates are found: do not give it with the candidates.")
    found = candidates_of(candidates, queries, index.collection)
    return [one.ids for query, one in zip(queries.ids, found, strict=True) if query in used]


def _judged(ids: Sequence[str], labels: dict[str, float], *, judged_too: bool, drop: bool) -> _Judged:
    present = {*ids}
    kept = [one for one in ids if one in labels or not drop]
    added = [one for one in labels if one not in present] if judged_too else []
    relevant = [one for one, label in labels.items() if label > 0]
    return _Judged(
        ids=[*kept, *added],
        labels=[labels.get(one, 0.0) for one in [*kept, *added]],
        n_candidates=len(ids),
        n_unjudged=sum(one not in labels for one in ids),
        n_added=len(added),
        n_relevant=len(relevant),
        n_relevant_found=sum(one in present for one in relevant),
    )


def _without_words(index: Index, queries: Queries) -> tuple[str, ...]:
    """Return the queries of which no document has any word."""
    terms = terms_of_texts(index.analyser, queries.texts)
    words = list({word: None for query in terms for word in query})
    known = np.any(index.collection.statistics(index.fields, words).is_known, axis=0)
    is_known = dict(zip(words, known.tolist(), strict=True))
    return tuple(
        query for query, mine in zip(queries.ids, terms, strict=True) if not any(is_known[word] for word in mine)
    )

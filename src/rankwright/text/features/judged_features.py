"""Judged documents with features; recall of the candidates, unjudged and unknown documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted, metric_value, percent
from rankwright.data.readers.trec import Judgements
from rankwright.reports.blocks import Text
from rankwright.reports.result import Result
from rankwright.text.analyser import terms_of_texts
from rankwright.text.collections.coverage import known_judgements
from rankwright.text.collections.queries import Queries
from rankwright.text.features.candidates import candidates_of
from rankwright.text.retrievers.hybrid import Hybrid
from rankwright.text.retrievers.retriever import BaseRetriever

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankwright.text.collections.coverage import JudgementCoverage
    from rankwright.text.features.candidates import CandidatesLike
    from rankwright.text.features.reranker import RerankingCost
    from rankwright.text.index.index import Index
    from rankwright.text.retrieval import RetrievalModel
    from rankwright.text.text_documents import TextDocuments, TextRankingData

IRRELEVANT, DROP = "irrelevant", "drop"


@dataclass(frozen=True, eq=False, repr=False)
class JudgedFeatures(Result):
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
    recall_of
        The same for what each of several retrievers finds alone, by name; empty if there is one.
    n_unjudged, unjudged
        Candidates without a judgement, and what became of them: "irrelevant" (label 0) or "drop" (left out).
    n_added
        Judged documents that were added to the candidates.
    n_known
        Relevant documents among the candidates that are relevant for another query too. Rankers can learn to
        recognise them, which does not help with documents that are new: see `make_folds(new_documents=True)`.
    queries_without_words
        Queries of which no document has any word.
    costs
        What the scores of each `CachedReranker` among the features cost.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> judged = rw.text.FeatureSet(["BM25"]).judged(index, queries, judgements, candidates=20)
    >>> judged.data.X.shape, round(judged.recall, 2)
    ((160, 6), 0.81)
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
    n_known: int
    queries_without_words: tuple[str, ...]
    recall_of: Mapping[str, float] = field(default_factory=dict)
    costs: tuple[RerankingCost, ...] = ()

    @property
    def summary(self) -> str:
        return (
            f"{counted(self.n_candidates, 'candidate')} of {counted(self.n_queries, 'query')}: recall "
            f"{metric_value(self.recall)} ({self.n_relevant_found:,} of {self.n_relevant:,} relevant documents)."
        )

    def blocks(self) -> Iterator[Text]:
        if self.recall_of:
            alone = ", ".join(f"{name} {metric_value(recall)}" for name, recall in self.recall_of.items())
            yield Text(f"Recall of each retriever alone: {alone}.")
        unjudged = f"{counted(self.n_unjudged, 'candidate')} without a judgement"
        if self.unjudged == IRRELEVANT:
            outcome = f"{unjudged} counted as not relevant"
        else:
            kept = self.n_candidates - self.n_unjudged
            outcome = f"{unjudged} left out, {counted(kept, 'candidate')} with one kept"
        yield Text(f"{outcome}; {counted(self.n_added, 'judged document')} added.")
        yield Text(self.coverage.summary)
        if self.n_known:
            fraction = percent(self.n_known / int(np.count_nonzero(self.data.y > 0)))
            yield Text(
                f"{fraction} of the relevant candidates are relevant for several queries, and a ranker can learn "
                "to recognise them: compare rankers on new documents, too (crossval --new-documents)."
            )
        if self.queries_without_words:
            yield Text(f"{counted(len(self.queries_without_words), 'query')} without any known word.")
        for cost in self.costs:
            yield Text(cost.summary)

    def to_dict(self) -> dict[str, Any]:
        coverage = self.coverage
        return {
            "queries": self.n_queries,
            "recall": self.recall,
            **({"recall_by_source": {**self.recall_of}} if self.recall_of else {}),
            "relevant": self.n_relevant,
            "relevant_found": self.n_relevant_found,
            "candidates": self.n_candidates,
            "unjudged_candidates": self.n_unjudged,
            "unjudged": self.unjudged,
            "judged_added": self.n_added,
            "relevant_for_several": self.n_known,
            "judgements": coverage.n_judgements,
            "judgements_left_out": coverage.n_unknown,
            "unknown_queries": [*coverage.unknown_queries],
            "unknown_documents": [*coverage.unknown_documents],
            "queries_without_judgements": [*coverage.queries_without_judgements],
            "queries_without_words": [*self.queries_without_words],
            **({"rerankers": [cost.to_dict() for cost in self.costs]} if self.costs else {}),
        }


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
    compute: Callable[[Index, Queries, CandidatesLike], TextDocuments],
    index: Index,
    queries: Queries,
    judgements: Judgements,
    *,
    candidates: int | CandidatesLike,
    model: RetrievalModel | BaseRetriever | None,
    judged_too: bool,
    unjudged: str,
    n_jobs: int | None,
) -> JudgedFeatures:
    """Return judged documents with the features that `compute` gives candidates; see `FeatureSet.judged`."""
    if unjudged not in (IRRELEVANT, DROP):
        raise InputError(f"{parameter('unjudged')} must be 'irrelevant' or 'drop', not {unjudged!r}.")
    if not isinstance(judgements, Judgements):
        raise InputError(f"judgements must be Judgements, see read_judgements, not {type(judgements).__name__}.")
    known, coverage = known_judgements(judgements, queries=queries, documents=_KnownDocuments(index, judgements))
    labels = _labels_by_query(known)
    used = Queries.of({query: text for query, text in queries if query in labels})
    if not len(used):
        raise InputError("No query has a judgement for a document of the index.")
    lists = _candidate_ids(index, queries, used, candidates, model, n_jobs)
    judged = [
        _judged(ids, labels[query], judged_too=judged_too, drop=unjudged == DROP)
        for query, ids in zip(used.ids, lists, strict=True)
    ]
    chosen = {query: judged_query.ids for query, judged_query in zip(used.ids, judged, strict=True)}
    documents = compute(index, used, chosen)
    data = documents.with_labels([label for judged_query in judged for label in judged_query.labels])
    return JudgedFeatures(
        data=data,
        coverage=coverage,
        n_queries=len(used),
        n_candidates=sum(judged_query.n_candidates for judged_query in judged),
        n_relevant=sum(judged_query.n_relevant for judged_query in judged),
        n_relevant_found=sum(judged_query.n_relevant_found for judged_query in judged),
        recall=_mean_recall(judged),
        n_unjudged=sum(judged_query.n_unjudged for judged_query in judged),
        unjudged=unjudged,
        n_added=sum(judged_query.n_added for judged_query in judged),
        n_known=_n_known(data),
        queries_without_words=_without_words(index, used),
        recall_of=_recall_by_source(index, used, candidates, model, labels, n_jobs),
    )


def _recall_by_source(
    index: Index, queries: Queries, candidates: Any, model: Any, labels: dict[str, dict[str, float]], n_jobs: Any
) -> dict[str, float]:
    """Return the mean recall of each of several retrievers."""
    if not isinstance(model, Hybrid):
        return {}
    recalls = {}
    by_source = model.found(index, queries, candidates, n_jobs=n_jobs)
    for name, lists in zip(model.sources(index), by_source, strict=True):
        judged = [
            _judged(results.ids, labels[query], judged_too=False, drop=False)
            for query, results in zip(queries.ids, lists, strict=True)
        ]
        recalls[name] = _mean_recall(judged)
    return recalls


def _mean_recall(judged: Sequence[_Judged]) -> float:
    recalls = [query.n_relevant_found / query.n_relevant for query in judged if query.n_relevant]
    return float(np.mean(recalls)) if recalls else float("nan")


def _n_known(data: TextRankingData) -> int:
    """Return the number of relevant rows whose document is relevant for another query too."""
    _, counts = np.unique(data.document_numbers[data.y > 0], return_counts=True)
    return int(counts[counts > 1].sum())


class _KnownDocuments:
    """The judged documents that are in the index: found together, which is quicker than one by one."""

    def __init__(self, index: Index, judgements: Judgements) -> None:
        ids = list(dict.fromkeys(judgements.document_ids.tolist()))
        self._ids = {name for name, number in zip(ids, index.snapshot.find(ids), strict=True) if number >= 0}

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
    model: RetrievalModel | BaseRetriever | None,
    n_jobs: int | None,
) -> list[list[str]]:
    """Return the candidates of each used query, found or given."""
    if isinstance(candidates, int | np.integer) and not isinstance(candidates, bool):
        if isinstance(model, BaseRetriever):
            return [results.ids for results in model.find(index, used, int(candidates), n_jobs=n_jobs)]
        return [results.ids for results in index.search_all(used.texts, model, int(candidates), n_jobs=n_jobs)]
    if model is not None:
        raise InputError("model says how candidates are found: do not give it with the candidates.")
    candidates_found = candidates_of(candidates, queries, index.snapshot)
    return [results.ids for query, results in zip(queries.ids, candidates_found, strict=True) if query in used]


def _judged(ids: Sequence[str], labels: dict[str, float], *, judged_too: bool, drop: bool) -> _Judged:
    present = {*ids}
    kept = [name for name in ids if name in labels or not drop]
    added = [name for name in labels if name not in present] if judged_too else []
    relevant = [name for name, label in labels.items() if label > 0]
    return _Judged(
        ids=[*kept, *added],
        labels=[labels.get(name, 0.0) for name in [*kept, *added]],
        n_candidates=len(ids),
        n_unjudged=sum(name not in labels for name in ids),
        n_added=len(added),
        n_relevant=len(relevant),
        n_relevant_found=sum(name in present for name in relevant),
    )


def _without_words(index: Index, queries: Queries) -> tuple[str, ...]:
    """Return the queries of which no document has any word."""
    terms = terms_of_texts(index.analyser, queries.texts)
    words = list({word: None for query in terms for word in query})
    known = np.any(index.snapshot.statistics(index.fields, words).is_known, axis=0)
    is_known = dict(zip(words, known.tolist(), strict=True))
    return tuple(
        query for query, mine in zip(queries.ids, terms, strict=True) if not any(is_known[word] for word in mine)
    )

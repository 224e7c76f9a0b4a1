"""The query card: the lists of several systems for some of the queries, in a query browser."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.cards.data_sheet import feature_names_of
from rankwright.crossval.out_of_fold import HeldOutModels
from rankwright.data.alignment import aligned
from rankwright.data.dataset import RankingData
from rankwright.data.groups import Ranking
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.evaluate import judgements_of
from rankwright.models.other_libraries import scores_by
from rankwright.models.scorer import scorer_of
from rankwright.reports.blocks import Note, Section, Text
from rankwright.reports.query_browser import BrowsedQuery, Listed, Moved, QueryBrowser
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report
    from rankwright.models.scorer import Scorer
    from rankwright.reports.blocks import Block


MAX_SYSTEMS = 8
MAX_ENTRIES = 12_000  # documents in all lists together
MAX_QUERIES = 100
LONGEST_LIST = 20
NUMBER = re.compile(r"[-+]?[0-9.]+([eE][-+]?[0-9]+)?")
CAUSES = 3  # features per document
EXPLAINED_DOCUMENTS = 6_000  # of whole queries; contributions of many trees take a while


@dataclass(frozen=True, eq=False, repr=False)
class QueryCard(Result):
    """The lists of several systems for some of the queries, side by side in a query browser.

    `introduction` explains the lists; `notes` say what the page leaves out, and how queries were ranked.
    """

    browser: QueryBrowser
    introduction: str
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        systems: Mapping[str, Any],
        report: Report,
        data: RankingData,
        *,
        judged: NDArray[np.bool_] | None = None,
        notes: Sequence[str] = (),
        n_jobs: int | None = None,
    ) -> QueryCard:
        """Choose the queries in which systems differ most, and some others.

        Parameters
        ----------
        systems
            Fitted rankers, scorers or scores by name, as for `evaluate`; the first eight are kept. Documents with
            the score minus infinity were not retrieved.
        report
            Their evaluation on these queries, and perhaps on others.
        data
            The judged documents.
        judged
            Whether each of them was judged, if some were not; their labels are not shown.
        notes
            Sentences to add below the lists.
        """
        kept = [name for name in systems if name in report.systems][:MAX_SYSTEMS]
        numbers = {str(query): number for number, query in enumerate(report.queries)}
        order = [numbers[str(query)] for query in data.groups.ids]
        values = np.array([report.per_query(name, report.metrics[0])[order] for name in kept])
        chosen = chosen_queries(values, data.groups.sizes)
        rows = np.concatenate(
            [data.groups.rows[slice(*data.groups.offsets[[query, query + 1]])] for query in chosen]
        )
        part, threads = data.take(rows), resolve_threads(n_jobs)  # its queries are numbered as they were chosen
        lists = [_SystemLists.of(of_rows(systems[name], rows), part, threads) for name in kept]
        names = part.document_names.tolist()
        labels = part.y if judged is None else np.where(judged[rows], part.y, np.nan)
        of_queries, of_documents = _shown_columns(part)
        queries = [
            replace(
                _browsed(str(data.groups.ids[query]), values[:, query], own, names, labels, lists, of_documents),
                text=", ".join(texts[own[0]] for texts in of_queries if texts[own[0]]),
            )
            for query, own in zip(chosen, part.groups, strict=True)
        ]
        highest = max(0.0, float(data.y.max()))
        browser = QueryBrowser(report.metrics[0], kept, feature_names_of(data), queries, highest)
        introduction = _introduction(lists, some_unjudged=bool(np.isnan(labels).any()))
        return cls(browser, introduction, (_left_out(browser, report), *notes))

    @property
    def title(self) -> str:
        """The heading on a page."""
        return "Query browser"

    @property
    def summary(self) -> str:
        """How many queries and systems there are to look at."""
        queries, systems = (
            counted(len(self.browser.queries), "query"),
            counted(len(self.browser.systems), "system"),
        )
        return f"The lists of {systems} for {queries}."

    def blocks(self) -> list[Block | Section]:
        """Return the query browser with its notes."""
        return [Text(self.introduction), self.browser, *map(Note, self.notes)]


def chosen_queries(values: Doubles, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the queries to keep: half of them those in which two systems differ most, the others at random.

    `values` has one row per system and one column per query. If all fit, they are all kept.
    """
    known = np.where(np.isfinite(values), values, 0.0)
    by_difference = np.argsort(-np.ptp(known, axis=0), kind="stable")
    at_random = np.random.default_rng(0).permutation(len(sizes))
    alternately = np.ravel(np.column_stack([by_difference, at_random]))
    _, first = np.unique(alternately, return_index=True)
    order = alternately[np.sort(first)]
    entries = np.cumsum(np.minimum(sizes[order], LONGEST_LIST)) * len(values)
    return order[: max(1, min(MAX_QUERIES, int((entries <= MAX_ENTRIES).sum())))]


def _shown_columns(data: RankingData) -> tuple[list[NDArray[np.object_]], list[NDArray[np.object_]]]:
    """Return the columns to show that have one value per query, and the others; numbers with the column's name."""
    firsts = data.groups.rows[data.groups.offsets[:-1]][data.groups.query_of_row]
    of_queries: list[NDArray[np.object_]] = []
    of_documents: list[NDArray[np.object_]] = []
    for name, texts in data.shown.items():
        known = [text for text in texts if text]
        if all(NUMBER.fullmatch(text) for text in known):
            texts = np.array([text and f"{name} {text}" for text in texts], dtype=object)
        (of_queries if (texts == texts[firsts]).all() else of_documents).append(texts)
    return of_queries, of_documents


def of_rows(system: Any, rows: NDArray[np.int64]) -> Any:
    """Return a system for some of the documents: itself, or their scores."""
    return system if hasattr(system, "predict") else np.asarray(system)[rows]


class _SystemLists(NamedTuple):
    """One system's scores and ranks of some documents, and the features that moved them, by row."""

    scores: Doubles
    ranks: NDArray[np.int64]
    causes: Mapping[int, Sequence[Moved]]

    def ranks_of(self, rows: NDArray[np.int64]) -> list[int | None]:
        """Return the ranks of documents, None for those that were not retrieved."""
        pairs = zip(self.ranks[rows].tolist(), self.scores[rows].tolist(), strict=True)
        return [None if score == -np.inf else rank for rank, score in pairs]

    @classmethod
    def of(cls, system: Any, part: RankingData, threads: int) -> _SystemLists:
        given = scores_by(system, part, n_threads=threads) if hasattr(system, "predict") else system
        scores = np.asarray(given, dtype=np.float64)
        ranks = Ranking.of(scores, part.groups, n_jobs=threads).ranks()
        return cls(scores, ranks, _causes(system, part, ranks, threads))


def _causes(
    system: Any, part: RankingData, ranks: NDArray[np.int64], threads: int
) -> Mapping[int, Sequence[Moved]]:
    """Return, for the documents of the lists, the features that move them most; none for plain scores."""
    if not len(part):
        return {}
    n_queries = max(1, int(np.searchsorted(np.cumsum(part.groups.sizes), EXPLAINED_DOCUMENTS, side="right")))
    explained = np.flatnonzero(part.groups.query_of_row < n_queries)
    causes: dict[int, Sequence[Moved]] = {}
    for model, rows in models_of(system, part.take(explained)):
        causes |= _moved_by(model, part, explained[rows], ranks, threads)
    return causes


def models_of(system: Any, data: RankingData) -> Iterator[tuple[Scorer, NDArray[np.int64]]]:
    """Yield the models of a system, each with the rows that it scores; none for plain scores."""
    if isinstance(system, HeldOutModels):
        yield from system.parts(data)
    elif (model := scorer_of(system)) is not None:
        yield model, np.arange(len(data))


def _moved_by(
    model: Scorer, part: RankingData, rows: NDArray[np.int64], ranks: NDArray[np.int64], threads: int
) -> dict[int, Sequence[Moved]]:
    """Return what moves these documents, by row; empty if the model has no contributions.

    A contribution is relative to the mean of the query's documents: what all of them share moves none of them.
    """
    explained = part.take(rows)
    try:
        contributions = model.contributions(explained, n_jobs=threads)[:, :-1]
    except InputError:
        return {}
    features, number_of = aligned(explained, model).X, _feature_numbers(model, explained)
    for own in explained.groups:
        contributions[own] -= contributions[own].mean(axis=0)
    strongest = np.argsort(-np.abs(contributions), axis=1, kind="stable")[:, :CAUSES]
    return {
        int(row): [
            Moved(number_of[feature], float(features[index, feature]), float(contributions[index, feature]))
            for feature in strongest[index]
            if contributions[index, feature] != 0.0
        ]
        for index, row in enumerate(rows)
        if ranks[row] <= LONGEST_LIST
    }


def _feature_numbers(model: Scorer, data: RankingData) -> list[int]:
    """Return, for each feature of the model, its number among those of the data."""
    if model.feature_names is None or data.feature_names is None:
        return list(range(model.n_features))
    numbers = {name: number for number, name in enumerate(data.feature_names)}
    return [numbers[name] for name in model.feature_names]


def _browsed(
    name: str,
    values: Doubles,
    rows: NDArray[np.int64],
    names: Sequence[str],
    labels: Doubles,
    lists: Sequence[_SystemLists],
    shown: Sequence[NDArray[np.object_]],
) -> BrowsedQuery:
    """Return a query with the documents that are in any system's list."""
    highest = np.min([listed.ranks[rows] for listed in lists], axis=0)
    kept = rows[highest <= LONGEST_LIST]
    number_of = {int(row): number for number, row in enumerate(kept)}
    return BrowsedQuery(
        id=name,
        values=values.tolist(),
        n_documents=len(rows),
        n_relevant=int((labels[rows] > 0).sum()),
        documents=[names[row] for row in kept],
        labels=labels[kept].tolist(),
        ranks=[listed.ranks_of(kept) for listed in lists],
        lists=[
            [
                Listed(number_of[row], float(listed.scores[row]), listed.causes.get(row, ()))
                for row in rows[np.argsort(listed.ranks[rows])][:LONGEST_LIST].tolist()
                if listed.scores[row] > -np.inf
            ]
            for listed in lists
        ],
        details=[[texts[row] for texts in shown if texts[row]] for row in kept] if shown else (),
    )


def _introduction(lists: Sequence[_SystemLists], *, some_unjudged: bool) -> str:
    explained = (
        " Below a document are the features that moved it most: their contribution to its score, relative to the "
        "mean of the query's documents."
    )
    unjudged = " or a dash if the document was not judged" if some_unjudged else ""
    return (
        f"Two systems' lists of the same query. The number in a box is the label{unjudged}; an arrow says how "
        "many ranks higher or lower a document is than in the other list."
        + (explained if any(listed.causes for listed in lists) else "")
    )


def _left_out(browser: QueryBrowser, report: Report) -> str:
    kept, all_queries = len(browser.kept), len(report.queries)
    sentences = [f"Each list has at most {LONGEST_LIST} documents."]
    if kept < all_queries:
        sentences.insert(
            0,
            f"This page keeps {kept:,} of {counted(all_queries, 'query')}: those in which systems differ most, "
            "and as many at random.",
        )
    if len(browser.systems) < len(report.systems):
        sentences.append(f"{len(browser.systems)} of {counted(len(report.systems), 'system')} are kept.")
    return " ".join(sentences)


class Browsable(NamedTuple):
    """Systems for the query browser, with scores instead of runs, and the documents of measured queries.

    `judged` says which documents were judged; None if all of them were.
    """

    systems: dict[str, Any]
    data: RankingData
    judged: NDArray[np.bool_] | None = None


def browsable(systems: Mapping[str, Any], report: Report, data: RankingData | Judgements) -> Browsable:
    """Return the first systems for the query browser.

    A document that a run did not retrieve has the score minus infinity. If all systems are runs, documents without
    a judgement are there too.
    """
    kept = dict(list(systems.items())[:MAX_SYSTEMS])
    runs = {name: system for name, system in kept.items() if isinstance(system, Run)}
    if len(runs) == len(kept):
        return _of_runs(runs, report, judgements_of(data))
    if isinstance(data, Judgements):  # scores of judged documents
        data = _without_features(data.qid, data.document_ids, data.labels)
    named = {pair: row for row, pair in enumerate(judgements_of(data).pairs())} if runs else {}
    kept |= {name: data.scores_by(column) for name, column in kept.items() if isinstance(column, str)}
    scored = {name: _scores(system, named) if name in runs else system for name, system in kept.items()}
    rows = np.flatnonzero(np.isin(data.qid.astype(np.str_), list(map(str, report.queries))))
    if len(rows) < len(data):
        data = data.take(rows)
        scored = {name: of_rows(system, rows) for name, system in scored.items()}
    return Browsable(scored, data)


def _of_runs(runs: Mapping[str, Run], report: Report, judgements: Judgements) -> Browsable:
    """Return the documents of some queries that were judged or retrieved, and their scores by each run."""
    values = np.array([report.per_query(name, report.metrics[0]) for name in runs])
    chosen = chosen_queries(values, report.query_facts["documents"])
    queries = {str(report.queries[query]) for query in chosen}
    labels = {
        pair: label
        for pair, label in zip(judgements.pairs(), judgements.labels.tolist(), strict=True)
        if pair[0] in queries
    }
    n_judged = len(labels)
    for run in runs.values():
        labels |= {pair: 0.0 for pair in run.pairs() if pair[0] in queries and pair not in labels}
    named = {pair: row for row, pair in enumerate(labels)}
    ids, documents = zip(*labels, strict=True)
    data = _without_features(np.array(ids), np.array(documents, dtype=object), np.array([*labels.values()]))
    scores = {name: _scores(run, named) for name, run in runs.items()}
    return Browsable(scores, data, np.arange(len(labels)) < n_judged)


def _scores(run: Run, named: Mapping[tuple[str, str], int]) -> Doubles:
    """Return a run's score of each named document; minus infinity for those that it did not retrieve."""
    scores = np.full(len(named), -np.inf)
    for pair, score in zip(run.pairs(), run.scores.tolist(), strict=True):
        row = named.get(pair)
        if row is not None:
            scores[row] = score
    return scores


def _without_features(qid: NDArray[Any], document_ids: NDArray[np.object_], labels: Doubles) -> RankingData:
    return RankingData(np.zeros((len(labels), 0), np.float32), labels, qid, document_ids=document_ids)

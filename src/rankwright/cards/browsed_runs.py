"""Runs for the query browser: their scores of judged documents, and of those that any run retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.cards.query_browser import MOST_SYSTEMS, chosen_queries, of_rows
from rankwright.data.dataset import RankingData
from rankwright.data.readers.trec import Judgements, Run
from rankwright.evaluation.evaluate import judgements_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.evaluation.report import Report


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
    kept = dict(list(systems.items())[:MOST_SYSTEMS])
    runs = {name: system for name, system in kept.items() if isinstance(system, Run)}
    if len(runs) == len(kept):
        return _of_runs(runs, report, judgements_of(data))
    if isinstance(data, Judgements):  # scores of judged documents
        data = _without_features(data.qid, data.document_ids, data.labels)
    named = {pair: row for row, pair in enumerate(judgements_of(data).pairs())} if runs else {}
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

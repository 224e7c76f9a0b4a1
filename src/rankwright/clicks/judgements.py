"""Judgements from clicks: the attraction that a click model estimates, as labels and weights of documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.wording import counted, rounded_percent
from rankwright.clicks.counts import ClickCounts
from rankwright.clicks.log import ClickLog, coded
from rankwright.clicks.models.click_model import ClickModel
from rankwright.clicks.models.fitting import fit_click_model
from rankwright.clicks.models.rates import PropensityRates
from rankwright.clicks.position_bias import Propensities
from rankwright.data.dataset import Documents, RankingData
from rankwright.reports.blocks import Facts, Note
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.reports.blocks import Block

HIGHEST = 4.0  # label of a document that always attracts
LEAST_WEIGHT = 0.01


@dataclass(frozen=True, repr=False, eq=False)
class ClickJudgements(Result):
    """Documents with labels and weights from clicks.

    Parameters
    ----------
    data
        The documents that were shown, with labels from 0 to 4: log2(1 + 15 x attraction), so that the gain of
        NDCG, 2^label - 1, is proportional to attraction.
    weights
        How much of the uncertainty about a document its clicks have removed, one per document: near 1 if it was
        shown often, near 0 if its label is little more than the mean.
    rows
        The row of each document in the data that were given.
    n_unseen
        Documents that were never shown, and are left out.
    n_unknown
        Pairs of query and document of the log that are not among the documents.
    model
        The click model.

    Examples
    --------
    >>> data = rw.synthetic.polynomial_queries(50, n_documents=5, seed=2)
    >>> log = rw.clicks.simulate(data, {"old": data.X[:, 0], "new": data.X[:, 1]}, sessions=100)
    >>> judged = rw.clicks.click_judgements(log, data)
    >>> isinstance(judged, rw.clicks.ClickJudgements)
    True
    >>> ranker = rw.LambdaMART(rounds=20, n_jobs=1).fit(judged.data, sample_weight=judged.weights)
    """

    data: RankingData
    weights: Doubles
    rows: Integers
    n_unseen: int
    n_unknown: int
    model: ClickModel

    @property
    def summary(self) -> str:
        documents, queries = counted(len(self.data), "document"), counted(len(self.data.groups), "query")
        trust = rounded_percent(float(self.weights.mean()))
        return f"{documents} of {queries} judged by the {self.model.name}, with a mean weight of {trust}."

    def blocks(self) -> Iterator[Block]:
        yield Facts(
            {
                "documents never shown": self.n_unseen,
                "documents of the log that are unknown": self.n_unknown,
                "mean label": float(self.data.y.mean()),
            }
        )
        for note in self.model.notes:
            yield Note(note)

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": len(self.data),
            "unseen": self.n_unseen,
            "unknown": self.n_unknown,
            "labels": self.data.y.tolist(),
            "weights": self.weights.tolist(),
            "model": self.model.name,
            "notes": list(self.model.notes),
        }


def click_judgements(
    log: ClickLog | ClickCounts, data: Documents, model: str | ClickModel | Propensities = "position"
) -> ClickJudgements:
    """Return documents with labels and weights from clicks, to train any ranker on.

    Parameters
    ----------
    log
        A log or its counts; queries and documents are found in the data by their ids.
    data
        Documents, judged or not; labels are replaced.
    model
        The name of a click model that estimates attraction, or one that was fitted: `position`, `browsing`,
        `cascade`, `dependent`, `simplified_bayesian`, `bayesian`, or `document_rates`, which ignores positions. Or
        propensities, with which impressions are weighted, as from an experiment.

    Examples
    --------
    >>> data = rw.Documents([[0.1], [0.7], [0.4]], ["hats"] * 3, document_ids=["d1", "d2", "d3"])
    >>> log = rw.clicks.from_sessions([("hats", ["d1", "d2"], [0, 1]), ("hats", ["d2", "d1"], [1, 0])])
    >>> judged = rw.clicks.click_judgements(log, data)
    >>> judged.data.document_ids.tolist(), bool(judged.data.y[1] > judged.data.y[0]), judged.n_unseen
    (['d1', 'd2'], True, 1)
    """
    require_type(data, Documents, "click_judgements takes Documents or RankingData")
    fitted = _fitted(log, model)
    estimates = fitted.estimates().get("attraction")
    if estimates is None:
        raise InputError(f"The {fitted.name} has no attraction of documents to make labels of.")
    queries = coded(np.array([str(name) for name in data.groups.ids], dtype=object), "query")
    documents = coded(data.document_names, "document")
    pairs = estimates.find(queries.codes[data.groups.query_of_row], documents.codes, queries.ids, documents.ids)
    rows = np.flatnonzero(pairs >= 0)
    if len(rows) == 0:
        raise InputError("No query and document of the log is among the documents; do their ids agree?")
    shown = pairs[rows]
    prior = estimates.prior
    variance = prior.mean * (1.0 - prior.mean) / (prior.strength + 1.0)
    weights = np.clip(1.0 - estimates.errors[shown] ** 2 / max(variance, 1e-12), LEAST_WEIGHT, 1.0)
    gains = (2.0**HIGHEST - 1.0) * np.clip(estimates.values[shown], 0.0, 1.0)
    # Rounded, because the last digits of estimates differ between processors, and models would differ with them.
    judged = data.take(rows).with_labels(np.round(np.log2(1.0 + gains), 6))
    n_unknown = len(estimates) - len(np.unique(shown))
    return ClickJudgements(judged, weights, rows, len(data) - len(rows), n_unknown, fitted)


def _fitted(log: ClickLog | ClickCounts, model: str | ClickModel | Propensities) -> ClickModel:
    if isinstance(model, ClickModel):
        return model
    if isinstance(model, str):
        return fit_click_model(log, model)
    require_type(model, Propensities, "model must be the name of a click model, a fitted one or Propensities")
    counts = ClickCounts.of(log) if isinstance(log, ClickLog) else log
    last = int(counts.position.max(initial=0))
    trust = np.zeros(last + 1) if model.trust is None else model.by_position(last, model.trust)
    return PropensityRates.fit(counts, model.by_position(last), trust)

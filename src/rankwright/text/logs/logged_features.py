"""Documents that a search engine retrieved, with the features that it logged."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.data.dataset import Documents
from rankwright.data.judged_runs import judge
from rankwright.data.readers.trec import Run
from rankwright.text.collections.coverage import CoverageWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.data.judged_runs import JudgedRun
    from rankwright.data.readers.trec import Judgements


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
    _warn_of_gaps(judged, judgements, left_out=unjudged is None)
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
    values = missing if isinstance(missing, Mapping) else dict.fromkeys(names, missing)
    X = np.tile(np.array([values.get(name, 0.0) for name in names], dtype=np.float32), (len(features), 1))
    for row, values in enumerate(features):
        for name, value in values.items():
            X[row, column[name]] = value
    return X


def _warn_of_gaps(judged: JudgedRun, judgements: Judgements, *, left_out: bool) -> None:
    """Count in a warning the judgements and documents without a counterpart."""
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


def number_of(value: object, where: str) -> float:
    """Return a logged value; null is missing."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InputError(f"{where} must be a number, not {str(value)[:60]!r}.")
    try:
        return float(value)
    except (ValueError, OverflowError):
        raise InputError(f"{where} must be a number, not {str(value)[:60]!r}.") from None

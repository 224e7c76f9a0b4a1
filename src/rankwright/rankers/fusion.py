"""Fusion of the scores of several retrievers: fixed, or with learned weights that are shrunk to the fixed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.data.fusion import FusionMethod, comparable
from rankwright.models.fusion import FusionScorer
from rankwright.rankers.parameters.checks import Flag, OneOf, Real
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.ranker import Ranker
from rankwright.text.retrievers.columns import score_columns
from rankwright.training.fusion_weights import shrunk_weights
from rankwright.training.history import History

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents, RankingData
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask

FIXED = {"RRF": FusionMethod.RRF, "z-scores": FusionMethod.ZSCORE, "min-max": FusionMethod.MINMAX}
METHODS = tuple(method.value for method in FusionMethod)


class Fusion(Ranker):
    """The weighted sum of the scores of several retrievers, each brought to one scale within the query.

    Weights maximise the likelihood of the relevant documents, with a prior at equal weights, the fixed fusion. So
    with few judged queries they stay close to it, and a retriever that finds nothing relevant still loses its
    weight. It is fitted on what `rankwright.text.FeatureSet(retrieval=Hybrid(...)).judged` makes, or on a file of
    that: the scores are the features that are called "NAME: retrieval score".

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> retrieval = rw.text.Hybrid([rw.text.BM25(), rw.text.Dirichlet(mu=50)])
    >>> judged = rw.text.FeatureSet(["BM25"], retrieval=retrieval).judged(index, queries, judgements)
    >>> rw.Fusion(learned=False).fit(judged.data).model_
    FusionScorer(zscore, weights 1, 1)
    """

    name: ClassVar[str] = "fusion"
    needs_text: ClassVar[bool] = True

    method: str = parameter(
        OneOf(METHODS),
        "How scores are brought to one scale within the query: deviations from the mean in standard deviations, "
        "from 0 to 1, or 1 / (60 + rank).",
        default=FusionMethod.ZSCORE.value,
    )
    learned: bool = parameter(Flag(), "Whether weights are learned. False: all are 1.", default=True)
    strength: float = parameter(
        Real(above=0.0),
        "Number of judged queries that the prior is worth: weights stay close to 1 with fewer.",
        default=5.0,
    )

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        data, method = task.train.data, FusionMethod(self.method)
        columns = _columns_of(data)
        weights = np.ones(len(columns))
        if self.learned:
            scores = np.ascontiguousarray(data.X[:, columns], np.float32)
            values = comparable(scores, data.groups, method, task.n_threads)
            weights = shrunk_weights(values, data.y, data.groups, _query_weights(data, task), self.strength)
        scorer = FusionScorer(columns, weights, method, n_features=task.train.n_features)
        reason = "weights of maximum likelihood" if self.learned else "weights are fixed"
        return scorer, History((), 0, reason=reason)


def fixed_fusions(data: Documents) -> dict[str, Scorer]:
    """Return the fixed fusions of the retrievers whose scores documents have, as systems to compare with.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> retrieval = rw.text.Hybrid([rw.text.BM25(), rw.text.Dirichlet(mu=50)])
    >>> data = rw.text.FeatureSet(["BM25"], retrieval=retrieval).judged(index, queries, judgements).data
    >>> rw.compare(rw.fixed_fusions(data), data, metrics="map", baseline="RRF").systems
    ('RRF', 'z-scores', 'min-max')
    """
    columns = _columns_of(data)
    return {
        name: FusionScorer(
            columns,
            np.ones(len(columns)),
            method,
            n_features=data.n_features,
            feature_names=data.feature_names,
            categories=data.categories,
        )
        for name, method in FIXED.items()
    }


def has_sources(data: Documents) -> bool:
    """Return whether documents have scores of several retrievers."""
    return len(score_columns(data.feature_names or ())) > 1


def _columns_of(data: Documents) -> Integers:
    """Return the features that are scores of retrievers."""
    known = data.feature_names or ()
    columns = [known.index(name) for name in score_columns(known)]
    if len(columns) < 2:
        raise InputError(
            "Fusion needs the scores of several retrievers: make features by FeatureSet(retrieval=Hybrid([...]))."
        )
    return np.array(columns, np.int64)


def _query_weights(data: RankingData, task: FitTask) -> Doubles:
    if task.row_weights is None:
        return np.ones(len(data.groups))
    return np.asarray(data.groups.reduce(np.add, task.row_weights) / data.groups.sizes)

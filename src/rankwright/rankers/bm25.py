"""BM25 with tuned parameters (Robertson et al. 1994), as a ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rankwright.rankers.parameters.checks import Flag, OneOf, Real
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.shared.retrieval_ranker import WEIGHT, Axis, RetrievalRanker, Setting
from rankwright.text.retrieval import BM25, METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


# The usual values come first: of settings with equal values the first is kept.
K1 = Axis((1.2, 0.6, 2.4, 0.3, 4.8), 0.01, 100.0, step=2.0, log=True)
B = Axis((0.75, 0.5, 0.25, 1.0, 0.0), 0.0, 1.0, step=0.25)
WEIGHTS = (1.0, 0.25, 4.0)  # times the weight in the index


class BM25Ranker(RetrievalRanker):
    """BM25 whose parameters are tuned for the metric on the training queries.

    It scores the text that documents stand for, so it is fitted on what `rankwright.text.FeatureSet.judged` makes;
    their features do not matter. Scores are those of `Index.search` with the same parameters.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> judged = rw.text.FeatureSet("BM25").judged(index, queries, judgements, candidates=20)
    >>> rw.BM25Ranker("map", k1=1.2).fit(judged.data).model_  # b is tuned
    RetrievalScorer(bm25, k1=1.2, b=1)
    """

    name: ClassVar[str] = "bm25"

    k1: float | None = parameter(
        Real(least=0.0, optional=True),
        "How slowly the score grows with the frequency of a word. None: tuned.",
        default=None,
    )
    b: float | None = parameter(
        Real(least=0.0, most=1.0, optional=True),
        "How much long documents are penalised, between 0 and 1. None: tuned.",
        default=None,
    )
    method: str = parameter(
        OneOf(METHODS), "Formula of the inverse document frequency; see `rankwright.text.BM25`.", default="lucene"
    )
    tune_weights: bool = parameter(
        Flag(), "Whether the weights of fields are tuned too. False: those of the index.", default=False
    )

    def _searches(self, fields: Mapping[str, float]) -> Iterator[Mapping[str, Axis]]:
        axes = {
            "k1": K1 if self.k1 is None else Axis.fixed(self.k1),
            "b": B if self.b is None else Axis.fixed(self.b),
        }
        if self.tune_weights:
            # A common factor of all weights changes no ranking, so the last field keeps its weight.
            axes |= {WEIGHT + name: _weight_axis(weight) for name, weight in [*fields.items()][:-1]}
        yield axes

    def _model(self, setting: Setting) -> BM25:
        return BM25(setting["k1"], setting["b"], self.method)


def _weight_axis(weight: float) -> Axis:
    start = weight or 1.0
    return Axis(tuple(start * factor for factor in WEIGHTS), start / 64, start * 64, step=4.0, log=True)

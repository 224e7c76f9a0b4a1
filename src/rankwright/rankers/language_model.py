"""Language models for retrieval with tuned smoothing (Zhai and Lafferty 2004), as a ranker."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import OneOf, Real
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.shared.retrieval_ranker import Axis, RetrievalRanker, Setting
from rankwright.text.retrieval import AbsoluteDiscounting, Dirichlet, JelinekMercer, RetrievalModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


OWN_PARAMETER = {"dirichlet": "mu", "jelinek-mercer": "mixture", "absolute-discounting": "delta"}
SMOOTHINGS = tuple(OWN_PARAMETER)
# The usual values come first: of settings with equal values the first is kept.
MU = Axis((1000.0, 2000.0, 500.0, 250.0, 4000.0, 125.0, 62.5, 8000.0), 1.0, 1e6, step=2.0, log=True)
MIXTURE = Axis((0.5, 0.3, 0.7, 0.1, 0.9), 0.001, 0.999, step=0.2)
DELTA = Axis((0.7, 0.5, 0.9, 0.3, 0.1), 0.001, 1.0, step=0.2)


class LanguageModelRanker(RetrievalRanker):
    """The query's likelihood under each document's language model, with smoothing tuned for the metric.

    It scores the text that documents stand for, so it is fitted on what `rankwright.text.FeatureSet.judged` makes;
    their features do not matter. Scores are those of `Index.search` with the same parameters.

    Examples
    --------
    >>> documents, queries, judgements = rw.text.generated_collection(100, 10)
    >>> index = rw.text.Index.build(documents, "index")
    >>> judged = rw.text.FeatureSet("tf").judged(index, queries, judgements, candidates=20)
    >>> ranker = rw.LanguageModelRanker("map", smoothing="dirichlet").fit(judged.data)
    >>> len(rw.text.Searcher(index, model=ranker).search("old bridge repair", n=3))
    3
    """

    name: ClassVar[str] = "lmir"

    smoothing: str | None = parameter(
        OneOf(SMOOTHINGS, optional=True),
        "How words that a document does not have get a probability. None: the best of all.",
        default=None,
    )
    mu: float | None = parameter(
        Real(above=0.0, optional=True),
        "Dirichlet smoothing: words of the collection that are added to each document. None: tuned.",
        default=None,
    )
    mixture: float | None = parameter(
        Real(above=0.0, most=1.0, optional=True),
        "Jelinek-Mercer smoothing: the weight of the collection, lambda in the paper. None: tuned.",
        default=None,
    )
    delta: float | None = parameter(
        Real(above=0.0, most=1.0, optional=True),
        "Absolute discounting: what is subtracted from each frequency. None: tuned.",
        default=None,
    )

    def _check_together(self) -> None:
        super()._check_together()
        used = OWN_PARAMETER.get(self.smoothing or "")
        for name in OWN_PARAMETER.values():
            if used is not None and name != used and getattr(self, name) is not None:
                raise InputError(f"{name} is not used by smoothing={self.smoothing!r}, which has {used}.")

    def _searches(self, fields: Mapping[str, float]) -> Iterator[Mapping[str, Axis]]:  # noqa: ARG002
        spaces = {
            "dirichlet": {"mu": MU if self.mu is None else Axis.fixed(self.mu)},
            "jelinek-mercer": {"mixture": MIXTURE if self.mixture is None else Axis.fixed(self.mixture)},
            "absolute-discounting": {"delta": DELTA if self.delta is None else Axis.fixed(self.delta)},
        }
        yield from spaces.values() if self.smoothing is None else [spaces[self.smoothing]]

    def _model(self, setting: Setting) -> RetrievalModel:
        ((name, value),) = setting.items()
        if name == "mu":
            return Dirichlet(value)
        return JelinekMercer(value) if name == "mixture" else AbsoluteDiscounting(value)

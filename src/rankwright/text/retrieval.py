"""Retrieval models: formulas that score documents for a query from the statistics of its terms.

A score is a sum over the terms of the query. Several fields are searched as one text in which a field of weight w
counts w times: frequencies and lengths are sums over the fields, times their weights (BM25F of Robertson, Zaragoza
and Taylor, CIKM 2004). A term of the query that comes k times counts k times; a term that no document has does not
count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

METHODS = ("lucene", "robertson", "atire")
LARGEST = 1e100  # of parameters and weights: sums of scores must be finite


class FieldStatistics(NamedTuple):
    """Statistics of terms over all documents that are not removed, one row per field or for fields together."""

    n_documents: int
    total_length: NDArray[Any]  # of each field: a column
    document_frequency: NDArray[np.int64]  # documents that have the term
    collection_frequency: NDArray[Any]  # occurrences of the term

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Whether a document has the term."""
        return self.document_frequency > 0

    @property
    def probability(self) -> Doubles:
        """The fraction of the field's terms that are this one; 1 for unknown terms, which do not count."""
        total = np.where(self.total_length > 0, self.total_length, 1)
        return np.where(self.is_known, self.collection_frequency / total, 1.0)


class TermWeights(NamedTuple):
    """The coefficients of a model's formula, one row per field; see `native/text/retrieval.hpp`."""

    weights: Doubles
    scales: Doubles
    starts: Doubles  # what a document without the term scores, apart from its length
    constant: float
    slope: float | Doubles  # a column, if it depends on the field

    def by_field(self) -> Doubles:
        """Return constant and slope of each field."""
        pairs = np.empty((len(self.weights), 2))
        pairs[:, :1], pairs[:, 1:] = self.constant, self.slope
        return pairs


class RetrievalModel(ABC):
    """A formula that scores documents for a query."""

    @property
    @abstractmethod
    def weighting(self) -> _native.Weighting:
        """The formula, as the native core has it."""

    @abstractmethod
    def weigh(self, terms: FieldStatistics) -> TermWeights:
        """Return the coefficients of the formula for terms."""


@dataclass(frozen=True)
class BM25(RetrievalModel):
    """Okapi BM25 (Robertson et al. 1994).

    A term of frequency f in a field of length l scores idf * f / (f + k1 * (1 - b + b * l / mean length)). With N
    documents, n of which have the term, `method` says what idf is:

    - "lucene": log(1 + (N - n + 0.5) / (n + 0.5));
    - "robertson": log((N - n + 0.5) / (n + 0.5)), at least 0;
    - "atire": (k1 + 1) * log(N / n).

    Scores are those of bm25s with the same method. A document without any term of the query is not found.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> results = index.search("old bridge", rw.text.BM25(k1=0.9, b=0.4), n=2)
    >>> results.ids, results.scores.round(2).tolist()
    (['d7', 'd24'], [1.61, 1.32])
    """

    k1: float = 1.2
    b: float = 0.75
    method: str = "lucene"

    def __post_init__(self) -> None:
        _require_number("k1", self.k1, 0.0, LARGEST)
        _require_number("b", self.b, 0.0, 1.0)
        if self.method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}.")

    @property
    def weighting(self) -> _native.Weighting:
        return _native.Weighting.bm25

    def weigh(self, terms: FieldStatistics) -> TermWeights:
        total = np.where(terms.total_length == 0, 1, terms.total_length)  # all are empty: nothing is scored
        mean = total / max(terms.n_documents, 1)
        weights = np.where(terms.is_known, self._idf(terms), 0.0)
        unused = np.zeros_like(weights)
        return TermWeights(weights, unused, unused, self.k1 * (1.0 - self.b), self.k1 * self.b / mean)

    def _idf(self, terms: FieldStatistics) -> Doubles:
        n = np.maximum(terms.document_frequency, 1)
        odds = (terms.n_documents - n + 0.5) / (n + 0.5)
        if self.method == "lucene":
            return np.log1p(odds)
        if self.method == "robertson":
            return np.log(np.maximum(odds, 1.0))
        return (self.k1 + 1.0) * np.log(terms.n_documents / n)


@dataclass(frozen=True)
class Dirichlet(RetrievalModel):
    """The query's log-likelihood under a language model with Dirichlet smoothing (Zhai and Lafferty 2004).

    A term of frequency f in a field of length l scores log((f + mu * p) / (l + mu)), where p is the fraction of
    all terms of the field that are this one. Documents with at least one term of the query are found.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> results = index.search("old bridge", rw.text.Dirichlet(mu=500), n=2)
    >>> results.ids, results.scores.round(2).tolist()
    (['d7', 'd5'], [-7.18, -7.44])
    """

    mu: float = 2000.0

    def __post_init__(self) -> None:
        _require_number("mu", self.mu, 1 / LARGEST, LARGEST)

    @property
    def weighting(self) -> _native.Weighting:
        return _native.Weighting.dirichlet

    def weigh(self, terms: FieldStatistics) -> TermWeights:
        p = terms.probability
        return TermWeights(terms.is_known.astype(np.float64), 1.0 / (self.mu * p), np.log(p), 0.0, 1.0 / self.mu)


@dataclass(frozen=True)
class JelinekMercer(RetrievalModel):
    """The query's log-likelihood under a mixture of the document's and the collection's language model.

    A term of frequency f in a field of length l scores log((1 - smoothing) * f / l + smoothing * p), where p is
    the fraction of all terms of the field that are this one (Zhai and Lafferty 2004, where smoothing is lambda).
    Documents with at least one term of the query are found.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> results = index.search("old bridge", rw.text.JelinekMercer(smoothing=0.3), n=2)
    >>> results.ids, results.scores.round(2).tolist()
    (['d7', 'd24'], [-5.65, -6.31])
    """

    smoothing: float = 0.1

    def __post_init__(self) -> None:
        _require_number("smoothing", self.smoothing, 1 / LARGEST, 1.0)

    @property
    def weighting(self) -> _native.Weighting:
        return _native.Weighting.jelinek_mercer

    def weigh(self, terms: FieldStatistics) -> TermWeights:
        background = self.smoothing * terms.probability
        scales = (1.0 - self.smoothing) / background
        starts = np.where(terms.is_known, np.log(background), 0.0)
        return TermWeights(terms.is_known.astype(np.float64), scales, starts, 0.0, 0.0)


@dataclass(frozen=True)
class AbsoluteDiscounting(RetrievalModel):
    """The query's log-likelihood under a language model with absolute discounting (Zhai and Lafferty 2004).

    A term of frequency f in a field of length l with u distinct terms scores
    log(max(f - delta, 0) / l + delta * u / l * p), where p is the fraction of all terms of the field that are this
    one; log(p) if the field is empty. It scores given documents: features and rankers have it, `Index.search` has
    not.

    Examples
    --------
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> model = rw.text.AbsoluteDiscounting(delta=0.5)
    >>> features = rw.text.FeatureSet(["body: LM absolute discounting"], absolute_discounting=model)
    >>> documents = features.documents(index, {"q1": "old bridge"}, {"q1": ["d7", "d5"]})
    >>> print(documents.X.round(1).ravel())
    [-5.9 -7. ]
    """

    delta: float = 0.7

    def __post_init__(self) -> None:
        _require_number("delta", self.delta, 1 / LARGEST, 1.0)

    @property
    def weighting(self) -> _native.Weighting:
        return _native.Weighting.absolute_discounting

    def weigh(self, terms: FieldStatistics) -> TermWeights:
        p = terms.probability
        known = terms.is_known.astype(np.float64)
        return TermWeights(known, 1.0 / (self.delta * p), np.log(p), self.delta, 0.0)


MODELS: Mapping[str, type[RetrievalModel]] = {
    "bm25": BM25,
    "dirichlet": Dirichlet,
    "jelinek_mercer": JelinekMercer,
    "absolute_discounting": AbsoluteDiscounting,
}


def state_of_model(model: RetrievalModel) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a model, as JSON has them."""
    name = next(name for name, kind in MODELS.items() if isinstance(model, kind))
    return name, {field.name: getattr(model, field.name) for field in fields(model)}  # type: ignore[arg-type]


def model_of(name: Any, parameters: Any) -> RetrievalModel:
    """Return the model of a name and its parameters; InputError if they are invalid, as in a damaged file."""
    if not isinstance(name, str) or name not in MODELS:
        raise InputError(f"There is no retrieval model {name!r}, only {', '.join(MODELS)}.")
    known = [field.name for field in fields(MODELS[name])]  # type: ignore[arg-type]
    if not isinstance(parameters, Mapping) or not parameters.keys() <= {*known}:
        raise InputError(f"A model {name} has the parameters {', '.join(known)}, not {parameters!r}.")
    return MODELS[name](**parameters)


def _require_number(name: str, value: Any, least: float, most: float) -> None:
    """Refuse anything but a number within limits; very large and small limits are named only if they matter."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if is_number and least <= value <= most:
        return
    lower = f"at least {least:g}" if least == 0 or (is_number and 0 < value < least) else "above 0"
    upper = f" and at most {most:g}" if most < LARGEST or (is_number and value > most) else ""
    raise InputError(f"{name} must be a number {lower}{upper}, not {value!r}.")

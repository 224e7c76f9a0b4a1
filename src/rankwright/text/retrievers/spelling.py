"""Retrievers as JSON, as names of features, and as the command line spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.text.features.feature_names import model_named
from rankwright.text.retrieval import RetrievalModel, model_of, state_of_model
from rankwright.text.retrievers.columns import FUSION, RANK, SCORE
from rankwright.text.retrievers.dense import Dense
from rankwright.text.retrievers.hybrid import Hybrid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.data.readers.trec import Run
    from rankwright.text.retrievers.retriever import BaseRetriever

DENSE = "dense"


def state_of_retrieval(retrieval: RetrievalModel | BaseRetriever | Run) -> list[Any]:
    """Return a retriever as JSON has it: its name and its parameters."""
    if isinstance(retrieval, Hybrid):
        parts = [state_of_retrieval(retriever) for retriever in retrieval.retrievers]
        return ["hybrid", {"retrievers": parts, "fusion": retrieval.fusion}]
    if isinstance(retrieval, Dense):
        return [DENSE, {"encoder": retrieval.encoder}]
    if isinstance(retrieval, RetrievalModel):
        return [*state_of_model(retrieval)]
    raise InputError("A run finds documents for its own queries only: it cannot be saved with a searcher.")


def retrieval_of(state: Any) -> RetrievalModel | BaseRetriever:
    """Return the retriever of a state; InputError if it is invalid, as in a damaged file."""
    match state:
        case ["hybrid", {"retrievers": [*parts], "fusion": str(fusion)}]:
            members: list[Any] = [retrieval_of(part) for part in parts]
            return Hybrid(members, fusion=fusion)
        case ["dense", {"encoder": None | str() as encoder}]:
            return Dense(encoder)
        case [name, parameters]:
            return model_of(name, parameters)
    raise InputError("a retriever must be a name and parameters.")


def split_sources(names: Sequence[str]) -> tuple[list[str], Hybrid | None]:
    """Return names of features without those of several retrievers, and the retrievers that these name."""
    sources: dict[str, None] = {}
    others = []
    for name in names:
        source, _, column = name.rpartition(": ")
        if column in (SCORE, RANK):
            sources[source] = None
        elif source != FUSION:
            others.append(name)
    retrievers: list[Any] = [model_named(source) or Dense(source) for source in sources]
    return others, Hybrid(retrievers) if len(retrievers) > 1 else None

"""Models of retrieval as plain values, for files and for the command line."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from rankwright.data.counted import listed
from rankwright.errors import InputError
from rankwright.text.retrieval import BM25, Dirichlet, JelinekMercer

if TYPE_CHECKING:
    from rankwright.text.retrieval import RetrievalModel

MODELS: dict[str, type[BM25 | Dirichlet | JelinekMercer]] = {
    "bm25": BM25,
    "dirichlet": Dirichlet,
    "jelinek-mercer": JelinekMercer,
}


def retrieval_state(model: RetrievalModel) -> dict[str, Any]:
    """Return a model as JSON has it."""
    for name, kind in MODELS.items():
        if type(model) is kind:
            return {"model": name, **asdict(model)}
    raise InputError(f"A retrieval model must be {listed(MODELS)} to be saved, not {type(model).__name__}.")


def retrieval_from(state: Any) -> RetrievalModel:
    """Return the model of a state."""
    kind = MODELS.get(str(state.get("model"))) if isinstance(state, dict) else None
    if kind is None or state.keys() != {"model", *(one.name for one in fields(kind))}:
        raise InputError(f"a retrieval model must be {listed(MODELS)} with all its parameters, not {state!r}.")
    return kind(**{name: value for name, value in state.items() if name != "model"})


def retrieval_of(text: str) -> RetrievalModel:
    """Return the model that a text spells, such as bm25 or bm25:k1=0.9,b=0.4."""
    name, _, spelled = text.partition(":")
    kind = MODELS.get(name.strip())
    if kind is None:
        raise InputError(f"A retrieval model must be {listed(MODELS)}, not {name!r}.")
    known: dict[str, Any] = {one.name: type(one.default) for one in fields(kind)}
    given: dict[str, Any] = {}
    for part in filter(None, spelled.split(",")):
        key, _, value = (one.strip() for one in part.partition("="))
        try:
            given[key] = known[key](value)
        except (KeyError, ValueError):
            example = f"{name}:{next(iter(known))}=1"
            raise InputError(f"{name} takes {listed(known)}, as in {example}, not {part!r}.") from None
    return kind(**given)

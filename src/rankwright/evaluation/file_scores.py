"""Scores of documents in files that may be larger than memory."""

from __future__ import annotations

from typing import Any

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.readers.file_documents import FileDocuments
from rankwright.models.scorer import scorer_of


def scored_files(named: dict[str, Any], data: Any, n_jobs: int | None) -> tuple[dict[str, Any], Any]:
    """Return the scores of systems and the documents of files without their features; other data as they are."""
    if not isinstance(data, FileDocuments):
        return named, data
    scores: dict[str, Any] = {}
    for name, system in named.items():
        scorer = scorer_of(system)
        if scorer is None:
            raise InputError(
                f"{name} cannot score files in blocks, as models of rankwright do: read the documents."
            )
        documents, scores[name] = data.scored(scorer, n_jobs=n_jobs)
    if not isinstance(documents, RankingData):
        raise InputError("Files without labels cannot be evaluated.")
    return scores, documents

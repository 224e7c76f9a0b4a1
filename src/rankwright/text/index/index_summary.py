"""The size of an index, in documents, terms and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.reports.result import Result

if TYPE_CHECKING:
    from rankwright.text.index.index import Index
    from rankwright.text.index.segments import SegmentField


@dataclass(frozen=True, repr=False)
class IndexSummary(Result):
    """The size of an index: documents, and for each field its weight, all terms and distinct terms."""

    documents: int
    fields: list[dict[str, Any]]
    text_stored: bool
    segments: int
    bytes: int


def summary_of(index: Index) -> IndexSummary:
    """Return the size of an index."""
    segments = index.snapshot.segments
    return IndexSummary(
        documents=len(index),
        fields=[
            {
                "name": name,
                "weight": weight,
                "terms": sum(segment.entry.lengths[number] for segment in segments),
                "distinct": _n_distinct([segment.fields[number] for segment in segments]),
            }
            for number, (name, weight) in enumerate(index.weights.items())
        ],
        text_stored=index.has_text,
        segments=len(segments),
        bytes=sum(path.stat().st_size for path in index.path.iterdir() if path.is_file()),
    )


def analyser_facts(index: Index) -> dict[str, Any] | str:
    """Return the settings of the analyser of an index; of a list of stop words, their number."""
    state = index.analyser_state
    if not isinstance(state, dict):
        return "a function, which is not stored"
    listed = isinstance(state["stop_words"], list)
    return state | ({"stop_words": f"{len(state['stop_words'])} words"} if listed else {})


def _n_distinct(parts: list[SegmentField]) -> int:
    """Return the number of distinct terms of a field in all segments; those of small segments are looked up."""
    largest_first = sorted(parts, key=lambda part: -len(part.terms))
    count = sum(len(part.terms) for part in largest_first[:1])
    earlier = largest_first[:1]
    for part in largest_first[1:]:
        terms = part.terms.take(np.arange(len(part.terms)))
        for field in earlier:
            numbers = field.numbers_of(terms).tolist()
            terms = [term for term, number in zip(terms, numbers, strict=True) if number < 0]
        count += len(terms)
        earlier.append(part)
    return count

"""What an index holds, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright.text.index.index import Index
    from rankwright.text.index.segments import SegmentField


def index_facts(index: Index) -> dict[str, Any]:
    """Return the size of an index: documents, and for each field its weight, distinct terms and all terms."""
    segments = index.collection.segments
    return {
        "documents": len(index),
        "fields": [
            {
                "name": name,
                "weight": weight,
                "terms": sum(segment.entry.lengths[number] for segment in segments),
                "distinct": _n_distinct([segment.fields[number] for segment in segments]),
            }
            for number, (name, weight) in enumerate(index.weights.items())
        ],
        "text_stored": index.has_text,
        "segments": len(segments),
        "bytes": sum(path.stat().st_size for path in index.path.iterdir() if path.is_file()),
    }


def analyser_facts(index: Index) -> dict[str, Any] | str:
    """Return how an index finds words; of a list of stop words, how many there are."""
    state = index.analyser_state
    if not isinstance(state, dict):
        return "a function, which is not stored"
    listed = isinstance(state["stop_words"], list)
    return state | ({"stop_words": f"{len(state['stop_words'])} words"} if listed else {})


def _n_distinct(parts: list[SegmentField]) -> int:
    """Return the number of terms that a field has in all segments; those of small segments are looked up."""
    largest_first = sorted(parts, key=lambda part: -len(part.terms))
    count = sum(len(part.terms) for part in largest_first[:1])
    earlier = largest_first[:1]
    for part in largest_first[1:]:
        terms = [part.terms[number] for number in range(len(part.terms))]
        for field in earlier:
            numbers = field.numbers_of(terms).tolist()
            terms = [term for term, number in zip(terms, numbers, strict=True) if number < 0]
        count += len(terms)
        earlier.append(part)
    return count

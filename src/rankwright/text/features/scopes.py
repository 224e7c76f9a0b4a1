"""Scopes of features: some fields, each by itself, and all of them together as one document."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.text.index.checks import refusing_damage
from rankwright.text.retrieval import FieldStatistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.text.index.segments import Segment, Vocabulary

MAX_WORDS = 100_000  # whose statistics are kept


class Word(NamedTuple):
    """One word in all scopes: documents that have it and its occurrences, removed documents aside."""

    terms: NDArray[np.int64]  # segment, field: its number there, or -1
    documents: NDArray[np.int64]  # by scope
    occurrences: NDArray[np.int64]  # by scope


class Scopes:
    """The statistics of words in some fields of all segments, and in these fields together, the last scope.

    Statistics are computed once per word: how many documents have a word in any field takes all its postings.
    """

    def __init__(self, segments: Sequence[Segment], fields: tuple[int, ...]) -> None:
        self._segments = segments
        self._fields = fields
        self._words: dict[str, Word] = {}
        self.n_documents = sum(segment.entry.n_documents for segment in segments)
        lengths = [sum(segment.entry.lengths[field] for segment in segments) for field in fields]
        self.total_lengths = np.array([*lengths, sum(lengths)], np.int64)

    def __len__(self) -> int:
        return len(self._fields) + 1

    @property
    def postings(self) -> list[list[_native.Postings]]:
        """The postings by segment and field."""
        return [[segment.fields[field].postings for field in self._fields] for segment in self._segments]

    def vocabularies(self) -> list[list[Vocabulary]]:
        """Return the vocabularies of documents, by segment and scope."""
        of_scopes = [*((field,) for field in self._fields), self._fields]
        return [[segment.vocabulary(fields) for fields in of_scopes] for segment in self._segments]

    @refusing_damage()
    def words(self, words: Sequence[str]) -> list[Word]:
        """Return the statistics of words."""
        known = self._words  # another thread may replace them
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > MAX_WORDS:
            known = self._words = {}
            new = list(dict.fromkeys(words))
        if new:
            known.update(zip(new, self._counted(new), strict=True))
        return [known[word] for word in words]

    def statistics(self, words: Sequence[Word]) -> FieldStatistics:
        """Return the statistics of words, one row per scope."""
        shape = (len(words), len(self))
        documents = np.array([word.documents for word in words], np.int64).reshape(shape).T
        occurrences = np.array([word.occurrences for word in words], np.int64).reshape(shape).T
        return FieldStatistics(
            self.n_documents,
            self.total_lengths[:, None],
            np.ascontiguousarray(documents),
            np.ascontiguousarray(occurrences),
        )

    def weighted(self, words: Sequence[Word], weights: Doubles) -> FieldStatistics:
        """Return the statistics of words in all fields as one, in which a field counts as often as its weight."""
        occurrences = np.array([word.occurrences for word in words], np.int64).reshape(len(words), len(self))
        return FieldStatistics(
            self.n_documents,
            np.array([[self.total_lengths[:-1] @ weights]]),
            np.array([[word.documents[-1] for word in words]], np.int64),
            (occurrences[:, :-1] @ weights)[None],
        )

    def terms(self, words: Sequence[Word]) -> NDArray[np.int64]:
        """Return the numbers of words by segment and field, -1 where there is none."""
        shape = (len(words), len(self._segments), len(self._fields))
        by_word = np.array([word.terms for word in words], np.int64).reshape(shape)
        return np.ascontiguousarray(by_word.transpose(1, 2, 0))

    def _counted(self, words: list[str]) -> list[Word]:
        n_fields = len(self._fields)
        terms = np.empty((len(self._segments), n_fields, len(words)), np.int64)
        documents, occurrences = np.zeros((2, n_fields + 1, len(words)), np.int64)
        for segment, mine in zip(self._segments, terms, strict=True):
            for number, field in enumerate(self._fields):
                mine[number] = segment.fields[field].numbers_of(words)
                more_documents, more = segment.fields[field].count(mine[number], segment.removed)
                documents[number] += more_documents
                occurrences[number] += more
            postings = [segment.fields[field].postings for field in self._fields]
            documents[-1] += (
                more_documents if n_fields == 1 else _native.documents_with(postings, mine, segment.removed_bits)
            )
        occurrences[-1] = occurrences[:-1].sum(axis=0)
        return [Word(terms[:, :, i], documents[:, i], occurrences[:, i]) for i in range(len(words))]

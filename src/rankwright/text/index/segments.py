"""Segments of an index: each holds some of the documents, in one immutable file.

Removed documents are listed in a second file. Arrays of a segment, by name:

- `ids.places`, `ids.bytes`, `ids.order`: ids of documents, and their numbers in the order of the ids;
- `text.places`, `text.bytes`: the fields of each document, one after another, if text is stored;
- for each field, `FIELD.terms.places`, `FIELD.terms.bytes` and the arrays of
  `native/index/postings.hpp`, where FIELD is the field's number;
- `SCOPE.distinct` and `SCOPE.norms`, the vocabularies of the documents in one field (its number) and in `all`
  fields together, if there are several.

Vectors of documents are in files of their own, one per encoder; see `vectors.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayFile
from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.text.index.checks import refusing_damage
from rankwright.text.index.vectors import SegmentVectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.text.index.manifest import SegmentEntry

POSTING_ARRAYS = {
    "posting_places": "uint64",
    "position_places": "uint64",
    "block_places": "uint64",
    "documents": "uint32",
    "position_ends": "uint32",
    "positions": "uint32",
    "block_ends": "uint32",
    "impact_places": "uint64",
    "impacts": "uint32",
    "lengths": "uint32",
    "shortest": "uint32",
}


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Many texts as one array of bytes; text i has the bytes from offsets[i] to offsets[i + 1]."""

    offsets: NDArray[np.uint64]
    bytes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the texts of these numbers."""
        content = self.bytes.data
        begins, ends = self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist()
        return [str(content[begin:end], "utf-8", "replace") for begin, end in zip(begins, ends, strict=True)]


class StoredTexts:
    """Texts of a file; each is verified when it is first read."""

    def __init__(self, file: ArrayFile, name: str) -> None:
        self._file = file
        self._name = name
        self._unverified = TextColumn(file.array(f"{name}.places", "uint64"), file.array(f"{name}.bytes", "uint8"))
        if len(self._unverified.offsets) == 0:
            raise file.damaged(f"{name} has no offsets")
        self._verified = np.zeros(len(self), bool)

    def __len__(self) -> int:
        return len(self._unverified)

    @cached_property
    def column(self) -> TextColumn:
        """All texts."""
        self._file.verify(f"{self._name}.places")
        self._file.verify(f"{self._name}.bytes")
        return self._unverified

    def take(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the texts of these numbers."""
        offsets = self._unverified.offsets
        for number in numbers[~self._verified[numbers]].tolist():
            self._file.verify(f"{self._name}.places", number, number + 2)
            self._file.verify(f"{self._name}.bytes", int(offsets[number]), int(offsets[number + 1]))
            self._verified[number] = True
        return self._unverified.take(numbers)


class SegmentField:
    """One field of a segment: its terms in the order of their bytes, and their postings.

    Terms and lengths are verified when they are first used, the postings of a term when it is first counted: a
    search counts its terms before it scores documents.
    """

    def __init__(self, file: ArrayFile, name: str) -> None:
        arrays: dict[str, Any] = {
            key: file.array(f"{name}.{key}", dtype, dimensions=2 if key == "impacts" else 1)
            for key, dtype in POSTING_ARRAYS.items()
        }
        self._file = file
        self._name = name
        self._arrays = arrays
        self._terms = StoredTexts(file, f"{name}.terms")
        try:
            self._postings = _native.Postings(**arrays)
        except ValueError as error:
            raise file.damaged(str(error)) from None
        self._verified = np.zeros(self._postings.n_terms + 1, bool)  # by term
        self._verified[-1] = True  # for -1, which is no term

    @property
    def terms(self) -> TextColumn:
        """The terms."""
        return self._terms.column

    @cached_property
    def lengths(self) -> NDArray[np.uint32]:
        """The number of terms of each document."""
        self._verify("lengths")
        self._verify("shortest")
        lengths: NDArray[np.uint32] = self._arrays["lengths"]
        return lengths

    @property
    def postings(self) -> _native.Postings:
        """The postings and lengths; the postings of a term must be counted before they are used."""
        _ = self.lengths
        return self._postings

    def has_sizes(self, n_documents: int) -> bool:
        """Return whether there is one length per document, and one list of postings per term."""
        return len(self._arrays["lengths"]) == n_documents and len(self._terms) == self._postings.n_terms

    def numbers_of(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of terms, -1 for those that the field does not have."""
        return _native.find_texts(self.terms.offsets, self.terms.bytes, None, [*terms])

    def count(
        self, terms: NDArray[np.int64], removed: NDArray[np.uint32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how many documents have each term, and how often, without removed documents.

        The postings of the terms and their positions are verified.
        """
        for term in terms[~self._verified[terms]].tolist():
            self._verify_term(term)
            self._verified[term] = True
        return self.postings.count(terms, removed)

    def _verify_term(self, term: int) -> None:
        first, end = self._range("posting_places", term, term + 1)
        self._verify("documents", first, end)
        self._verify("position_ends", first, end)
        self._verify("positions", *self._range("position_places", term, term + 1))
        first, end = self._range("block_places", term, term + 1)
        self._verify("block_ends", first, end)
        self._verify("impacts", *self._range("impact_places", first, end))

    def _range(self, name: str, first: int, end: int) -> tuple[int, int]:
        """Return the offsets at two positions; the core refuses those that are out of range."""
        self._verify(name, first, end + 1)
        offsets = self._arrays[name]
        last = len(offsets) - 1
        return int(offsets[min(first, last)]), int(offsets[min(end, last)])

    def _verify(self, name: str, first: int = 0, end: int | None = None) -> None:
        self._file.verify(f"{self._name}.{name}", first, end)


class VocabularyScope(NamedTuple):
    """The name of stored vocabularies, and the numbers of their fields."""

    name: str
    fields: tuple[int, ...]


def vocabulary_scopes(n_fields: int) -> list[VocabularyScope]:
    """Return the scopes whose vocabularies are stored: each field, and all fields together."""
    scopes = [VocabularyScope(str(number), (number,)) for number in range(n_fields)]
    return scopes if n_fields == 1 else [*scopes, VocabularyScope("all", tuple(range(n_fields)))]


class Vocabulary(NamedTuple):
    """For each document the number of its distinct terms, and the norm of (1 + log frequency) over its terms."""

    distinct: NDArray[np.uint32]
    norms: NDArray[np.float32]


class Segment:
    """A segment, memory-mapped. Documents are numbered from 0 in the order in which they were added."""

    def __init__(self, folder: Path, entry: SegmentEntry) -> None:
        self._folder = folder
        self._file = ArrayFile(folder / entry.file, entry.checksum)
        self._vocabularies: dict[tuple[int, ...], Vocabulary] = {}
        self.entry = entry
        self.ids = StoredTexts(self._file, "ids")
        self.text = StoredTexts(self._file, "text") if "text.places" in self._file else None
        self.fields = [SegmentField(self._file, str(number)) for number in range(len(entry.lengths))]
        self.removed = _removed(folder, entry, len(self.ids))
        self.vectors = {
            name: SegmentVectors(folder / file, checksum, len(self.ids))
            for name, (file, checksum) in entry.vectors.items()
        }
        self._check(folder)

    def __len__(self) -> int:
        """Return the number of documents, with removed ones."""
        return len(self.ids)

    def __reduce__(self) -> tuple[type[Segment], tuple[Path, SegmentEntry]]:
        """Pickle and copy the name of the file, which is immutable."""
        return Segment, (self._folder, self.entry)

    @refusing_damage()
    def vocabulary(self, fields: tuple[int, ...]) -> Vocabulary:
        """Return the vocabularies of the documents in some fields together.

        Those of one field and of all fields are in the file; others are computed once, from all postings.
        """
        if fields not in self._vocabularies:
            stored = {scope.fields: scope.name for scope in vocabulary_scopes(len(self.fields))}
            scope = stored.get(tuple(sorted(fields)))
            chosen = [self.fields[field] for field in fields]
            self._vocabularies[fields] = self._computed(chosen) if scope is None else self._stored(scope, chosen)
        return self._vocabularies[fields]

    def verify(self) -> None:
        """Verify all arrays; InputError if one is damaged."""
        self._file.verify_all()
        for vectors in self.vectors.values():
            vectors.verify()

    @cached_property
    def order(self) -> NDArray[np.uint32]:
        """The numbers of the documents in the order of their ids."""
        return self._file.verified("ids.order", "uint32")

    @cached_property
    def removed_bits(self) -> NDArray[np.uint64]:
        """One bit per document, set for removed ones; empty if there are none."""
        if not len(self.removed):
            return np.zeros(0, np.uint64)
        flags = np.zeros(-(-len(self) // 64) * 64, bool)
        flags[self.removed] = True
        return sealed(np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64, copy=False))

    def remaining(self) -> NDArray[np.bool_]:
        """Return which documents are not removed."""
        kept = np.ones(len(self), bool)
        kept[self.removed] = False
        return kept

    def find(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of documents, -1 for ids that are not here or removed."""
        numbers = _native.find_texts(self.ids.column.offsets, self.ids.column.bytes, self.order, [*ids])
        numbers[np.isin(numbers, self.removed)] = -1
        return numbers

    def _computed(self, fields: Sequence[SegmentField]) -> Vocabulary:
        self.verify()
        return joint_vocabulary([(field.terms, field.postings) for field in fields])

    def _stored(self, scope: str, fields: Sequence[SegmentField]) -> Vocabulary:
        vocabulary = Vocabulary(
            self._file.verified(f"{scope}.distinct", "uint32"), self._file.verified(f"{scope}.norms", "float32")
        )
        lengths = np.sum([field.lengths for field in fields], axis=0, dtype=np.uint64)
        is_sound = (
            len(vocabulary.distinct) == len(vocabulary.norms) == len(self)
            and np.all(vocabulary.distinct <= lengths)
            and np.all((vocabulary.distinct > 0) == (lengths > 0))
            and np.all((vocabulary.norms > 0) == (lengths > 0))
            and np.all(np.isfinite(vocabulary.norms))
        )
        if not is_sound:
            raise self._file.damaged("its vocabularies are out of range")
        return vocabulary

    def _check(self, folder: Path) -> None:
        count = len(self)
        ids = len(self._file.array("ids.order", "uint32")) == count
        texts = self.text is None or len(self.text) == count * len(self.fields)
        if not (ids and texts and all(field.has_sizes(count) for field in self.fields)):
            raise self._file.damaged("the sizes of its arrays do not match")
        if count - len(self.removed) != self.entry.n_documents:
            raise InputError(f"{folder} is damaged: the manifest has another number of documents than the files.")


def joint_vocabulary(fields: Sequence[tuple[TextColumn, _native.Postings]]) -> Vocabulary:
    """Return the vocabularies of the documents in some fields together, from all terms and postings."""
    terms, postings = zip(*fields, strict=True)
    return Vocabulary(*_native.document_vocabularies([*postings], _joined_terms(terms)))


def _joined_terms(fields: Sequence[TextColumn]) -> list[NDArray[np.uint32]]:
    """Return the numbers of each field's terms among those of all fields."""
    if len(fields) == 1:
        return [np.arange(len(fields[0]), dtype=np.uint32)]
    return _native.merge_texts([(terms.offsets, terms.bytes) for terms in fields])[1]


def _removed(folder: Path, entry: SegmentEntry, n_documents: int) -> NDArray[np.uint32]:
    """Return the numbers of removed documents, increasing."""
    if entry.removed_file is None:
        return np.zeros(0, np.uint32)
    file = ArrayFile(folder / entry.removed_file, entry.removed_checksum)
    numbers: NDArray[np.uint32] = file.verified("removed", "uint32")
    if np.any(numbers[1:] <= numbers[:-1]) or np.any(numbers >= n_documents):
        raise file.damaged("its documents are out of range")
    return numbers

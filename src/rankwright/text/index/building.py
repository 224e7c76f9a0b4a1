"""Builds segments from documents with bounded memory: texts are streamed, words are inverted in memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayWriter
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import write_whole
from rankwright.text.analyser import Analyser, words_by
from rankwright.text.index.checks import IndexedDocument, checked_document, checked_weights, default_weight
from rankwright.text.index.manifest import Manifest, SegmentEntry
from rankwright.text.index.segments import Segment, TextColumn, joint_vocabulary, vocabulary_scopes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rankwright.text.analyser import Analysis

BATCH_DOCUMENTS = 4096
BATCH_CHARACTERS = 1 << 23
MAX_WORDS = 1 << 31  # in a segment, whose positions have 32 bits
BYTES_PER_WORD = 16  # of memory: a word before it is inverted, its position, and its share of a posting


class Building:
    """Writes documents to new segments of a folder; with `more_fields`, other fields that come up are added."""

    def __init__(
        self,
        folder: Path,
        analyser: Analysis,
        fields: Sequence[str],
        *,
        memory: int,
        store: bool,
        n_threads: int,
        more_fields: bool = False,
    ) -> None:
        self._folder = folder
        self._analyser = analyser
        self._fields = fields
        self._most_words = min(max(memory // BYTES_PER_WORD, 1), MAX_WORDS)
        self._store = store
        self._n_threads = n_threads
        self._more_fields = more_fields

    def write(self, documents: Iterable[IndexedDocument], manifest: Manifest, known: list[Segment]) -> Manifest:
        """Write documents as segments; return the manifest that has them, which the caller must write.

        A repeated id, or one that a known segment has, is refused.
        """
        batches = _batches(self._watched(documents))
        segments = [*known]
        batch = next(batches, None)
        while batch is not None:
            name, manifest = manifest.new_file("segment")
            with write_whole(self._folder / name) as file:
                run = _Run(file, self._analyser, self._fields, store=self._store, n_threads=self._n_threads)
                while batch is not None:
                    self._add_fields(batch, run, is_first=not segments)
                    run.add(batch)
                    batch = next(batches, None)
                    if run.n_words >= self._most_words:
                        break
                _refuse_known(run.ids, segments)
                checksum = run.finish()
            entry = SegmentEntry(name, checksum, None, 0, len(run.ids), run.lengths)
            segments.append(Segment(self._folder, entry))
            weights = {name: manifest.weights.get(name, default_weight(name)) for name in self._fields}
            manifest = replace(manifest, weights=weights, segments=(*manifest.segments, entry))
        return manifest

    def _add_fields(self, batch: list[IndexedDocument], run: _Run, *, is_first: bool) -> None:
        """Add the fields of documents that are new; only the first segment can still have more."""
        if not self._more_fields:
            return
        new = {name: document for document in batch for name in document.fields if name not in self._fields}
        for name, document in new.items():
            if not is_first:
                raise InputError(
                    f"Document {document.id!r} has a field {name!r} that none of the documents before it has: "
                    f"name the fields to index ({parameter('fields')})."
                )
            checked_weights([name])
            run.add_field(name)
        self._fields = [*self._fields, *new]

    def _watched(self, documents: Iterable[IndexedDocument]) -> Iterator[IndexedDocument]:
        """Yield checked documents; InputError at the end if none has a field of the index."""
        has_fields, unsuitable = False, None
        for document in map(checked_document, documents):
            has_fields = has_fields or not document.fields.keys().isdisjoint(self._fields)
            if not has_fields and document.fields:
                unsuitable = document
            yield document
        if not has_fields and unsuitable is not None:
            raise InputError(
                f"No document has a field that is indexed ({', '.join(self._fields)}); "
                f"document {unsuitable.id!r} has {', '.join(map(str, unsuitable.fields))}."
            )


class _Run:
    """The documents of one segment; their words are in memory, their text is in the file."""

    def __init__(
        self, file: BinaryIO, analyser: Analysis, fields: Sequence[str], *, store: bool, n_threads: int
    ) -> None:
        self.ids: list[str] = []
        self.lengths: list[int] = []  # the number of terms in each field
        self._analyser = analyser
        self._fields = {name: _native.WordedDocuments() for name in fields}
        self._store = store
        self._text_sizes: list[int] = []
        self._n_threads = n_threads
        self._writer = ArrayWriter(file)
        if store:
            self._writer.reserve("text.bytes", "uint8", [0])

    @property
    def n_words(self) -> int:
        return sum(words.n_words for words in self._fields.values())

    def add_field(self, name: str) -> None:
        """Add a field that no document so far has."""
        n_fields = len(self._fields)
        self._fields[name] = _native.WordedDocuments()
        self._add_texts(name, [""] * len(self.ids))
        for row in range(len(self._text_sizes), 0, -n_fields):
            self._text_sizes.insert(row, 0)

    def add(self, batch: list[IndexedDocument]) -> None:
        self.ids.extend(document.id for document in batch)
        texts = {name: [_text_of(document, name) for document in batch] for name in self._fields}
        for name in self._fields:
            self._add_texts(name, texts[name])
        if self._store:
            rows = zip(*texts.values(), strict=True)
            encoded = [text.encode("utf-8", "replace") for text in chain.from_iterable(rows)]
            self._writer.fill("text.bytes", np.frombuffer(b"".join(encoded), np.uint8))
            self._text_sizes.extend(map(len, encoded))

    def _add_texts(self, field: str, texts: list[str]) -> None:
        words = self._fields[field]
        if isinstance(self._analyser, Analyser):
            words.add_texts(texts, self._analyser.characters(), self._n_threads)
        else:
            words.add_words([words_by(self._analyser, text) for text in texts])

    def finish(self) -> int:
        """Write the arrays; return the checksum of the file."""
        if self._store:
            self._writer.end_stream("text.bytes")
            self._writer.add("text.places", _offsets(self._text_sizes))
        self._write_ids()
        fields = [self._write_field(str(number), name) for number, name in enumerate([*self._fields])]
        for scope in vocabulary_scopes(len(fields)):
            vocabulary = joint_vocabulary([fields[number] for number in scope.fields])
            write_vocabulary(self._writer, scope.name, *vocabulary)
        return self._writer.finish()

    def _write_ids(self) -> None:
        (offsets, content), order = _native.pack_texts(self.ids)
        for earlier, later in zip(order[:-1].tolist(), order[1:].tolist(), strict=True):
            if self.ids[earlier] == self.ids[later]:
                raise InputError(f"Two documents have the id {self.ids[later]!r}: ids must differ.")
        write_column(self._writer, "ids", offsets, content)
        self._writer.add("ids.order", order)

    def _write_field(self, number: str, name: str) -> tuple[TextColumn, _native.Postings]:
        words = self._fields.pop(name)
        vocabulary = words.vocabulary()
        is_whole = isinstance(self._analyser, Analyser)
        terms: list[str | None] = self._analyser.terms(vocabulary) if is_whole else [*vocabulary]  # type: ignore[union-attr]
        arrays = words.invert(terms, self._n_threads)
        del words
        column = TextColumn(*arrays.pop("terms"))
        write_column(self._writer, f"{number}.terms", column.offsets, column.bytes)
        arrays |= _impacts(arrays, self._n_threads)
        for key, array in arrays.items():
            self._writer.add(f"{number}.{key}", array)
        self.lengths.append(int(arrays["lengths"].sum(dtype=np.int64)))
        return column, _native.Postings(**arrays)


def write_column(writer: ArrayWriter, name: str, offsets: Any, content: Any) -> None:
    """Write texts as `TextColumn` reads them."""
    writer.add(f"{name}.places", offsets)
    writer.add(f"{name}.bytes", content)


def write_vocabulary(writer: ArrayWriter, scope: str, distinct: Any, norms: Any) -> None:
    """Write the vocabularies of documents as `Segment.vocabulary` reads them."""
    writer.add(f"{scope}.distinct", distinct)
    writer.add(f"{scope}.norms", norms)


def _impacts(arrays: Mapping[str, Any], n_threads: int) -> dict[str, Any]:
    """Return the block-wise impacts, from which retrieval derives its upper bounds."""
    block_places, block_ends, impact_places, impacts = _native.block_impacts(
        arrays["posting_places"], arrays["documents"], arrays["position_ends"], arrays["lengths"], n_threads
    )
    return {
        "block_places": block_places,
        "block_ends": block_ends,
        "impact_places": impact_places,
        "impacts": impacts,
        "shortest": _native.shortest_lengths(arrays["lengths"]),
    }


def _offsets(sizes: list[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    offsets = np.zeros(len(sizes) + 1, np.uint64)
    np.cumsum(np.array(sizes, np.uint64), out=offsets[1:])
    return offsets


def _batches(documents: Iterable[IndexedDocument]) -> Iterator[list[IndexedDocument]]:
    batch: list[IndexedDocument] = []
    size = 0
    for document in documents:
        batch.append(document)
        size += sum(len(text) for text in document.fields.values() if isinstance(text, str))
        if len(batch) == BATCH_DOCUMENTS or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _text_of(document: IndexedDocument, field: str) -> str:
    text = document.fields.get(field, "")
    if not isinstance(text, str):
        raise InputError(f"Field {field} of document {document.id!r} must be text, not {text!r}.")
    return text


def _refuse_known(ids: list[str], segments: Sequence[Segment]) -> None:
    for segment in segments:
        numbers = segment.find(ids)
        known = np.flatnonzero(numbers >= 0)
        if len(known):
            raise InputError(f"The index already has a document {ids[known[0]]!r}: remove it first.")

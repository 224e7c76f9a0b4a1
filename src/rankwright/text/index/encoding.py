"""Encodes the documents of segments; what is encoded stays in a work file until the index has it.

The work file of a segment has one record per batch: the number of rows, the CRC-32 of what follows, the rows of
integers and their scales. Started again after it was killed, encoding resumes after the last complete record.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.text.index.checks import checked_weights
from rankwright.text.index.vectors import IntegerVectors, document_integers, write_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rankwright.text.encoders.encoder import Encoder
    from rankwright.text.index.manifest import Manifest, SegmentEntry
    from rankwright.text.index.segments import Segment

WORK = ".encoding-"
RECORD = struct.Struct("<II")
BATCH = 256  # documents


def encoded_fields(chosen: Sequence[str] | None, fields: Sequence[str], encoder: Encoder) -> list[str]:
    """Return the fields whose text is encoded, by default all."""
    wanted = [*(fields if chosen is None else checked_weights(chosen))]
    for name in [name for name in wanted if name not in fields]:
        raise InputError(f"The index has no field {name!r}; it has {', '.join(fields)}.")
    if encoder.name in fields:
        raise InputError(f"An encoder cannot have the name of a field, {encoder.name!r}.")
    return wanted


def encode_segments(
    folder: Path,
    manifest: Manifest,
    segments: Sequence[Segment],
    encoder: Encoder,
    identity: Mapping[str, Any],
    on_progress: Callable[[int], None],
) -> Manifest:
    """Return the manifest with the encoder's vectors of all segments; its files are written."""
    encoders = {**manifest.encoders, encoder.name: {**identity}}
    entries = []
    for segment in segments:
        entry = segment.entry
        if encoder.name in entry.vectors:
            on_progress(entry.n_documents)
        else:
            name, manifest = manifest.new_file("vectors")
            fields = [[*manifest.weights].index(field) for field in identity["fields"]]
            parts = _SegmentEncoding(folder, segment, encoder, identity, fields, on_progress).parts()
            checksum = write_vectors(folder / name, parts)
            entry = replace(entry, vectors={**entry.vectors, encoder.name: [name, checksum]})
        entries.append(entry)
    return replace(manifest, segments=tuple(entries), encoders=encoders)


def remove_work(folder: Path) -> None:
    """Remove all work files; the vectors are in the index, or no longer wanted."""
    for path in folder.glob(f"{WORK}*"):
        with suppress(OSError):
            path.unlink()


class _SegmentEncoding:
    """The encoding of one segment, resumed from its work file."""

    def __init__(
        self,
        folder: Path,
        segment: Segment,
        encoder: Encoder,
        identity: Mapping[str, Any],
        fields: Sequence[int],
        on_progress: Callable[[int], None],
    ) -> None:
        if segment.text is None:
            raise InputError("The index was built without text, which an encoder needs: build it with store=True.")
        self._segment = segment
        self._encoder = encoder
        self._dimensions = int(identity["dimensions"])
        self._fields = fields
        self._on_progress = on_progress
        key = json.dumps([segment.entry.file, segment.entry.checksum, encoder.name, {**identity}])
        self._path = folder / f"{WORK}{zlib.crc32(key.encode()):08x}"

    def parts(self) -> list[IntegerVectors]:
        """Return the vectors of all documents."""
        parts, size = self._resumed()
        done = sum(len(part.rows) for part in parts)
        self._on_progress(done)
        with self._path.open("ab") as file:
            file.truncate(size)
            for first in range(done, len(self._segment), BATCH):
                rows = np.arange(first, min(first + BATCH, len(self._segment)))
                part = self._encoded(rows)
                content = part.rows.tobytes() + part.scales.astype("<f4").tobytes()
                file.write(RECORD.pack(len(rows), zlib.crc32(content)) + content)
                file.flush()
                os.fsync(file.fileno())
                parts.append(part)
                self._on_progress(len(rows))
        return parts or [IntegerVectors(np.zeros((0, self._dimensions), np.int8), np.zeros(0, np.float32))]

    def _encoded(self, rows: Any) -> IntegerVectors:
        """Return the vectors of some documents; removed ones and those without text are zero."""
        texts = self._texts(rows)
        kept = self._segment.remaining()[rows] & np.array([bool(text) for text in texts])
        vectors = np.zeros((len(rows), self._dimensions), np.float32)
        if kept.any():
            made = self._encoder.documents([text for text, keep in zip(texts, kept.tolist(), strict=True) if keep])
            if made.shape[1] != self._dimensions:
                raise InputError(
                    f"The encoder {self._encoder.name} made vectors of length {made.shape[1]} and of length "
                    f"{self._dimensions}: all must have the same."
                )
            vectors[kept] = made
        return document_integers(vectors)

    def _texts(self, rows: Any) -> list[str]:
        assert self._segment.text is not None
        n_fields = len(self._segment.fields)
        columns = [self._segment.text.take(rows * n_fields + field) for field in self._fields]
        return [" ".join(part for part in texts if part.strip()) for texts in zip(*columns, strict=True)]

    def _resumed(self) -> tuple[list[IntegerVectors], int]:
        """Return the vectors of the work file, up to the first record that is not complete, and their size."""
        try:
            content = self._path.read_bytes()
        except OSError:
            return [], 0
        parts: list[IntegerVectors] = []
        start = 0
        while start + RECORD.size <= len(content):
            n_rows, checksum = RECORD.unpack_from(content, start)
            first, end = start + RECORD.size, start + RECORD.size + n_rows * (self._dimensions + 4)
            if end > len(content) or zlib.crc32(content[first:end]) != checksum:
                break
            middle = first + n_rows * self._dimensions
            rows = np.frombuffer(content[first:middle], np.int8).reshape(n_rows, self._dimensions)
            parts.append(IntegerVectors(rows, np.frombuffer(content[middle:end], "<f4").astype(np.float32)))
            start = end
        return parts, start


def merged_vectors(
    folder: Path, manifest: Manifest, segments: Sequence[Segment], entry: SegmentEntry
) -> tuple[SegmentEntry, Manifest]:
    """Return the entry of segments that were merged with their vectors, without those of removed documents."""
    for name in manifest.encoders:
        parts = [segment.vectors[name].integers for segment in segments]
        kept = [segment.remaining() for segment in segments]
        file, manifest = manifest.new_file("vectors")
        remaining = [
            IntegerVectors(part.rows[mine], part.scales[mine]) for part, mine in zip(parts, kept, strict=True)
        ]
        checksum = write_vectors(folder / file, remaining)
        entry = replace(entry, vectors={**entry.vectors, name: [file, checksum]})
    return entry, manifest

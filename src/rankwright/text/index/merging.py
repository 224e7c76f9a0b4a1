"""Merges segments, a range of terms at a time, and drops removed documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import _native
from rankwright.base.array_files import ArrayWriter
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.text.index.building import write_column, write_vocabulary
from rankwright.text.index.checks import refusing_damage
from rankwright.text.index.encoding import merged_vectors
from rankwright.text.index.manifest import SegmentEntry, named_files
from rankwright.text.index.segments import Segment, vocabulary_scopes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.text.index.manifest import Manifest
    from rankwright.text.index.segments import TextColumn

MAX_AT_ONCE = 16  # segments
NONE = 0xFFFFFFFF  # the new number of a removed document
POSITIONS_AT_ONCE = 1 << 20
BYTES_AT_ONCE = 1 << 24
MAX_DOCUMENTS = NONE - 1


def merge_neighbours(folder: Path, manifest: Manifest, segments: Sequence[Segment], n_threads: int) -> Manifest:
    """Return the manifest with neighbouring segments merged, as far as they fit into one."""
    groups: list[list[Segment]] = []
    for segment in segments:
        if groups and _fit_into_one([*groups[-1], segment]):
            groups[-1].append(segment)
        else:
            groups.append([segment])
    entries: list[SegmentEntry] = []
    for group in groups:
        if len(group) == 1 and not len(group[0].removed):
            entries.append(group[0].entry)
            continue
        entry, manifest = _merge_in_stages(group, folder, manifest, n_threads)
        entries.append(entry)
    return replace(manifest, segments=tuple(entry for entry in entries if entry.n_documents))


def _fit_into_one(segments: Sequence[Segment]) -> bool:
    """Return whether segments fit into one, whose numbers have 32 bits."""
    totals = np.sum([segment.entry.lengths for segment in segments], axis=0)
    return sum(segment.entry.n_documents for segment in segments) < MAX_DOCUMENTS and bool(np.all(totals < NONE))


def _merge_in_stages(
    segments: Sequence[Segment], folder: Path, manifest: Manifest, n_threads: int
) -> tuple[SegmentEntry, Manifest]:
    """Merge segments into one, few at a time since the terms of each are in memory; return its entry.

    The returned manifest has used the names of new files. Temporary segments are removed as soon as they are
    merged, so that building needs little more than twice the size of the index.
    """
    kept = named_files(folder)
    while len(segments) > 1 or len(segments[0].removed):
        stage: list[Segment] = []
        for first in range(0, len(segments), MAX_AT_ONCE):
            part = segments[first : first + MAX_AT_ONCE]
            if len(part) == 1 and not len(part[0].removed):
                stage.append(part[0])
                continue
            name, manifest = manifest.new_file("segment")
            entry = merge_segments(part, folder, name, n_threads)
            entry, manifest = merged_vectors(folder, manifest, part, entry)
            stage.append(Segment(folder, entry))
            for segment in part:
                if segment.entry.file not in kept:
                    (folder / segment.entry.file).unlink()
        segments = stage
    return segments[0].entry, manifest


@refusing_damage()
def merge_segments(segments: Sequence[Segment], folder: Path, name: str, n_threads: int) -> SegmentEntry:
    """Write the remaining documents of segments, in their order, as one new segment; all of them are verified."""
    for segment in segments:
        segment.verify()
    kept = [segment.remaining() for segment in segments]
    with write_whole(folder / name) as file:
        writer = ArrayWriter(file)
        _merge_text(writer, segments, kept)
        ids = [
            name
            for segment, mine in zip(segments, kept, strict=True)
            for name in segment.ids.take(np.flatnonzero(mine))
        ]
        (offsets, content), order = _native.pack_texts(ids)
        write_column(writer, "ids", offsets, content)
        writer.add("ids.order", order)
        numbers = _new_numbers(kept)
        lengths = [
            _merge_field(writer, field, segments, kept, numbers, n_threads)
            for field in range(len(segments[0].fields))
        ]
        _merge_vocabularies(writer, segments, kept)
        checksum = writer.finish()
    return SegmentEntry(name, checksum, None, 0, len(ids), lengths)


def _new_numbers(kept: list[NDArray[np.bool_]]) -> list[NDArray[np.uint32]]:
    starts = np.cumsum([0, *(np.count_nonzero(mine) for mine in kept)])
    return [
        np.where(mine, start + np.cumsum(mine) - 1, NONE).astype(np.uint32)
        for mine, start in zip(kept, starts[:-1], strict=True)
    ]


def _merge_vocabularies(writer: ArrayWriter, segments: Sequence[Segment], kept: list[NDArray[np.bool_]]) -> None:
    """Copy the vocabularies of documents, which merging does not change."""
    for scope in vocabulary_scopes(len(segments[0].fields)):
        parts = [segment.vocabulary(scope.fields) for segment in segments]
        distinct, norms = (
            np.concatenate([of_segment[mine] for of_segment, mine in zip(of_scope, kept, strict=True)])
            for of_scope in zip(*parts, strict=True)
        )
        write_vocabulary(writer, scope.name, distinct, norms)


def _merge_field(
    writer: ArrayWriter,
    field: int,
    segments: Sequence[Segment],
    kept: list[NDArray[np.bool_]],
    numbers: list[NDArray[np.uint32]],
    n_threads: int,
) -> int:
    parts = [segment.fields[field] for segment in segments]
    (offsets, content), new_terms = _native.merge_texts([(part.terms.offsets, part.terms.bytes) for part in parts])
    sources = [(part.postings, terms, new) for part, terms, new in zip(parts, new_terms, numbers, strict=True)]
    merge = _native.PostingsMerge(sources, len(offsets) - 1)
    lengths = np.concatenate([part.lengths[mine] for part, mine in zip(parts, kept, strict=True)])
    write_column(writer, f"{field}.terms", *_chosen(offsets, content, merge.terms))
    writer.add(f"{field}.posting_places", merge.posting_places)
    writer.add(f"{field}.position_places", merge.position_places)
    writer.add(f"{field}.lengths", lengths)
    writer.add(f"{field}.shortest", _native.shortest_lengths(lengths))
    _merge_postings(writer, str(field), merge, lengths, n_threads)
    return int(lengths.sum(dtype=np.int64))


def _merge_postings(
    writer: ArrayWriter, field: str, merge: _native.PostingsMerge, lengths: NDArray[np.uint32], n_threads: int
) -> None:
    posting_places, position_places = merge.posting_places, merge.position_places
    for key, offsets in (
        ("documents", posting_places),
        ("position_ends", posting_places),
        ("positions", position_places),
    ):
        writer.reserve(f"{field}.{key}", "uint32", [int(offsets[-1])])
    block_places, impact_places = _Offsets(), _Offsets()
    block_ends, impacts = [np.zeros(0, np.uint32)], [np.zeros((0, 2), np.uint32)]
    for first, end in _ranges(position_places):
        documents, ends, positions = merge.merge(first, end)
        writer.fill(f"{field}.documents", documents)
        writer.fill(f"{field}.position_ends", ends)
        writer.fill(f"{field}.positions", positions)
        mine = posting_places[first : end + 1] - posting_places[first]
        blocks, last, within, found_impacts = _native.block_impacts(mine, documents, ends, lengths, n_threads)
        block_places.extend(blocks)
        block_ends.append(last)
        impact_places.extend(within)
        impacts.append(found_impacts)
    writer.add(f"{field}.block_places", block_places.joined())
    writer.add(f"{field}.block_ends", np.concatenate(block_ends))
    writer.add(f"{field}.impact_places", impact_places.joined())
    writer.add(f"{field}.impacts", np.concatenate(impacts))


class _Offsets:
    """Offsets, extended by others that start again from 0."""

    def __init__(self) -> None:
        self._parts = [np.zeros(1, np.uint64)]

    def extend(self, offsets: NDArray[np.uint64]) -> None:
        self._parts.append(offsets[1:] + self._parts[-1][-1] if len(offsets) > 1 else self._parts[-1][:0])
        if not len(self._parts[-1]):
            self._parts.pop()

    def joined(self) -> NDArray[np.uint64]:
        return np.concatenate(self._parts)


def _ranges(position_places: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of terms with few positions each, but at least one term."""
    first, n_terms = 0, len(position_places) - 1
    while first < n_terms:
        limit = position_places[first] + np.uint64(POSITIONS_AT_ONCE)
        last = max(first + 1, int(np.searchsorted(position_places, limit, side="right")) - 1)
        yield first, last
        first = last


def _chosen(
    offsets: NDArray[np.uint64], content: NDArray[np.uint8], chosen: NDArray[np.uint32]
) -> tuple[Any, Any]:
    """Return some of the texts of a column."""
    if len(chosen) == len(offsets) - 1:
        return offsets, content
    sizes = np.diff(offsets)
    mask = np.zeros(len(sizes), bool)
    mask[chosen] = True
    return np.concatenate([np.zeros(1, np.uint64), np.cumsum(sizes[mask])]), content[
        np.repeat(mask, sizes.astype(np.int64))
    ]


def _merge_text(writer: ArrayWriter, segments: Sequence[Segment], kept: list[NDArray[np.bool_]]) -> None:
    """Copy the stored text, if all segments have it."""
    columns = [segment.text.column for segment in segments if segment.text is not None]
    if len(columns) < len(segments):
        return
    for column in columns:
        if np.any(column.offsets[1:] < column.offsets[:-1]) or column.offsets[-1] > len(column.bytes):
            raise InputError("The index is damaged: the offsets of its texts are out of range.")
    n_fields = len(segments[0].fields)
    masks = [np.repeat(mine, n_fields) for mine in kept]
    sizes = [np.diff(column.offsets)[mask] for column, mask in zip(columns, masks, strict=True)]
    offsets = np.concatenate([np.zeros(1, np.uint64), np.cumsum(np.concatenate(sizes))]).astype(np.uint64)
    writer.add("text.places", offsets)
    writer.reserve("text.bytes", "uint8", [int(offsets[-1])])
    for column, mask in zip(columns, masks, strict=True):
        _copy_text(writer, column, mask)


def _copy_text(writer: ArrayWriter, column: TextColumn, mask: NDArray[np.bool_]) -> None:
    """Copy the texts under the mask, in runs of neighbours."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    for first, last in edges.reshape(-1, 2).tolist():
        begin, end = int(column.offsets[first]), int(column.offsets[last])
        for start in range(begin, end, BYTES_AT_ONCE):
            writer.fill("text.bytes", column.bytes[start : min(start + BYTES_AT_ONCE, end)])

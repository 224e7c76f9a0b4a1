"""Parts of the changes of an index: its segments, removed documents, and what is undone if a change fails."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.array_files import ArrayWriter
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import SENTENCE, shortened
from rankwright.text.analyser import analyser_from, checked_analyser
from rankwright.text.index.building import Building
from rankwright.text.index.checks import checked_memory
from rankwright.text.index.manifest import NAME, named_files, remove_others
from rankwright.text.index.segments import Segment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rankwright.text.analyser import Analysis
    from rankwright.text.index.manifest import Manifest


@contextmanager
def undoing(folder: Path) -> Iterator[None]:
    """Remove the files of a failed change; once the manifest names them, they belong to the index."""
    before = {path.name for path in folder.iterdir()}
    try:
        yield
    except BaseException:
        remove_others(folder, before | named_files(folder))
        raise


def segments_of(folder: Path, manifest: Manifest) -> list[Segment]:
    """Open the segments that a manifest names."""
    return [Segment(folder, entry) for entry in manifest.segments]


def new_building(
    folder: Path,
    analyser: Analysis,
    manifest: Manifest,
    *,
    store: bool,
    memory: int,
    n_jobs: int | None,
    more_fields: bool = False,
) -> Building:
    """Return what writes documents to new segments."""
    return Building(
        folder,
        analyser,
        [*manifest.weights],
        memory=checked_memory(memory),
        store=store,
        n_threads=resolve_threads(n_jobs),
        more_fields=more_fields,
    )


def without_documents(folder: Path, manifest: Manifest, ids: Sequence[str]) -> Manifest:
    """Return the manifest with documents removed; all must be in the index."""
    segments = segments_of(folder, manifest)
    matches = [segment.find(ids) for segment in segments]
    is_known = np.any([numbers >= 0 for numbers in matches], axis=0) if matches else np.zeros(len(ids), bool)
    if not np.all(is_known):
        raise InputError(f"The index has no document {ids[int(np.argmin(is_known))]!r}.")
    for position, (segment, numbers) in enumerate(zip(segments, matches, strict=True)):
        if np.any(numbers >= 0):
            manifest = _without_numbers(folder, manifest, position, segment, numbers[numbers >= 0])
    return manifest


def _without_numbers(folder: Path, manifest: Manifest, position: int, segment: Segment, numbers: Any) -> Manifest:
    """Return the manifest with more documents of a segment removed; their list is written."""
    removed = np.union1d(segment.removed, numbers).astype(np.uint32)
    name, manifest = manifest.new_file("removed")
    with write_whole(folder / name) as file:
        writer = ArrayWriter(file)
        writer.add("removed", removed)
        checksum = writer.finish()
    kept = np.ones(len(segment), bool)
    kept[removed] = False
    lengths = [int(field.lengths[kept].sum(dtype=np.int64)) for field in segment.fields]
    entry = replace(
        segment.entry,
        removed_file=name,
        removed_checksum=checksum,
        n_documents=len(segment) - len(removed),
        lengths=lengths,
    )
    return replace(manifest, segments=(*manifest.segments[:position], entry, *manifest.segments[position + 1 :]))


def remembered_analyser(manifest: Manifest, analyser: Analysis | None, folder: Path) -> Analysis | None:
    """Return the analyser of an index: as it is stored, or a function that is given again."""
    try:
        remembered = analyser_from(manifest.analyser)
    except InputError as error:
        raise InputError(f"{folder / NAME} is damaged: {shortened(str(error), SENTENCE)}") from None
    if analyser is None:
        return remembered
    if remembered is not None and remembered != analyser:
        raise InputError(f"The index {folder} was built with {remembered}: open it without analyser.")
    return checked_analyser(analyser)

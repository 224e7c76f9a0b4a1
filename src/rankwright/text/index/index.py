"""An inverted index with positions, in a folder."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.array_files import ArrayWriter
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import SENTENCE, counted, shortened
from rankwright.text.analyser import Analyser, analyser_from, checked_analyser, state_of, terms_of_texts
from rankwright.text.index.building import Building
from rankwright.text.index.checks import (
    checked_ids,
    checked_memory,
    checked_n,
    checked_texts,
    checked_weights,
    require_free,
    searching_model,
    weights_of,
)
from rankwright.text.index.manifest import (
    NAME,
    Manifest,
    changing,
    free_number,
    named_files,
    read_manifest,
    remove_others,
    write_manifest,
)
from rankwright.text.index.merging import merge_neighbours
from rankwright.text.index.segments import Segment
from rankwright.text.index.snapshot import Snapshot
from rankwright.text.retrieval import BM25

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rankwright.text.analyser import Analysis
    from rankwright.text.index.checks import IndexedDocument
    from rankwright.text.index.snapshot import SearchResults
    from rankwright.text.retrieval import RetrievalModel

MEMORY = 1 << 30


class Index:
    """Documents that can be searched; made by `build` or `open`.

    The folder holds a manifest and one file per segment, memory-mapped when it is opened. Every change writes new
    files and then replaces the manifest, so that it happens completely or not at all, and other processes that
    have the index open keep what they opened. A removed document has no influence on any score.

    Examples
    --------
    >>> documents = rw.text.generated_collection(100).documents
    >>> index = rw.text.Index.build(documents, "index", fields={"title": 2, "body": 1})
    >>> index.search("old bridge repair", n=3).ids
    ['d7', 'd8', 'd37']
    >>> len(rw.text.Index.open("index"))
    100
    """

    def __init__(self, path: str | os.PathLike[str], manifest: Manifest, analyser: Analysis | None) -> None:
        self._folder = Path(path)
        self._analyser = analyser
        self._use(manifest)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, analyser: Analysis | None = None) -> Index:
        """Open an index. An index built with a function as analyser needs that function to be searched."""
        folder = Path(path)
        manifest = read_manifest(folder)
        try:
            return cls(folder, manifest, _remembered(manifest, analyser, folder))
        except InputError:
            if read_manifest(folder) == manifest:
                raise
            return cls.open(path, analyser=analyser)  # another process has just replaced its files

    @classmethod
    def build(
        cls,
        documents: Iterable[IndexedDocument],
        path: str | os.PathLike[str],
        *,
        analyser: Analysis | None = None,
        fields: Mapping[str, float] | Sequence[str] | None = None,
        store: bool = True,
        memory: int = MEMORY,
        n_jobs: int | None = None,
    ) -> Index:
        """Index documents in a folder, replacing an index that is there.

        Parameters
        ----------
        documents : iterable of TextDocument
            Read one after another. Each has an `id` and `fields`, a mapping from names to text.
        path : path
            A new folder, an empty one, or an index, which stays as it is if anything fails.
        analyser : Analyser or function, optional
            How text becomes terms; `Analyser()` by default. A function from text to a list of words is not stored,
            so that it must be given again to `open`.
        fields : mapping or sequence, optional
            Fields to index, with weights for searching: how often a word of the field counts. By default all
            fields with weight 1, and titles (`title`, SMART's `T`) with weight 2.
        store : bool
            Whether texts are stored too, for snippets.
        memory : int
            Bytes to use for words before they are written; more documents are written in parts, which are merged.
        n_jobs : int, optional
            The number of threads; all by default. The index does not depend on it.
        """
        folder = Path(path)
        chosen = Analyser() if analyser is None else checked_analyser(analyser)
        weights, documents = weights_of(fields, documents)
        require_free(folder)
        with changing(folder), _undoing(folder):
            manifest = Manifest(weights, state_of(chosen), next_file=free_number(folder))
            options: Any = {"store": store, "memory": memory, "n_jobs": n_jobs, "more_fields": fields is None}
            manifest = _building(folder, chosen, manifest, **options).write(documents, manifest, [])
            manifest = merge_neighbours(folder, manifest, _segments(folder, manifest), resolve_threads(n_jobs))
            write_manifest(folder, manifest)
        return cls(folder, manifest, chosen)

    def add(
        self, documents: Iterable[IndexedDocument], *, memory: int = MEMORY, n_jobs: int | None = None
    ) -> None:
        """Add documents as a new segment; their ids must be new. Text is stored if the index has stored text."""
        with self._changing() as manifest:
            segments = _segments(self._folder, manifest)
            store = all(segment.text is not None for segment in segments)
            building = _building(self._folder, self.analyser, manifest, store=store, memory=memory, n_jobs=n_jobs)
            self._replace(replace(building.write(documents, manifest, segments), changed=True))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents by their ids; all must be in the index."""
        wanted = checked_ids(ids)
        with self._changing() as manifest:
            segments = _segments(self._folder, manifest)
            matches = [segment.find(wanted) for segment in segments]
            is_known = (
                np.any([numbers >= 0 for numbers in matches], axis=0) if matches else np.zeros(len(wanted), bool)
            )
            if not np.all(is_known):
                raise InputError(f"The index has no document {wanted[int(np.argmin(is_known))]!r}.")
            for position, (segment, numbers) in enumerate(zip(segments, matches, strict=True)):
                if np.any(numbers >= 0):
                    manifest = _without(self._folder, manifest, position, segment, numbers[numbers >= 0])
            self._replace(replace(manifest, changed=True))

    def merge(self, *, n_jobs: int | None = None) -> None:
        """Merge all segments into one, without removed documents; one segment is searched faster than several."""
        with self._changing() as manifest:
            segments = _segments(self._folder, manifest)
            self._replace(merge_neighbours(self._folder, manifest, segments, resolve_threads(n_jobs)))

    def verify(self) -> None:
        """Verify the checksums of all files; InputError if one is damaged.

        Searching verifies only what it reads, and when it first reads it; merging verifies all that it merges.
        """
        for segment in self.snapshot.segments:
            segment.verify()

    def search(
        self,
        query: str,
        model: RetrievalModel | None = None,
        n: int = 100,
        *,
        fields: Mapping[str, float] | Sequence[str] | None = None,
    ) -> SearchResults:
        """Return the n best documents for a query.

        The result is exactly that of scoring every document that has a term of the query; a query without any
        known term finds nothing.

        Parameters
        ----------
        query : str
            Analysed like the documents.
        model : BM25, Dirichlet or JelinekMercer, optional
            How documents are scored; `BM25()` by default.
        n : int
            The number of documents to find.
        fields : mapping or sequence, optional
            Fields to search, with weights; by default all, with the weights of the index. They are searched as one
            text in which a field of weight w counts w times.
        """
        return self.search_all([query], model, n, fields=fields, n_jobs=1)[0]

    def search_all(
        self,
        queries: Sequence[str],
        model: RetrievalModel | None = None,
        n: int = 100,
        *,
        fields: Mapping[str, float] | Sequence[str] | None = None,
        n_jobs: int | None = None,
    ) -> list[SearchResults]:
        """Return the n best documents of each query; see `search`."""
        terms = terms_of_texts(self.analyser, checked_texts(queries))
        weights = self.weights if fields is None else checked_weights(fields)
        chosen = BM25() if model is None else searching_model(model)
        return self.snapshot.search(terms, chosen, checked_n(n), weights, n_threads=resolve_threads(n_jobs))

    @property
    def analyser(self) -> Analysis:
        """How text becomes terms."""
        if self._analyser is None:
            raise InputError(
                f"The index {self._folder} was built with a function as analyser: give it to Index.open."
            )
        return self._analyser

    @property
    def analyser_state(self) -> dict[str, Any] | str:
        """The settings of the analyser that are stored with the index, as JSON."""
        state: dict[str, Any] | str = self._manifest.analyser
        return state

    @property
    def weights(self) -> dict[str, float]:
        """The fields, with their weights in searches."""
        return dict(self._manifest.weights)

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields."""
        return self.snapshot.fields

    @property
    def path(self) -> Path:
        """The folder of the index."""
        return self._folder

    @property
    def changed(self) -> bool:
        """Whether documents were added or removed since the index was built."""
        return self._manifest.changed

    @property
    def has_text(self) -> bool:
        """Whether the text of all documents is stored."""
        return all(segment.text is not None for segment in self.snapshot.segments)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.snapshot)

    def __contains__(self, document_id: object) -> bool:
        """Return whether a document has this id."""
        return isinstance(document_id, str) and bool(self.snapshot.find([document_id])[0] >= 0)

    def text(self, document_id: str) -> dict[str, str]:
        """Return the stored text of a document's fields."""
        number = int(self.snapshot.find([document_id])[0])
        if number < 0:
            raise InputError(f"The index has no document {document_id!r}.")
        segment, row = self.snapshot.segment_of(number)
        if segment.text is None:
            raise InputError("The index was built without text: build it with store=True.")
        rows = np.arange(row * len(self.fields), (row + 1) * len(self.fields))
        return dict(zip(self.fields, segment.text.take(rows), strict=True))

    def __repr__(self) -> str:
        return f"Index({str(self._folder)!r}, {counted(len(self), 'document')}, fields {', '.join(self.fields)})"

    def _use(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self.snapshot = Snapshot(_segments(self._folder, manifest), [*manifest.weights])

    @contextmanager
    def _changing(self) -> Iterator[Manifest]:
        """Lock the index and yield its current manifest; another object may have changed it."""
        with changing(self._folder), _undoing(self._folder):
            manifest, mine = read_manifest(self._folder), self._manifest
            if (manifest.analyser, [*manifest.weights]) != (mine.analyser, [*mine.weights]):
                raise InputError(f"The index {self._folder} was built again with other settings: open it again.")
            yield manifest

    def _replace(self, manifest: Manifest) -> None:
        write_manifest(self._folder, manifest)
        self._use(manifest)


@contextmanager
def _undoing(folder: Path) -> Iterator[None]:
    """Remove the files of a failed change; once the manifest names them, they belong to the index."""
    before = {path.name for path in folder.iterdir()}
    try:
        yield
    except BaseException:
        remove_others(folder, before | named_files(folder))
        raise


def _segments(folder: Path, manifest: Manifest) -> list[Segment]:
    return [Segment(folder, entry) for entry in manifest.segments]


def _building(
    folder: Path,
    analyser: Analysis,
    manifest: Manifest,
    *,
    store: bool,
    memory: int,
    n_jobs: int | None,
    more_fields: bool = False,
) -> Building:
    return Building(
        folder,
        analyser,
        [*manifest.weights],
        memory=checked_memory(memory),
        store=store,
        n_threads=resolve_threads(n_jobs),
        more_fields=more_fields,
    )


def _without(folder: Path, manifest: Manifest, position: int, segment: Segment, numbers: Any) -> Manifest:
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


def _remembered(manifest: Manifest, analyser: Analysis | None, folder: Path) -> Analysis | None:
    try:
        remembered = analyser_from(manifest.analyser)
    except InputError as error:
        raise InputError(f"{folder / NAME} is damaged: {shortened(str(error), SENTENCE)}") from None
    if analyser is None:
        return remembered
    if remembered is not None and remembered != analyser:
        raise InputError(f"The index {folder} was built with {remembered}: open it without analyser.")
    return checked_analyser(analyser)

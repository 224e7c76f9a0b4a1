"""An inverted index with positions, in a folder."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError, require_type
from rankwright.base.resources import resolve_threads
from rankwright.base.wording import counted
from rankwright.text.analyser import Analyser, checked_analyser, state_of, terms_of_texts
from rankwright.text.collections.queries import Queries
from rankwright.text.encoders.encoder import Encoder, require_same
from rankwright.text.encoders.known_encoders import KnownEncoders
from rankwright.text.index import graphs
from rankwright.text.index.changes import (
    new_building,
    remembered_analyser,
    segments_of,
    undoing,
    without_documents,
)
from rankwright.text.index.checks import (
    checked_ids,
    checked_n,
    checked_texts,
    checked_weights,
    require_free,
    searching_model,
    weights_of,
)
from rankwright.text.index.encoding import encode_segments, encoded_fields, remove_work
from rankwright.text.index.manifest import (
    Manifest,
    changing,
    free_number,
    read_manifest,
    write_manifest,
)
from rankwright.text.index.merging import merge_neighbours
from rankwright.text.index.snapshot import Snapshot
from rankwright.text.retrieval import BM25
from rankwright.text.retrievers.retriever import BaseRetriever

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

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
    ['d7', 'd37', 'd88']
    >>> len(rw.text.Index.open("index"))
    100
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        manifest: Manifest,
        analyser: Analysis | None,
        encoders: Sequence[Encoder] = (),
    ) -> None:
        self._folder = Path(path)
        self._analyser = analyser
        self.encoders = KnownEncoders(encoders, manifest.encoders)
        self._use(manifest)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        analyser: Analysis | None = None,
        encoders: Sequence[Encoder] = (),
    ) -> Index:
        """Open an index.

        An index built with a function as analyser needs that function to be searched. Encoders are read again from
        the folders of their ONNX models; others must be given.
        """
        folder = Path(path)
        manifest = read_manifest(folder)
        try:
            return cls(folder, manifest, remembered_analyser(manifest, analyser, folder), encoders)
        except InputError:
            if read_manifest(folder) == manifest:
                raise
            return cls.open(path, analyser=analyser, encoders=encoders)  # another process has just replaced files

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
        with changing(folder), undoing(folder):
            manifest = Manifest(weights, state_of(chosen), next_file=free_number(folder))
            options: Any = {"store": store, "memory": memory, "n_jobs": n_jobs, "more_fields": fields is None}
            manifest = new_building(folder, chosen, manifest, **options).write(documents, manifest, [])
            manifest = merge_neighbours(folder, manifest, segments_of(folder, manifest), resolve_threads(n_jobs))
            write_manifest(folder, manifest)
        return cls(folder, manifest, chosen)

    def add(
        self, documents: Iterable[IndexedDocument], *, memory: int = MEMORY, n_jobs: int | None = None
    ) -> None:
        """Add documents as a new segment; their ids must be new. Text is stored if the index has stored text."""
        with self._changing() as manifest:
            segments = segments_of(self._folder, manifest)
            store = all(segment.text is not None for segment in segments)
            encoders = [self.encoders[name] for name in manifest.encoders]
            building = new_building(
                self._folder, self.analyser, manifest, store=store, memory=memory, n_jobs=n_jobs
            )
            manifest = building.write(documents, manifest, segments)
            for encoder in encoders:
                manifest = self._encoded(manifest, encoder, manifest.encoders[encoder.name])
            self._replace(replace(manifest, changed=True))

    def encode(
        self,
        encoder: Encoder,
        *,
        fields: Sequence[str] | None = None,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """Encode all documents, and keep their vectors in the index.

        The vectors are removed and merged with their documents, and documents that are added later are encoded
        too. If it is interrupted, it resumes where it was when it is called again.

        Parameters
        ----------
        encoder : Encoder
            Makes the vectors.
        fields : sequence of str, optional
            The fields whose text is encoded, one after another; by default all.
        on_progress : callable, optional
            Called with the number of documents that were encoded since the last call.
        """
        require_type(encoder, Encoder, "Index.encode takes an Encoder")
        chosen = encoded_fields(fields, self.fields, encoder)
        with self._changing() as manifest:
            known = manifest.encoders.get(encoder.name)
            if known is not None:
                require_same(encoder, known)
            identity = known or {**encoder.identity(), "fields": chosen}
            manifest = self._encoded(manifest, encoder, identity, on_progress)
            self.encoders.add(encoder)
            self._replace(manifest)
        remove_work(self._folder)

    def drop_vectors(self, encoder: str) -> None:
        """Remove the vectors of an encoder from the index."""
        with self._changing() as manifest:
            self.encoders.of(manifest.encoders).named(encoder)
            self._replace(manifest.without_encoder(encoder))

    def build_graph(
        self,
        encoder: str | None = None,
        *,
        queries: Sequence[str] | None = None,
        n: int = 100,
        n_jobs: int = 1,
        on_progress: Callable[[int], None] = lambda _: None,
    ) -> graphs.GraphRecall:
        """Build a graph of neighbours (HNSW, by usearch), by which `Dense` searches large collections faster.

        It finds most of the nearest documents; the result says how many of them. Scores stay exact. Documents that
        are added later are all scored; `merge` builds the graph anew with them and without removed ones.

        Parameters
        ----------
        encoder : str, optional
            The encoder of the vectors; may be left out if there is one.
        queries : sequence of str, optional
            Queries to measure recall with; by default some documents are taken for queries.
        n : int
            The number of nearest documents whose recall is measured.
        n_jobs : int
            The number of threads; with several, the graph differs a little each time it is built.
        on_progress : callable, optional
            Called with the number of documents that were added since the last call.
        """
        name = self.encoders.named(encoder)
        depth = checked_n(n)
        options: Any = {"n_threads": resolve_threads(n_jobs), "on_progress": on_progress}
        encoded = None if queries is None else self.encoders.queries(name, checked_texts(queries))
        asked = graphs.measured_queries(self.snapshot.vectors(name), encoded)
        with self._changing() as manifest:
            self._replace(graphs.with_graphs(self._folder, manifest, name, **options))
        return graphs.measured_recall(name, self.snapshot.vectors(name), asked, depth)

    def drop_graph(self, encoder: str | None = None) -> None:
        """Remove a graph of neighbours: `Dense` scores all documents again."""
        with self._changing() as manifest:
            self._replace(graphs.without_graphs(self._folder, manifest, self.encoders.named(encoder)))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents by their ids; all must be in the index."""
        with self._changing() as manifest:
            manifest = without_documents(self._folder, manifest, checked_ids(ids))
            self._replace(replace(manifest, changed=True))

    def merge(self, *, n_jobs: int | None = None) -> None:
        """Merge all segments into one, without removed documents; one segment is searched faster than several."""
        with self._changing() as manifest:
            segments = segments_of(self._folder, manifest)
            encoders = graphs.encoders_with_graphs(self._folder, manifest)
            manifest = merge_neighbours(self._folder, manifest, segments, resolve_threads(n_jobs))
            for name in encoders:
                manifest = graphs.with_graphs(self._folder, manifest, name)
            self._replace(manifest)

    def verify(self) -> None:
        """Verify the checksums of all files; InputError if one is damaged.

        Searching verifies only what it reads, and when it first reads it; merging verifies all that it merges.
        """
        for segment in self.snapshot.segments:
            segment.verify()

    def search(
        self,
        query: str,
        model: RetrievalModel | BaseRetriever | None = None,
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
        model : BM25, Dirichlet, JelinekMercer, Dense or Hybrid, optional
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
        model: RetrievalModel | BaseRetriever | None = None,
        n: int = 100,
        *,
        fields: Mapping[str, float] | Sequence[str] | None = None,
        n_jobs: int | None = None,
    ) -> list[SearchResults]:
        """Return the n best documents of each query; see `search`."""
        texts = checked_texts(queries)
        if isinstance(model, BaseRetriever):
            if fields is not None:
                raise InputError(f"fields are for retrieval models of words, not for {model}.")
            asked = Queries(tuple(map(str, range(len(texts)))), tuple(texts))
            return model.best(self, asked, checked_n(n), n_jobs=n_jobs)
        terms = terms_of_texts(self.analyser, texts)
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

    def _encoded(
        self, manifest: Manifest, encoder: Encoder, identity: Any, on_progress: Any = lambda _: None
    ) -> Manifest:
        segments = segments_of(self._folder, manifest)
        return encode_segments(self._folder, manifest, segments, encoder, identity, on_progress)

    def _use(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self.encoders = self.encoders.of(manifest.encoders)
        self.snapshot = Snapshot(segments_of(self._folder, manifest), [*manifest.weights])

    @contextmanager
    def _changing(self) -> Iterator[Manifest]:
        """Lock the index and yield its current manifest; another object may have changed it."""
        with changing(self._folder), undoing(self._folder):
            manifest, mine = read_manifest(self._folder), self._manifest
            if (manifest.analyser, [*manifest.weights]) != (mine.analyser, [*mine.weights]):
                raise InputError(f"The index {self._folder} was built again with other settings: open it again.")
            yield manifest

    def _replace(self, manifest: Manifest) -> None:
        write_manifest(self._folder, manifest)
        self._use(manifest)

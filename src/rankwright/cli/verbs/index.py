"""`rankwright index`."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.option_groups import REQUIRED, argument, given_option, option
from rankwright.cli.options.shared_options import JOBS, JSON
from rankwright.cli.options.text_options import DocumentOptions, EncoderOptions, WordOptions, encode, listed_names
from rankwright.cli.output.console import counting, note, progress, show

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from contextlib import AbstractContextManager

    from rankwright.text.collections.documents import TextDocument
    from rankwright.text.index.graphs import GraphRecall
    from rankwright.text.index.index import Index

MEGABYTE = 1 << 20


def index(
    *,
    out: Path = option("Folder of the index.", "DIR", default=REQUIRED),
    reading: DocumentOptions,
    words: WordOptions,
    encoding: EncoderOptions,
    documents: list[str] | None = argument("Files of documents, a folder of them, or irds:NAME.", "DOCS..."),
    add: bool = option("Add the documents to the index that is there.", default=False),
    remove: list[str] | None = option("Remove a document, before others are added; may be repeated.", "ID"),
    remove_listed: Path | None = option("Remove the documents of a file, one id per line.", "FILE"),
    merge: bool = option("Merge the segments of an index that was changed: searches are faster.", default=False),
    verify: bool = option("Verify the checksums of an index, before any change.", default=False),
    graph: bool | None = option(
        "Build a graph of neighbours (HNSW) for approximate search among very many vectors, and measure what it "
        "finds; or drop it.",
        None,
        "--graph/--no-graph",
    ),
    force: bool = option("Replace an index even if it was changed since it was built.", default=False),
    skip_duplicates: bool = option("Skip documents whose id came before, and count them.", default=False),
    store: bool = option("Store the text too, for snippets.", None, "--text/--no-text", default=True),
    memory: int = option("Memory for words before they are written.", "MB", min=1, default=1024),
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Index documents for searching, or change an index.

    Example:

        rankwright index docs.jsonl --fields title=2,body --out index
    """
    begin = time.perf_counter()
    removed = [*(remove or []), *(listed_names(remove_listed) if remove_listed else [])]
    changes = add or merge or verify or bool(removed)
    changes = changes or (not documents and not (encoding.encoder is None and graph is None))
    _check(documents, add, changes)
    encoder = encoding.load()
    counts = Counts(skip_duplicates)
    options: dict[str, Any] = {"memory": memory * MEGABYTE, "n_jobs": jobs}
    if changes:
        _refuse_settings(reading, words, store)
        built = rw.text.Index.open(out)
        if verify:
            built.verify()
            note("verified all files of the index")
        _change(built, documents or [], removed, reading, counts, options)
        if merge:
            built.merge(n_jobs=jobs)
    else:
        if not force and _is_changed(out):
            raise InputError(
                f"{out} was changed since it was built: --add adds documents to it, --force replaces it."
            )
        source = rw.text.read_documents(_sources(documents or [], out), **reading.reading())
        options |= {"analyser": words.analyser(), "fields": reading.weights, "store": store}
        with counts.following(source) as read:
            built = rw.text.Index.build(read, out, **options)
    encode(built, encoder)
    graphs = [] if graph is None else _changed_graphs(built, build=graph)
    _show(built, counts, removed, graphs, time.perf_counter() - begin, as_json=json)


def _changed_graphs(index: Index, *, build: bool) -> list[GraphRecall]:
    """Build the graphs of all encoders, and return what they find; or drop them."""
    names = [*index.encoders] or [index.encoders.named(None)]
    if build:
        return [_graph(index, name) for name in names]
    for name in names:
        index.drop_graph(name)
    return []


def _graph(index: Index, encoder: str) -> GraphRecall:
    with progress("Building the graph", len(index)) as advance:
        recall = index.build_graph(encoder, on_progress=lambda n_documents: advance("documents", n_documents))
    note(recall.summary)
    return recall


@dataclass
class Counts:
    """Counts documents as they are read, and skips duplicates if they are to be skipped."""

    skip_duplicates: bool
    read: int = 0
    empty: int = 0
    duplicates: int = 0
    _seen: set[str] = field(default_factory=set)

    def following(
        self, documents: Iterable[TextDocument], index: Index | None = None
    ) -> AbstractContextManager[Iterator[TextDocument]]:
        """Yield documents to add to an index, or to a new one, while a terminal shows how many were read."""
        return counting("Indexing", "document", self._counted(documents, index))

    def _counted(self, documents: Iterable[TextDocument], index: Index | None) -> Iterator[TextDocument]:
        known: Container[object] = () if index is None else index
        fields = None if index is None else index.fields
        for document in documents:
            self.read += 1
            if self.skip_duplicates:
                if document.id in self._seen or document.id in known:
                    self.duplicates += 1
                    continue
                self._seen.add(document.id)
            texts = document.fields.values() if fields is None else map(document.fields.get, fields)
            self.empty += not any(text and text.strip() for text in texts)
            yield document


def _check(documents: list[str] | None, add: bool, changes: bool) -> None:
    """Refuse arguments that do not go together."""
    if add and not documents:
        raise InputError("--add needs documents to add: name their files.")
    if not documents and not changes:
        raise InputError(
            "Name the files of the documents, or a change (--add, --remove, --merge, --encoder, --graph), or "
            "--verify."
        )
    if documents and changes and not add:
        raise InputError("Documents are added to an index with --add; without a change, they make a new one.")


def _is_changed(out: Path) -> bool:
    """Return whether documents were added to an index or removed; a damaged one can be replaced."""
    try:
        return rw.text.Index.open(out).changed
    except InputError:
        return False


def _refuse_settings(reading: DocumentOptions, words: WordOptions, store: bool) -> None:
    """Refuse settings that an index has from its first documents."""
    fields = None if reading.fields is None else "--fields"
    given = given_option(words) or fields or (None if store else "--no-text")
    if given is not None:
        raise InputError(f"{given} is for a new index; one that is changed keeps its fields and its words.")


def _sources(documents: list[str], out: Path) -> str | list[str]:
    """Return what to read: a single file or folder by itself; the index must not be inside the folder."""
    for name in documents:
        if Path(name).is_dir() and out.resolve().is_relative_to(Path(name).resolve()):
            raise InputError(f"The index {out} would be inside the folder of documents {name}; choose another.")
    return documents[0] if len(documents) == 1 else documents


def _change(
    index: Index, documents: list[str], removed: list[str], reading: DocumentOptions, counts: Counts, options: Any
) -> None:
    """Remove documents from an index and add others; each step happens completely or not at all."""
    if removed:
        index.remove(removed)
        note(f"removed {counted(len(set(removed)), 'document')}")
    if documents:
        names = None if reading.rename is None else index.fields
        source = rw.text.read_documents(_sources(documents, index.path), **reading.reading(names))
        with counts.following(source, index) as read:
            index.add(read, **options)


def _show(
    index: Index,
    counts: Counts,
    removed: list[str],
    graphs: list[GraphRecall],
    seconds: float,
    *,
    as_json: bool,
) -> None:
    from rankwright.text.index.index_summary import summary_of

    facts: dict[str, Any] = {"index": str(index.path), **summary_of(index).to_dict()}
    if counts.read:
        facts |= {"documents_read": counts.read, "empty_documents": counts.empty}
    if counts.skip_duplicates:
        facts["duplicates_skipped"] = counts.duplicates
    if removed:
        facts["removed"] = len(set(removed))
    if graphs and as_json:
        facts["graphs"] = [recall.to_dict() for recall in graphs]
    facts["seconds"] = round(seconds, 3)
    show(facts, json=as_json)
    if not as_json:
        note(f'next: rankwright search "words" --index {index.path}')

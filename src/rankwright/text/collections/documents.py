"""Documents with text fields, read one after another from files of any known format."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.data.readers import irds
from rankwright.text.collections.fields import checked_choice, chosen_fields, id_name, id_of, text_fields
from rankwright.text.collections.formats.recognition import (
    DOCUMENT_FORMATS,
    checked_format,
    format_of_file,
    format_of_files,
)
from rankwright.text.collections.formats.records import ReaderOptions, Record, checked_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A document: its id, and the text of each field that it has, such as title and body.

    Examples
    --------
    >>> document = rw.text.TextDocument("d1", {"title": "Lift", "body": "The lift of thin wings."})
    >>> rw.text.Index.build([document], "index").search("wing").ids
    ['d1']
    """

    id: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class Collection:
    """The documents of a collection, read from its files each time that they are iterated over.

    Only one document is in memory at a time. `read_documents` makes collections.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("docs.jsonl").write_text('{"id": "d1", "body": "The lift of thin wings."}')
    >>> collection = rw.text.read_documents("docs.jsonl")
    >>> [document.id for document in collection], len(rw.text.Index.build(collection, "index"))
    (['d1'], 1)
    """

    name: str
    _records: Callable[[], Iterator[Record]]
    _ids: tuple[str, ...]
    _choice: Mapping[str, str] | None
    _typed: bool
    _tabular: bool

    def __iter__(self) -> Iterator[TextDocument]:
        records = self._records()
        if self._choice is None:
            chosen = text_fields(records, self._ids, typed=self._typed)
        else:
            chosen = chosen_fields(records, self._choice, tabular=self._tabular)
        for record, fields in chosen:
            yield TextDocument(id_of(record, id_name(record, self._ids)), fields)

    def __repr__(self) -> str:
        return f"Collection({self.name!r})"


def read_documents(
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    format: str | None = None,  # noqa: A002
    id: str | None = None,  # noqa: A002
    fields: Mapping[str, str] | Sequence[str] | None = None,
    encoding: str = "utf-8",
) -> Collection:
    """Return the documents of a file, of several files, of a folder, or of one of ir_datasets' data sets.

    Files are opened when the documents are iterated over, and each is read from its beginning to its end, with a
    single document in memory. Names that end with .gz are decompressed.

    Parameters
    ----------
    path
        A file, a list of files, a folder (all files in it and below, in the order of their names, except hidden
        ones), or `irds:NAME` for a data set of the package ir_datasets.
    format
        `jsonl`, `csv`, `tsv`, `parquet`, `trec` (<DOC> and <DOCNO>), `smart` (.I, .T, .W) or `text` (each file is
        one document); by default recognised by name and first bytes.
    id
        The field or column that holds the ids; by default the format's own, or the first of id, _id, docid,
        doc_id, docno, document_id and pid. The id of a text file is its name without the suffix.
    fields
        The fields to read: a list of names, or a mapping from new names to the file's, as in
        `{"title": "T", "body": "W"}`. By default all fields with text. In formats that do not tell numbers from
        text (CSV, TSV, SMART and TREC), a field that holds only numbers in the first 100 documents is not text.
    encoding
        The encoding of text files; it must extend ASCII.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("docs.jsonl").write_text('{"id": "d1", "name": "Lift", "text": "Wings lift."}')
    >>> for document in rw.text.read_documents("docs.jsonl", fields={"title": "name", "body": "text"}):
    ...     print(document.id, document.fields)
    d1 {'title': 'Lift', 'body': 'Wings lift.'}
    """
    choice = checked_choice(fields)
    if isinstance(path, str) and irds.is_name(path):
        dataset = irds.load(path)
        own_ids = (irds.DOCUMENT_ID if id is None else id,)

        def documents() -> Iterator[Record]:
            return starmap(Record, dataset.records("docs"))

        return Collection(path, documents, own_ids, choice, _typed=True, _tabular=True)
    files, folder = _files(path)
    name = _format_of(files, folder, format)
    kind = DOCUMENT_FORMATS[name]
    options = ReaderOptions(checked_encoding(encoding), id, folder)

    def records() -> Iterator[Record]:
        for file in files:
            yield from kind.read(file, options)

    ids = kind.ids if id is None else (id,)
    return Collection(_shown(files, folder), records, ids, choice, kind.typed, kind.tabular)


def _files(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> tuple[list[Path], Path | None]:
    """Return the files to read, and their folder if a folder was given."""
    if not isinstance(path, list | tuple):
        file = Path(path)  # type: ignore[arg-type]
        return (_files_below(file), file) if file.is_dir() else ([_existing(file)], None)
    if not path:
        raise InputError("There is no file to read: the list of paths is empty.")
    return [_existing(Path(file)) for file in path], None


def _files_below(folder: Path) -> list[Path]:
    """Return the files in a folder and below, in the order of their names, except hidden ones."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    visible = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not visible:
        raise InputError(f"There are no files in the folder {folder}.")
    return sorted(visible)


def _existing(path: Path) -> Path:
    if path.is_dir():
        raise InputError(f"{path} is a folder: give it alone, or list its files.")
    if not path.exists():
        raise InputError(f"There is no file {path}.")
    return path


def _format_of(files: Sequence[Path], folder: Path | None, name: str | None) -> str:
    if name is not None:
        return checked_format(name, DOCUMENT_FORMATS)
    if folder is not None:
        return format_of_files(files, DOCUMENT_FORMATS)
    return format_of_file(files[0], DOCUMENT_FORMATS)


def _shown(files: Sequence[Path], folder: Path | None) -> str:
    if folder is not None:
        return str(folder)
    return str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"

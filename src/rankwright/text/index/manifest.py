"""The manifest of an index: its files, fields and analyser.

Every change ends by replacing the manifest. The files of the old manifest stay until then, so that a change that
fails or is interrupted leaves the index unchanged.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.files import lock_file, remove_stale_parts, write_whole
from rankwright.base.wording import SENTENCE, shortened
from rankwright.text.retrieval import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FORMAT = "rankwright text index"
FORMAT_VERSION = 4
WITHOUT_VECTORS = 3  # the version before, which is read too
NAME = "index.json"
LOCK = ".lock"
KINDS = ("segment", "removed", "vectors")
FILE = re.compile(rf"[0-9]{{6,20}}\.({'|'.join(KINDS)})")
ENCODER = ("checksum", "dimensions", "probe", "query_prefix", "document_prefix", "source", "fields")
MOST = 1 << 32  # documents, terms and checksums have 32 bits


@dataclass(frozen=True)
class SegmentEntry:
    """The files of a segment, and its counts without removed documents."""

    file: str
    checksum: int
    removed_file: str | None
    removed_checksum: int
    n_documents: int
    lengths: list[int]  # the number of terms in each field
    vectors: dict[str, list[Any]] = field(default_factory=dict)  # by encoder: the file and its checksum

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, dict) or not all(
            isinstance(entry, list) and len(entry) == 2 for entry in self.vectors.values()
        ):
            raise InputError("a segment's vectors must be files with their checksums, by encoder.")
        files, checksums = [entry[0] for entry in self.vectors.values()], [e[1] for e in self.vectors.values()]
        names = [self.file, *files] if self.removed_file is None else [self.file, self.removed_file, *files]
        lengths = self.lengths if isinstance(self.lengths, list) else [-1]
        if not all(isinstance(name, str) and FILE.fullmatch(name) for name in names):
            raise InputError("a segment's files must be names, such as 000001.segment.")
        counts = [self.checksum, self.removed_checksum, self.n_documents, *lengths, *checksums]
        if not all(type(count) is int and 0 <= count < MOST for count in counts):
            raise InputError("a segment's counts must be integers of 32 bits.")


@dataclass(frozen=True)
class Manifest:
    """The contents of an index; `weights` has the fields in order, with their weights."""

    weights: dict[str, float]
    analyser: Any
    segments: tuple[SegmentEntry, ...] = ()
    next_file: int = 1
    changed: bool = False  # whether documents were added or removed after it was built
    encoders: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name: identity, and encoded fields

    def __post_init__(self) -> None:
        if not isinstance(self.weights, dict) or not self.weights:
            raise InputError("weights must be an object of fields.")
        if type(self.next_file) is not int or not 0 < self.next_file < MOST or type(self.changed) is not bool:
            raise InputError("next_file must be an integer of 32 bits, and changed true or false.")
        for name, weight in self.weights.items():
            if type(weight) is not float or not 0 <= weight <= LARGEST:
                raise InputError(f"the weight of field {name} must be a number between 0 and {LARGEST:g}.")
        if any(len(segment.lengths) != len(self.weights) for segment in self.segments):
            raise InputError("each segment must have all fields.")
        if not isinstance(self.encoders, dict) or not all(map(_is_encoder, self.encoders.values())):
            raise InputError(f"encoders must be objects of {', '.join(ENCODER)}.")

    def new_file(self, kind: str) -> tuple[str, Manifest]:
        """Return a new file name, and the manifest that counts it as used."""
        return f"{self.next_file:06}.{kind}", replace(self, next_file=self.next_file + 1)

    def without_encoder(self, encoder: str) -> Manifest:
        """Return the manifest without the vectors of an encoder."""
        segments = tuple(
            replace(entry, vectors={name: file for name, file in entry.vectors.items() if name != encoder})
            for entry in self.segments
        )
        others = {name: known for name, known in self.encoders.items() if name != encoder}
        return replace(self, segments=segments, encoders=others)

    def files(self) -> set[str]:
        """Return the names of all files."""
        named = {name for segment in self.segments for name in (segment.file, segment.removed_file)}
        named |= {name for segment in self.segments for name, _ in segment.vectors.values()}
        return {name for name in named if name is not None}


def _is_encoder(described: Any) -> bool:
    """Return whether an encoder is described as `Encoder.identity` does, with the fields that it encodes."""
    match described:
        case {
            "checksum": str(),
            "dimensions": int(dimensions),
            "probe": [*probe],
            "query_prefix": str(),
            "document_prefix": str(),
            "source": None | str(),
            "fields": [*fields_],
        } if described.keys() == {*ENCODER} and 0 < dimensions < MOST:
            return all(isinstance(number, float) for number in probe) and all(isinstance(f, str) for f in fields_)
    return False


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an index."""
    path = folder / NAME
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} is not an index: there is no file {path}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError):
        raise InputError(f"{path} is cut short or damaged: it is not JSON.") from None
    return _checked(content, path)


def is_manifest(path: Path) -> bool:
    """Return whether a file is the manifest of an index, even a damaged one or of another version."""
    try:
        with path.open("rb") as file:
            return FORMAT.encode() in file.read(100)
    except OSError:
        return False


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest, then remove files that no longer belong to the index."""
    content = asdict(manifest)
    sealed = {"format": FORMAT, "version": FORMAT_VERSION, "checksum": checksum_of(content), **content}
    with write_whole(folder / NAME) as file:
        file.write(json.dumps(sealed, indent=1, allow_nan=False).encode())
    remove_others(folder, manifest.files())


def remove_others(folder: Path, kept: set[str]) -> None:
    """Remove the files of segments, except those to keep."""
    for path in _numbered(folder):
        if path.name not in kept:
            with suppress(OSError):
                path.unlink()


def named_files(folder: Path) -> set[str]:
    """Return the names of all files of the index in a folder, none if there is no index."""
    try:
        return read_manifest(folder).files()
    except InputError:
        return set()


def free_number(folder: Path) -> int:
    """Return an unused file number, even if the manifest cannot be read."""
    return 1 + max((int(path.stem) for path in _numbered(folder)), default=0)


def _numbered(folder: Path) -> list[Path]:
    paths = chain.from_iterable(folder.glob(f"*.{kind}") for kind in KINDS)
    return [path for path in paths if path.stem.isdecimal()]


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Lock the index, so that no other process changes it at the same time; readers need not wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error
    try:
        try:
            lock_file(descriptor, wait=False)
        except BlockingIOError:
            raise InputError(f"Another process is changing the index {folder}.") from None
        except OSError as error:
            raise InputError(f"The index {folder} cannot be locked: {error.strerror or error}.") from None
        remove_stale_parts(folder)
        yield
    finally:
        os.close(descriptor)


def _checked(content: Any, path: Path) -> Manifest:
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise InputError(f"{path} is not the manifest of an index.")
    version = content.pop("version", None)
    if type(version) is not int or not 0 <= version < MOST:
        raise InputError(f"{path} is damaged: its version must be an integer.")
    if version not in (FORMAT_VERSION, WITHOUT_VECTORS):
        raise InputError(
            f"{path} has format {version}, this version of rankwright reads format {FORMAT_VERSION}: "
            "build the index again."
        )
    if content.pop("checksum", None) != checksum_of(content):
        raise InputError(
            f"{path} has been altered or damaged: its checksum does not match; build the index again."
        )
    if version == WITHOUT_VECTORS:
        content["encoders"] = {}
        for entry in _listed(content.get("segments")):
            entry["vectors"] = {}
    try:
        entries = [SegmentEntry(**_only(entry, SegmentEntry)) for entry in _listed(content.get("segments"))]
        manifest = Manifest(**{**_only(content, Manifest), "segments": tuple(entries)})
        if any(segment.vectors.keys() != manifest.encoders.keys() for segment in manifest.segments):
            raise InputError("each segment must have the vectors of all encoders.")
        return manifest
    except InputError as error:
        raise InputError(f"{path} is damaged: {shortened(str(error), SENTENCE)}") from None


def checksum_of(content: dict[str, Any]) -> int:
    """Return the checksum of what a manifest holds apart from format, version and checksum."""
    return zlib.crc32(json.dumps(content).encode())


def _only(described: Any, cls: type[Manifest | SegmentEntry]) -> dict[str, Any]:
    names = {field.name for field in fields(cls)}
    if not isinstance(described, dict) or described.keys() != names:
        raise InputError(f"there must be an object of {', '.join(sorted(names))}.")
    return described


def _listed(given: Any) -> Sequence[Any]:
    if not isinstance(given, list):
        raise InputError("segments must be a list.")
    return given

"""Saves models to files and loads them.

A file holds, in this order and with all numbers little-endian:

- the magic bytes and the format version (uint32);
- the size of the whole file and of the header (uint64 each);
- the header, JSON in UTF-8: feature names, categories and the ranges of features in training if there are any,
  facts, and the scorer as a tree of kinds, fields and arrays;
- the bytes of the arrays without gaps, in the order in which the header mentions them;
- the SHA-256 of everything before it.

Version 2 brought categories, version 3 ranges, version 4 trees that split categories by sets of levels. A model
without them is written as an earlier version, which older readers know.

Every byte belongs to one array only, so loading takes at most a few times the size of the file. What a file can
claim without holding it is bounded too: the depth of scorers here, the number of features and
the depth of facts in `serialisation.py`, the columns made of each feature in `query_features.py`.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.data.categories import Category
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.models.scorer import Scorer, scorer_class, scorer_of
from rankwright.models.serialisation import State, shown

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankwright.models.scorer import Fitted

FORMAT_VERSION = 4
MAGIC = b"\x89rankwright\r\n\x1a\n"  # as in PNG: a conversion of line ends breaks it
VERSION = struct.Struct("<I")
SIZES = struct.Struct("<QQ")
HEADER_START = len(MAGIC) + VERSION.size + SIZES.size
CHECKSUM_SIZE = hashlib.sha256().digest_size

# Limits of a file: far above any real model, low enough to be harmless.
MAX_HEADER_SIZE = 16 << 20
MAX_DEPTH = 16
MAX_DIMENSIONS = 3
DTYPES = ("float32", "float64", "int32", "int64", "uint8", "uint16", "uint32")


def save(model: Scorer | Fitted, path: str | os.PathLike[str]) -> None:
    """Write a scorer, or the scorer of a fitted ranker, to a file: completely or not at all.

    Examples
    --------
    >>> ranker = rw.AdaRank().fit(rw.synthetic.gaussian_queries(5))
    >>> rw.save(ranker, "model.rw")
    >>> rw.load("model.rw").n_features
    2
    """
    scorer = scorer_of(model)
    if scorer is None:
        hint = "; fit it first" if hasattr(model, "declared") else ""
        raise InputError(f"save takes a scorer or a fitted ranker, not this {type(model).__name__}{hint}.")
    content = encode(scorer)
    with write_whole(path) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Scorer:
    """Read the scorer in a model file; nothing in the file is executed."""
    return decode(_content(Path(path)), str(path))


def _content(path: Path) -> bytes:
    try:
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        if not path.is_file():  # reading a pipe or a device might never end
            raise InputError(f"{path} is not a file.")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start  # some other file may be huge
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def encode(scorer: Scorer) -> bytes:
    """Return a scorer as the bytes of a model file."""
    if scorer.depth > MAX_DEPTH:
        raise InputError(f"The model nests {scorer.depth} scorers; at most {MAX_DEPTH} levels can be saved.")
    description: dict[str, Any] = {
        "feature_names": scorer.feature_names,
        "about": scorer.about,
        "scorer": _node_of(scorer),
    }
    if scorer.categories:
        description["categories"] = [asdict(category) for category in scorer.categories]
    if scorer.ranges is not None:
        description["ranges"] = _specs(vars(scorer.ranges))
    header = json.dumps(description, allow_nan=False, separators=(",", ":")).encode()
    if len(header) > MAX_HEADER_SIZE:
        raise InputError(f"The model's description takes {len(header)} bytes, more than {MAX_HEADER_SIZE}.")
    arrays = [*_arrays_of(scorer), *({} if scorer.ranges is None else vars(scorer.ranges)).values()]
    return sealed(header, b"".join(map(_bytes_of, arrays)), _version_of(scorer))


def _version_of(scorer: Scorer) -> int:
    """Return the first version that has everything that this scorer needs."""
    if _has_sets(scorer):
        return 4
    return 3 if scorer.ranges is not None else 2 if scorer.categories else 1


def _has_sets(scorer: Scorer) -> bool:
    state = scorer.state()
    return "set_words" in state.arrays or any(map(_has_sets, state.children.values()))


def sealed(header: bytes, payload: bytes, version: int = FORMAT_VERSION) -> bytes:
    """Return a complete file from header and arrays, with sizes and checksum."""
    size = HEADER_START + len(header) + len(payload) + CHECKSUM_SIZE
    signed = MAGIC + VERSION.pack(version) + SIZES.pack(size, len(header)) + header + payload
    return signed + hashlib.sha256(signed).digest()


def decode(content: bytes, source: str) -> Scorer:
    """Return the scorer in the bytes of a model file; error messages name the source."""
    header, payload = _opened(content, source)
    try:
        return _described_scorer(_parsed(header), _Payload(payload))
    except InputError as error:
        raise InputError(f"{source} does not hold a usable model: {error}") from None


def _node_of(scorer: Scorer) -> dict[str, Any]:
    state = scorer.state()
    return {
        "kind": scorer.kind,
        "fields": state.fields,
        "arrays": _specs(state.arrays),
        "scorers": {name: _node_of(child) for name, child in state.children.items()},
    }


def _specs(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    return {name: [array.dtype.name, array.shape] for name, array in arrays.items()}


def _arrays_of(scorer: Scorer) -> Iterator[NDArray[Any]]:
    """Yield every array in the order of the header: a scorer's own, then those of the scorers it contains."""
    state = scorer.state()
    yield from state.arrays.values()
    for child in state.children.values():
        yield from _arrays_of(child)


def _bytes_of(array: NDArray[Any]) -> bytes:
    if array.dtype.name not in DTYPES:
        raise TypeError(f"A model file cannot hold {array.dtype}.")
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def _opened(content: bytes, source: str) -> tuple[bytes, memoryview]:
    """Return header and arrays after checking version, sizes and checksum."""
    if not content.startswith(MAGIC):
        raise InputError(f"{source} is not a rankwright model.")
    if len(content) < HEADER_START + CHECKSUM_SIZE:
        raise InputError(f"{source} is cut short: it has only {len(content)} bytes.")
    _require_known_version(VERSION.unpack_from(content, len(MAGIC))[0], source)
    size, header_size = SIZES.unpack_from(content, len(MAGIC) + VERSION.size)
    if len(content) < size:
        raise InputError(f"{source} is cut short: it has {len(content)} of {size} bytes.")
    signed = memoryview(content)[:-CHECKSUM_SIZE]
    if len(content) != size or hashlib.sha256(signed).digest() != content[-CHECKSUM_SIZE:]:
        raise InputError(f"{source} has been altered or damaged: its checksum does not match.")
    if header_size > min(MAX_HEADER_SIZE, len(signed) - HEADER_START):
        raise InputError(f"{source} does not hold a usable model: its header cannot have {header_size} bytes.")
    header_end = HEADER_START + header_size
    return content[HEADER_START:header_end], signed[header_end:]


def _require_known_version(version: int, source: str) -> None:
    if version > FORMAT_VERSION:
        raise InputError(
            f"{source} was made by a later version of rankwright: it has format {version}, "
            f"this version reads up to format {FORMAT_VERSION}."
        )
    if version == 0:
        raise InputError(f"{source} has been altered or damaged: there is no format 0.")


def _parsed(header: bytes) -> Any:
    try:
        return json.loads(header)
    except (ValueError, RecursionError):
        raise InputError("its header is not JSON, or is nested too deeply.") from None


def _described_scorer(header: Any, payload: _Payload) -> Scorer:
    header = {"categories": [], "ranges": None, **header} if isinstance(header, dict) else header
    names, categories, about, node, specs = _parts(
        header, "feature_names", "categories", "about", "scorer", "ranges"
    )
    if not isinstance(names, list | None) or not isinstance(categories, list) or not isinstance(about, dict):
        raise InputError("its feature names and categories must be lists, its facts an object.")
    scorer = _scorer_from(node, payload, depth=1)
    ranges = None if specs is None else _ranges_from(specs, payload)
    payload.require_used_up()
    known = [Category(*_parts(category, "name", "values", "one_hot")) for category in categories]
    return scorer.described(feature_names=names, categories=known, about=about, ranges=ranges)


def _ranges_from(specs: Any, payload: _Payload) -> FeatureRanges:
    return FeatureRanges(*map(payload.take, _parts(specs, *(field.name for field in fields(FeatureRanges)))))


def _scorer_from(node: Any, payload: _Payload, depth: int) -> Scorer:
    if depth > MAX_DEPTH:
        raise InputError(f"it nests more than {MAX_DEPTH} scorers.")
    kind, *named = _parts(node, "kind", "fields", "arrays", "scorers")
    if not all(isinstance(part, dict) for part in named):
        raise InputError("fields, arrays and scorers must be objects.")
    fields, specs, nodes = named
    arrays = {name: payload.take(spec) for name, spec in specs.items()}
    children = {name: _scorer_from(child, payload, depth + 1) for name, child in nodes.items()}
    return _scorer_of_state(scorer_class(kind), State(fields, arrays, children))


def _scorer_of_state(cls: type[Scorer], state: State) -> Scorer:
    scorer = cls.from_state(state)
    if scorer.state().names() != state.names():
        part, name = min(scorer.state().names() ^ state.names())
        raise InputError(f"a {cls.kind} scorer has no {part} {shown(name)}.")
    return scorer


def _parts(value: Any, *names: str) -> list[Any]:
    """Return the values of a JSON object, which must have exactly these names."""
    if not isinstance(value, dict) or value.keys() != set(names):
        raise InputError(f"{shown(value)} must be an object of {', '.join(names)}.")
    return [value[name] for name in names]


class _Payload:
    """The bytes of the arrays, taken from front to back."""

    def __init__(self, content: memoryview) -> None:
        self._rest = content

    def take(self, spec: Any) -> NDArray[Any]:
        """Return a copy of the next array, in this machine's byte order."""
        dtype, shape = _checked_spec(spec)
        size = math.prod(shape) * dtype.itemsize
        if size > len(self._rest):
            raise InputError(f"an array of shape {shown(shape)} is cut short.")
        mine, self._rest = self._rest[:size], self._rest[size:]
        try:
            values = np.frombuffer(mine, dtype.newbyteorder("<")).reshape(shape)
        except ValueError:  # an empty array with other dimensions too large for numpy
            raise InputError(f"an array cannot have shape {shown(shape)}.") from None
        return values.astype(dtype)

    def require_used_up(self) -> None:
        if len(self._rest):
            raise InputError(f"{len(self._rest)} of its bytes belong to no array.")


def _checked_spec(spec: Any) -> tuple[np.dtype[Any], list[int]]:
    """Return the type and shape of an array from its entry in the header."""
    match spec:
        case [str(name), [*shape]] if name in DTYPES and len(shape) <= MAX_DIMENSIONS:
            if all(type(side) is int and side >= 0 for side in shape):
                return np.dtype(name), shape
    raise InputError(f"{shown(spec)} is not the type and shape of an array.")

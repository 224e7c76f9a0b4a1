"""LETOR / SVMlight ranking files: `label qid:ID feature:value feature:value ... # comment`."""

from __future__ import annotations

import gzip
import os
import re
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from rankwright import _native
from rankwright._native import LetorFault
from rankwright.arrays import sealed
from rankwright.data.dataset import RankingData
from rankwright.data.files import is_compressed, open_bytes, write_whole
from rankwright.errors import InputError
from rankwright.memory import available_memory
from rankwright.threads import available_threads, resolve_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedIOBase

    from numpy.typing import NDArray

    AnyPath = str | os.PathLike[str]

MOST_FEATURES = 1_000_000
BLOCK_BYTES = 4 << 20
WRITTEN_VALUES = 1 << 20  # formatted at a time: as much text as one block holds, more or less

EXPECTED = {
    LetorFault.label_not_number: "expected a number as the label",
    LetorFault.label_not_finite: "expected a finite label",
    LetorFault.query_missing: "expected qid:ID after the label",
    LetorFault.pair_malformed: "expected feature:value",
    LetorFault.feature_not_positive: "expected a feature's number from 1 before the colon",
    LetorFault.feature_order: "expected features in ascending order, each once",
    LetorFault.feature_too_high: f"expected no feature above {MOST_FEATURES:,}",
    LetorFault.value_not_number: "expected a number or NULL after the colon",
    LetorFault.value_not_finite: "expected a value that a 32-bit float can hold",
    LetorFault.id_not_text: "expected an id in UTF-8",
}


def read_letor(
    path: AnyPath, *, n_features: int | None = None, absent: float = 0.0, n_threads: int | None = None
) -> RankingData:
    """Read a LETOR file, compressed where its name ends with .gz.

    Query ids become integers where all of them are, otherwise strings. A document's id is the X of
    `docid = X` in the line's comment, otherwise the comment's first word. A value of `NULL` or `nan` is
    missing.

    Parameters
    ----------
    n_features
        The number of features where the file may not name the last ones; more in the file are an error.
    absent
        The value of a feature that a line does not name: 0 as in SVMlight, or NaN for missing.
    """
    _check_options(n_features, absent)
    parser = _native.LetorParser(MOST_FEATURES, resolve_threads(n_threads))
    name = os.fspath(path)
    with open_bytes(name) as file:
        for block in _blocks(file):
            if error := parser.feed(block):
                raise InputError(_sentence(name, *error))
            _require_memory(name, parser.n_rows, max(parser.n_features, n_features or 0))
    _check_contents(name, parser, n_features)
    X = np.empty((parser.n_rows, n_features or parser.n_features), dtype=np.float32)
    y, query_of_row, query_ids, document_ids = parser.finish(absent, X)
    qid = sealed(_typed_ids(query_ids)[query_of_row])
    return RankingData(sealed(X), y, qid, document_ids=_names(document_ids))


def write_letor(data: RankingData, path: AnyPath) -> None:
    """Write data to a LETOR file that reads back as the same values, compressed where its name ends with .gz.

    Every feature is written, a missing value as `NULL`, a document's id as the comment `#docid = X`.
    """
    name = os.fspath(path)
    if len(data) == 0:
        raise InputError(f"There are no documents to write to {name}.")
    with write_whole(name) as file:
        if is_compressed(name):
            # No time of writing, so that the same data give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
                _write_rows(data, compressed)
        else:
            _write_rows(data, file)


def _check_options(n_features: int | None, absent: float) -> None:
    is_whole = isinstance(n_features, int | np.integer) and not isinstance(n_features, bool)
    if n_features is not None and not (is_whole and 1 <= n_features <= MOST_FEATURES):
        raise InputError(
            f"n_features must be None or a whole number from 1 to {MOST_FEATURES:,}, not {n_features!r}."
        )
    if abs(absent) > np.finfo(np.float32).max:
        raise InputError(f"absent must be NaN or a number that a 32-bit float can hold, not {absent!r}.")


def _blocks(file: BufferedIOBase) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of a file and a last line end; each block is overwritten by the next."""
    block = np.empty(BLOCK_BYTES, dtype=np.uint8)
    while size := file.readinto(block.data):
        yield block[:size]
    yield np.frombuffer(b"\n", dtype=np.uint8)


def _sentence(path: str, line: int, fault: LetorFault, token: bytes) -> str:
    text = token.decode(errors="backslashreplace")
    if len(text) > 60:
        text = text[:57] + "..."
    found = repr(text) if text else "the end of the line"
    return f"{path}, line {line}: {EXPECTED[fault]}, found {found}."


def _require_memory(path: str, n_rows: int, n_features: int) -> None:
    needed = n_rows * n_features * np.dtype(np.float32).itemsize
    if needed > available_memory():
        raise InputError(
            f"{path} has at least {n_rows:,} documents x {n_features:,} features, "
            f"which would need {needed / 2**30:,.1f} GiB; there are {available_memory() / 2**30:,.1f}."
        )


def _check_contents(path: str, parser: _native.LetorParser, n_features: int | None) -> None:
    if parser.n_rows == 0:
        raise InputError(f"{path} holds no documents.")
    if n_features is not None and parser.n_features > n_features:
        raise InputError(f"{path} has {parser.n_features:,} features, more than the {n_features:,} expected.")


def _typed_ids(ids: list[str]) -> NDArray[Any]:
    """Return ids as integers where that loses nothing, as strings otherwise."""
    if all(re.fullmatch("0|-?[1-9][0-9]{0,18}", one) for one in ids):
        try:
            return np.array([int(one) for one in ids], dtype=np.int64)
        except OverflowError:
            pass
    return np.array(ids, dtype=np.str_)


def _names(ids: list[str] | None) -> NDArray[np.object_] | None:
    return None if ids is None else np.array(ids, dtype=object)


def _write_rows(data: RankingData, file: BinaryIO | gzip.GzipFile) -> None:
    step = max(1, WRITTEN_VALUES // max(1, data.n_features))
    for start in range(0, len(data), step):
        rows = slice(start, start + step)
        features = _native.format_letor_features(data.X[rows], available_threads())
        heads = zip(data.y[rows].tolist(), data.qid[rows].tolist(), strict=True)
        ids = [""] * len(features) if data.document_ids is None else data.document_ids[rows]
        file.writelines(
            b"%s qid:%s%s%s\n" % (_label(label), _word(qid, "query id", " \t\r\n#"), values, _comment(document))
            for (label, qid), values, document in zip(heads, features, ids, strict=True)
        )


def _label(label: float) -> bytes:
    return repr(label).removesuffix(".0").encode()


def _comment(document_id: str) -> bytes:
    return b" #docid = " + _word(document_id, "document id", " \t\r\n") if document_id else b""


def _word(value: object, what: str, separators: str) -> bytes:
    """Return an id as bytes, or refuse one that would not read back as the same."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    if not text or any(character in text for character in separators + "\0"):
        raise InputError(f"The {what} {text!r} cannot be written to a LETOR file: it is no single word.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"The {what} {text!r} cannot be written to a LETOR file: it is no Unicode.") from None

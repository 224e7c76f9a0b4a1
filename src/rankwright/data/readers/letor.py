"""LETOR / SVMlight ranking files: `label qid:ID feature:value feature:value ... # comment`."""

from __future__ import annotations

import gzip
import os
import re
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple, overload

import numpy as np

from rankwright import _native
from rankwright._native import LetorFault, LetorQueries
from rankwright.base.array_files import MAGIC
from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, parameter, require_type
from rankwright.base.files import is_compressed, write_whole
from rankwright.base.resources import available_threads, resolve_threads
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.groups import MAX_QUERY_ID
from rankwright.data.readers.text_files import (
    MAX_LINE_BYTES,
    integer_ids,
    quoted,
    read_blocks,
    read_query_ids,
    require_memory,
    sizes_file,
    warn_of_weights,
)
from rankwright.data.tables import warned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

    AnyPath = str | os.PathLike[str]

MAX_FEATURES = 1_000_000
FIRST_BYTES = 1 << 20  # in which the first document is looked for
OR_WRITE_SIZES = ", or write the number of documents of each query, one per line, to {}.query"
ADD_FIELD = "add qid:ID after each label"
ADD_QUERIES = f"{ADD_FIELD}{OR_WRITE_SIZES}"
VALUES_PER_WRITE = 1 << 20

EXPECTED = {
    LetorFault.label_missing: f"expected a label (read documents without labels with {parameter('judged=False')})",
    LetorFault.label_not_number: "expected a number as the label",
    LetorFault.label_not_finite: "expected a finite label",
    LetorFault.query_missing: "expected qid:ID",
    LetorFault.pair_malformed: "expected feature:value",
    LetorFault.feature_not_positive: "expected a positive feature number before the colon",
    LetorFault.feature_order: "expected features in ascending order, each once",
    LetorFault.feature_too_high: f"expected no feature above {MAX_FEATURES:,}",
    LetorFault.value_not_number: "expected a number or NULL after the colon",
    LetorFault.value_not_finite: "expected a value that a 32-bit float can hold",
    LetorFault.id_not_text: "expected an id in UTF-8",
    LetorFault.query_id_too_long: f"expected a query id of at most {MAX_QUERY_ID:,} characters",
    LetorFault.line_too_long: f"expected a line of at most {MAX_LINE_BYTES:,} bytes",
    LetorFault.comment_missing: "expected a comment with the query id, as the first line has it",
}


@overload
def read_letor(
    path: AnyPath,
    *,
    judged: Literal[True] = ...,
    n_features: int | None = ...,
    absent: float = ...,
    zero_based: bool = ...,
    n_jobs: int | None = ...,
) -> RankingData: ...
@overload
def read_letor(
    path: AnyPath,
    *,
    judged: bool,
    n_features: int | None = ...,
    absent: float = ...,
    zero_based: bool = ...,
    n_jobs: int | None = ...,
) -> Documents: ...
def read_letor(
    path: AnyPath,
    *,
    judged: bool = True,
    n_features: int | None = None,
    absent: float = 0.0,
    zero_based: bool = False,
    n_jobs: int | None = None,
) -> Documents:
    """Read a LETOR file, decompressed if its name ends with .gz.

    Query ids become integers if all of them are written as integers, otherwise strings. A document's id is the X
    of `docid = X` in the comment of its line, otherwise the first word of the comment. The values `NULL` and `nan`
    are missing values. A line has at most 64 MiB, a query id 1,000 characters, a feature number 1,000,000.

    If the first line has no `qid:`, no line may have one. The queries then come from the file of their sizes
    beside this file (`train.txt.query` or `train.txt.group`), or from the comments: `# qid:7`, `# qid = 7`, `# 7`.

    Parameters
    ----------
    judged
        True reads labels and returns `RankingData`. False returns `Documents`: a line may then start with `qid:`,
        and labels that are there are ignored.
    n_features
        The number of features, for files that leave out the last ones; more in the file are an error.
    absent
        The value of a feature that a line does not name: 0 as in SVMlight, or NaN for missing.
    zero_based
        Whether the file numbers features from 0, as scikit-learn's `dump_svmlight_file` does, not from 1.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("train.txt").write_text('''2 qid:7 1:0.5 3:4 #docid = A
    ... 0 qid:7 2:1.5 #docid = B''')
    >>> judged = rw.read_letor("train.txt")
    >>> judged.X.tolist(), judged.document_ids.tolist()
    ([[0.5, 0.0, 4.0], [0.0, 1.5, 0.0]], ['A', 'B'])
    """
    _check_options(n_features, absent)
    options = (n_features, absent)
    return warned(next(letor_blocks(path, None, *options, judged=judged, zero_based=zero_based, n_jobs=n_jobs)))


def letor_blocks(
    path: AnyPath,
    n_documents: int | None,
    n_features: int | None = None,
    absent: float = 0.0,
    *,
    judged: bool = True,
    zero_based: bool = False,
    n_jobs: int | None = None,
) -> Iterator[Documents]:
    """Yield the documents of a LETOR file in blocks of at least `n_documents`, but for the last; None: in one.

    Without `n_features`, a block has the features up to the highest one so far.
    """
    name = os.fspath(path)
    parser, layout, is_first = None, Layout(LetorQueries.field), True
    for block in read_blocks(name):
        if parser is None:
            layout = Layout.of(name, block)
            limits = (MAX_FEATURES, MAX_LINE_BYTES, MAX_QUERY_ID)
            parser = _native.LetorParser(judged, layout.queries, zero_based, *limits, resolve_threads(n_jobs))
        if error := parser.feed(block):
            raise InputError(_sentence(name, layout, *error))
        if n_documents is None:
            width = max(parser.n_features, n_features or 0)
            require_memory(name, parser.n_rows, width, parser.longest_query_id)
        elif layout.sizes is not None:
            raise InputError(f"{name} cannot be read in blocks: {layout.sizes} has its queries; {ADD_FIELD}.")
        elif parser.n_rows >= n_documents:
            yield _taken(name, parser, layout, n_features, absent)
            is_first = False
    assert parser is not None  # there is at least the final line end
    if is_first or parser.n_rows:
        warn_of_weights(name)
        yield _taken(name, parser, layout, n_features, absent)


def _taken(
    name: str, parser: _native.LetorParser, layout: Layout, n_features: int | None, absent: float
) -> Documents:
    """Return the documents that the parser holds."""
    _check_contents(name, parser, n_features)
    X = np.empty((parser.n_rows, n_features or parser.n_features), dtype=np.float32)
    y, query_of_row, query_ids, document_ids = parser.finish(absent, X)
    qid, ids = sealed(layout.query_ids(name, len(X), query_of_row, query_ids)), _names(document_ids)
    if y is None:
        return Documents(sealed(X), qid, document_ids=ids)
    return RankingData(sealed(X), sealed(y), qid, document_ids=ids)


class MoreFeaturesError(InputError):
    """A file has more features than were expected."""


class Layout(NamedTuple):
    """Where the lines of a file name their queries; `sizes` is the file of query sizes, if that is needed.

    If the comments are `bare`, their first word is the query id.
    """

    queries: LetorQueries
    sizes: Path | None = None
    bare: bool = False
    has_none: bool = False

    @classmethod
    def of(cls, path: str, block: NDArray[np.uint8]) -> Layout:
        """Return the layout of a file that starts with these bytes, as its first document has it."""
        if block[: len(MAGIC)].tobytes() == MAGIC:
            raise InputError(
                f"{path} holds bins of features, not their values: give the files that it was made from."
            )
        fields, comment = _first_document(block)
        if not fields or any(word.startswith(b"qid:") for word in fields[:2]):
            return cls(LetorQueries.field)
        if sizes := sizes_file(path):
            return cls(LetorQueries.nowhere, sizes)
        if comment.split():
            return cls(LetorQueries.comment, bare=re.search(rb"(?<!\S)qid\s*[:=]", comment) is None)
        return cls(LetorQueries.field, has_none=True)

    def query_ids(
        self, path: str, n_rows: int, query_of_row: Integers | None, ids: list[str] | None
    ) -> NDArray[Any]:
        """Return the query id of each row, from what the parser found or from the file of sizes."""
        if query_of_row is None or ids is None:
            assert self.sizes is not None
            return read_query_ids(self.sizes, path, n_rows)
        if self.bare and len(ids) == n_rows > 1:
            raise InputError(
                f"{path} names no queries: lines have no qid:ID, and as all comments differ, they are no query "
                f"ids; {ADD_QUERIES.format(path)}."
            )
        return _query_ids(ids)[query_of_row]


def write_letor(data: Documents, path: AnyPath) -> None:
    """Write documents to a LETOR file that reads back as the same values, compressed if its name ends with .gz.

    Lines of documents without labels start with `qid:`. Every feature is written, a missing value as `NULL`, a
    document's id as the comment `#docid = X`.

    Examples
    --------
    >>> from pathlib import Path
    >>> judged = rw.RankingData([[0.5, 7]], [2], ["hats"], document_ids=["A"])
    >>> rw.write_letor(judged, "judged.txt")
    >>> print(Path("judged.txt").read_text())
    2 qid:hats 1:0.5 2:7 #docid = A
    """
    require_type(data, Documents, "write_letor takes Documents or RankingData")
    name = os.fspath(path)
    if len(data) == 0:
        raise InputError(f"There are no documents to write to {name}.")
    with write_whole(name) as file:
        if is_compressed(name):
            # Without the time of writing, the same data give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as compressed:
                _write_rows(data, compressed)
        else:
            _write_rows(data, file)


def _check_options(n_features: int | None, absent: float) -> None:
    is_integer = isinstance(n_features, int | np.integer) and not isinstance(n_features, bool)
    if n_features is not None and not (is_integer and 1 <= n_features <= MAX_FEATURES):
        raise InputError(
            f"{parameter('n_features')} must be None or an integer from 1 to {MAX_FEATURES:,}, not {n_features!r}."
        )
    if abs(absent) > np.finfo(np.float32).max:
        raise InputError(f"absent must be NaN or a number that a 32-bit float can hold, not {absent!r}.")


def _first_document(block: NDArray[np.uint8]) -> tuple[list[bytes], bytes]:
    """Return the fields and the comment of the first line that has fields; nothing if there is no such line."""
    for line in block[:FIRST_BYTES].tobytes().removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text, _, comment = line.partition(b"#")
        if fields := text.split():
            return fields, comment
    return [], b""


def _sentence(path: str, layout: Layout, line: int, fault: LetorFault, token: bytes) -> str:
    shown = quoted(token) if token else "the end of the line"
    return f"{path}, line {line}: {EXPECTED[fault]}, found {shown}{_hint(path, layout, fault, token)}."


def _hint(path: str, layout: Layout, fault: LetorFault, token: bytes) -> str:
    if fault is LetorFault.query_missing and layout.has_none:
        return f"; {ADD_QUERIES.format(path)}"
    if fault is LetorFault.feature_not_positive and token.startswith(b"0:"):
        return f"; if the file numbers features from 0, set {parameter('zero_based')}"
    return ""


def _check_contents(path: str, parser: _native.LetorParser, n_features: int | None) -> None:
    if parser.n_rows == 0:
        raise InputError(f"{path} holds no documents.")
    if n_features is not None and parser.n_features > n_features:
        raise MoreFeaturesError(
            f"{path} has {parser.n_features:,} features, more than the {n_features:,} expected."
        )


def _query_ids(ids: list[str]) -> NDArray[Any]:
    integers = integer_ids(ids)
    return np.array(ids, dtype=np.str_) if integers is None else integers


def _names(ids: list[str] | None) -> NDArray[np.object_] | None:
    return None if ids is None else np.array(ids, dtype=object)


def _write_rows(data: Documents, file: BinaryIO | gzip.GzipFile) -> None:
    step = max(1, VALUES_PER_WRITE // max(1, data.n_features))
    for start in range(0, len(data), step):
        rows = slice(start, start + step)
        features = _native.format_letor_features(data.X[rows], available_threads())
        labels = data.y[rows].tolist() if isinstance(data, RankingData) else [None] * len(features)
        ids = [""] * len(features) if data.document_ids is None else data.document_ids[rows]
        file.writelines(
            b"%sqid:%s%s%s\n" % (_label(label), _word(qid, "query id", " \t\r\n#"), values, _comment(document))
            for label, qid, values, document in zip(labels, data.qid[rows].tolist(), features, ids, strict=True)
        )


def _label(label: float | None) -> bytes:
    return b"" if label is None else repr(label).removesuffix(".0").encode() + b" "


def _comment(document_id: str) -> bytes:
    return b" #docid = " + _word(document_id, "document id", " \t\r\n") if document_id else b""


def _word(value: object, what: str, separators: str) -> bytes:
    """Return an id as bytes, or refuse one that would not read back as the same."""
    text = value.decode() if isinstance(value, bytes) else str(value)
    if not text or any(character in text for character in separators + "\0"):
        raise InputError(f"The {what} {text!r} cannot be written to a LETOR file: it is not a single word.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"The {what} {text!r} cannot be written to a LETOR file: it is not Unicode.") from None

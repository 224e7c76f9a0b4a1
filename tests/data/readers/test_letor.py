from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankwright._native import LetorParser, LetorQueries
from rankwright.base.errors import InputError
from rankwright.base.resources import available_memory
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.readers.letor import read_letor, write_letor
from reference import letor as reference
from shared_data import SHARED, needs_shared_data

if TYPE_CHECKING:
    from pathlib import Path

MOST = 1_000_000


def blocks_of(data: bytes, size: int):
    for start in range(0, len(data), size):
        yield np.frombuffer(data[start : start + size], dtype=np.uint8)
    yield np.frombuffer(b"\n", dtype=np.uint8)


RULES = reference.Rules()


def new_parser(rules: reference.Rules = RULES, n_threads: int = 2) -> LetorParser:
    limits = (rules.max_feature, rules.max_line, rules.max_query_id)
    return LetorParser(rules.judged, LetorQueries[rules.queries], rules.zero_based, *limits, n_threads)


def parse(data: bytes, block_size: int = 1 << 20, n_threads: int = 1, rules: reference.Rules = RULES):
    parser = new_parser(rules, n_threads)
    for block in blocks_of(data, block_size):
        if error := parser.feed(block):
            line, fault, token = error
            return line, fault.name, token
    return parser


def finish(parser: LetorParser, absent: float, n_features: int):
    X = np.empty((parser.n_rows, n_features), dtype=np.float32)
    return X, *parser.finish(absent, X)


def assert_like_reference(
    data: bytes, block_size: int, n_threads: int, rules: reference.Rules, absent: float = 0.0
) -> None:
    expected = reference.parse(data, rules)
    found = parse(data, block_size, n_threads, rules)
    if isinstance(expected, tuple):
        assert found == expected
        return
    assert not isinstance(found, tuple), found
    X, y, queries, ids, documents = finish(found, absent, expected.n_features)
    assert X.tobytes() == expected.matrix(absent, expected.n_features).tobytes()
    assert (None if y is None else y.tolist()) == (expected.labels if rules.judged else None)
    if rules.queries == "nowhere":
        assert ids is queries is None
    else:
        assert (ids, queries.tolist()) == expected.number_queries()
    assert documents == (expected.documents if any(expected.documents) else None)


@pytest.fixture
def letor_file(tmp_path: Path):
    def write(text: str | bytes, name: str = "some.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


# ---- generated files, mostly well formed, sometimes not

blanks = st.sampled_from([" ", "  ", "\t", " \t "])
numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.integers(0, 30_000).map(str),
)
values = st.one_of(numbers, st.sampled_from(["NULL", "null", "nan", "NaN", "0", "1.000000"]))
words = st.text("azN09-:=\x0b\u00e9\u6587\U0001f600", min_size=1, max_size=8)
comments = st.one_of(
    st.just(""),
    words.map(lambda word: f"#docid = {word}"),
    words.map(lambda word: f"# docid={word} inc = 0.04 prob = 0.1"),
    words.map(lambda word: f"#{word} and more"),
    st.sampled_from(
        ["#", "# ", "#docid", "#docid =", "#my docid= 3", "#mydocid = 3", "# # x", "#docid docid = 2"]
    ),
)
ODD_LINES = """
# only a comment
x qid:1
0 1:2
0 qid: 1:2
0
qid:1 1:2
qid:1
qid:
0 qid:a_long_id_of_a_query 1:2
0 qid:1 1:2 # a line that is longer than any line may be in these tests, which are rather short ones
0 qid:1 0:1
0 qid:1 2:1 2:3
0 qid:1 -1:2
0 qid:1 5
0 qid:1 5:
0 qid:1 a:1
0 qid:1 3:x
0 qid:1 2:inf
0 qid:1 :1
nan qid:1
1e999 qid:1
0 qid:1 1:1e39
0 qid:1 99999999999999999999:1
0 qid:1 0002:1
0 qid:1 1:1_0
0 qid:1 1:0x1p3
0 qid:1 1:--1
0 qid:1 1:1e
0 qid:1 1:.
0 qid:1 1:2#x
0 qid:1 1:nan(1)
0 qid:1 1:-nan
0 qid:1 1:1e-999
0 qid:1 1:0e999
0 qid:1 1:2:3
"""
odd_lines = st.sampled_from(["", " \t", "0 qid:a\0", *ODD_LINES.split("\n")])


@st.composite
def documents(draw: st.DrawFn, *, with_queries: bool = True) -> str:
    features = draw(st.dictionaries(st.integers(0 if not with_queries else 1, 9), values, max_size=5))
    fields = [draw(st.one_of(st.integers(0, 4).map(str), numbers))] * (with_queries or draw(st.booleans()))
    fields += [f"qid:{draw(words)}"] * with_queries
    fields += [f"{feature}:{features[feature]}" for feature in sorted(features)]
    return draw(blanks).join(fields) + draw(st.sampled_from(["", " "])) + draw(comments)


@st.composite
def files(draw: st.DrawFn, lines: st.SearchStrategy[str]) -> bytes:
    text = draw(st.sampled_from(["\n", "\r\n"])).join(draw(st.lists(lines, max_size=6)))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))  # does not count as a part of the first line
    return mark + text.encode() + draw(st.sampled_from([b"", b"\n"]))


@given(
    files(st.one_of(documents(), documents(), documents(), odd_lines)),
    st.integers(1, 200),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([0.0, float("nan"), -1.5]),
    st.booleans(),
)
def test_equals_the_slow_twin_wherever_the_blocks_are_cut(data, block_size, n_threads, absent, judged):
    rules = reference.Rules(judged=judged, max_feature=100, max_line=80, max_query_id=12)
    assert_like_reference(data, block_size, n_threads, rules, absent)


ODD_COMMENTS = ("# qid:7", "#qid = 7 docid = x", "# qid 7", "#qid:", "# qid =", "# myqid:7", "# x qid:é", "#7 8")


@given(
    files(
        st.one_of(
            documents(with_queries=False),
            st.sampled_from([f"0 1:2 {comment}" for comment in ODD_COMMENTS]),
            documents(),
        )
    ),
    st.integers(1, 200),
    st.sampled_from(["comment", "nowhere"]),
    st.booleans(),
    st.booleans(),
)
@example(b"0 1:2 #\xff", 7, "comment", True, False)
def test_files_without_qid_equal_the_slow_twin_too(data, block_size, queries, zero_based, judged):
    rules = reference.Rules(judged, queries, zero_based, max_feature=100, max_line=80, max_query_id=12)
    assert_like_reference(data, block_size, 2, rules)


@given(st.binary(max_size=60), st.integers(1, 7))
@example(b"0 qid:\xff", 3)
@example(b"0 qid:1 #docid = \xed\xa0\x80", 3)
@example("0 qid:é 1:2 #文\n".encode(), 1)
@example(b"\xef\xbb\xbf0 qid:1\n\xef\xbb\xbf0 qid:1", 1)
def test_any_bytes_give_data_or_an_error(data, block_size):
    assert_like_reference(data, block_size, 2, reference.Rules(max_feature=100))


@given(numbers)
@example("9007199254740993")
@example("0.1e-6")
@example("1e23")
@example("-0")
@example("1.00000017881393432617187499")
@example("0." + "0" * 400 + "1e405")
@example("1" + "0" * 400 + "e-400")
@example("1e99999999999999999999")
@example("1e-99999999999999999999")
@example("4.9e-324")
@example("2.4703282292062327e-324")
@example("3.4028235677973366e38")
def test_numbers_are_what_python_and_numpy_make_of_them(text):
    with np.errstate(over="ignore"):
        expected = np.float32(float(text))
    found = parse(f"0 qid:1 1:{text}".encode())
    if np.isinf(expected):
        assert found == (1, "value_not_finite", f"1:{text}".encode())
    else:
        assert finish(found, 0.0, 1)[0].tobytes() == expected.tobytes()


def many_lines(n_rows: int) -> bytes:
    rng = np.random.default_rng(5)
    sparse = rng.random((n_rows, 40)) < 0.7
    rows = np.round(rng.normal(size=(n_rows, 40)), 6).tolist()
    lines = []
    for row, (present, numbers_) in enumerate(zip(sparse, rows, strict=True)):
        fields = [f"{feature + 1}:{numbers_[feature]}" for feature in np.flatnonzero(present)]
        lines.append(f"{row % 3} qid:{row // 7 % 500} {' '.join(fields)} #docid = D{row}")
    return "\n".join(lines).encode()


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("block_size", [1 << 14, 1 << 20, 1 << 30])
def test_many_pieces_equal_the_slow_twin(n_threads, block_size):
    assert_like_reference(many_lines(2_000), block_size, n_threads, reference.Rules(max_feature=100))


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_the_earliest_wrong_line_is_told(n_threads):
    lines = many_lines(20_000).split(b"\n")
    for wrong in (19_000, 12_345, 7_000):
        lines[wrong - 1] = b"0 qid:1 1:bad"
        assert parse(b"\n".join(lines), n_threads=n_threads) == (wrong, "value_not_number", b"1:bad")


@pytest.mark.slow
def test_growing_rows_cost_no_more_than_their_matrix():
    lines = [f"0 qid:1 {row}:1" for row in range(1, 3001)]
    X = finish(parse("\n".join(lines).encode(), block_size=1000), 0.0, 3000)[0]
    np.testing.assert_array_equal(X, np.eye(3000))


def test_a_parser_that_met_an_error_is_safe_to_finish():
    parser = new_parser()
    assert parser.feed(np.frombuffer(b"0 qid:1 5:1\n0 qid:1 bad\n", dtype=np.uint8)) is not None
    assert finish(parser, 0.0, 5)[0].shape == (0, 5)


@pytest.mark.parametrize(
    ("shape", "sentence"), [((1, 4), "a column for the highest feature"), ((2, 5), "one row per document")]
)
def test_a_matrix_that_does_not_fit_is_refused(shape, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse(b"0 qid:1 5:1").finish(0.0, np.empty(shape, dtype=np.float32))


# ---- files


def test_reads_a_file(letor_file):
    data = read_letor(letor_file("2 qid:10 1:0.5 3:1e1 #docid = A\r\n\r\n# note\r\n0.5 qid:2 2:NULL\r\n-1 qid:10"))
    np.testing.assert_array_equal(data.X, np.array([[0.5, 0, 10], [0, np.nan, 0], [0, 0, 0]], dtype=np.float32))
    assert data.y.tolist() == [2, 0.5, -1]
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [10, 2, 10]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["A", "", ""]
    assert len(data.groups) == 2


def test_absent_features_may_be_missing_values(letor_file):
    data = read_letor(letor_file("0 qid:1 2:1"), absent=float("nan"), n_features=3)
    np.testing.assert_array_equal(data.X, [[np.nan, 1, np.nan]])


def test_a_path_may_be_a_string_and_a_file_without_comments_has_no_document_ids(letor_file):
    assert read_letor(str(letor_file("0 qid:1 1:1\n"))).document_ids is None


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        (["1", "-7", "0"], "i"),
        (["9223372036854775807", "-9223372036854775808"], "i"),
        (["9223372036854775808"], "U"),
        (["1", "01"], "U"),
        (["-0"], "U"),
        (["1", "a"], "U"),
        (["+1"], "U"),
        (["1_0"], "U"),
        (["\u0661"], "U"),
        (["q:1"], "U"),
    ],
)
def test_query_ids_are_integers_only_where_nothing_is_lost(letor_file, ids, kind):
    data = read_letor(letor_file("".join(f"0 qid:{one} 1:1\n" for one in ids)))
    assert data.qid.dtype.kind == kind
    assert [str(one) for one in data.qid] == ids


def test_a_query_of_many_documents(letor_file):
    data = read_letor(letor_file("".join(f"{row % 5} qid:1 1:{row}\n" for row in range(20_001))))
    assert len(data.groups) == 1
    assert data.X[:, 0].tolist() == list(range(20_001))


WRONG_LINES = {
    "qid:1 1:2": "expected a label (read documents without labels with judged=False), found 'qid:1'",
    f"0 qid:{'x' * 1001} 1:2": f"expected a query id of at most 1,000 characters, found '{'x' * 57}...'",
    "one qid:1 1:2": "expected a number as the label, found 'one'",
    "inf qid:1 1:2": "expected a finite label, found 'inf'",
    "nan qid:1 1:2": "expected a finite label, found 'nan'",
    "0 1:0.5": "expected qid:ID, found '1:0.5'",
    "0": "expected qid:ID, found the end of the line",
    "0 qid:1 5": "expected feature:value, found '5'",
    "0 qid:1 1:many": "expected a number or NULL after the colon, found '1:many'",
    "0 qid:1 0:1": "expected a positive feature number before the colon, found '0:1'; if the file numbers "
    "features from 0, set zero_based",
    "0 qid:1 -2:1": "expected a positive feature number before the colon, found '-2:1'",
    "0 qid:1 2:1 1:1": "expected features in ascending order, each once, found '1:1'",
    "0 qid:1 2:1 2:1": "expected features in ascending order, each once, found '2:1'",
    "0 qid:1 1000001:1": "expected no feature above 1,000,000, found '1000001:1'",
    "0 qid:1 1:-inf": "expected a value that a 32-bit float can hold, found '1:-inf'",
    "0 qid:1 1:3.5e38": "expected a value that a 32-bit float can hold, found '1:3.5e38'",
    "0 qid:1 1:" + "x" * 99: "expected a number or NULL after the colon, found '1:" + "x" * 55 + "...'",
}


@pytest.mark.parametrize("line", WRONG_LINES)
def test_a_wrong_line_is_told_in_one_sentence(letor_file, line):
    path = letor_file(f"0 qid:1 1:1\n\n{line}\n0 qid:1 bad\n")
    with pytest.raises(InputError) as caught:
        read_letor(path)
    assert str(caught.value) == f"{path}, line 3: {WRONG_LINES[line]}."


def test_ids_must_be_utf8(letor_file):
    path = letor_file(b"0 qid:caf\xe9 1:1\n")
    with pytest.raises(InputError, match=r"line 1: expected an id in UTF-8, found 'caf\\\\xe9'\."):
        read_letor(path)


def refusal(path: Path, **options) -> str:
    with pytest.raises(InputError) as caught:
        read_letor(path, **options)
    return str(caught.value)


def test_a_matrix_larger_than_the_available_memory_is_refused(letor_file):
    """The memory of the machine would hold it, what is left of it would not."""
    n_rows = int(0.85 * available_memory() / (4 * MOST))
    path = letor_file("0 qid:1 1000000:1\n" * n_rows)
    sentence = refusal(path)
    assert sentence.startswith(f"{path} has at least {n_rows:,} documents x 1,000,000 features, which take ")
    assert "number the features without gaps, split the file, or use a machine with more memory" in sentence


@pytest.mark.slow
def test_query_ids_count_as_memory(letor_file):
    """Text ids take the width of the longest in every row, here far more than the features."""
    rows = int(0.9 * available_memory() / 4000)
    path = letor_file(f"0 qid:{'x' * 1000} 1:1\n" + "0 qid:a\n" * rows)
    assert "features and query ids of up to 1,000 characters, which take" in refusal(path)


def test_a_query_id_has_1000_characters_at_most(letor_file):
    longest = "\u6587" * 1000
    assert read_letor(letor_file(f"0 qid:{longest} 1:1\n")).qid.tolist() == [longest]
    path = letor_file(f"0 qid:1 1:1\n0 qid:{longest}x 1:1\n")
    assert "line 2: expected a query id of at most 1,000 characters, found" in refusal(path)


@pytest.mark.slow
def test_a_line_that_does_not_end_is_refused_while_it_is_read(letor_file):
    zeros = gzip.compress(b"0 qid:1 1:1\n0 qid:1 1:" + b"0" * (200 << 20), compresslevel=1)
    path = letor_file(zeros, "long.gz")
    expected = "line 2: expected a line of at most 67,108,864 bytes"
    assert refusal(path) == f"{path}, {expected}, found '0 qid:1 1:{'0' * 47}...'."


@pytest.mark.slow
def test_counts_are_not_read_while_another_thread_feeds():
    parser, block = new_parser(n_threads=1), np.frombuffer(many_lines(2_000) * 40, dtype=np.uint8)
    refused = []
    worker = threading.Thread(target=parser.feed, args=(block,))
    worker.start()
    while worker.is_alive():
        for count in ("n_rows", "n_features", "longest_query_id"):
            try:
                getattr(parser, count)
            except ValueError as error:
                refused.append(str(error))
    worker.join()
    assert set(refused) == {"another thread is using this object"}


def test_documents_without_labels(letor_file, tmp_path):
    path = letor_file("qid:7 1:0.5 #docid = A\n2 qid:8 2:1 #docid = B\n")
    documents = read_letor(path, judged=False)
    assert type(documents) is Documents
    assert documents.qid.tolist() == [7, 8]
    assert documents.X.tolist() == [[0.5, 0], [0, 1]]
    write_letor(documents, tmp_path / "copy.txt")
    assert (tmp_path / "copy.txt").read_text() == "qid:7 1:0.5 2:0 #docid = A\nqid:8 1:0 2:1 #docid = B\n"
    copy = read_letor(tmp_path / "copy.txt", judged=False)
    assert copy.X.tolist() == documents.X.tolist()
    assert copy.document_ids.tolist() == ["A", "B"]


def test_labels_that_are_ignored_must_still_be_numbers(letor_file):
    assert "line 1: expected a number as the label, found 'x'" in refusal(letor_file("x qid:1\n"), judged=False)


def test_files_that_cannot_be_read(letor_file, tmp_path):
    with pytest.raises(InputError, match=r"There is no file .*absent\.txt\."):
        read_letor(tmp_path / "absent.txt")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_letor(tmp_path)
    for empty in ("", "\n\n# nothing\n"):
        with pytest.raises(InputError, match="holds no documents"):
            read_letor(letor_file(empty))


@pytest.mark.slow
def test_compressed_files(letor_file):
    text = many_lines(3_000)
    whole = gzip.compress(text)
    plain = read_letor(letor_file(text))
    assert read_letor(letor_file(whole, "whole.gz")).X.tobytes() == plain.X.tobytes()
    damaged = whole[:100] + bytes([whole[100] ^ 255]) + whole[101:]
    for wrong in (whole[:-500], damaged, text):
        with pytest.raises(InputError, match="not a complete gzip file: it is truncated or corrupt"):
            read_letor(letor_file(wrong, "wrong.gz"))


def test_options_are_checked(letor_file):
    path = letor_file("0 qid:1 3:1\n")
    assert read_letor(path, n_features=5).n_features == 5
    with pytest.raises(InputError, match="has 3 features, more than the 2 expected"):
        read_letor(path, n_features=2)
    for wrong in (0, True, 2.5, MOST + 1):
        with pytest.raises(InputError, match="n_features must be None or an integer from 1 to 1,000,000"):
            read_letor(path, n_features=wrong)
    with pytest.raises(InputError, match="absent must be NaN or a number"):
        read_letor(path, absent=float("inf"))


PEAK_OVER_MATRIX = """
import re, sys
from pathlib import Path
from rankwright.data import read_letor

def peak():
    return 1024 * int(re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1])

few, many = sys.argv[1:]
read_letor(few)  # what is imported and started only once does not count
before = peak()
data = read_letor(many, n_jobs=2)
print((peak() - before) / data.X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps what is freed")
@pytest.mark.parametrize("density", [0.3, 1.0])
def test_the_peak_is_under_three_times_the_matrix(letor_file, density):
    present = np.random.default_rng(2).random((100, 136)) < density
    rows = [" ".join(f"{feature + 1}:0.123" for feature in np.flatnonzero(row)) for row in present]
    lines = [f"0 qid:{number // 50} {rows[number % 100]} #docid = D{number}\n" for number in range(60_000)]
    few, many = letor_file("".join(lines[:100]), "few.txt"), letor_file("".join(lines), "many.txt")
    command = [sys.executable, "-c", PEAK_OVER_MATRIX, str(few), str(many)]
    assert float(subprocess.run(command, check=True, capture_output=True, text=True).stdout) < 3


# ---- writing

floats = st.floats(width=32, allow_nan=True, allow_infinity=False)


@given(
    arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=floats),
    st.data(),
    st.sampled_from(["data.txt", "data.txt.gz"]),
)
def test_what_is_written_reads_back_the_same(tmp_path_factory, X, data, name):
    n_rows = len(X)
    y = data.draw(arrays(np.float64, n_rows, elements=st.floats(allow_nan=False, allow_infinity=False)))
    qid = data.draw(
        st.one_of(*(st.lists(ids, min_size=n_rows, max_size=n_rows) for ids in (words, st.integers(-9, 9))))
    )
    document_ids = data.draw(st.one_of(st.none(), st.lists(words, min_size=n_rows, max_size=n_rows, unique=True)))
    original = RankingData(X, y, qid, document_ids=document_ids)
    path = tmp_path_factory.mktemp("round") / name
    write_letor(original, path)
    copy = read_letor(path)
    np.testing.assert_array_equal(copy.X, original.X)
    assert (np.signbit(copy.X) == np.signbit(original.X))[~np.isnan(X)].all()
    assert copy.y.tobytes() == original.y.tobytes()
    assert [str(one) for one in copy.qid] == [str(one) for one in original.qid]
    assert (copy.document_ids is None) == (document_ids is None)
    assert document_ids is None or copy.document_ids.tolist() == document_ids
    assert [file.name for file in path.parent.iterdir()] == [name]


def test_any_float_bits_survive_writing(tmp_path):
    bits = np.random.default_rng(3).integers(0, 2**32, 200_000, dtype=np.uint64).astype(np.uint32)
    X = bits.view(np.float32)
    X = X[np.isfinite(X)][:190_000].reshape(-1, 10)
    write_letor(RankingData(X, np.zeros(len(X)), np.ones(len(X), dtype=int)), tmp_path / "bits.txt")
    assert read_letor(tmp_path / "bits.txt").X.tobytes() == X.tobytes()


def test_the_written_form(tmp_path):
    data = RankingData(np.array([[0.1, np.nan]]), [2.0], ["q"], document_ids=["D"])
    write_letor(data, tmp_path / "one.txt")
    assert (tmp_path / "one.txt").read_text() == "2 qid:q 1:0.1 2:NULL #docid = D\n"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "kept.txt"
    path.write_text("old")
    with pytest.raises(InputError, match="The query id 'two words' cannot be written"):
        write_letor(RankingData(np.zeros((2, 1)), [0, 0], ["one", "two words"]), path)
    with pytest.raises(InputError, match="The document id 'a b' cannot be written"):
        write_letor(RankingData(np.zeros((1, 1)), [0], ["one"], document_ids=["a b"]), path)
    with pytest.raises(InputError, match="There are no documents to write"):
        write_letor(RankingData(np.zeros((0, 1)), [], np.zeros(0, dtype=int)), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match="cannot be written"):
        write_letor(RankingData(np.zeros((1, 1)), [0], ["one"]), tmp_path / "nowhere" / "file.txt")


# ---- real files


@needs_shared_data
@pytest.mark.parametrize("name", ["OHSUMED/Fold1/vali", "MQ2008/Fold1/test", "OHSUMED-null/Fold1/test"])
def test_real_files_equal_the_slow_twin(name):
    data = (SHARED / "letor" / f"{name}.txt").read_bytes()
    assert_like_reference(data, 1 << 18, 2, RULES)


@needs_shared_data
def test_null_values_are_missing():
    data = read_letor(SHARED / "letor" / "OHSUMED-null" / "Fold1" / "test.txt")
    text = (SHARED / "letor" / "OHSUMED-null" / "Fold1" / "test.txt").read_text()
    assert np.isnan(data.X).sum() == text.count(":NULL") > 0

from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankwright._native import CsvParser
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents
from rankwright.data.readers.csv import read_csv
from rankwright.data.tables import ColumnsWarning
from reference import csv_text as reference

CSV = "qid,label,bm25,docid\n1,0,0.5,007\n1,2,,008\n2,1,NaN,9\n"
LIMIT = 64 << 20


@pytest.fixture
def csv_file(tmp_path):
    def write(text: str | bytes, name: str = "data.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def refusal(path, **choices) -> str:
    with pytest.raises(InputError) as caught:
        read_csv(path, **choices)
    return str(caught.value)


def parse(data: bytes, block_size: int, delimiter: str = ",", max_record: int = LIMIT):
    """Return the columns, or the line and the fault."""
    parser = CsvParser(delimiter, "label", ["id"], max_record)
    for start in range(0, len(data), block_size):
        if error := parser.feed(np.frombuffer(data[start : start + block_size], dtype=np.uint8)):
            return error[0], error[1].name
    error = parser.feed(np.frombuffer(b"\n", dtype=np.uint8)) or parser.end()
    return parser.take_columns() if error is None else (error[0], error[1].name)


def assert_like_reference(data: bytes, block_size: int, delimiter: str) -> None:
    found, records = parse(data, block_size, delimiter), reference.parse(data, delimiter)
    if isinstance(found, tuple) or isinstance(records, tuple):
        assert found == records
        return
    header = records[0].fields if records else []
    assert [column.name for column in found] == header
    for place, column in enumerate(found):
        assert_column(column, [(record.line, record.fields[place]) for record in records[1:]])


def assert_column(column, lines: list[tuple[int, str]]) -> None:
    values = [value for _, value in lines]
    if column.is_id:
        assert column.name == "id"
        number_of_row, texts = column.ids()
        assert [texts[number] for number in number_of_row] == values
        missing = [line for line, value in lines if value.strip(" \t") in reference.MISSING]
    else:
        numbers = [reference.number(value) for value in values]
        missing = [
            line for (line, _), one in zip(lines, numbers, strict=True) if one is not None and np.isnan(one)
        ]
        texts = [line for line, one in zip(lines, numbers, strict=True) if one is None]
        assert column.n_texts == len(texts)
        assert column.n_numbers == len(values) - len(texts) - len(missing)
        assert column.first_text == ((texts[0][0], texts[0][1].encode()[:64]) if texts else None)
        exact = np.array([np.nan if one is None else one for one in numbers], dtype=np.float64)
        with np.errstate(over="ignore"):
            is_rounded = (exact.astype(np.float32) != exact) & (np.trunc(exact) == exact)
            kind = np.float64 if column.name == "label" or is_rounded.any() else np.float32
            assert column.numbers().dtype == kind
            if column.name == "label":
                np.testing.assert_array_equal(column.numbers(), exact)
            np.testing.assert_array_equal(column.numbers().astype(np.float32), exact.astype(np.float32))
            np.testing.assert_array_equal(column.numbers()[is_rounded], exact[is_rounded])
    assert column.first_missing_line == (missing[0] if missing else None)


numbers = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.integers(-9, 99).map(str),
    st.integers(2**24, 2**53).map(str),
    st.sampled_from(
        ["", "NA", "null", "true", "FALSE", "0x10", "1e5", ".5", "+1", " 7 ", "1_0", "-", "1e999", "\xe9"]
    ),
)
texts = st.text('ab,;"\n\r\t \0\xe9\u6587', max_size=5)


def quote(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


fields = st.one_of(numbers, numbers, numbers.map(quote), texts.map(quote), texts)


@st.composite
def files(draw: st.DrawFn, delimiter: str) -> bytes:
    width = draw(st.integers(1, 4))
    header = draw(st.permutations(["id", "label", "x", "y"]))[:width]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    rows = draw(
        st.lists(st.lists(fields, min_size=width, max_size=draw(st.sampled_from([width, width, 5]))), max_size=5)
    )
    lines = [delimiter.join(row) for row in [header, *rows]]
    lines.insert(draw(st.integers(0, len(lines))), draw(st.sampled_from(["", "a", '"', '""'])))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return (mark + end.join(lines) + draw(st.sampled_from(["", end]))).encode()


@given(st.sampled_from([",", "\t"]).flatmap(lambda one: st.tuples(st.just(one), files(one))), st.integers(1, 60))
def test_equals_the_slow_twin_wherever_the_blocks_are_cut(delimiter_and_data, block_size):
    delimiter, data = delimiter_and_data
    assert_like_reference(data, block_size, delimiter)


@given(st.binary(max_size=40), st.integers(1, 7))
@example(b'id,x\n"a', 3)
@example(b'id,x\n"a"b,1', 1)
@example(b"id,x\r1,2\r", 2)
@example(b"\xff\xfei\0d\0", 9)
@example(b'x\n""""\n"\r\n"\n', 1)
def test_any_bytes_give_columns_or_an_error(data, block_size):
    assert_like_reference(data, block_size, ",")


# ---- files


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.tsv", "data.TSV.gz"])
def test_reads_a_file(csv_file, name):
    text = (CSV.replace(",", "\t") if "tsv" in name.lower() else CSV).encode()
    data = read_csv(csv_file(gzip.compress(text) if name.endswith(".gz") else text, name))
    assert data.qid.tolist() == [1, 1, 2]
    assert data.y.tolist() == [0, 2, 1]
    assert data.feature_names == ("bm25",)
    np.testing.assert_array_equal(data.X, [[0.5], [np.nan], [np.nan]])
    assert data.document_ids.tolist() == ["007", "008", "9"]


def test_quotes_line_ends_and_a_byte_order_mark(csv_file):
    text = '\ufeff"qid",label,"a ""b"", c",x\r\n\r\n"q\r\n1",0,1,2\r\n"q,2","1","3",4'
    data = read_csv(csv_file(text))
    assert data.qid.tolist() == ["q\r\n1", "q,2"]
    assert data.feature_names == ('a "b", c', "x")
    assert data.X.tolist() == [[1, 2], [3, 4]]


def test_a_delimiter_may_be_chosen(csv_file):
    path = csv_file("qid;label;x\n1;0;2\n")
    assert read_csv(path, delimiter=";").X.tolist() == [[2]]
    assert refusal(path) == f"{path} has one column, 'qid;label;x'; pass its delimiter as delimiter."
    assert refusal(path, delimiter="|") == f"{path}: delimiter must be a comma, a semicolon or a tab, not '|'."


def test_query_ids_lose_no_leading_zero(csv_file):
    assert read_csv(csv_file("qid,label,x\n007,0,1\n7,1,2\n")).qid.tolist() == ["007", "7"]


def test_words_for_numbers_and_missing_values(csv_file):
    rows = [f"1,0,{word}" for word in ["true", "False", " 2.5 ", "+3", "NULL", "N/A", "None", "1e2"]]
    data = read_csv(csv_file("\n".join(["qid,label,x", *rows])))
    np.testing.assert_array_equal(data.X[:, 0], [1, 0, 2.5, 3, np.nan, np.nan, np.nan, 100])


def test_documents_without_labels(csv_file):
    path = csv_file("qid,x\n1,2\n")
    documents = read_csv(path, label=None)
    assert type(documents) is Documents
    assert documents.X.tolist() == [[2]]
    hint = "If the documents have no labels, pass label=None."
    assert refusal(path) == f"{path}: There is no column 'label'; the table has qid, x. {hint}"
    assert read_csv(csv_file("qid,label,x\n1,?,2\n"), label=None).feature_names == ("x",)


def test_text_columns_are_no_features_but_text_among_numbers_is_refused(csv_file):
    text = "qid,label,title,x\n1,0,one,1\n1,0,1984,2\n1,0,two,0x10\n"
    path = csv_file(text)
    sentence = f"{path}, line 4: '0x10' in column 'x' is not a number; leave a missing value empty."
    assert refusal(path) == sentence
    assert refusal(path, features=["x"]) == sentence
    assert "line 2: 'one' in column 'title' is not a number" in refusal(path, features=["title"])
    with pytest.warns(ColumnsWarning, match=r"Columns that are not used: title \(text\)"):
        assert read_csv(csv_file(text.replace("0x10", "16"))).feature_names == ("x",)


WRONG = {
    "qid,label,x\n1,0,1\n1,0\n": ", line 3: expected 3 fields as in the header, found 2.",
    "qid,label,x\n1,0,1\n1,0,2,3,4\n": ", line 3: expected 3 fields as in the header, found 5.",
    'qid,label,x\n"a\nb",0,1\n1\n': ", line 4: expected 3 fields as in the header, found 1.",
    'qid,label,x\n1,0,1\n"1,0,2\n1,0,3\n': (
        ", line 3: expected a double quote that closes the field, found the end of the file "
        "after '\"1,0,2\\n1,0,3\\n\\n'."
    ),
    'qid,label,x\n"1"2,0,1\n': ", line 2: expected a delimiter or a line end after the closing quote of '1'.",
    "qid,label,x\r1,0,1\r": ", line 1: expected a line feed after the carriage return that follows 'x'.",
    b"qid,label,x,t\n1,0,1,caf\xe9\n": r", line 2: expected text in UTF-8 without NUL, found 'caf\\xe9'.",
    b"qid,label,x\na\0,0,1\n": r", line 2: expected text in UTF-8 without NUL, found 'a\x00'.",
    "qid,label,x,x\n1,0,1,2\n": ": There are two columns 'x'.",
    "qid,label,x\n1,,1\n": (
        ", line 2: no value in column 'label'. If the documents have no labels, pass label=None."
    ),
    "qid,label,x\n1,0,1\n\nNA,0,1\n": ", line 4: no value in column 'qid'.",
    "qid,label,x\n1,good,1\n": ", line 2: 'good' in column 'label' is not a number.",
    "qid,label,x\n": ": The table has no rows.",
    "qid,label\n1,0\n": ": The table has no feature columns.",
    "": " is empty: expected a line of column names.",
    "\n\n": " is empty: expected a line of column names.",
    "qid,label,x\n1,0,inf\n": ": Column 'x' of row 0 is infinite or too large for a 32-bit float.",
    f"qid,label,x\n{'a' * 1001},0,1\n": ": The query id of row 0 has 1,001 characters; at most 1,000 are allowed.",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_file_is_one_sentence(csv_file, text):
    path = csv_file(text)
    assert refusal(path) == f"{path}{WRONG[text]}"


def test_files_that_cannot_be_read(csv_file, tmp_path):
    assert refusal(tmp_path / "none.csv") == f"There is no file {tmp_path / 'none.csv'}."
    assert refusal(tmp_path) == f"{tmp_path} is a folder, not a table."
    rows = CSV + "".join(f"{row},0,{row / 7},d{row}\n" for row in range(5000))
    path = csv_file(gzip.compress(rows.encode())[:-500], "cut.csv.gz")
    assert refusal(path) == f"{path} is not a complete gzip file: it is truncated or corrupt."


@pytest.mark.slow
def test_a_record_that_does_not_end_is_refused_while_it_is_read(csv_file):
    text = b'qid,label,x\n1,0,1\n1,0,"' + b"a" * (200 << 20)
    path = csv_file(gzip.compress(text, compresslevel=1), "long.csv.gz")
    expected = "line 3: expected at most 67,108,864 bytes per record (is a quote open?), found '1,0,\"aaa"
    assert refusal(path).startswith(f"{path}, {expected}")


@pytest.mark.parametrize("block_size", [1, 7, 100])
def test_the_longest_record(block_size):
    data = b"id,x\n" + b"a" * 17 + b",1\n"
    assert not isinstance(parse(data, block_size, max_record=19), tuple)
    assert parse(data, block_size, max_record=18) == (2, "record_too_long")


def test_dates_of_a_csv_file(csv_file):
    path = csv_file(b"qid,label,day\n1,0,1970-01-11\n1,1,\n")
    np.testing.assert_array_equal(read_csv(path, dates=["day"]).X, [[10], [np.nan]])
    with pytest.raises(InputError, match=r"'1970-01-11' in column 'day' is not a number; name .* in dates\."):
        read_csv(path, features=["day"])


def test_a_column_may_be_a_feature_and_shown_as_it_is_written(tmp_path):
    path = tmp_path / "shop.csv"
    path.write_text('qid,label,title,price\nhats,1,"Hat, red",3.50\nhats,0,,12\n')
    data = read_csv(path, show=["title", "price"])
    assert data.feature_names == ("price",)
    assert data.X.tolist() == [[3.5], [12.0]]
    assert data.shown["title"].tolist() == ["Hat, red", None]
    assert data.shown["price"].tolist() == ["3.50", "12"]

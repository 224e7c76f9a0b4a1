"""Documents written in each format are read back; broken files are refused with file and line."""

import csv
import gzip
import json
import tempfile
from contextlib import suppress
from html import escape
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.text import TextDocument, read_documents
from shared_data import CRANFIELD, needs_cranfield

CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"])
LINES = st.text(CHARACTERS, max_size=30).map(str.strip)
TEXTS = st.lists(LINES, max_size=3).map("\n".join)
IDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)


def collections(texts):
    fields = st.fixed_dictionaries({"title": texts, "body": texts})
    return st.dictionaries(IDS, fields, min_size=1, max_size=5)


FOLDER = tempfile.TemporaryDirectory()


@pytest.fixture(autouse=True, scope="module")
def _cleaned_up():
    yield
    FOLDER.cleanup()


def write(name, content):
    """Write a file into a new folder, compressed if its name says so."""
    path = Path(tempfile.mkdtemp(dir=FOLDER.name)) / name
    content = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def as_dict(documents):
    return {one.id: dict(one.fields) for one in documents}


@examples(60)
@given(collections(TEXTS), st.sampled_from(["docs.jsonl", "docs.ndjson.gz", "docs"]), st.booleans())
def test_json_lines_round_trip(documents, name, escaped):
    lines = [json.dumps({"id": one, **fields}, ensure_ascii=escaped) for one, fields in documents.items()]
    assert as_dict(read_documents(write(name, "\n".join(lines)))) == documents


@examples(60)
@given(collections(TEXTS), st.sampled_from([("docs.csv", ","), ("docs.tsv", "\t"), ("docs.csv.gz", ",")]))
def test_tables_round_trip(documents, how):
    name, delimiter = how
    text = StringIO()
    table = csv.writer(text, delimiter=delimiter)
    names = ["id", "title", "body"]
    rows = [{"id": one, **fields} for one, fields in documents.items()]
    table.writerows([names, *([row[name] for name in names] for row in rows)])
    path = write(name, text.getvalue())
    assert as_dict(read_documents(path, fields=["title", "body"])) == documents


@examples(60)
@given(collections(TEXTS))
def test_trec_round_trip(documents):
    blocks = [
        f"<DOC>\n<DOCNO> {one} </DOCNO>\n<title>{escape(fields['title'])}</title>\n"
        f"<body>\n{escape(fields['body'])}\n</body>\n</DOC>\n"
        for one, fields in documents.items()
    ]
    found = as_dict(read_documents(write("docs.sgml", "".join(blocks)), fields=["title", "body"]))
    expected = {one: {name: text.strip() for name, text in fields.items()} for one, fields in documents.items()}
    assert found == expected


@examples(60)
@given(collections(LINES.filter(lambda line: line and not line.startswith("."))))
def test_smart_round_trip(documents):
    numbers = {str(number): fields for number, fields in enumerate(documents.values(), start=1)}
    blocks = [f".I {one}\n.T\n{fields['title']}\n.W\n{fields['body']}\n" for one, fields in numbers.items()]
    path = write("cran.all", "".join(blocks))
    assert as_dict(read_documents(path, fields={"title": "T", "body": "W"})) == numbers


@examples(30)
@given(collections(TEXTS))
def test_parquet_round_trip(documents):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write("docs.parquet", "")
    table = arrow.Table.from_pylist([{"id": one, "year": 1968, **fields} for one, fields in documents.items()])
    parquet.write_table(table, path)
    assert as_dict(read_documents(path)) == documents


def test_a_folder_of_text_files(tmp_path):
    (tmp_path / "news").mkdir()
    (tmp_path / "news" / "one.txt").write_text("first\r\nsecond\r\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"packed"))
    (tmp_path / "a").write_text("")
    (tmp_path / ".hidden").write_text("no")
    found = list(read_documents(tmp_path))
    assert found == [
        TextDocument("a", {"text": ""}),
        TextDocument("b", {"text": "packed"}),
        TextDocument("news/one", {"text": "first\nsecond"}),
    ]


def test_a_folder_and_a_list_of_files_are_read_in_order(tmp_path):
    paths = [tmp_path / name for name in ("b.jsonl", "a.jsonl.gz")]
    paths[0].write_text('{"id": 2, "text": "two"}\n')
    paths[1].write_bytes(gzip.compress(b'{"id": 1, "text": "one"}\n'))
    assert [one.id for one in read_documents(tmp_path)] == ["1", "2"]
    listed = read_documents(paths)
    assert [one.id for one in listed] == ["2", "1"]
    assert [one.id for one in listed] == ["2", "1"], "a collection can be read again"
    assert repr(listed).endswith("b.jsonl and 1 more')")


def test_a_folder_of_trec_files_without_suffix(tmp_path):
    (tmp_path / "fr940104.0").write_text("<DOC>\n<DOCNO> FR-1 </DOCNO>\n<TEXT>\none\n</TEXT>\n</DOC>\n")
    (tmp_path / "fr940104.1").write_text("<DOC>\n<DOCNO> FR-2 </DOCNO>\n<TEXT>\ntwo\n</TEXT>\n</DOC>\n")
    assert as_dict(read_documents(tmp_path)) == {"FR-1": {"TEXT": "one"}, "FR-2": {"TEXT": "two"}}


def test_documents_are_streamed(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": 1, "text": "fine"}\n' * 200 + "broken\n")
    documents = iter(read_documents(tmp_path / "docs.jsonl"))
    assert next(documents) == TextDocument("1", {"text": "fine"})


def test_fields_are_chosen_and_renamed():
    path = write("docs.jsonl", '{"key": "a", "T": "title", "W": "body", "year": 1968, "tags": ["x", "y"]}\n')
    everything = {"T": "title", "W": "body", "tags": "x\ny"}
    assert as_dict(read_documents(path, id="key")) == {"a": everything}
    assert as_dict(read_documents(path, id="key", fields=["W"])) == {"a": {"W": "body"}}
    renamed = read_documents(path, id="key", fields={"title": "T", "when": "year"})
    assert as_dict(renamed) == {"a": {"title": "title", "when": "1968"}}


def test_a_field_may_be_missing_in_some_documents():
    path = write("docs.jsonl", '{"id": 1, "title": "a"}\n{"id": 2, "title": null, "body": "b"}\n')
    assert as_dict(read_documents(path)) == {"1": {"title": "a"}, "2": {"body": "b"}}
    assert as_dict(read_documents(path, fields=["body"])) == {"1": {}, "2": {"body": "b"}}


def test_numbers_in_files_without_types_are_not_text():
    path = write("docs.csv", "id,title,year,score\n1,1984,1949,\n2,Brave New World,1932,-1e-3\n")
    assert as_dict(read_documents(path)) == {"1": {"title": "1984"}, "2": {"title": "Brave New World"}}
    cited = write("cacm.all", ".I 1\n.W\nsorting\n.X\n1\t5\t1\n2\t5\t1\n.I 2\n.W\n42\n")
    assert as_dict(read_documents(cited)) == {"1": {"W": "sorting"}, "2": {"W": "42"}}


def test_a_tsv_file_without_header_has_ids_and_texts():
    path = write("collection.tsv", '0\t"Quoted" begins\n1\tsecond\n')
    assert as_dict(read_documents(path)) == {"0": {"text": '"Quoted" begins'}, "1": {"text": "second"}}


def test_trec_documents_as_they_are_in_the_wild():
    path = write(
        "wt.xml",
        "<?xml version='1.0'?>\n<root>\n<DOC> <DOCNO>A-1</DOCNO><TEXT>one<P>two &amp; &lt;three&gt;</TEXT>\n"
        "<TEXT>four</TEXT></DOC><doc><docno>A-2</docno><!-- no --><DOCHDR>http://x\n200</DOCHDR>\n"
        "<html><title>Page</title><script>var x = '<p>';</script><STYLE>b {}</style>\nbody</html></doc>\n"
        "<DOC><DOCNO>A-3</DOCNO>loose <b>text</b> &unknown; here\n</DOC></root>",
    )
    assert as_dict(read_documents(path)) == {
        "A-1": {"TEXT": "one two & <three>\nfour"},
        "A-2": {"DOCHDR": "http://x\n200", "html": "Page \nbody"},
        "A-3": {"text": "loose  text  &unknown; here"},
    }


def test_smart_fields_that_occur_twice_are_joined():
    path = write(
        "cran.all", ".I 576\r\n.T\r\none\r\n.W\r\ntwo\r\n.5 inch\r\n.W\r\nthree\r\n.I 577\r\n.T\r\n.W\r\n"
    )
    assert as_dict(read_documents(path)) == {
        "576": {"T": "one", "W": "two\n.5 inch\nthree"},
        "577": {"T": "", "W": ""},
    }


CLASSIC = {
    "lisa": (
        "Document    1\nTHE FIRST\nTITLE\n     \nABSTRACT #1\nON LINES.\n"
        + "*" * 44
        + "\nDocument    2\nNO ABSTRACT\n"
        + "*" * 44
        + "\n",
        {
            "1": {"title": "THE FIRST\nTITLE", "body": "ABSTRACT #1\nON LINES."},
            "2": {"title": "NO ABSTRACT", "body": ""},
        },
        "1 \nI AM INTERESTED IN\nTHIS. #\n2 \nAND THAT #\n",
        {"1": "I AM INTERESTED IN THIS.", "2": "AND THAT"},
    ),
    "time": (
        "*TEXT 017 01/04/63 PAGE 020\n\n THE ALLIES\n\n*TEXT 020 01/04/63 PAGE 021\n\n THE ROAD\n\n*STOP\n",
        {"1": {"text": "THE ALLIES"}, "2": {"text": "THE ROAD"}},
        "*FIND     1\n\n KENNEDY\n ADMINISTRATION\n\n*FIND     2\n\n PANAMA\n\n*STOP\n",
        {"1": "KENNEDY ADMINISTRATION", "2": "PANAMA"},
    ),
    "npl": (
        "1\ncompact memories  a digital\nstorage\n   /\n2\nan electronic\n   /\n",
        {"1": {"text": "compact memories  a digital\nstorage"}, "2": {"text": "an electronic"}},
        "1\nMEASUREMENT OF\nLIQUIDS\n/\n2\nFILTERS\n/\n",
        {"1": "MEASUREMENT OF LIQUIDS", "2": "FILTERS"},
    ),
}


@pytest.mark.parametrize("name", CLASSIC)
def test_old_collections_are_recognised(tmp_path, name):
    documents, fields, queries, texts = CLASSIC[name]
    (tmp_path / "docs").write_text(documents)
    (tmp_path / "queries").write_text(queries)
    assert {one.id: one.fields for one in rw.text.read_documents(tmp_path / "docs")} == fields
    assert dict(rw.text.read_queries(tmp_path / "queries")) == texts
    (tmp_path / "docs").write_text(documents.partition("\n")[2])
    with pytest.raises(rw.InputError, match=r"line [12]: expected"):
        [*rw.text.read_documents(tmp_path / "docs", format=name)]


def test_other_encodings_can_be_named():
    path = write("docs.jsonl", '{"id": "é", "text": "café"}\n'.encode("latin-1"))
    assert as_dict(read_documents(path, encoding="latin-1")) == {"é": {"text": "café"}}
    with pytest.raises(rw.InputError, match="must be one that extends ASCII"):
        read_documents(path, encoding="utf-16")


def test_a_long_word_and_a_long_field():
    word = "w" * (1 << 20)
    path = write("docs.csv", f"id,text\n1,{word}\n")
    assert as_dict(read_documents(path)) == {"1": {"text": word}}


BROKEN = [
    ("docs.jsonl", '{"id": 1, "text": "a"}\n\n{"id": 2, "text": \n', {}, "line 3: broken JSON at column 19"),
    ("docs.jsonl", '{"id": 1, "text": "a"}\n[1]\n', {}, "line 2: expected a JSON object per line"),
    (
        "docs.jsonl",
        '{"text": "a"}\n',
        {},
        r"line 1: no id: expected a field 'id', .* or 'pid', found 'text'; pass id",
    ),
    ("docs.jsonl", '{"id": 1.5, "text": "a"}\n', {}, "line 1: the id in 'id' must be text or an integer, not 1.5"),
    ("docs.jsonl", '{"id": true, "text": "a"}\n', {}, "line 1: the id in 'id' must be text or an integer"),
    ("docs.jsonl", '{"id": " ", "text": "a"}\n', {}, "line 1: the id in 'id' is empty"),
    ("docs.jsonl", '{"id": "a", "text": "\\ud800"}\n', {}, "line 1: .* surrogate"),
    ("docs.jsonl", "[" * 100_000, {}, "line 1: .*nested too deeply"),
    (
        "docs.jsonl",
        '{"id": 1, "text": "a"}\n',
        {"fields": ["titel"]},
        "no field 'titel' here or before; .* 'text'",
    ),
    ("docs.jsonl", '{"id": 1, "text": true}\n', {"fields": ["text"]}, "the field 'text' must hold text, not True"),
    ("docs.jsonl", '{"id": 1, "year": 5}\n', {}, "line 1: none of 'id', 'year' holds text"),
    ("docs.jsonl", b'{"id": 1, "text": "a"}\n{"id": 2, "text": "\xe9"}\n', {}, "line 2: byte 0xE9 at position 20"),
    ("docs.csv", b"id,text\n1,\xff\n", {}, "line 2: byte 0xFF"),
    ("docs.csv", "id,text\n1,a\n2,a,b\n", {}, "line 3: expected 2 fields as in the first line, found 3"),
    ("docs.csv", 'id,text\n1,a\n2,"open\nmore\n', {}, "line 3: broken row: .*open"),
    ("docs.csv", "id,id\n1,a\n", {}, "line 1: expected a header with a different name .* 'id' twice"),
    ("docs.csv", "", {}, "is empty: expected a line of column names"),
    ("docs.csv", "id,text\n1,a\n", {"fields": ["body"]}, "line 2: no field 'body'"),
    ("docs.csv", "id,text\n1,a\n", {"id": "key"}, "line 2: no id: expected a field 'key'"),
    ("docs.trec", "<DOC>\n<TEXT>a</TEXT>\n</DOC>\n", {}, "line 1: no id: expected a field 'DOCNO'"),
    ("docs.trec", "<DOC>\n<DOCNO>1</DOCNO>\n<DOC>\n", {}, "line 1: the document that begins here has no closing"),
    ("docs.trec", "\n<DOC>\n<DOCNO>1</DOCNO>\n", {}, "line 2: the document that begins here has no closing"),
    ("docs.all", ".I 1\nno field\n", {}, "line 2: expected a line with a field such as .W, found 'no field'"),
    ("docs.all", ".I 1\n.W\na\n.I\n.W\nb\n", {}, "line 4: the id in 'I' is empty"),
    ("docs.json", '[{"id": 1}]', {}, "is a JSON array: write one object per line"),
    ("docs.txt", "just words", {}, "has no format that is recognised"),
    ("docs.jsonl.gz", b"", {}, None),
    ("docs.jsonl", "", {"format": "jason"}, "format must be 'jsonl', 'csv', .* or 'text', not 'jason'"),
    ("docs.jsonl", "", {"fields": "text"}, r"fields must be a list of names or a mapping, such as \['text'\]"),
    ("docs.jsonl", "", {"fields": []}, "fields must name at least one field"),
]


@pytest.mark.parametrize(("name", "content", "options", "message"), BROKEN)
def test_broken_files_are_refused_with_their_place(name, content, options, message):
    path = write(name, content)
    if message is None:
        assert list(read_documents(path, **options)) == []
        return
    with pytest.raises(rw.InputError, match=message) as refused:
        list(read_documents(path, **options))
    if not options.get("format") and "fields must" not in message:
        assert str(refused.value).startswith(str(path))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(rw.InputError, match="There is no file"):
        read_documents(tmp_path / "docs.jsonl")
    with pytest.raises(rw.InputError, match="There are no files in the folder"):
        read_documents(tmp_path)
    with pytest.raises(rw.InputError, match="the list of paths is empty"):
        read_documents([])
    with pytest.raises(rw.InputError, match="is a folder: give it alone"):
        read_documents([tmp_path])
    (tmp_path / "broken.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "text": "a"}\n' * 100)[:-20])
    with pytest.raises(rw.InputError, match="not a complete gzip file"):
        list(read_documents(tmp_path / "broken.jsonl.gz"))
    (tmp_path / "README.txt").write_text("about")
    with pytest.raises(rw.InputError, match="differ in format"):
        read_documents(tmp_path)


def test_a_damaged_parquet_file(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "docs.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(rw.InputError, match="is not a readable Parquet file"):
        list(read_documents(tmp_path / "docs.parquet"))


@examples(100)
@given(st.binary(max_size=200), st.sampled_from(["jsonl", "csv", "tsv", "trec", "smart", "text"]))
def test_any_bytes_give_documents_or_an_input_error(content, kind):
    starts = {"jsonl": b'{"id": "1", ', "trec": b"<DOC><DOCNO>1</DOCNO>", "smart": b".I 1\n.W\n"}
    path = write("docs", starts.get(kind, b"id\ttext\n") + content)
    with suppress(rw.InputError):
        for one in read_documents(path, format=kind):
            assert one.id
            assert all(text.encode() is not None for text in one.fields.values())


@pytest.mark.parametrize(
    "markup", ["<a" * 200_000, "<a>" * 200_000, "<!--" * 200_000, "<script" * 200_000, "</a>" * 200_000]
)
def test_hostile_markup_takes_linear_time(markup):
    path = write("docs.trec", f"<DOC><DOCNO>1</DOCNO>\n{markup}\n<TEXT>found</TEXT></DOC>")
    assert as_dict(read_documents(path, fields=["TEXT"])) == {"1": {"TEXT": "found"}}


@needs_cranfield
def test_cranfield():
    documents = list(read_documents(CRANFIELD / "cran.all.1400", fields={"title": "T", "body": "W"}))
    assert [one.id for one in documents] == [str(number) for number in range(1, 1401)]
    assert documents[1].fields["title"].startswith("simple shear flow past a flat plate")
    assert [one.id for one in documents if not one.fields["body"]] == ["471", "995"]

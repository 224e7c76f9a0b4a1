"""Queries of each format; what is broken is refused with its place."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.text import Queries, read_queries
from shared_data import CRANFIELD, needs_cranfield

TOPICS = """
<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international
criminal activity.

<narr> Narrative:
A relevant document must name the organization.
</top>

<top>
<num> Number: 302 </num>
<title> Topic: Poliomyelitis &amp; Post-Polio </title>
<desc> Description: Is the disease under control? </desc>
</top>
"""


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        content = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def test_queries_are_a_value():
    queries = Queries(["q1", "q2"], ["first", ""])
    assert list(queries) == [("q1", "first"), ("q2", "")]
    assert queries == Queries.of({"q1": "first", "q2": ""})
    assert len(queries) == 2
    assert "q2" in queries
    assert "q3" not in queries
    assert queries["q1"] == "first"
    assert repr(queries) == "Queries(2 queries)"
    with pytest.raises(rw.InputError, match="There is no query 'q3'"):
        queries["q3"]


@pytest.mark.parametrize(
    ("ids", "texts", "message"),
    [
        (["a", "a"], ["x", "y"], "Query 'a' occurs twice"),
        (["a"], [], "There are 1 query ids but 0 texts"),
        ([1], ["x"], "must be strings, not 1"),
    ],
)
def test_queries_are_checked(ids, texts, message):
    with pytest.raises(rw.InputError, match=message):
        Queries(ids, texts)


@examples(50)
@given(
    st.dictionaries(
        st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8),
        st.text(st.characters(exclude_categories=["Cs", "C", "Z"]), max_size=20),
        min_size=1,
    ),
    st.sampled_from(["jsonl", "tsv"]),
)
def test_round_trip(texts, kind):
    lines = [
        json.dumps({"qid": one, "query": text}) if kind == "jsonl" else f"{one}\t{text}"
        for one, text in texts.items()
    ]
    if kind == "tsv":
        lines.insert(0, "#\ttext")  # no header: an id that is no name of a column
        texts = {"#": "text", **texts}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"queries.{kind}"
        path.write_text("\n".join(lines))
        assert dict(read_queries(path)) == texts


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("queries.tsv", "q1\thow  tall\nq2\twhy\n"),
        ("topics.txt", "q1\thow tall\nq2\twhy\n"),
        ("queries.tsv.gz", "qid\tquery\nq1\thow tall\nq2\twhy\n"),
        ("queries.csv", 'query_id,lang,text\nq1,en,"how\ntall"\nq2,en,why\n'),
        ("queries.jsonl", '{"_id": "q1", "text": "how tall"}\n{"_id": "q2", "text": "why"}\n'),
        (
            "covid.xml",
            '<topics><topic number="q1"><query>how tall</query></topic>\n'
            '<topic number="q2"><query>why</query></topic></topics>',
        ),
        ("cisi.qry", ".I q1\n.T\nnot this\n.W\nhow\n tall\n.I q2\n.W\nwhy\n"),
    ],
)
def test_formats(write, name, content):
    assert dict(read_queries(write(name, content))) == {"q1": "how tall", "q2": "why"}


def test_topics_with_and_without_closing_tags(write):
    path = write("topics.301-302", TOPICS)
    assert dict(read_queries(path)) == {
        "301": "International Organized Crime",
        "302": "Poliomyelitis & Post-Polio",
    }
    wanted = "Identify organizations that participate in international criminal activity."
    assert read_queries(path, part="desc")["301"] == wanted
    both = read_queries(path, part=["title", "narr"])
    assert both["301"] == "International Organized Crime A relevant document must name the organization."
    assert both["302"] == "Poliomyelitis & Post-Polio"


def test_ids_by_place(write):
    path = write("cran.qry", ".I 001\n.W\none\n.I 004\n.W\ntwo\n")
    assert read_queries(path).ids == ("1", "4")
    assert read_queries(path, ids="place").ids == ("1", "2")
    with pytest.raises(rw.InputError, match="ids must be 'file' or 'place', not 'number'"):
        read_queries(path, ids="number")


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("q.tsv", "a\tx\nb\ty\na\tz\n", {}, "line 3: query 'a' occurs twice"),
        ("q.tsv", "a\tx\nb\n", {}, "line 2: expected 2 fields"),
        ("q.tsv", b"a\tx\nb\t\xff\n", {}, "line 2: byte 0xFF"),
        (
            "q.jsonl",
            '{"qid": 1, "words": "a"}\n',
            {},
            "line 1: expected a field 'text', .* found 'qid', 'words'; name the part",
        ),
        ("q.jsonl", '{"qid": 1, "text": 5}\n', {}, "line 1: the text of a query must be text, not 5"),
        ("q.jsonl", '{"text": "a"}\n', {}, "line 1: no id"),
        ("q.jsonl", '{"qid": 1, "text": "a"}\n', {"part": "desc"}, "line 1: expected a field 'desc'"),
        ("q.txt", "plain words\n", {}, "has no format that is recognised"),
        ("q.txt", "plain words\n", {"format": "text"}, "format must be 'jsonl', .* not 'text'"),
        ("topics", "<top>\n<num> 1\n<title> a\n", {}, "line 1: the document that begins here has no closing tag"),
    ],
)
def test_broken_queries(write, name, content, options, message):
    with pytest.raises(rw.InputError, match=message):
        read_queries(write(name, content), **options)


def test_no_file(tmp_path):
    with pytest.raises(rw.InputError, match="There is no file"):
        read_queries(tmp_path / "queries.tsv")


@needs_cranfield
def test_cranfield():
    queries = read_queries(CRANFIELD / "cran.qry")
    assert len(queries) == 225
    assert queries.ids[:4] == ("1", "2", "4", "8")
    assert read_queries(CRANFIELD / "cran.qry.xml") == queries
    placed = read_queries(CRANFIELD / "cran.qry", ids="place")
    assert placed.ids == tuple(str(place) for place in range(1, 226))
    assert placed.texts == queries.texts

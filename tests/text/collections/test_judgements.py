"""Judgements of each format, their grades, and which of them are about known queries and documents."""

import gzip

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.readers.trec import Judgements
from rankwright.text import CRANFIELD_GRADES, Queries, known_judgements, read_judgements, read_queries
from shared_data import CRANFIELD, needs_cranfield


@pytest.fixture
def write(tmp_path):
    def write(content, name="qrels"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(content.encode()) if name.endswith(".gz") else content.encode())
        return path

    return write


def rows(judgements):
    return list(zip(judgements.qid.tolist(), judgements.document_ids, judgements.labels.tolist(), strict=True))


def test_trec(write):
    path = write("q1 0 a 2\nq1 0 b -1\n")
    assert rows(read_judgements(path)) == [("q1", "a", 2), ("q1", "b", -1)]
    assert rows(read_judgements(path, grades={2: 1, -1: 0})) == [("q1", "a", 1), ("q1", "b", 0)]


def test_smart_with_grades(write):
    path = write("1 184 2 \r\n1 12 1\r\n01 486 -1\r\n", "cranqrel.gz")
    assert rows(read_judgements(path, grades=CRANFIELD_GRADES)) == [
        ("1", "184", 3),
        ("1", "12", 4),
        ("1", "486", 0),
    ]
    with pytest.raises(rw.InputError, match="in some such files 1 is the best: pass the label of each"):
        read_judgements(path)
    with pytest.raises(
        rw.InputError, match="document '486' of query '1' has grade -1; grades has labels for 1, 2 only"
    ):
        read_judgements(path, grades={1: 1, 2: 1})


def test_smart_without_grades(write):
    assert rows(read_judgements(write("1 28\n1 35\n"))) == [("1", "28", 1), ("1", "35", 1)]
    path = write("01 1410 0 0\n01 1572 0 0.000\n")
    assert rows(read_judgements(path, format="smart")) == [("1", "1410", 1), ("1", "1572", 1)]


def test_beir(write):
    path = write("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    assert rows(read_judgements(path)) == [("q1", "d1", 2)]


def test_nothing_is_no_mistake(write):
    assert len(read_judgements(write(""))) == 0
    assert len(read_judgements(write(""), format="smart")) == 0


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ("1 2 1\n1 2 1\n", "smart", "line 2: document '2' occurs twice in query '1'"),
        ("1 2 1\n1 2\n", "smart", "line 2: found 2 columns, expected query, document and perhaps a grade"),
        ("1\n", "smart", "line 1: found 1 columns"),
        ("1 2 best\n", "smart", "line 1: the label 'best' is not a number"),
        ("1 2 inf\n", "smart", "line 1: the label 'inf' is not a number"),
        ("query-id corpus-id score\n1 2\n", "beir", "line 2: found 2 columns, expected query-id corpus-id score"),
        ("1 2 3\n", "trek", "format must be 'trec', 'smart' or 'beir', not 'trek'"),
    ],
)
def test_broken_judgements(write, content, kind, message):
    with pytest.raises(rw.InputError, match=message):
        read_judgements(write(content), format=kind, grades=CRANFIELD_GRADES)


def test_unknown_queries_and_documents_are_counted():
    judgements = Judgements.of(["1", "1", "2", "9", "9"], ["a", "b", "z", "a", "z"], [1, 0, 1, 1, 1])
    queries = Queries.of({"1": "x", "2": "y", "3": "z"})
    kept, coverage = known_judgements(judgements, queries=queries, documents={"a", "b"})
    assert rows(kept) == [("1", "a", 1), ("1", "b", 0)]
    assert coverage.n_judgements == 5
    assert coverage.n_unknown == 3
    assert coverage.unknown_queries == ("9",)
    assert coverage.unknown_documents == ("z",)
    assert coverage.queries_without_judgements == ("2", "3")
    assert not coverage.complete
    assert str(coverage) == (
        "5 judgements, 3 of them left out, for 1 unknown query (9) and 1 unknown document (z); "
        "2 queries (2, 3) without judgements."
    )


def test_known_judgements_are_all_kept():
    judgements = Judgements.of(["1"], ["a"], [1])
    kept, coverage = known_judgements(judgements, queries=["1"], documents=["a"])
    assert rows(kept) == rows(judgements)
    assert coverage.complete


def test_no_judgements_at_all():
    kept, coverage = known_judgements(Judgements.of(np.zeros(0, str), [], []), queries=["1"], documents=[])
    assert len(kept) == 0
    assert coverage.queries_without_judgements == ("1",)


@needs_cranfield
def test_cranfield():
    graded = read_judgements(CRANFIELD / "cranqrel", grades=CRANFIELD_GRADES)
    assert len(graded) == 1837
    labels, counts = np.unique(graded.labels, return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {0: 225, 1: 363, 2: 734, 3: 387, 4: 128}
    binary = read_judgements(CRANFIELD / "cranqrel.trec.txt")
    assert {row[:2] for row in rows(binary)} == {row[:2] for row in rows(graded)}
    documents = {str(number) for number in range(1, 1401)}
    placed = read_queries(CRANFIELD / "cran.qry", ids="place")
    assert known_judgements(graded, queries=placed, documents=documents).coverage.complete
    named = read_queries(CRANFIELD / "cran.qry")
    assert known_judgements(graded, queries=named, documents=documents).coverage.n_unknown == 611

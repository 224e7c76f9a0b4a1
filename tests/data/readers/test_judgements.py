"""Judgements of each format, and their grades."""

import gzip

import pytest

import rankwright as rw
from rankwright import CRANFIELD_GRADES, read_judgements


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


def test_columns_of_zeros_are_recognised(write):
    relations = [("1", "1410", 1), ("1", "1572", 1)]
    assert rows(read_judgements(write("01 1410  0 0\n01 1572  0 0\n"))) == relations
    assert rows(read_judgements(write("  1   1410\t0\t0.000000\n  1   1572\t0\t0.000000\n"))) == relations
    assert rows(read_judgements(write("01 10 0 0\n01 15 0 0\n02 200 0 0\n")))[2] == ("2", "200", 1)  # no list
    assert rows(read_judgements(write("1 0 0 0\n"))) == [("1", "0", 0)]  # TREC's: iteration 0, document 0


LISA, LISA_WORDS = (
    "  1  2  3392  3396\n  2  1  2623\n",
    "Query 1 \n2 Relevant Refs:\n3392 3396 -1\n\nQuery 2\n1 Relevant Refs:\n2623 -1\n",
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (LISA, {"1": ["3392", "3396"], "2": ["2623"]}),
        (LISA_WORDS, {"1": ["3392", "3396"], "2": ["2623"]}),
        ("1 268 288 304 308\n\n2 326 334\n", {"1": ["268", "288", "304", "308"], "2": ["326", "334"]}),
        ("1\n 1239 1502\n 4462\n   /\n2\n 12\n   /\n", {"1": ["1239", "1502", "4462"], "2": ["12"]}),
    ],
    ids=["LISARJ.NUM", "LISA.REL", "TIME.REL", "NPL rlv-ass"],
)
def test_lists_of_old_collections(write, content, expected):
    read = {}
    for query, document, label in rows(read_judgements(write(content))):
        assert label == 1
        read.setdefault(query, []).append(document)
    assert read == expected


def test_a_table_of_numbers_is_no_list(write):
    assert rows(read_judgements(write("1 2\n2 1\n"))) == [("1", "2", 1), ("2", "1", 1)]
    assert rows(read_judgements(write("1 4 2\n2 3 1\n"), grades={1: 1, 2: 2})) == [("1", "4", 2), ("2", "3", 1)]
    assert rows(read_judgements(write("1 1 7\n2 1 9\n"))) == [("1", "7", 1), ("2", "9", 1)]  # one document each


def test_lists_that_are_cut_short(write):
    with pytest.raises(rw.InputError, match="line 1: query 1 has fewer documents than the 3 it says"):
        read_judgements(write("1 3 5 6\n"), format="lisa")
    with pytest.raises(rw.InputError, match="line 2: Found 3 columns, expected 4"):  # no list: query 1 twice
        read_judgements(write("1 0 5 1\n1 0 6\n"))


def test_beir(write):
    path = write("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    assert rows(read_judgements(path)) == [("q1", "d1", 2)]


def test_nothing_is_no_mistake(write):
    assert len(read_judgements(write(""))) == 0
    assert len(read_judgements(write(""), format="smart")) == 0


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        ("1 2 1\n1 2 1\n", "smart", "line 2: Document '2' occurs twice in query '1'"),
        ("1 2 1\n1 2\n", "smart", "line 2: Found 2 columns, expected query, document and perhaps a grade"),
        ("1\n", "smart", "line 1: Found 1 columns"),
        ("1 2 best\n", "smart", "line 1: The label 'best' is not a number"),
        ("1 2 inf\n", "smart", "line 1: The label 'inf' is not a number"),
        (
            "query-id corpus-id score\n1 2\n",
            "beir",
            "line 2: Found 2 columns, expected 3: query-id corpus-id",
        ),
        ("1 2 3\n", "trek", "format must be 'trec', 'smart', 'beir', 'lisa', 'time' or 'npl', not 'trek'"),
    ],
)
def test_broken_judgements(write, content, kind, message):
    with pytest.raises(rw.InputError, match=message):
        read_judgements(write(content), format=kind, grades=CRANFIELD_GRADES)

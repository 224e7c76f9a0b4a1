"""Tables of scores, read as runs."""

import pytest

from rankwright.base.errors import InputError
from rankwright.data.readers.any_format import read_scores


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_of_scores_is_a_run(tmp_path, delimiter):
    path = tmp_path / "scores"
    rows = ["rank,score,docid,qid", "1,2.5,a,red shoes", "2,-1,b,red shoes", "1,0.125,a,7"]
    path.write_text("".join(row.replace(",", delimiter) + "\n" for row in rows))
    run = read_scores(path, delimiter=delimiter)
    assert run.qid.tolist() == ["red shoes", "red shoes", "7"]
    assert run.document_ids.tolist() == ["a", "b", "a"]
    assert run.scores.tolist() == [2.5, -1.0, 0.125]


def test_a_parquet_table_of_scores_is_a_run(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "scores"
    pq.write_table(pa.table({"qid": [1, 1], "docid": ["a", "b"], "score": [0.1, 0.2]}), path)
    assert read_scores(path, delimiter=None).scores.tolist() == [0.1, 0.2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("qid,docid\n1,a\n", "{}: There is no column 'score'; the table has qid, docid."),
        ("qid,docid,score\n1,a,\n", "{}, line 2: no value in column 'score'."),
        ("qid,docid,score\n1,a,x\n", "{}, line 2: 'x' in column 'score' is not a number."),
        ("qid,docid,score\n1,a,2\n1,a,3\n", "{}: Document 'a' occurs twice in query '1'."),
    ],
)
def test_mistakes_in_a_table_of_scores(tmp_path, text, sentence):
    path = tmp_path / "scores.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_scores(path, delimiter=",")
    assert str(caught.value) == sentence.format(path)

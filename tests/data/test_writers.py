"""Documents written to a file of any format read back as the same values."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.writers import write_documents


@pytest.fixture
def data():
    X = np.array([[1.5, np.nan], [0.1, 2.0], [3.0, 1e-20]], np.float32)
    return rw.RankingData(X, [2, 0, 1], ["b", "b", "a"], document_ids=["x", "y", "z"], feature_names=["t: f", "g"])


@pytest.mark.parametrize(
    ("name", "read"), [("f.csv", rw.read_csv), ("f.tsv.gz", rw.read_csv), ("f.parquet", rw.read_parquet)]
)
def test_tables_round_trip(tmp_path, data, name, read):
    write_documents(data, tmp_path / name)
    found = read(tmp_path / name)
    assert found.X.tobytes() == data.X.tobytes()
    assert found.y.tolist() == data.y.tolist()
    assert (found.qid.tolist(), found.document_ids.tolist()) == (["b", "b", "a"], ["x", "y", "z"])
    assert found.feature_names == ("t: f", "g")


@pytest.mark.parametrize("name", ["f.csv", "f.tsv"])
def test_ids_that_a_spreadsheet_takes_for_formulas_are_written_as_they_are(tmp_path, name):
    ids = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "'=1", "\t=1"]
    data = rw.RankingData(np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 2], ids, document_ids=ids)
    write_documents(data, tmp_path / name)
    found = rw.read_csv(tmp_path / name)
    assert (found.qid.tolist(), found.document_ids.tolist()) == (ids, ids)


def test_letor_without_labels(tmp_path, data):
    documents = rw.Documents(data.X, data.qid, document_ids=data.document_ids)
    write_documents(documents, tmp_path / "f.txt")
    assert (tmp_path / "f.txt").read_text().splitlines()[0] == "qid:b 1:1.5 2:NULL #docid = x"
    write_documents(documents, tmp_path / "f.csv")
    assert (tmp_path / "f.csv").read_text().splitlines()[0] == "qid,docid,1,2"


def test_a_feature_cannot_have_the_name_of_another_column(tmp_path, data):
    wrong = rw.RankingData(*data, feature_names=["label", "g"])
    with pytest.raises(rw.InputError, match="A feature is called 'label'"):
        write_documents(wrong, tmp_path / "f.csv")
    assert not (tmp_path / "f.csv").exists()

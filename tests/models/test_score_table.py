"""Scores as a data frame."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankwright as rw
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.models import LinearScorer, ResidualModel

MODEL = LinearScorer([1.0, -1.0], [0.0, 0.0], feature_names=["score", "b"])
DOCUMENTS = rw.Documents([[1, 0], [2, 5], [3, 1]], ["q", "r", "q"], feature_names=["score", "b"])


def test_a_frame_of_scores():
    frame = rw.scores_frame(MODEL, DOCUMENTS)
    assert isinstance(frame, pd.DataFrame)
    assert frame.to_dict("list") == {
        "qid": ["q", "r", "q"],
        "docid": ["doc1", "doc1", "doc2"],
        "score": [1, -3, 2],
        "rank": [2, 1, 1],
    }


def test_ids_and_labels_travel():
    judged = rw.RankingData(DOCUMENTS.X, [0, 1, 2], DOCUMENTS.qid, document_ids=["x", "", "z"])
    frame = rw.scores_frame(MODEL, judged)
    assert frame["docid"].tolist() == ["x", "doc1", "z"]
    assert frame["label"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(("library", "kind"), [("polars", pl.DataFrame), ("pyarrow", pa.Table)])
def test_other_libraries(library, kind):
    frame = rw.scores_frame(MODEL, DOCUMENTS, library=library)
    assert isinstance(frame, kind)
    assert list(frame["score"].to_pylist() if library == "pyarrow" else frame["score"]) == [1, -3, 2]


def test_contributions_sum_to_the_score():
    frame = rw.scores_frame(MODEL, DOCUMENTS, contributions=True)
    parts = ["contribution_score", "contribution_b", "base_score"]
    assert list(frame.columns) == ["qid", "docid", "score", "rank", *parts]
    assert frame[parts].sum(axis=1).tolist() == frame["score"].tolist()
    nameless = rw.scores_frame(LinearScorer([1.0], [0.0]), rw.Documents([[1]], [1]), contributions=True)
    assert list(nameless.columns)[-2:] == ["contribution_1", "base_score"]


def test_rankers_other_models_and_residual_models():
    class Other:
        def predict(self, X):
            return X[:, 0]

    assert rw.scores_frame(Other(), DOCUMENTS)["score"].tolist() == [1, 2, 3]
    residual = ResidualModel(MODEL.bare())
    assert rw.scores_frame(residual, DOCUMENTS, init_score=[1, 1, 1])["score"].tolist() == [2, -2, 3]
    with pytest.raises(InputError, match="give those scores as init_score"):
        rw.scores_frame(residual, DOCUMENTS)
    with pytest.raises(InputError, match="needs no init_score"):
        rw.scores_frame(MODEL, DOCUMENTS, init_score=[1, 1, 1])
    with pytest.raises(InputError, match="contributions of a Other are not known"):
        rw.scores_frame(Other(), DOCUMENTS, contributions=True)


def test_mistakes(monkeypatch):
    with pytest.raises(InputError, match=r"library must be pandas, .*, ibis, not 'dask'"):
        rw.scores_frame(MODEL, DOCUMENTS, library="dask")
    with pytest.raises(InputError, match=r"takes Documents, not ndarray: see from_pandas\."):
        rw.scores_frame(MODEL, np.zeros((2, 2)))
    monkeypatch.setitem(sys.modules, "pandas", None)  # as if it were not installed
    with pytest.raises(MissingPackageError, match=r"needs pandas: pip install 'rankwright\[pandas\]'"):
        rw.scores_frame(MODEL, DOCUMENTS)

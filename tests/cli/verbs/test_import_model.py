"""`rankwright import`."""

import numpy as np
import pytest

import rankwright as rw

ADARANK = "## AdaRank\n## Iteration = 5\n1:0.5 3:-2.0\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ranker.txt"
    path.write_text(ADARANK)
    return path


def test_a_model_is_imported(run, file, tmp_path):
    code, out, err = run("import", file, "--model", "m.rw", "--n-features", 4)
    assert (code, out, err) == (0, "RankLib AdaRank model: 4 features\n", "wrote m.rw\n")
    np.testing.assert_array_equal(rw.load("m.rw").predict([[1.0, 9.0, 2.0, 9.0]]), [-3.5])
    facts = run("import", file, "--model", "m.rw", "--json").json
    assert facts == {"source": "RankLib AdaRank", "kind": "linear", "features": 3, "trees": 0, "model": "m.rw"}


def test_other_tools_models_can_be_used_directly(run, file, tmp_path):
    (tmp_path / "data.txt").write_text("1 qid:1 1:1 2:0 3:0\n0 qid:1 1:0 2:0 3:1\n")
    assert run("predict", file, "--data", "data.txt").out == "0.5\n-2.0\n"
    assert run("info", file, "--json").json["ranker"] == "RankLib AdaRank"
    assert run("evaluate", file, "--data", "data.txt", "--metrics", "ndcg", "--json").code == 0


def test_a_model_of_catboosts_binary_format_is_converted(run, tmp_path, monkeypatch):
    catboost = pytest.importorskip("catboost")
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    options = {"iterations": 5, "verbose": False, "allow_writing_files": False, "thread_count": 1}
    model = catboost.CatBoost(options).fit(X, X[:, 0])
    model.save_model("ranker.cbm")
    assert run("import", "ranker.cbm", "--model", "m.rw").out == "CatBoost model: 5 trees, 3 features\n"
    np.testing.assert_allclose(rw.load("m.rw").predict(X), model.predict(X), rtol=1e-12)


def test_mistakes(refuse, file):
    assert refuse("import", "none.txt", "--model", "m.rw") == "There is no file none.txt."
    assert refuse("import", file, "--model", file) == f"{file} is an input of this command; write to another file."
    assert "it uses feature 3, and there are only 2" in refuse("import", file, "--model", "m", "--n-features", 2)

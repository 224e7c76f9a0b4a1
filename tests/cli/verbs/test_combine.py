from __future__ import annotations

import sys

import numpy as np
import pytest

from rankwright.data.readers.letor import read_letor
from rankwright.metrics import AP, NDCG
from rankwright.models import Combination, FeatureScorer, LinearScorer, load, save


@pytest.fixture
def models(folder, tmp_path):
    """The model of the first fold, and the features alone."""
    paths = [folder / "model.rw"]
    for feature in range(2):
        paths.append(tmp_path / f"feature{feature}.rw")
        save(FeatureScorer(feature, n_features=6, missing=0.0), paths[-1])
    return paths


def combine(models, fold, model, *more):
    return ("combine", *models, "--data", fold / "vali.txt", "--model", model, *more)


def test_combine(run, models, fold, tmp_path):
    code, out, err = run(*combine(models[:2], fold, tmp_path / "mix.rw"))
    assert code == 0
    head, *lines, last = out.splitlines()
    assert head.split() == ["model", "weight", "ndcg@10", "alone"]
    assert [line.split()[0] for line in lines] == [str(path) for path in models[:2]]
    judged, mix = read_letor(fold / "vali.txt"), load(tmp_path / "mix.rw")
    value = NDCG(k=10)(judged.y, mix.predict(judged), judged.qid)
    assert last == f"ndcg@10 of the combination: {value:.4f}"
    assert all(float(line.split()[-1]) <= value + 5e-5 for line in lines)
    assert err == f"96 documents of 12 queries, 6 features; wrote {tmp_path / 'mix.rw'}\n"


def test_combine_for_machines(run, models, fold, tmp_path):
    found = run(*combine(models[1:], fold, tmp_path / "mix.rw", "--json", "--metric", "map", "--form", "sum")).json
    judged, mix = read_letor(fold / "vali.txt"), load(tmp_path / "mix.rw")
    assert found["metric"] == "map"
    assert found["value"] == AP()(judged.y, mix.predict(judged), judged.qid)
    assert [one["weight"] for one in found["models"]] == [1.0, found["alpha"]]
    assert [one["model"] for one in found["models"]] == [str(path) for path in models[1:]]
    assert (found["documents"], found["queries"], found["constant"]) == (96, 12, False)
    assert found["model"] == str(tmp_path / "mix.rw")
    assert found["steps"] > 1


def test_three_models(run, models, fold, tmp_path):
    found = run(*combine(models, fold, tmp_path / "mix.rw", "--json")).json
    assert found["alpha"] is None
    assert sum(one["weight"] for one in found["models"]) == pytest.approx(1.0)
    assert found["value"] >= max(one["alone"] for one in found["models"])
    assert isinstance(load(tmp_path / "mix.rw"), Combination)


def test_negative_weights(run, models, fold, tmp_path):
    words = ("--form", "sum", "--low", "-inf", "--json")
    assert run(*combine(models[:2], fold, tmp_path / "mix.rw", *words)).json["alpha"] != 0


@pytest.mark.parametrize(
    ("name", "start"), [("curve.svg", b"<svg "), ("curve.png", b"\x89PNG"), ("curve.json", b"{")]
)
def test_a_picture(run, models, fold, tmp_path, name, start):
    code, _, err = run(*combine(models[:2], fold, tmp_path / "mix.rw", "--plot", tmp_path / name))
    assert code == 0
    assert err.endswith(f"wrote {tmp_path / 'mix.rw'} and {tmp_path / name}\n")
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_picture_without_the_packages_for_it(refuse, models, fold, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    words = combine(models[:2], fold, tmp_path / "mix.rw", "--plot", tmp_path / "curve.svg")
    assert "run pip install 'rankwright[report]'" in refuse(*words)
    assert not (tmp_path / "mix.rw").exists()


def test_models_that_rank_alike(run, models, fold, tmp_path):
    save(LinearScorer(2.0 * np.eye(6)[0], np.zeros(6)), tmp_path / "twice.rw")
    words = combine([models[1], tmp_path / "twice.rw"], fold, tmp_path / "mix.rw")
    code, out, err = run(*words)
    assert code == 0
    assert "for every alpha, so these data cannot choose the weights" in out
    assert err.count("\n") == 1
    found = run(*words, "--json").json
    assert (found["alpha"], found["constant"]) == (0.0, True)


def test_mistakes(refuse, models, fold, tmp_path):
    mix = tmp_path / "mix.rw"
    assert refuse(*combine(models[:1], fold, mix)) == "combine takes two or more models."
    assert refuse(*combine(models, fold, mix, "--plot", tmp_path / "c.svg")) == (
        "--plot needs exactly two models, not 3."
    )
    assert "is an input of this command" in refuse(*combine(models[:2], fold, models[1]))
    both = tmp_path / "mix.svg"
    assert "--plot and --model both name" in refuse(*combine(models[:2], fold, both, "--plot", both))
    assert "A chart is saved as .svg, .png, .html or .json, not as 'c.pdf'." in refuse(
        *combine(models[:2], fold, mix, "--plot", tmp_path / "c.pdf")
    )
    assert "form must be 'convex' or 'sum', not 'mean'." in refuse(
        *combine(models[:2], fold, mix, "--form", "mean")
    )
    assert "--low must be a number below --high" in refuse(*combine(models[:2], fold, mix, "--low", "1"))
    assert "ndgc" in refuse(*combine(models[:2], fold, mix, "--metric", "ndgc@10"))
    assert "There is no file" in refuse(*combine([models[0], tmp_path / "none.rw"], fold, mix))
    save(FeatureScorer(0, n_features=9, missing=0.0), tmp_path / "wide.rw")
    assert "6 features, the model was trained on 9" in refuse(
        *combine([models[0], tmp_path / "wide.rw"], fold, mix)
    )
    assert not mix.exists()

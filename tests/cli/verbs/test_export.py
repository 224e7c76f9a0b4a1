"""`rankwright export`."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.verbs.export import TARGETS
from rankwright.data.categories import Category
from rankwright.interop.exporters import export as exporting
from rankwright.models import LinearScorer


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rw.save(LinearScorer([0.5, -2.0], [0.0, 0.0], 1.0).described(feature_names=["a", "b"]), "model.rw")
    (tmp_path / "rows.csv").write_text("qid,docid,label,a,b\nq,d1,1,1,0.5\nq,d2,0,,0\n")
    return "model.rw"


def test_a_model_is_written_with_a_sheet_to_compare(run, model):
    code, out, err = run("export", model, "--to", "solr", "--out", "solr.json", "--check", "rows.csv")
    assert code == 0, err
    assert out == "Scores are lower by the intercept, 1.0; the order is the same.\n"
    assert "Wrote solr.json and solr.json.check.csv: compare its scores with the scores of a query with rq" in err
    with Path("solr.json.check.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score"] for row in rows] == ["0.5", "1.0"]
    assert [row["a"] for row in rows] == ["1.0", "nan"]


def test_facts_as_json(run, model):
    facts = run(
        "export", model, "--to", "elasticsearch-ltr", "--out", "es.json", "--feature-names", "x, y", "--json"
    ).json
    assert facts["file"] == "es.json"
    assert facts["check"] is None
    assert '\\"x\\": 0.5' in Path("es.json").read_text()


def test_levels_of_categories_are_shown_and_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    brands = Category("brand", tuple(f"b{number}" for number in range(12)), one_hot=False)
    colours = Category("colour", ("red", "blue"), one_hot=True)
    linear = LinearScorer(np.ones(4), np.zeros(4))
    names = ["price", "colour=red", "colour=blue", "brand"]
    rw.save(linear.described(feature_names=names, categories=[colours, brands]), "model.rw")
    lines = run("info", "model.rw").out.splitlines()
    assert "categories  colour  one-hot: colour=red, colour=blue" in lines
    assert (
        "            brand   codes: b0 = 0, b1 = 1, b2 = 2, b3 = 3, b4 = 4, b5 = 5, b6 = 6, b7 = 7 and 4 more"
        in lines
    )
    shown = run("info", "model.rw", "--json").json["categories"]
    assert shown["colour"] == {
        "otherwise": {"colour=red": 0, "colour=blue": 0},
        "levels": {"red": {"colour=red": 1}, "blue": {"colour=blue": 1}},
    }
    assert shown["brand"]["otherwise"] == {"brand": None}
    assert shown["brand"]["levels"]["b11"] == {"brand": 11}
    facts = run("export", "model.rw", "--to", "ranklib", "--out", "m.txt", "--json").json
    assert facts["categories"] == "m.txt.categories.json"
    assert json.loads(Path("m.txt.categories.json").read_text()) == {"features": names, "columns": shown}


def test_the_formats_of_the_help_are_those_of_the_library():
    assert list(exporting.TARGETS) == list(TARGETS)


def test_mistakes(refuse, model):
    words = ("export", model, "--out", "out.txt", "--to")
    assert refuse(*words, "pmml") == f"--to must be one of {', '.join(TARGETS)}, not 'pmml'."
    assert refuse(*words, "lightgbm") == "The model has weights of features, and LightGBM holds only trees."
    assert "give --engine-version (" in refuse(*words, "opensearch-ltr")
    assert "not known" in refuse(*words, "opensearch-ltr", "--engine-version", "1.3")
    Path("model.categories.json").write_bytes(Path(model).read_bytes())
    assert refuse("export", "model.categories.json", "--to", "c", "--out", "model") == (
        "model.categories.json is an input of this command; write to another file."
    )
    assert refuse("export", model, "--to", "c", "--out", model) == (
        "model.rw is an input of this command; write to another file."
    )

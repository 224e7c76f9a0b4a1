"""`rankwright export`."""

import csv
from pathlib import Path

import pytest

import rankwright as rw
from rankwright.cli.verbs.export import TARGETS
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


def test_the_formats_of_the_help_are_those_of_the_library():
    assert list(exporting.TARGETS) == list(TARGETS)


def test_mistakes(refuse, model):
    words = ("export", model, "--out", "out.txt", "--to")
    assert refuse(*words, "pmml") == f"--to must be one of {', '.join(TARGETS)}, not 'pmml'."
    assert refuse(*words, "lightgbm") == "The model has weights of features, and LightGBM holds only trees."
    assert "give --engine-version (" in refuse(*words, "opensearch-ltr")
    assert "not known" in refuse(*words, "opensearch-ltr", "--engine-version", "1.3")
    assert refuse("export", model, "--to", "c", "--out", model) == (
        "model.rw is an input of this command; write to another file."
    )

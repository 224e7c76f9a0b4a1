"""Systems that `evaluate` takes: how each kind of file is recognised, scored and compared."""

from __future__ import annotations

import gzip
import json
import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.wording import shown_p_value
from rankwright.cli.options.system_files import RunFile, ScoreFile, open_system
from rankwright.data.dataset import Documents
from rankwright.data.readers.letor import read_letor
from rankwright.data.readers.trec import Run, write_run
from rankwright.models import FeatureScorer, Scorer, save


@pytest.fixture
def judged_file(fold):
    return fold / "test.txt"


@pytest.fixture
def feature(tmp_path):
    """A model that ranks by one feature."""
    path = tmp_path / "feature.rw"
    save(FeatureScorer(0, 1, n_features=6, missing=0.0), path)
    return path


def means(found, system):
    return found["systems"][str(system)]


# Friction 3: `evaluate A B` shows difference, interval and p.


def test_several_systems_are_compared_with_the_first(run, judged_file, model, feature):
    code, out, _ = run("evaluate", model, feature, "--data", judged_file, "--metrics", "ndcg@10,map")
    assert code == 0
    head, *rows = out.partition(f"Paired tests against {model}, ")[2].splitlines()[2:]
    assert head.split() == ["system", "metric", "difference", "p", "better", "worse"]
    assert [row.split()[1] for row in rows] == ["ndcg@10", "map"]
    judged = read_letor(judged_file)
    report = rw.evaluate({"a": rw.load(model), "b": rw.load(feature)}, judged, metrics=["ndcg@10"])
    expected = report.compare("b", "a", "ndcg@10")
    low, high = expected.interval
    for cell in (
        f"{expected.difference:+.4f}",
        f"({low:+.4f} to {high:+.4f})",
        f" {shown_p_value(expected.p_value)} ",
    ):
        assert cell in rows[0]


def test_comparisons_for_machines(run, judged_file, model, feature):
    found = run("evaluate", model, feature, "--data", judged_file, "--json").json
    assert [(one["system"], one["baseline"], one["metric"]) for one in found["comparisons"]] == [
        (str(feature), str(model), "ndcg@10"),
        (str(feature), str(model), "map"),
    ]
    one = found["comparisons"][0]
    assert one["difference"] == pytest.approx(
        means(found, feature)["ndcg@10"] - means(found, model)["ndcg@10"], abs=1e-12
    )
    assert one["interval"][0] <= one["difference"] <= one["interval"][1]
    assert one["better"] + one["worse"] + one["equal"] == 12
    assert 0 < one["p_value"] <= 1


def test_one_system_is_compared_with_nothing(run, judged_file, model):
    words = ("evaluate", model, "--data", judged_file)
    assert "against" not in run(*words).out
    assert "comparisons" not in run(*words, "--json").json


def test_a_metric_without_values_is_not_compared(run, tmp_path, model, feature):
    (tmp_path / "none.txt").write_text("0 qid:1 6:1\n0 qid:1 6:2\n")
    words = ("evaluate", model, feature, "--data", tmp_path / "none.txt", "--metrics", "map(empty=none),p@1")
    found = run(*words, "--json").json
    assert [one["metric"] for one in found["comparisons"]] == ["p@1"]


# Friction 12: score files, TREC runs and other tools' models.


@pytest.mark.parametrize("name", ["scores.txt", "scores.txt.gz"])
def test_a_score_file_is_a_system(run, judged_file, model, tmp_path, name):
    text = run("predict", model, "--data", judged_file).out
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    found = run("evaluate", model, tmp_path / name, "--data", judged_file, "--json").json
    assert means(found, model) == means(found, tmp_path / name)


def test_standard_input_is_a_system(run, refuse, judged_file, model, monkeypatch):
    text = run("predict", model, "--data", judged_file).out
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    found = run("evaluate", model, "-", "--data", judged_file, "--json").json
    assert means(found, model) == means(found, "-")
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"x\n")))
    assert refuse("evaluate", "-", "--data", judged_file).startswith("standard input is no system; ")
    assert refuse("evaluate", "-", "--data", "-") == "Standard input can be a system or the data, not both."


def test_a_run_is_a_system(run, judged_file, model, tmp_path):
    run("rank", model, "--data", judged_file, "--out", tmp_path / "run.txt")
    _, out, err = run("evaluate", model, tmp_path / "run.txt", "--data", judged_file, "--json")
    found = json.loads(out)
    assert means(found, model) == means(found, tmp_path / "run.txt")
    assert err == ""


def three_documents(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 qid:7 1:1 #docid = a\n1 qid:7 1:2 #docid = b\n2 qid:7 1:3 #docid = c\n")
    return path


def test_documents_that_only_the_run_or_only_the_data_have_are_counted(run, tmp_path):
    data = three_documents(tmp_path)
    (tmp_path / "run.txt").write_text("7 Q0 x 1 9 t\n7 Q0 b 2 8 t\n7 Q0 c 3 7 t\n8 Q0 a 1 1 t\n")
    _, out, err = run("evaluate", tmp_path / "run.txt", "--data", data, "--metrics", "ndcg", "--json")
    assert "run.txt: 1 query without judgements, left out\n" in err
    assert "run.txt: 2 documents retrieved but not judged, irrelevant\n" in err
    assert "run.txt: 1 judged document not retrieved, below the last rank\n" in err
    expected = (1 / np.log2(3) + 3 / np.log2(4)) / (3 + 1 / np.log2(3))  # x, b, c; a is irrelevant anyway
    assert json.loads(out)["systems"][str(tmp_path / "run.txt")]["ndcg"] == pytest.approx(expected)


def test_a_run_of_other_documents_is_refused(refuse, tmp_path):
    data = three_documents(tmp_path)
    (tmp_path / "run.txt").write_text("7 Q0 D1 1 9 t\n")
    assert refuse("evaluate", tmp_path / "run.txt", "--data", data) == (
        f"{tmp_path / 'run.txt'} retrieves no judged document: its ids are like 'D1' in query '7', "
        "those of the data like 'a' in query '7'."
    )


def test_a_run_is_matched_by_query_and_document_in_any_order(run, tmp_path):
    (tmp_path / "data.txt").write_text(
        "1 qid:2 1:0 #docid = a\n0 qid:1 1:0 #docid = a\n1 qid:1 1:0 #docid = b\n0 qid:2 1:0 #docid = b\n"
    )
    write_run(Run.of([1, 1, 2, 2], ["b", "a", "a", "b"], [2.0, 1.0, 3.0, 4.0]), tmp_path / "run.txt")
    found = run(
        "evaluate",
        tmp_path / "run.txt",
        "--data",
        tmp_path / "data.txt",
        "--metrics",
        "p@1",
        "--json",
        "--per-query",
    ).json
    assert means(found, tmp_path / "run.txt") == {"p@1": 0.5}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "1\n2\n",
            "{} has 2 scores, the data have 3 documents; a score file has one score per document, in their order.",
        ),
        ("1\nx\n3\n", "{}, line 2: 'x' is not a score."),
        ("1\nnan\n3\n", "{}, line 2: 'nan' is not a score."),
    ],
)
def test_mistakes_in_a_score_file(refuse, tmp_path, text, sentence):
    path = tmp_path / "scores.txt"
    path.write_text(text)
    assert refuse("evaluate", path, "--data", three_documents(tmp_path)) == sentence.format(path)


@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv.gz", "scores.parquet"])
def test_a_table_that_predict_wrote_is_a_system(run, judged_file, model, tmp_path, name):
    path = tmp_path / name
    assert run("predict", model, "--data", judged_file, "--out", path).code == 0
    found = run("evaluate", path, model, "--data", judged_file, "--json").json
    assert means(found, path) == means(found, model)


def test_a_table_of_scores_is_matched_by_ids(run, tmp_path):
    table, scores = tmp_path / "judged.csv", tmp_path / "scores.csv"
    table.write_text("label,qid,sku,bm25\n1,1,a,0.5\n0,1,b,0.2\n")
    scores.write_text("docid;score;qid\nb;2;1\na;1;1\n")
    found = run("evaluate", scores, "--data", table, "--docid", "sku", "--metrics", "ndcg@1", "--json").json
    assert means(found, scores) == {"ndcg@1": 0.0}
    code, _, err = run("evaluate", scores, "--data", table, "--drop", "sku")
    assert code == 2
    assert "those of the data like 'doc1' in query '1'; --docid names the column of document ids." in err
    scores.write_text("docid,score,qid\nb,,1\na,1,1\n")
    code, _, err = run("evaluate", scores, "--data", table, "--docid", "sku")
    assert code == 2
    assert f"{scores}, line 2: no value in column 'score'." in err


@pytest.mark.parametrize(
    ("content", "start"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"qid,label\n1,2\n", "is no system"),
        (b"\xff\x00", "is no system"),
    ],
)
def test_a_file_of_another_kind_is_refused(refuse, judged_file, tmp_path, content, start):
    path = tmp_path / "other"
    path.write_bytes(content)
    assert refuse("evaluate", path, "--data", judged_file) == (
        f"{path} {start}; systems are model files of rankwright, LightGBM (text), XGBoost (JSON, UBJSON), "
        "CatBoost (.cbm, JSON) and RankLib, files with one score per line, tables with the columns "
        "qid, docid, score, and TREC runs."
    )


def test_kinds_are_recognised_by_content_not_by_name(tmp_path, model):
    for name, content, kind in [
        ("scores.rw", "\ufeff\n0.5\n", ScoreFile),
        ("run.json", "1 Q0 d 1 2.5 tag\n", RunFile),
        ("model.txt", model.read_bytes(), Scorer),
    ]:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert isinstance(open_system(tmp_path / name), kind)


# Other libraries' models. The libraries are not needed for the rest, so each test asks for its own.


def learned(library, judged, folder):
    """Return the file of a small model of a library, and the library's own scores."""
    package = pytest.importorskip(library)
    sizes = judged.groups.sizes
    if library == "lightgbm":
        data = package.Dataset(judged.X, judged.y, group=sizes, params={"verbose": -1, "min_data_in_bin": 1})
        options = {"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 2, "num_threads": 1}
        model = package.train(options, data, 5)
        model.save_model(folder / "model.any")
        return folder / "model.any", model.predict(judged.X)
    if library == "catboost":
        model = package.CatBoost(
            {"iterations": 5, "verbose": False, "allow_writing_files": False, "thread_count": 1}
        )
        model.fit(judged.X, judged.y)
        model.save_model(str(folder / "model.any"))
        return folder / "model.any", model.predict(judged.X)
    data = package.DMatrix(judged.X, judged.y, group=sizes)
    model = package.train({"objective": "rank:ndcg", "nthread": 1}, data, 5)
    for suffix in ("json", "ubj"):
        model.save_model(folder / f"model.{suffix}")
    return folder / "model.ubj", model.predict(data)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_a_model_of_another_library_is_a_system(run, refuse, judged_file, tmp_path, library):
    judged = read_letor(judged_file)
    path, scores = learned(library, judged, tmp_path)
    np.testing.assert_allclose(open_system(path).scores(judged, 1), scores, rtol=1e-6)
    found = run("evaluate", path, "--data", judged_file, "--json").json
    expected = rw.evaluate({"them": np.asarray(scores)}, judged).to_dict()["systems"]["them"]
    assert means(found, path) == pytest.approx(expected)
    (tmp_path / "few.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    assert refuse("evaluate", path, "--data", tmp_path / "few.txt") == (
        f"{path} cannot score the data: the model was trained on 6 features, the data have 1."
    )
    damaged = tmp_path / "damaged"
    damaged.write_bytes(path.read_bytes()[:60])
    assert "cannot be read as a" in refuse("evaluate", damaged, "--data", judged_file)


def test_a_model_of_another_library_with_other_names_is_refused(run, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    table = tmp_path / "judged.csv"
    rows = [f"{row % 3},{row // 6},{row % 5},{row % 7}\n" for row in range(60)]
    table.write_text("label,qid,bm25,age\n" + "".join(rows))
    judged = rw.read_csv(table)
    data = lightgbm.Dataset(judged.X, judged.y, group=judged.groups.sizes, feature_name=["bm25", "years"])
    path = tmp_path / "model.txt"
    lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_threads": 1}, data, 2).save_model(path)
    code, _, err = run("evaluate", path, "--data", table)
    assert code == 2
    assert f"{path} cannot score the data: the model was trained with the feature 'years', which the data" in err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_json_and_ubjson_are_the_same_xgboost_model(judged_file, tmp_path):
    judged = read_letor(judged_file)
    learned("xgboost", judged, tmp_path)
    one, other = (open_system(tmp_path / name).scores(judged, None) for name in ("model.json", "model.ubj"))
    np.testing.assert_array_equal(one, other)


@pytest.mark.slow
def test_features_of_another_library_are_matched_by_name(judged_file, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    judged = read_letor(judged_file)
    names = list("abcdef")
    data = lightgbm.Dataset(judged.X, judged.y, feature_name=names, params={"verbose": -1, "min_data_in_bin": 1})
    model = lightgbm.train({"verbose": -1, "min_data_in_leaf": 2}, data, 5)
    model.save_model(tmp_path / "model.txt")
    order = [3, 1, 0, 5, 4, 2]
    shuffled = Documents(judged.X[:, order], judged.qid, feature_names=[names[one] for one in order])
    scores = open_system(tmp_path / "model.txt").scores(shuffled, None)
    np.testing.assert_array_equal(scores, model.predict(judged.X))


@pytest.mark.parametrize(
    ("content", "library", "package"),
    [
        (b"tree\nversion=v4\n", "LightGBM", "lightgbm"),
        (b'{"learner":{}}', "XGBoost", "xgboost"),
        (b"{L\x00\x00\x00\x00\x00\x00\x00\x07learner{", "XGBoost", "xgboost"),
        (b"CBM1\x00", "CatBoost", "catboost"),
    ],
)
def test_a_library_that_is_not_installed_is_named(
    refuse, judged_file, tmp_path, monkeypatch, content, library, package
):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / "model"
    path.write_bytes(content)
    assert refuse("evaluate", path, "--data", judged_file) == (
        f"{path} is a {library} model; to read it, run pip install {package}."
    )


def test_rounds_are_those_of_models_of_rankwright(refuse, judged_file, tmp_path):
    (tmp_path / "scores.txt").write_text("1\n" * 96)
    assert refuse("evaluate", tmp_path / "scores.txt", "--data", judged_file, "--rounds", 2) == (
        f"{tmp_path / 'scores.txt'} is neither a model of rankwright nor a fitted ranker, so it cannot be cut to "
        "fewer rounds."
    )


def test_systems_have_names_in_every_verb(run, refuse, fold, judged_file, model, feature, tmp_path):
    named = (f"old={model}", f"new={feature}")
    assert list(run("evaluate", *named, "--data", judged_file, "--json").json["systems"]) == ["old", "new"]
    compared = run("compare", *named, "--data", judged_file, "--baseline", "old", "--json").json
    assert (compared["baseline"], list(compared["systems"])) == ("old", ["old", "new"])
    for kind in ("errors", "pairs", "cutoffs"):
        assert " old" in run("analyse", kind, *named, "--data", judged_file).out
    trees = tmp_path / "a=b.rw"
    rw.save(rw.MART(rounds=2, max_leaves=2, min_documents=1).fit(read_letor(judged_file)), trees)
    assert "both" in run("analyse", "rounds", f"both={trees}", "--train", judged_file, "--test", judged_file).out
    assert "mart" in run("analyse", "speed", f"mart={trees}", "--data", judged_file).out
    assert "mine" in run("analyse", "steps", f"mine={trees}").out
    assert str(trees) in run("analyse", "steps", trees).out, "a file may have = in its name"
    assert "ada" in run("analyse", "steps", "ada=adarank", "--train", judged_file).out
    mixed = run("combine", *named, "--data", judged_file, "--model", tmp_path / "mix.rw", "--json").json
    assert [member["model"] for member in mixed["models"]] == ["old", "new"]
    words = ("evaluate", "--data", judged_file)
    assert refuse(*words, f"a={model}", f"a={feature}") == "Two systems are called a; give them different names."
    assert refuse(*words, f"a={model}", model) == f"{model} is given twice."
    assert refuse(*words, "=x") == "A system is spelled FILE or NAME=FILE, not '=x'."

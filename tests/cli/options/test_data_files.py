"""How the verbs read tables: the options for columns, what is said about them, ids, and standard input."""

import csv
import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from rankwright.models import load

OPTIONS = ("--qid", "query_id", "--label", "relevance", "--docid", "url")


def raw_table(seed=1, n_queries=15):
    """A table as shops have them: ids, texts, categories, and other names for everything."""
    rng = np.random.default_rng(seed)
    n_rows = n_queries * 8
    frame = pd.DataFrame(
        {
            "query_id": np.repeat([f"q{number}" for number in range(n_queries)], 8),
            "url": [f"http://x/{row}" for row in range(n_rows)],
            "sku_id": rng.integers(0, 10**6, n_rows),
            "title": "some words",
            "colour": rng.choice(["red", "blue", "green"], n_rows),
            "brand": rng.choice([f"b{number}" for number in range(20)], n_rows),
            "bm25_title": rng.normal(size=n_rows).round(3),
            "bm25_body": rng.normal(size=n_rows).round(3),
            "age": rng.integers(0, 9, n_rows),
        }
    )
    relevance = frame["bm25_title"] + 2 * (frame["colour"] == "red") + rng.normal(size=n_rows) / 3
    return frame.assign(relevance=np.clip(relevance.round(), 0, 3).astype(int))


def write(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.fixture
def table(tmp_path):
    return write(raw_table(), tmp_path / "train.csv")


@pytest.fixture
def named(run, table, tmp_path):
    """A model with names and categories."""
    path = tmp_path / "named.rw"
    words = ("--train", table, "--model", path, "--set", "rounds=5", "--categorical", "colour,brand", *OPTIONS)
    assert run("train", "lambdamart", *words).code == 0
    return path


def test_training_says_which_columns_it_uses(run, table, tmp_path):
    words = ("train", "lambdamart", "--train", table, "--model", tmp_path / "m.rw", "--set", "rounds=2", *OPTIONS)
    assert run(*words).err.splitlines()[0] == (
        "features: 3 columns (bm25_title, bm25_body, age); "
        "not used: sku_id (looks like an id), title (text), colour (text), brand (text)"
    )
    assert load(tmp_path / "m.rw").feature_names == ("bm25_title", "bm25_body", "age")
    run(*words, "--features", "bm25_*,age", "--drop", "*_body", "--categorical", "col*")
    assert load(tmp_path / "m.rw").feature_names[:2] == ("bm25_title", "age")
    assert [one.name for one in load(tmp_path / "m.rw").categories] == ["colour"]


def test_a_usual_name_is_suggested(refuse, table, tmp_path):
    words = ("train", "lambdamart", "--train", table, "--model", tmp_path / "m.rw")
    sentence = "There is no column 'qid'; if it is 'query_id', pass it as --qid."
    assert refuse(*words, "--label", "relevance") == f"{table}: {sentence}"


@pytest.mark.parametrize("name", ["new.csv", "new.tsv", "new.parquet"])
def test_a_model_takes_its_columns_by_name(run, named, tmp_path, name):
    frame = raw_table(2).drop(columns="relevance")
    path = write(frame[frame.columns[::-1]], tmp_path / name)
    expected = load(named).predict(frame[["colour", "brand", "bm25_title", "bm25_body", "age"]]).tolist()
    code, out, err = run("predict", named, "--data", path, "--qid", "query_id")
    assert (code, [float(line) for line in out.splitlines()]) == (0, expected)
    assert err.startswith("features: 5 columns (colour, brand, bm25_title, bm25_body, age); categorical: colour,")
    out = run("rank", named, "--data", path, "--qid", "query_id", "--docid", "url").out
    assert {line.split()[2] for line in out.splitlines()} == set(frame["url"])
    assert run("info", path, "--qid", "query_id", "--json").json["labels"] is None


def test_a_missing_column_is_named(refuse, named, tmp_path):
    path = write(raw_table(2).rename(columns={"bm25_body": "bm25_bodies"}), tmp_path / "new.csv")
    assert refuse("predict", named, "--data", path, "--qid", "query_id") == (
        f"{path}: There is no column 'bm25_body'; did you mean 'bm25_bodies'?"
    )


def test_validation_evaluation_and_combination_by_name(run, named, table, tmp_path):
    frame = raw_table(3)
    path = write(frame[frame.columns[::-1]].assign(extra=1.5), tmp_path / "other.parquet")
    model = tmp_path / "second.rw"
    words = ("--train", table, "--valid", path, "--start", named, "--model", model, "--set", "rounds=3", *OPTIONS)
    assert run("train", "lambdamart", *words).code == 0
    assert load(model).categories == load(named).categories
    found = run("evaluate", named, model, "--data", path, *OPTIONS, "--json")
    assert found.code == 0
    data = rw.from_pandas(
        frame, label="relevance", qid="query_id", features=["bm25_*", "age"], categorical=["colour", "brand"]
    )
    expected = rw.evaluate({"named": load(named)}, data).mean("named", "map")
    assert json.dumps(expected) in found.out
    mix = ("--data", path, "--model", tmp_path / "mix.rw", *OPTIONS)
    assert run("combine", named, model, *mix).code == 0
    assert load(tmp_path / "mix.rw").categories == load(named).categories


@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv", "scores.parquet", "scores.csv.gz"])
def test_scores_as_a_table(run, named, table, tmp_path, name):
    code, out, err = run("predict", named, "--data", table, "--out", tmp_path / name, *OPTIONS)
    assert (code, out) == (0, "")
    assert err.endswith(f"wrote 120 scores to {tmp_path / name}\n")
    if name.endswith(".parquet"):
        frame = pd.read_parquet(tmp_path / name)
    else:
        frame = pd.read_csv(tmp_path / name, sep="\t" if name.endswith(".tsv") else ",")
    assert list(frame.columns) == ["qid", "docid", "score", "rank", "label"]
    assert frame["docid"].tolist() == raw_table()["url"].tolist()
    assert frame["label"].tolist() == raw_table()["relevance"].tolist()
    best = frame[frame["rank"] == 1].set_index("qid")["score"]
    assert best.tolist() == frame.groupby("qid", sort=False)["score"].max().tolist()


def test_scores_of_letor_files_as_a_table(run, fold, model, tmp_path):
    out = tmp_path / "scores.csv"
    assert run("predict", model, "--data", fold / "test.txt", "--out", out).code == 0
    assert pd.read_csv(out)["label"].tolist() == rw.read_letor(fold / "test.txt").y.tolist()
    lines = (fold / "test.txt").read_text().splitlines(keepends=True)
    (tmp_path / "new.txt").write_text("".join(line.split(" ", 1)[1] for line in lines))
    assert run("predict", model, "--data", tmp_path / "new.txt", "--out", out).code == 0
    assert list(pd.read_csv(out).columns) == ["qid", "docid", "score", "rank"]
    assert run("info", tmp_path / "new.txt").out.splitlines()[-1].split() == ["labels", "none"]


def test_contributions(run, named, table, model, fold):
    words = ("predict", named, "--data", table, "--contributions", *OPTIONS)
    rows = list(csv.DictReader(io.StringIO(run(*words).out)))
    parts = [name for name in rows[0] if name.startswith("contribution_")]
    assert {"contribution_colour=red", "contribution_brand", "contribution_age"} <= set(parts)
    for row in rows:
        total = sum(float(row[name]) for name in [*parts, "base_score"])
        assert total == pytest.approx(float(row["score"]))
    columns = run("predict", model, "--data", fold / "test.txt", "--contributions", "--json").json
    assert list(columns)[-1] == "base_score"
    assert "contribution_6" in columns


def test_ids_of_a_letor_file(run, model, tmp_path):
    features = " ".join(f"{number}:{number}" for number in range(1, 7))
    (tmp_path / "all.txt").write_text(f"0 qid:1 {features} #docid = A\n1 qid:1 {features} #docid = B\n")
    _, out, err = run("rank", model, "--data", tmp_path / "all.txt")
    assert ([line.split()[2] for line in out.splitlines()], err) == (["A", "B"], "")
    (tmp_path / "some.txt").write_text(f"0 qid:1 {features} #docid = A\n1 qid:1 {features}\n")
    _, out, err = run("rank", model, "--data", tmp_path / "some.txt")
    assert [line.split()[2] for line in out.splitlines()] == ["A", "doc2"]
    assert err == "1 document without an id, named by the position within the query: doc1, doc2 ...\n"


def test_documents_without_ids_are_named_by_their_position(run, model, tmp_path):
    rows = [",".join([query, "7", *"123456"]) for query in ("b", "a", "b")]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["qid,sku," + ",".join(f"f{number}" for number in range(6)), *rows]))
    _, out, err = run("rank", model, "--data", path)
    assert [line.split()[:3:2] for line in out.splitlines()] == [["b", "doc1"], ["b", "doc2"], ["a", "doc1"]]
    assert err.endswith(
        "3 documents without an id, named by the position within the query: doc1, doc2 ...; "
        "--docid names a column of ids, perhaps sku\n"
    )


@pytest.mark.filterwarnings("always")
def test_repeated_documents_are_counted_by_info_and_refused_by_rank(run, model, tmp_path):
    features = " ".join(f"{number}:{number}" for number in range(1, 7))
    path = tmp_path / "twice.txt"
    path.write_text("".join(f"0 qid:1 {features} #docid = {name}\n" for name in "ABA"))
    warning = "The same document of the same query in rows 0 and 2 (A), counted from 0: rank and runs refuse them."
    code, out, err = run("info", path)
    assert (code, re.search(r"repeated documents +1\n", out) is not None, err) == (
        0,
        True,
        f"rankwright: {warning}\n",
    )
    assert run("info", path, "--json").json["repeated_documents"] == 1
    code, _, err = run("rank", model, "--data", path)
    assert (code, warning in err, "Document 'A' occurs twice in query '1'." in err) == (2, True, True)


def test_a_delimiter_by_name(run, refuse, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("qid;label;x;day\n1;0;0.5;1970-01-03\n1;1;0.2;\n")
    for name in ("semicolon", ";"):
        assert run("info", path, "--delimiter", name, "--drop", "day", "--json").json["features"] == 1
    found = run("info", path, "--delimiter", "semicolon", "--dates", "day", "--json").json
    assert found["columns"] == {"label": "label", "qid": "qid", "x": "feature", "day": "date"}
    assert "--delimiter must be comma, semicolon or tab, not '|'." in refuse("info", path, "--delimiter", "|")
    assert "--delimiter is for tables only" in refuse("info", tmp_path / "a.txt", "--delimiter", "tab")
    assert "--delimiter is for .csv and .tsv" in refuse("info", tmp_path / "a.parquet", "--delimiter", "tab")


def test_a_folder_and_a_pattern_of_parquet_files(run, refuse, tmp_path):
    for number in (1, 2):
        columns = {"qid": [number] * 2, "label": [0, 1], "x": [0.5, 0.2], "day": pd.Timestamp("2026-01-01")}
        (tmp_path / "parts" / f"part={number}").mkdir(parents=True)
        pd.DataFrame(columns).to_parquet(tmp_path / "parts" / f"part={number}" / "a.parquet")
    for path in (tmp_path / "parts", tmp_path / "parts" / "*" / "*.parquet"):
        found = run("info", path, "--drop", "day", "--json").json
        assert (found["queries"], found["columns"]["part"]) == (2, "feature")
        options = ("--folds", "2", "--features", "x", "--set", "rounds=1")
        assert run("crossval", "adarank", "--data", path, *options).code == 0
    mistake = refuse("info", tmp_path / "parts", "--features", "day")
    assert "Column 'day' does not hold numbers but dates; name it in --dates." in mistake


class Piped:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_standard_input(run, named, table, model, fold, monkeypatch, tmp_path):
    def piped(content, *words):
        monkeypatch.setattr(sys, "stdin", Piped(content))
        return run(*words)

    text = (fold / "test.txt").read_bytes()
    assert (
        piped(text, "predict", model, "--data", "-").out == run("predict", model, "--data", fold / "test.txt").out
    )
    expected = run("predict", named, "--data", table, *OPTIONS).out
    words = ("predict", named, "--data", "-", *OPTIONS, "--format")
    assert piped(table.read_bytes(), *words, "csv", "--out", "-").out == expected
    parquet = write(raw_table(), tmp_path / "t.parquet")
    assert piped(parquet.read_bytes(), *words, "parquet").out == expected
    assert "queries  " in piped(text, "info", "-").out
    assert piped(model.read_bytes(), "info", "-").out == run("info", model).out
    assert piped(text, "evaluate", model, "--data", "-").code == 0
    contributions = ("predict", model, "--data", "-", "--contributions")
    assert piped(text, *contributions).out == run(*contributions[:3], fold / "test.txt", contributions[4]).out
    assert piped(b"1 nothing", "predict", model, "--data", "-").err == (
        "rankwright: standard input, line 1: expected qid:ID, found 'nothing'; add qid:ID after each label.\n"
    )


def test_a_format_for_any_name(run, refuse, named, table, tmp_path):
    (tmp_path / "data").write_bytes(table.read_bytes())
    words = ("predict", named, "--data", tmp_path / "data", *OPTIONS)
    assert run(*words, "--format", "csv").out == run("predict", named, "--data", table, *OPTIONS).out
    assert refuse(*words, "--format", "xlsx") == "--format must be letor, csv, tsv or parquet, not 'xlsx'."


def test_options_that_would_have_no_effect(refuse, model, fold, named, table, tmp_path):
    words = ("predict", model, "--data", fold / "test.txt")
    assert refuse(*words, "--qid", "q") == "--qid is for tables only, not for LETOR files."
    assert refuse(*words, "--features", "6") == (
        "--features is for tables only, not for LETOR files; for the number of features there is --n-features."
    )
    assert refuse("predict", model, "--data", "-", "--qid", "q") == (
        "--qid is for tables only, not for LETOR files, as which standard input is read; "
        "add --format csv, tsv or parquet."
    )
    words = ("predict", named, "--data", table, *OPTIONS, "--json", "--out", tmp_path / "x.csv")
    assert "--json writes JSON" in refuse(*words)


def test_the_hint_about_features_never_advises_what_was_done(refuse, model, tmp_path):
    (tmp_path / "few.txt").write_text("1 qid:1 1:1 4:2\n0 qid:1 1:2\n")
    words = ("evaluate", model, "--data", tmp_path / "few.txt")
    start = f"{tmp_path / 'few.txt'} has"
    hint = "if the file never mentions the last ones, add --n-features 6."
    assert refuse(*words) == f"{start} 4 features, the model was trained on 6; {hint}"
    assert refuse(*words, "--n-features", 5) == f"{start} 5 features, the model was trained on 6."
    assert refuse(*words, "--n-features", 3) == f"{start} 4 features, more than the 3 expected."

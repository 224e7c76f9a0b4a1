"""Every verb at its work."""

from __future__ import annotations

import _thread
import dataclasses
import gzip
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

from html_page import read_page
from rankwright import AdaRank, LambdaMART, cross_validate
from rankwright.auto.portfolio import PRESETS
from rankwright.cards.model_card import ModelCard
from rankwright.cli.options.rankers import make_ranker
from rankwright.data.query_features import QueryFeature
from rankwright.data.readers.letor import read_letor
from rankwright.data.readers.parquet import read_parquet
from rankwright.data.readers.trec import read_run
from rankwright.data.splitting import concat
from rankwright.metrics import NDCG, parse
from rankwright.models import LinearScorer, QueryFeatureScorer, TreeEnsemble, load, save


@pytest.fixture
def patient(monkeypatch):
    """Let the demo's AutoRanker finish its fits on any machine."""
    monkeypatch.setattr("rankwright.cli.verbs.demo.TIME_LIMIT", 3600.0)


@pytest.fixture
def two_members(patient, monkeypatch):
    """Leave two members to the demo's AutoRanker, where what they are does not matter."""
    monkeypatch.setitem(PRESETS, "quick", PRESETS["quick"][:2])


@pytest.mark.slow
@pytest.mark.usefixtures("patient")
def test_demo(run, tmp_path):
    code, out, err = run("demo", "--queries", 12, "--seed", 7, "--report", tmp_path / "page.html")
    assert code == 0
    assert out.splitlines()[2].split() == ["system", "ndcg@10", "map", "mrr"]
    assert re.search(r"(beats|is ahead of) the baseline \(best feature\) by 0\.\d{4} ndcg@10", out.splitlines()[0])
    assert "page.html" in err
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "page.html").stat().st_size < 3_000_000
    saved = re.search(r"Wrote .*page\.rw: the model (.*), one file", err)[1]
    ours = [line for line in out.splitlines()[3:] if not line.startswith("LightGBM")]
    assert ours[0].startswith(f"{saved} ")
    text = read_page(tmp_path / "page.html").text
    card = ModelCard(saved, (load(tmp_path / "page.rw"),))
    assert f"The model {saved}" in text
    assert all(fact in text for fact in card.facts().values())


@pytest.mark.long
@pytest.mark.usefixtures("patient")
def test_demo_for_machines(run, tmp_path):
    found = run("demo", "--queries", 20, "--json", "--report", tmp_path / "page.html").json
    systems = ["AutoRanker", "LambdaMART", "RankSVM", "AdaRank", "LambdaMART + RankSVM", "best feature"]
    assert [name for name in found["systems"] if name != "LightGBM, defaults"] == systems
    assert found["systems"]["LambdaMART"]["ndcg@10"] > found["systems"]["best feature"]["ndcg@10"]
    assert found["report"] == str(tmp_path / "page.html")
    assert found["model"] == str(tmp_path / "page.rw")


@pytest.mark.slow
@pytest.mark.usefixtures("two_members")
def test_demo_without_the_packages_for_a_page(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    code, out, err = run("demo", "--queries", 12, "--report", tmp_path / "page.html")
    assert code == 0
    assert "LambdaMART" in out
    assert "A page needs altair; run pip install 'rankwright[report]'." in err
    assert not (tmp_path / "page.html").exists()
    assert (tmp_path / "page.rw").exists()


def test_pages_are_refused_before_any_work_without_the_packages(run, fold, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, _, err = run(*train(fold, tmp_path / "m.rw", "--report", tmp_path / "page.html"))
    assert code != 0
    assert "A page needs jinja2; run pip install 'rankwright[report]'." in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("ranker", ["adarank", "auto"])
def test_train_writes_a_page(run, fold, tmp_path, ranker):
    page = tmp_path / "page.html"
    words = ["train", ranker, "--train", fold / "train.txt", "--valid", fold / "vali.txt", "--report", page]
    words += ["--set", "portfolio=ranksvm"] if ranker == "auto" else []
    code, _, err = run(*words, "--model", tmp_path / "m.rw")
    assert code == 0
    assert f"wrote {tmp_path / 'm.rw'} and {page}" in err
    assert f"rankwright train {ranker} --train" in page.read_text()


@pytest.mark.slow
def test_crossval_writes_a_page(run, folder, tmp_path):
    page = tmp_path / "page.html"
    assert run("crossval", "ranksvm", "--data", folder, "--report", page).code == 0
    assert "Cross-validation of RankSVM" in page.read_text()
    found = run("crossval", "ranksvm", "--data", folder / "Fold1" / "train.txt", "--report", page, "--json").json
    assert found["report"] == str(page)
    assert "The data" in page.read_text()


def train(fold, model, *more):
    return ("train", "adarank", "--train", fold / "train.txt", "--model", model, "--set", "directions=both", *more)


def test_train(run, fold, tmp_path):
    code, out, err = run(*train(fold, tmp_path / "m.rw", "--valid", fold / "vali.txt"))
    assert code == 0
    assert out.startswith("ndcg: 0.")
    assert "on validation (round " in out
    assert "96 documents of 12 queries, 6 features" in err
    assert re.search(r"^round \d+ is the (middle|best)", err, re.MULTILINE)
    assert load(tmp_path / "m.rw").n_features == 6


def test_train_for_machines(run, fold, tmp_path):
    words = train(fold, tmp_path / "m.rw", "--valid", fold / "vali.txt", "--json", "--set", "metric=ndcg@5")
    found = run(*words).json
    assert (found["ranker"], found["metric"], found["model"]) == ("adarank", "ndcg@5", str(tmp_path / "m.rw"))
    assert (found["documents"], found["queries"], found["features"]) == (96, 12, 6)
    assert [one["round"] for one in found["history"]] == list(range(1, found["rounds"] + 1))
    best = found["history"][found["best_round"] - 1]
    assert (best["train"], best["validation"]) == (found["train"], found["validation"])
    assert "on validation" in found["reason"]


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("lambdamart --rounds 3 --max-leaves 4", "rounds=3 max_leaves=4"),
        ("--rounds 3 lambdamart --max_leaves=4", "rounds=3 max_leaves=4"),
        ("lambdamart --cut-lambdas --rounds 3 --coarse", "rounds=3 cut_lambdas=true coarse=true"),
        ("lambdamart --rounds 3 --cut-lambdas false", "rounds=3 cut_lambdas=false"),
        ("--rounds 3 --cut-lambdas lambdamart", "rounds=3 cut_lambdas=true"),
        ("lambdamart --set rounds=9 --rounds 3", "rounds=9 rounds=3"),
        ("adarank --rounds 3 --stop measure --set choose=measure", "rounds=3 stop=measure choose=measure"),
    ],
)
def test_parameters_of_the_ranker_are_options(run, fold, tmp_path, words, settings):
    given = ("train", *words.split(), "--train", fold / "train.txt", "--json", "--model", tmp_path / "a.rw")
    found = run(*given, "--save-config", tmp_path / "a.json")
    ranker = found.json["ranker"]
    written = [word for text in settings.split() for word in ("--set", text)]
    run("train", ranker, *written, "--train", fold / "train.txt", "--model", tmp_path / "b.rw")
    assert load(tmp_path / "a.rw").about["parameters"] == load(tmp_path / "b.rw").about["parameters"]
    assert json.loads((tmp_path / "a.json").read_text())["set"]["rounds"] == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--rounds 0", "rounds must be none or a positive integer, not '0'."),
        ("--ruonds 5", "LambdaMART has no parameter 'ruonds'; did you mean 'rounds'?"),
        ("--n-estimators 5", "LambdaMART has no parameter 'n_estimators': it is called rounds here."),
        ("--directions both", "LambdaMART has no parameter 'directions'; did you mean 'truncation'?"),
        ("--trian x", "There is no option --trian; possible options are --grid, --train, --tune."),
        ("--jsn", "There is no option --jsn; possible options are --jobs, --json, --set."),
        ("--rounds", "rounds must be none or a positive integer, not ''."),
        ("--no-such", "There is no option --no-such."),
    ],
)
def test_what_is_no_parameter_is_refused_as_set_and_options_are(refuse, fold, tmp_path, words, sentence):
    model = tmp_path / "m.rw"
    given = ("train", "lambdamart", "--train", fold / "train.txt", "--model", model, *words.split())
    assert refuse(*given).removesuffix(" See `rankwright train --help-all`.") == sentence


@pytest.mark.parametrize("verb", ["crossval", "tune", "analyse metrics"])
def test_verbs_that_name_a_ranker_take_its_parameters(run, fold, verb):
    words = (*verb.split(), "mart", "--data", fold / "train.txt", "--jobs", 1, "--json")
    words += ("--trials", 1) if verb == "tune" else ()
    plain, written = (run(*words, *more) for more in (("--rounds", 2), ("--set", "rounds=2")))
    assert (plain.code, written.code) == (0, 0), plain.err
    assert len({re.sub(r'"seconds": .*', "", each.out) for each in (plain, written)}) == 1


def test_train_and_crossval_refit_on_both_parts(run, refuse, folder, fold, tmp_path):
    words = train(fold, tmp_path / "m.rw", "--valid", fold / "vali.txt", "--refit")
    assert run(*words, "--json").json["reason"].endswith("; fitted again on both parts")
    assert load(tmp_path / "m.rw").about["queries"] == 24
    assert "--refit is for training without --tune" in refuse(*words, "--tune")
    assert "refit needs validation data" in refuse(*train(fold, tmp_path / "other.rw", "--refit"))
    crossval = ("crossval", "lambdamart", "--data", folder, "--set", "rounds=5")
    plain, again = (run(*crossval, "--json", *more).json for more in ((), ("--refit",)))
    assert plain["mean"] != again["mean"]
    assert "refit=True is for fits without tuning" in refuse(*crossval, "--refit", "--tune")


def test_train_without_validation(run, fold, tmp_path):
    assert "validation" not in run(*train(fold, tmp_path / "m.rw")).out
    assert run(*train(fold, tmp_path / "m.rw", "--json")).json["validation"] is None


@pytest.mark.parametrize("ranker", ["ranknet", "ranksvm"])
def test_train_tells_how_many_queries_were_skipped(run, tmp_path, ranker):
    (tmp_path / "data.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n1 qid:2 1:2\n2 qid:3 1:1\n")
    words = ("train", ranker, "--train", tmp_path / "data.txt", "--model", tmp_path / "m.rw")
    assert "5 documents of 3 queries, 1 feature, 2 queries skipped, " in run(*words).err
    assert run(*words, "--json").json["skipped_queries"] == 2
    assert run("info", tmp_path / "m.rw", "--json").json["skipped_queries"] == 2


def test_train_tells_which_labels_are_relevant(run, tmp_path):
    (tmp_path / "data.txt").write_text("3 qid:1 1:1\n1 qid:1 1:2\n0.5 qid:1 1:3\n")
    words = ("train", "svmmap", "--train", tmp_path / "data.txt", "--model", tmp_path / "m.rw")
    assert ", 0 queries skipped, relevant from label 1, " in run(*words).err
    assert run(*words, "--json", "--set", "threshold=2").json["relevant_from"] == 2
    assert run("info", tmp_path / "m.rw", "--json").json["relevant_from"] == 2


def test_training_that_finds_nothing_says_so(run, tmp_path):
    (tmp_path / "against.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    words = ("train", "adarank", "--train", tmp_path / "against.txt", "--model", tmp_path / "m.rw")
    code, _, err = run(*words, "--set", "metric=kendall_tau")
    assert code == 2
    assert err == "rankwright: There is nothing to learn: no feature alone has kendall_tau above 0.\n"
    assert not (tmp_path / "m.rw").exists()


def press_ctrl_c(_ranker, one):
    """Stand in for the remark after a round."""
    if one.number == 2:
        raise KeyboardInterrupt
    return ""


@pytest.mark.filterwarnings("default:Interrupted")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_interrupted_fit_keeps_its_best_round_and_exits_with_130(run, fold, tmp_path, monkeypatch, options):
    monkeypatch.setattr("rankwright.cli.output.fit_progress._remark", press_ctrl_c)
    code, out, err = run(*train(fold, tmp_path / "m.rw", *options))
    assert code == 130
    assert ('"interrupted": true' if options else "(round 2 of 2)") in out
    assert err.startswith("rankwright: Interrupted after round 2; the model is that of round 2.\n")
    assert load(tmp_path / "m.rw").about["rounds"] == 2


@pytest.mark.slow
@pytest.mark.usefixtures("two_members")
@pytest.mark.filterwarnings("default:Interrupted")
def test_an_interrupted_demo_writes_its_files_and_exits_with_130(run, tmp_path, monkeypatch):
    monkeypatch.setattr("rankwright.cli.output.fit_progress._remark", press_ctrl_c)
    code, _, _ = run("demo", "--queries", 20, "--report", tmp_path / "report.html")
    assert code == 130
    assert (tmp_path / "report.html").exists()
    assert load(tmp_path / "report.rw").about["rounds"] == 2


def test_the_same_command_gives_the_same_bytes(run, fold, tmp_path):
    for name in ("one.rw", "other.rw"):
        run(*train(fold, tmp_path / name))
    assert (tmp_path / "one.rw").read_bytes() == (tmp_path / "other.rw").read_bytes()


def test_validation_that_leaves_out_the_last_features(run, fold, tmp_path):
    (tmp_path / "vali.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    assert run(*train(fold, tmp_path / "m.rw", "--valid", tmp_path / "vali.txt")).code == 0
    words = ("--valid", tmp_path / "vali.txt", "--n-features", 9)
    assert run(*train(fold, tmp_path / "m.rw", *words)).code == 0
    assert load(tmp_path / "m.rw").n_features == 9


def test_evaluate(run, fold, model, tmp_path):
    test = read_letor(fold / "test.txt")
    mean = NDCG(k=10)(test.y, load(model).predict(test), test.qid)
    code, out, err = run("evaluate", model, "--data", fold / "test.txt", "--metrics", "ndcg@10,map")
    assert code == 0
    summary, _, head, line = out.splitlines()
    assert summary == f"The mean ndcg@10 of {model} over 12 queries is {mean:.4f}."
    assert head.split() == ["system", "ndcg@10", "map"]
    assert line.split()[:2] == [str(model), f"{mean:.4f}"]
    assert err == "12 queries.\n"


def test_evaluate_for_machines(run, fold, model):
    words = ("evaluate", model, "--data", fold / "test.txt", "--json", "--per-query", "--metrics", "ndcg@3,p@1")
    found = run(*words).json
    assert (found["convention"], found["queries"]) == ("standard", 12)
    assert set(found["empty_queries"]) == {"ndcg@3", "p@1"}
    values = found["per_query"][str(model)]["ndcg@3"]
    assert len(values) == 12
    assert np.mean(list(values.values())) == pytest.approx(found["systems"][str(model)]["ndcg@3"])


def test_evaluate_leaves_out_queries_of_one_label(run, refuse, model, fold, tmp_path):
    one_label = tmp_path / "more.txt"
    features = (fold / "test.txt").read_text().splitlines()[0].split("#")[0].split(" ", 2)[2]
    one_label.write_text((fold / "test.txt").read_text() + f"0 qid:999 {features}\n0 qid:999 {features}\n")
    everything, some = (
        run("evaluate", model, "--data", one_label, "--json", *more).json for more in ((), ("--drop-one-label",))
    )
    assert everything["queries"] - 1 >= some["queries"] >= 1
    sentence = refuse("evaluate", model, "--data", one_label, "--rounds", 1, "--queries", "shared")
    assert sentence == "--queries cannot be used with --rounds."


@pytest.mark.slow
def test_train_from_a_start_and_cut_to_rounds(run, refuse, fold, model, tmp_path):
    large, adapted, plot = (tmp_path / name for name in ("large.rw", "adapted.rw", "curve.svg"))
    options = ("--train", fold / "train.txt", "--jobs", 1, "--set", "rounds=4")
    run("train", "lambdamart", *options, "--model", large)
    found = run("train", "lambdamart", *options, "--model", adapted, "--start", large)
    assert (found.code, load(adapted).n_trees) == (0, 8)
    assert load(adapted).about["start"] == "TreeEnsemble"
    tests = ("--data", fold / "test.txt", "--metrics", "ndcg@5")
    table = run("evaluate", large, adapted, *tests, "--rounds", "4,1", "--plot", plot)
    _, _, head, *rows = table.out.splitlines()
    assert head.split() == ["system", "rounds", "ndcg@5"]
    assert [row.split()[1] for row in rows] == ["1", "4", "1", "4"]
    assert plot.read_text().startswith("<svg ")
    facts = run("evaluate", adapted, *tests, "--rounds", "4,8", "--json").json
    whole = run("evaluate", adapted, *tests, "--json").json
    assert facts["systems"][str(adapted)]["8"] == whole["systems"][str(adapted)]
    assert "rounds takes integers separated by commas, such as 50,100,200, not '1;2'" in refuse(
        "evaluate", large, *tests, "--rounds", "1;2"
    )
    assert "has 4 rounds; it cannot be truncated to 5" in refuse("evaluate", large, *tests, "--rounds", 5)
    assert "is no boosted model" in refuse("evaluate", model, *tests, "--rounds", 5)
    assert "--per-query cannot be used with --rounds" in refuse(
        "evaluate", large, *tests, "--rounds", 1, "--per-query", "--json"
    )
    (tmp_path / "narrow.txt").write_text("1 qid:1 4:1\n0 qid:1 1:1\n")
    narrow = ("--train", tmp_path / "narrow.txt", "--model", tmp_path / "x.rw", "--start", large)
    assert refuse("train", "lambdamart", *narrow).endswith(
        "has 4 features, the model was trained on 6; if the file never mentions the last ones, add --n-features 6."
    )
    assert "--plot needs --rounds" in refuse("evaluate", large, *tests, "--plot", plot)
    told = refuse("train", "adarank", *options, "--model", tmp_path / "x.rw", "--start", large)
    assert told == "AdaRank takes no start: it cannot improve on another model."


@pytest.mark.parametrize(
    ("text", "columns"), [("zscore,rank", ("zscore", "rank")), ("minmax", ("minmax",)), ("none", ()), ("", ())]
)
def test_several_values_have_commas_between(text, columns):
    ranker = make_ranker("lambdamart", [f"query_features={text}", "monotone=none"], 1)
    assert (ranker.query_features, ranker.monotone) == (columns, None)
    assert make_ranker("ranknet", ["hidden=10, 5"], 1).hidden == (10, 5)


@pytest.mark.slow
def test_a_start_that_no_round_improves_on_is_told(run, fold, tmp_path):
    large, adapted = tmp_path / "large.rw", tmp_path / "adapted.rw"
    parts = ("--train", fold / "test.txt", "--valid", fold / "test.txt")
    run("train", "lambdamart", *parts[:2], "--model", large, "--set", "rounds=300", "--jobs", 1)
    options = ("--start", large, "--model", adapted, "--set", "rounds=2", "--jobs", 1)
    found = run("train", "lambdamart", "--train", fold / "train.txt", *parts[2:], *options)
    assert found.out == "ndcg@10: none of 2 rounds was better on validation than the start\n"


def test_evaluate_says_which_queries_are_empty(run, model, tmp_path):
    (tmp_path / "test.txt").write_text("1 qid:1 6:1\n0 qid:1 6:2\n0 qid:2 6:1\n")
    err = run("evaluate", model, "--data", tmp_path / "test.txt").err
    assert err == "2 queries, 1 of them empty (all rankings are equally good).\n"
    words = (
        "evaluate",
        model,
        "--data",
        tmp_path / "test.txt",
        "--metrics",
        "map(empty=none,threshold=9)",
        "--json",
    )
    assert run(*words).json["systems"][str(model)] == {"map(empty=none,threshold=9)": None}


def test_a_model_named_like_markup_is_shown_as_it_is(run, fold, model, tmp_path, monkeypatch):
    (tmp_path / "[red]m.rw").write_bytes(model.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert "\n[red]m.rw " in run("evaluate", "[red]m.rw", "--data", fold / "test.txt").out


def test_predict(run, fold, model, tmp_path):
    scores = load(model).predict(read_letor(fold / "test.txt"))
    code, out, err = run("predict", model, "--data", fold / "test.txt")
    assert (code, err) == (0, "")
    assert [float(line) for line in out.splitlines()] == scores.tolist()
    _, nothing, err = run("predict", model, "--data", fold / "test.txt", "--out", tmp_path / "scores.txt")
    assert nothing == ""
    assert err == f"wrote 96 scores to {tmp_path / 'scores.txt'}\n"
    assert (tmp_path / "scores.txt").read_text() == out


def test_predict_as_json_names_queries_and_documents(run, fold, model, tmp_path):
    frame = pd.DataFrame(
        {"qid": ["a", "a", "b"], "docid": ["x", "y", "x"], **{name: [0.5, 1.5, 2.5] for name in "123456"}}
    )
    frame.to_csv(tmp_path / "new.csv", index=False)
    words = ("predict", model, "--data", tmp_path / "new.csv", "--features", "1,2,3,4,5,6")
    found = run(*words, "--json").json
    assert list(found) == ["qid", "docid", "score", "rank"]
    assert (found["qid"], found["docid"]) == (["a", "a", "b"], ["x", "y", "x"])
    assert found["score"] == [float(line) for line in run(*words).out.splitlines()]
    labelled = run("predict", model, "--data", fold / "test.txt", "--json").json
    assert labelled["label"] == read_letor(fold / "test.txt").y.tolist()


UNNAMED = "96 documents without an id, named by the position within the query: doc1, doc2 ...\n"


def test_rank(run, fold, model, tmp_path):
    code, out, err = run("rank", model, "--data", fold / "test.txt", "--tag", "mine")
    assert (code, err) == (0, UNNAMED)
    assert len(out.splitlines()) == 96
    assert {line.split()[-1] for line in out.splitlines()} == {"mine"}
    assert run("rank", model, "--data", fold / "test.txt", "--out", tmp_path / "run.txt").code == 0
    assert len(read_run(tmp_path / "run.txt").scores) == 96


@pytest.mark.parametrize("verb", ["predict", "rank"])
@pytest.mark.parametrize("name", ["unjudged.txt", "unjudged.csv", "judged.csv"])
def test_documents_need_no_labels(run, fold, model, tmp_path, verb, name):
    judged = read_letor(fold / "test.txt")
    expected = run(verb, model, "--data", fold / "test.txt").out
    if name == "unjudged.txt":
        lines = (fold / "test.txt").read_text().splitlines(keepends=True)
        (tmp_path / name).write_text("".join(line.split(" ", 1)[1] for line in lines))
    else:
        table = pd.DataFrame(judged.X.astype(np.float64), columns=[f"f{number}" for number in range(6)])
        table.insert(0, "qid", judged.qid)
        if name == "judged.csv":
            table.insert(0, "label", judged.y)
        table.to_csv(tmp_path / name, index=False)
    code, out, err = run(verb, model, "--data", tmp_path / name)
    columns = "" if name == "unjudged.txt" else "features: 6 columns (f0, f1, f2, f3, f4, f5)\n"
    assert (code, err) == (0, columns + (UNNAMED if verb == "rank" else ""))
    assert out == expected


def test_learning_and_measuring_need_labels(refuse, fold, model, tmp_path):
    lines = (fold / "test.txt").read_text().splitlines(keepends=True)
    (tmp_path / "unjudged.txt").write_text("".join(line.split(" ", 1)[1] for line in lines))
    assert "unjudged.txt" in refuse("evaluate", model, "--data", tmp_path / "unjudged.txt")
    words = ("adarank", "--train", tmp_path / "unjudged.txt", "--model", tmp_path / "m.rw")
    assert "unjudged.txt" in refuse("train", *words)


def test_crossval(run, folder):
    code, out, err = run("crossval", "adarank", "--data", folder, "--set", "directions=both")
    assert code == 0
    names = ["AdaRank", "Means", "fold", "Fold1", "Fold2", "Means", "metric", "ndcg@10", "map"]
    assert [line.split()[0] for line in out.splitlines() if line][:9] == names
    assert err.startswith("24 queries; ")


def test_crossval_shows_what_file_order_hides(run, tmp_path):
    (tmp_path / "Fold1").mkdir()
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / "Fold1" / name).write_text("1 qid:1 1:2\n0 qid:1 1:2\n0 qid:1 1:1\n")
    out = run("crossval", "adarank", "--data", tmp_path, "--convention", "letor3", "--metrics", "map").out
    head, line = (line.split() for line in out.splitlines() if line.startswith(("metric", "map")))
    assert head == ["metric", "mean", "over", "folds", "standard", "error", "ties", "averaged"]
    assert (line[1], line[-1]) == ("1.0000", "0.7500")


def test_crossval_for_machines(run, folder):
    words = (
        "crossval",
        "adarank",
        "--data",
        folder,
        "--json",
        "--convention",
        "letor4",
        "--metrics",
        "ndcg@5,map",
    )
    found = run(*words).json
    assert (found["ranker"], found["convention"]) == ("adarank", "letor4")
    assert [fold["fold"] for fold in found["folds"]] == ["Fold1", "Fold2"]
    for metric in ("ndcg@5", "map"):
        values = [fold["metrics"][metric] for fold in found["folds"]]
        assert found["mean"][metric] == pytest.approx(np.mean(values))
    for fold in found["folds"]:
        assert fold["rounds"] > 0
        assert "best_round" not in fold, "it is the number of rounds"
    assert found["seconds"] > 0


def test_crossval_that_tunes(run, folder):
    words = ("crossval", "adarank", "--data", folder, "--tune", "--workers", 2)
    code, out, err = run(*words)
    assert code == 0
    _, _, _, head, first, *_ = (line.split() for line in out.splitlines())
    assert head[-2:] == ["rounds", "chosen"]
    assert first[-3:-1] == ["choose", "="]
    assert "; parameters and rounds are tuned on the validation part" in err


@pytest.fixture
def one_file(fold, tmp_path):
    """All queries of a collection in one table."""
    parts = concat(*(read_letor(fold / f"{name}.txt") for name in ("train", "test")), shared_queries="separate")
    frame = pd.DataFrame(parts.X, columns=[*"abcdef"]).assign(label=parts.y, query=parts.qid)
    frame.to_parquet(tmp_path / "all.parquet")
    return tmp_path / "all.parquet"


def test_crossval_of_one_file(run, one_file):
    words = ("crossval", "lambdamart", "--data", one_file, "--qid", "query", "--set", "rounds=3")
    code, out, err = run(*words, "--folds", 3, "--repeats", 2)
    assert code == 0
    names = [line.split("  ")[0].strip() for line in out.splitlines() if "Fold" in line]
    assert names == [f"Fold{fold}, repeat {repeat}" for repeat in (1, 2) for fold in (1, 2, 3)]
    assert "24 queries, 1 of them empty (all rankings are equally good); " in err
    found = run(*words, "--folds", 3, "--json").json
    data = read_parquet(one_file, qid="query")
    expected = cross_validate(LambdaMART(rounds=3), data, folds=3).to_dict()
    for name in ("folds", "mean", "standard_error", "protocol", "chosen"):
        assert found[name] == expected[name]
    assert found["model"] is None
    other = run(*words, "--folds", 3, "--random-state", 1, "--json").json
    assert other["mean"] != found["mean"]


def test_crossval_writes_a_model_of_all_queries(run, one_file, tmp_path):
    words = ("crossval", "lambdamart", "--data", one_file, "--qid", "query", "--set", "rounds=8", "--folds", 2)
    options = ("--tune", "--grid", "max_leaves=2,4", "--validation", 0.3, "--model", tmp_path / "m.rw")
    code, _, err = run(*words, *options)
    assert code == 0
    assert "parameters and rounds are tuned on the validation part" in err
    found = run(*words, *options, "--json").json
    setting = f"max_leaves={found['chosen']['max_leaves']} rounds={found['chosen']['rounds']}"
    assert f"fitted on 192 documents of 24 queries, 6 features with {setting}; wrote {tmp_path / 'm.rw'}\n" in err
    data = read_parquet(one_file, qid="query")
    expected = LambdaMART(**found["chosen"]).fit(data)
    np.testing.assert_array_equal(load(tmp_path / "m.rw").predict(data), expected.predict(data))
    assert found["model"] == str(tmp_path / "m.rw")


def test_crossval_of_folds_writes_a_model_of_their_test_parts(run, refuse, folder, fold, tmp_path):
    sentence = refuse("crossval", "adarank", "--data", folder, "--model", tmp_path / "m.rw")
    assert "which are the test parts of all folds together: Parts 1 and 2 both have query" in sentence
    (tmp_path / "Fold1").mkdir()
    for name in ("train.txt", "vali.txt", "test.txt"):
        (tmp_path / "Fold1" / name).write_bytes((fold / name).read_bytes())
    code, _, err = run(
        "crossval", "lambdamart", "--data", tmp_path, "--set", "rounds=5", "--model", tmp_path / "m.rw"
    )
    assert code == 0
    rounds = load(tmp_path / "m.rw").about["rounds"]
    assert f"fitted on 96 documents of 12 queries, 6 features with rounds={rounds}; wrote " in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--choose", "validation"), "--choose has no effect without --tune; add --tune or leave it out."),
        (("--grid", "rounds=3"), "--grid has no effect without --tune; add --tune or leave it out."),
        (("--tune", "--grid", "max_leaves"), "--grid takes name=value,value, not 'max_leaves'."),
        (("--tune", "--grid", "leaves=3"), "LambdaMART has no parameter 'leaves'; did you mean 'max_leaves'?"),
        (("--tune", "--grid", "max_leaves=3,x"), "max_leaves must be none or an integer of at least 2, not 'x'."),
        (
            ("--tune", "--grid", "max_leaves=3", "--grid", "max_leaves=4"),
            "--grid gives values for max_leaves twice.",
        ),
    ],
)
def test_options_of_tuning_are_checked(refuse, fold, tmp_path, options, sentence):
    train = ("train", "lambdamart", "--train", fold / "train.txt", "--model", tmp_path / "m.rw")
    for words in (train, ("crossval", "lambdamart", "--data", fold / "train.txt")):
        assert refuse(*words, *options) == sentence


def test_options_of_one_file_are_refused_for_folds(refuse, folder):
    words = ("crossval", "adarank", "--data", folder)
    assert refuse(*words, "--folds", 3).startswith(f"{folder} has folds of its own; --folds, --repeats, ")
    assert "are for a file; " in refuse(*words, "--n-features", 3)
    assert refuse(*words[:-1], folder / "Fold1" / "train.txt", "--validation", 1.5) == (
        "--validation must be a number from 0 to below 1, or 'fold', not 1.5."
    )


@pytest.mark.parametrize(("with_valid", "where"), [(True, "on validation"), (False, "out of fold")])
def test_train_that_tunes(run, fold, tmp_path, with_valid, where):
    valid = ("--valid", fold / "vali.txt") if with_valid else ()
    grid = ("--grid", "query_features=none;zscore,rank", "--grid", "max_leaves=2,4")
    words = ("train", "lambdamart", "--train", fold / "train.txt", *valid, "--model", tmp_path / "m.rw")
    words += ("--set", "rounds=6", "--tune", *grid)
    code, out, _ = run(*words)
    assert code == 0
    found = run(*words, "--json").json
    assert found["protocol"] == ("validation" if with_valid else "out-of-fold")
    assert [trial["parameters"] for trial in found["trials"]] == [
        {"query_features": columns, "max_leaves": leaves}
        for columns in ([], ["zscore", "rank"])
        for leaves in (2, 4)
    ]
    best = max(found["trials"], key=lambda trial: trial["value"])
    assert (found["chosen"], found["rounds"], found["chosen_value"]) == tuple(best.values())
    columns, leaves = best["parameters"].values()
    setting = f"query_features={','.join(columns) or 'none'} max_leaves={leaves} rounds={best['rounds']}"
    assert out.splitlines()[:2] == [
        f"Chosen {where} from 4 settings: {setting}",
        f"ndcg@10: {best['value']:.4f} {where}, smoothed over rounds",
    ]
    data = read_letor(fold / "train.txt")
    expected = LambdaMART(query_features=columns, max_leaves=leaves, rounds=best["rounds"]).fit(data)
    np.testing.assert_array_equal(load(tmp_path / "m.rw").predict(data), expected.predict(data))


def test_tuning_has_no_start(refuse, fold, model, tmp_path):
    words = ("train", "lambdamart", "--train", fold / "train.txt", "--model", tmp_path / "m.rw", "--start", model)
    assert refuse(*words, "--tune") == "--tune cannot be used with --start: settings are compared without a start."


def test_a_file_that_numbers_features_from_0(run, refuse, tmp_path):
    (tmp_path / "zero.txt").write_text("1 qid:1 0:1 1:2\n0 qid:1 0:2 1:1\n")
    words = ("train", "adarank", "--train", tmp_path / "zero.txt", "--model", tmp_path / "m.rw")
    assert refuse(*words).endswith("set --zero-based.")
    assert run(*words, "--zero-based").code == 0
    assert load(tmp_path / "m.rw").n_features == 2
    (tmp_path / "t.csv").write_text("qid,label,a\n1,0,2\n1,1,3\n")
    words = ("train", "adarank", "--train", tmp_path / "t.csv", "--model", tmp_path / "m.rw")
    assert refuse(*words, "--zero-based") == "--zero-based is for LETOR files only."


@pytest.mark.slow
def test_crossval_of_a_pool_with_other_rankers(run, folder):
    small = ("--set", "leaves=3", "--set", "rounds_tried=5", "--set", "splits=2")
    words = ("crossval", "calibrated-adaboost", "--data", folder, "--json", *small)
    alone, together = (run(*words, *more).json["mean"] for more in ((), ("--set", "companions=ranksvm,adarank")))
    assert alone != together


@pytest.mark.parametrize(
    ("options", "protocol"),
    [((), "defaults"), (("--tune",), "validation"), (("--tune", "--choose", "out-of-fold"), "out-of-fold")],
)
def test_crossval_says_how_it_chose(run, folder, options, protocol):
    found = run("crossval", "adarank", "--data", folder, "--set", "directions=both", "--json", *options).json
    assert found["protocol"] == protocol
    for fold in found["folds"]:
        assert set(fold["chosen"]) == ({"choose"} if options else set())  # what is set is not tuned
        assert fold["rounds"] >= 1


def test_rankers(run):
    code, out, _ = run("rankers")
    assert code == 0
    shown = [line.split()[:2] for line in out.splitlines()]
    for words in (["adarank", "Boosted"], ["lambdamart", "Boosted"], ["listnet", "A"], ["ranknet", "A"]):
        assert words in shown
    names = [name for name, _ in shown]
    assert names == sorted(names)
    out = run("rankers", "adarank").out
    assert "--set rounds=100\n      Maximum number of rounds" in out
    assert "--set patience=none\n" in out
    assert run("rankers", "--json").json["adarank"].startswith("Boosted single features")
    for ranker in ("listnet", "adarank"):
        parameters = run("rankers", ranker, "--json").json["parameters"]
        assert all(parameter["meaning"] for parameter in parameters.values())
    assert parameters["metric"]["default"] == "ndcg"
    assert parameters["choose"]["tune"] == ["loss", "measure"]
    assert "crossval --tune tries none; zscore,rank." in run("rankers", "lambdamart").out


@pytest.mark.parametrize(
    ("ranker", "ranges"),
    [
        (
            "lambdamart",
            [
                'none, or JSON such as {"on": "validation"}',
                'none, or JSON such as {"bm25": 1}',
                "a metric such as ndcg@10",
                "none, true or false",
            ],
        ),
        ("calibrated-adaboost", ["names separated by commas, such as ranksvm,lambdamart", "true or false"]),
    ],
)
def test_rankers_spells_ranges_as_the_shell_takes_them(run, ranker, ranges):
    out = run("rankers", ranker).out
    assert all(f"Range: {one}." in out for one in ranges)


def test_info_of_a_model(run, model):
    out = run("info", model).out
    assert "kind        linear\n" in out
    found = run("info", model, "--json").json
    assert (found["kind"], found["features"], found["ranker"]) == ("linear", 6, "AdaRank")
    weights = [abs(weight) for weight in found["weights"].values()]
    assert weights == sorted(weights, reverse=True)


def test_validation_data_may_be_a_table(run, tmp_path):
    table = "label,qid,bm25,age\n" + "".join(f"{row % 3},{row // 6},{row * 7 % 5},{row}\n" for row in range(36))
    (tmp_path / "data.csv").write_text(table)
    words = ("--train", tmp_path / "data.csv", "--valid", tmp_path / "data.csv", "--model", tmp_path / "m.rw")
    assert run("train", "lambdamart", *words, "--set", "rounds=3").code == 0


def test_info_spells_parameters_as_they_are_set(run, tmp_path):
    parameters = {"calibrations": "('standard', 'ls')", "terms": "()", "exponents": "(20.0,)", "votes": None}
    parameters |= {"companions": "(RankSVM(C=2),)", "bagging": True, "kept_weight": 0.99}
    save(LinearScorer([1.0], [0.0], about={"parameters": parameters}), tmp_path / "m.rw")
    shown = dict(line[10:].split(maxsplit=1) for line in run("info", tmp_path / "m.rw").out.splitlines()[2:9])
    assert shown == {
        "calibrations": "standard,ls",
        "terms": "none",
        "exponents": "20.0",
        "votes": "none",
        "companions": "(RankSVM(C=2),)",
        "bagging": "true",
        "kept_weight": "0.99",
    }


def test_info_of_a_model_without_weights(run, tmp_path):
    save(LinearScorer([0.0], [0.0]), tmp_path / "nothing.rw")
    assert "weights   none\n" in run("info", tmp_path / "nothing.rw").out


def three_splits(n_features):
    """Return one tree that splits on features 0, 1 and 0 again."""
    return TreeEnsemble(
        [0, 3],
        [0, 1, 0],
        np.zeros(3),
        np.zeros(3, dtype=int),
        [1, -1, -3],
        [2, -2, -4],
        np.arange(4.0),
        [1.0, 5.0, 2.0],
        np.ones(4),
        n_features=n_features,
    )


def test_info_of_trees(run, tmp_path):
    save(three_splits(4), tmp_path / "trees.rw")
    found = run("info", tmp_path / "trees.rw", "--json").json
    assert found["trees"] == 1
    assert list(found["importances"].items()) == [
        ("2", {"gain": 5.0, "splits": 1}),
        ("1", {"gain": 3.0, "splits": 2}),
    ]
    out = run("info", tmp_path / "trees.rw").out
    assert [line.split() for line in out.splitlines()[-3:]] == [
        ["feature", "gain", "splits"],
        ["2", "5", "1"],
        ["1", "3", "2"],
    ]
    save(three_splits(2).described(feature_names=["age", "bm25"]), tmp_path / "trees.rw")
    assert list(run("info", tmp_path / "trees.rw", "--json").json["importances"]) == ["bm25", "age"]


def test_info_of_columns_made_within_the_query(run, tmp_path):
    model = QueryFeatureScorer(three_splits(2), (QueryFeature.RANK,))
    save(model, tmp_path / "ranks.rw")
    assert list(run("info", tmp_path / "ranks.rw", "--json").json["importances"]) == ["1 rank", "1"]
    save(model.described(feature_names=["bm25"]), tmp_path / "ranks.rw")
    assert run("info", tmp_path / "ranks.rw").out.splitlines()[-2].split() == ["bm25", "rank", "5", "1"]
    save(QueryFeatureScorer(LinearScorer([1.0, -2.0], [0, 0]), (QueryFeature.RANK,)), tmp_path / "ranks.rw")
    assert list(run("info", tmp_path / "ranks.rw", "--json").json["weights"]) == ["1 rank", "1"]
    alone = QueryFeatureScorer(LinearScorer([1.0, -2.0], [0, 0]), (QueryFeature.RANK,), raw=False)
    save(alone, tmp_path / "ranks.rw")
    assert list(run("info", tmp_path / "ranks.rw", "--json").json["weights"]) == ["2 rank", "1 rank"]


def test_info_shows_the_first_features_of_many(run, tmp_path):
    one = three_splits(60)
    many = [dataclasses.replace(one, feature=one.feature + 2 * place) for place in range(15)]
    save(TreeEnsemble.concatenate(many), tmp_path / "many.rw")
    _, out, err = run("info", tmp_path / "many.rw")
    assert len(out.split("splits\n")[1].splitlines()) == 20
    assert err == "and 10 more; --json lists all\n"
    assert len(run("info", tmp_path / "many.rw", "--json").json["importances"]) == 30


def test_info_of_a_model_that_lies_and_commands_the_terminal(run, tmp_path):
    about = {"kind": "better", "importances": "high", "note": "\x1b[31mred\ud800\n"}
    save(LinearScorer([0.0], [0.0], about=about), tmp_path / "evil.rw")
    out = run("info", tmp_path / "evil.rw").out
    assert "kind      linear\n" in out
    assert "note      \\x1b[31mred\\ud800\n" in out


def test_info_of_data(run, tmp_path):
    (tmp_path / "data.txt").write_text("2 qid:1 1:1 2:5 3:NULL\n0 qid:1 1:2 2:5 3:NULL\n0 qid:2 1:3 2:5 3:NULL\n")
    found = run("info", tmp_path / "data.txt", "--json").json
    assert (found["documents"], found["queries"], found["features"]) == (3, 2, 3)
    assert found["documents_per_query"] == {"minimum": 1, "median": 1.5, "maximum": 2}
    assert (found["missing_values"], found["constant_features"], found["queries_with_one_label"]) == (3, 2, 1)
    assert found["labels"] == {"0": 2, "2": 1}
    assert "missing values          3\n" in run("info", tmp_path / "data.txt").out


def test_info_of_many_labels(run, tmp_path):
    (tmp_path / "data.txt").write_text("".join(f"{label / 4} qid:1 1:1\n" for label in range(30)))
    found = run("info", tmp_path / "data.txt", "--json").json
    assert found["labels"] == {"minimum": 0.0, "maximum": 7.25, "distinct": 30}


@pytest.mark.parametrize("kind", [pytest.param("polynomial", marks=pytest.mark.slow), "gaussian"])
def test_generate(run, tmp_path, kind):
    for name in ("one.txt", "other.txt"):
        words = ("generate", kind, "--queries", 3, "--documents", 6, "--seed", 5, "--out", tmp_path / name)
        assert run(*words)[:2] == (0, "")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "other.txt").read_bytes()
    assert read_letor(tmp_path / "one.txt").groups.sizes.tolist() == [6, 6, 6]


@pytest.mark.slow
def test_generate_a_fold(run, tmp_path):
    out = tmp_path / "deep" / "Fold1"
    assert run("generate", "polynomial", "--queries", 2, "--fold", "--out", out).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["test.txt", "train.txt", "vali.txt"]
    parts = [read_letor(out / f"{name}.txt").groups.ids.tolist() for name in ("train", "vali", "test")]
    assert parts == [[0, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.CSV", "data.txt.gz"])
def test_other_formats(run, tmp_path, name):
    letor, csv = "1 qid:1 1:2\n0 qid:1 1:1\n", "label,qid,bm25\n1,1,2\n0,1,1\n"
    text = (csv if "csv" in name.lower() else letor).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    words = ("train", "adarank", "--train", tmp_path / name, "--model", tmp_path / "m.rw")
    assert run(*words).code == 0
    assert run("evaluate", tmp_path / "m.rw", "--data", tmp_path / name, "--metrics", "map").out.endswith(
        "1.0000\n"
    )


def test_one_query_of_many_documents(run, tmp_path):
    random = np.random.default_rng(0)
    values, labels = random.normal(size=(20_001, 2)), random.integers(0, 3, 20_001)
    lines = [f"{label} qid:1 1:{x:.4f} 2:{z:.4f}\n" for label, (x, z) in zip(labels, values, strict=True)]
    (tmp_path / "long.txt").write_text("".join(lines))
    words = ("--train", tmp_path / "long.txt", "--model", tmp_path / "m.rw", "--set", "directions=both")
    assert run("train", "adarank", *words).code == 0
    found = run(
        "evaluate", tmp_path / "m.rw", "--data", tmp_path / "long.txt", "--json", "--metrics", "ndcg,map,wta"
    )
    assert (found.code, found.json["queries"]) == (0, 1)
    assert all(str(parse(metric)) == metric for metric in found.json["empty_queries"])


@pytest.mark.parametrize("verb", ["crossval", "train"])
def test_ctrl_c_ends_several_fits_without_a_result(run, fold, tmp_path, monkeypatch, verb):
    fits, observed = [], AdaRank.fit

    def second_is_interrupted(self, *data, on_round, **options):
        def press_ctrl_c(one):
            if len(fits) == 2:
                _thread.interrupt_main()
            while len(fits) == 2:
                on_round(one)  # ends when the main thread has seen it

        fits.append(self)
        return observed(self, *data, **options, on_round=press_ctrl_c)

    monkeypatch.setattr(AdaRank, "fit", second_is_interrupted)
    model = ("--model", tmp_path / "m.rw")
    words = {
        "crossval": ("--data", fold / "train.txt", "--folds", 2, *model),
        "train": ("--train", fold / "train.txt", "--tune", "--workers", 1, *model),
    }
    total = {"crossval": 2, "train": 8}[verb]
    found = run(verb, "adarank", *words[verb])
    # Ctrl-C may reach the main thread before the end of the first fit does.
    sentence = rf"rankwright: Interrupted after [01] of {total} fits; nothing was written\.\n"
    assert (found.code, found.out) == (130, "")
    assert re.fullmatch(sentence, found.err)
    assert list(tmp_path.iterdir()) == []


def test_every_verb_that_writes_speaks_json(run, fold, tmp_path):
    made = run("generate", "gaussian", "--queries", "3", "--out", tmp_path / "made.txt", "--json").json
    assert made["files"] == {str(tmp_path / "made.txt"): {"documents": 63, "queries": 3, "features": 2}}
    model = tmp_path / "model.rw"
    assert run("train", "adarank", "--train", tmp_path / "made.txt", "--model", model).code == 0
    scores = run("predict", model, "--data", tmp_path / "made.txt", "--json").json["score"]
    assert len(scores) == 63
    lists = run("rank", model, "--data", tmp_path / "made.txt", "--json").json["queries"]
    assert [len(one) for one in lists.values()] == [21, 21, 21]
    for one in lists.values():
        found = [document["score"] for document in one]
        assert found == sorted(found, reverse=True)

"""`rankwright analyse`: every kind at its work, and its mistakes."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command

import rankwright as rw
from rankwright.cli.verbs.tasks.analyse import analyse
from rankwright.data.groups import Ranking
from rankwright.data.readers.letor import read_letor

KINDS = ["errors", "pairs", "cutoffs", "rounds", "speed", "reranking", "steps", "bound", "metrics", "queries"]
KINDS += ["features"]


@pytest.fixture(scope="session")
def trees(folder):
    """A boosted model of the first fold."""
    path = folder / "trees.rw"
    rw.save(rw.LambdaMART(rounds=4, n_jobs=1).fit(read_letor(folder / "Fold1" / "train.txt")), path)
    return path


def test_every_kind_is_known():
    assert sorted(get_command(analyse).commands) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_help_has_an_example(run, kind, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    code, out, err = run("analyse", kind, "--help")
    assert (code, err) == (0, "")
    assert f"rankwright analyse {kind} " in out[out.index("Example:") :]


def test_errors(run, fold, model, trees, tmp_path):
    words = ("analyse", "errors", model, trees, "--data", fold / "test.txt", "--plot", tmp_path / "errors.svg")
    code, out, err = run(*words)
    assert code == 0
    summary, _, head, *_, last = out.splitlines()
    assert re.search(r" misorders \d+ % of the [\d,]+ pairs of ", summary)
    assert head.split() == ["labels", "pairs", str(model), str(trees)]
    assert last.startswith("all")
    assert f"wrote {tmp_path / 'errors.svg'}\n" in err
    assert (tmp_path / "errors.svg").read_text().startswith("<svg")
    judged = read_letor(fold / "test.txt")
    expected = rw.analyses.pair_errors({str(model): rw.load(model)}, judged).rate(str(model))
    found = run("analyse", "errors", model, "--data", fold / "test.txt", "--json").json
    assert found["systems"][str(model)]["all"]["value"] == expected


def test_pairs_of_any_system(run, fold, model, tmp_path):
    scores = tmp_path / "scores.txt"
    scores.write_text("".join(f"{row}\n" for row in range(96)))
    words = ("analyse", "pairs", model, scores, "--data", fold / "test.txt", "--metric", "map")
    assert len(run(*words, "--groups", "2", "--json").json["groups"]) == 2
    assert run(*words, "--groups", "1,20", "--json").json["groups"][-1]["pairs"][0] >= 20
    assert f"{scores} - {model}" in run(*words).out


def as_run(run, model, fold, path):
    run("rank", model, "--data", fold / "test.txt", "--out", path)
    return path


def test_runs_and_judgements(run, fold, model, tmp_path):
    """Runs of models, beside judgements without features, give what the models give."""
    judged, qrels = read_letor(fold / "test.txt"), tmp_path / "qrels.txt"
    named = zip(judged.qid, judged.document_names, judged.y, strict=True)
    qrels.write_text("".join(f"{query} 0 {name} {label:g}\n" for query, name, label in named))
    whole = as_run(run, model, fold, tmp_path / "whole.run")
    expected = run("analyse", "errors", model, "--data", fold / "test.txt", "--json").json
    found = run("analyse", "errors", whole, "--data", qrels, "--json").json
    assert found["pairs"] == expected["pairs"]
    assert found["systems"][str(whole)] == expected["systems"][str(model)]
    assert found["not_retrieved"] == {str(whole): 0}
    words = ("--metric", "map", "--convention", "standard", "--groups", "2", "--json")
    by_model = run("analyse", "pairs", model, "--data", fold / "test.txt", *words).json["groups"]
    by_run = run("analyse", "pairs", whole, "--data", qrels, *words).json["groups"]
    assert [one["pairs"] for one in by_run] == [one["pairs"] for one in by_model]
    for one, other in zip(by_run, by_model, strict=True):
        assert one["systems"][str(whole)]["value"] == pytest.approx(other["systems"][str(model)]["value"])


def test_documents_that_a_run_did_not_retrieve_are_below_all_others(run, fold, model, tmp_path):
    whole = as_run(run, model, fold, tmp_path / "whole.run")
    lines = whole.read_text().splitlines()
    part = tmp_path / "part.run"
    unknown = f"{lines[0].split()[0]} Q0 nobody-judged-this 1 1e9 x"
    part.write_text("\n".join([unknown, *(line for line in lines if int(line.split()[3]) <= 2)]) + "\n")
    code, _, err = run("analyse", "errors", part, "--data", fold / "test.txt")
    assert code == 0
    judged = read_letor(fold / "test.txt")
    missing = len(judged) - 2 * len(judged.groups)
    assert f"{part} does not retrieve {missing} judged documents: they count as below all others." in err
    scores = rw.load(model).predict(judged)
    scores[Ranking.of(scores, judged.groups).ranks() > 2] = -1e9
    expected = rw.analyses.pair_errors({"part": scores}, judged).rate("part")
    found = run("analyse", "errors", part, "--data", fold / "test.txt", "--json").json
    assert found["systems"][str(part)]["all"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["errors", "pairs"])
def test_runs_of_other_queries(run, refuse, fold, model, tmp_path, kind):
    whole = as_run(run, model, fold, tmp_path / "whole.run")
    lines = whole.read_text().splitlines()
    some = tmp_path / "some.run"
    some.write_text("\n".join(line for line in lines if line.split()[0] == lines[0].split()[0]) + "\n")
    words = ("analyse", kind, whole, some, "--data", fold / "test.txt")
    assert "1 are shared by all systems" in refuse(*words)
    lines = run(*words, "--queries", "shared").out.splitlines()
    assert ("of 1 query" in lines[0]) if kind == "errors" else (len(lines) == 4)  # one group of queries


def test_rounds(run, fold, trees):
    words = ("analyse", "rounds", trees, "--train", fold / "train.txt", "--test", fold / "test.txt")
    assert run(*words, "--json").json["systems"][str(trees)]["rounds"] == [1, 2, 3, 4]
    assert run(*words, "--rounds", "2", "--json").json["systems"][str(trees)]["rounds"] == [2, 4]
    assert "12 training queries and 12 test queries" in run(*words).err


def test_speed(run, fold, model, trees):
    words = ("analyse", "speed", model, trees, "--data", fold / "test.txt", "--rounds", "1")
    found = run(*words, "--json").json
    assert [(one["rounds"], one["trees"]) for one in found["points"]] == [(0, 0), (1, 1), (4, 4)]
    assert "µs/document" in run(*words).out
    assert (
        len(
            run("analyse", "speed", trees, "--data", fold / "test.txt", "--cost", "trees", "--json").json["points"]
        )
        == 4
    )


def test_speed_by_trees(run, refuse, fold, trees):
    words = ("analyse", "speed", trees, "--data", fold / "test.txt", "--cost", "trees", "--json")
    assert [one["trees"] for one in run(*words, "--trees", "1,3,99").json["points"]] == [1, 3, 4]
    assert refuse(*words, "--trees", "a").startswith("--trees takes integers separated by commas")
    assert "not both" in refuse(*words, "--trees", 2, "--rounds", 2)


def test_cutoffs(run, refuse, fold, model, trees, tmp_path):
    words = ("analyse", "cutoffs", model, trees, "--data", fold / "test.txt")
    code, out, err = run(*words, "--plot", tmp_path / "curves.json")
    summary, _, head, *rows = out.splitlines()
    assert summary.startswith("From cut-off 1 to 10, the mean ndcg goes from ")
    assert (code, head.split()) == (0, ["ndcg", *(f"@{cut}" for cut in range(1, 11))])
    assert [row.split()[0] for row in rows] == [str(model), str(trees)]
    assert "From cut-off 1 to 10" in (tmp_path / "curves.json").read_text()
    assert f"wrote {tmp_path / 'curves.json'}" in err
    found = run(
        *words, "--metric", "p", "--cutoffs", "1,3", "--min-relevant", 2, "--drop-one-label", "--json"
    ).json
    assert (found["metric"], found["cutoffs"]) == ("p", [1, 3])
    assert "needs map at several cut-offs" in refuse(*words, "--metric", "map", "--cutoffs", "5")


def test_steps(run, fold, trees):
    assert run("analyse", "steps", trees, "--json").json["measure"] == "spread"
    words = ("analyse", "steps", "adarank", "lambdamart", "--train", fold / "train.txt", "--set", "metric=map")
    found = run(*words, "--json").json
    assert found["measure"] == "weight"
    assert list(found["systems"]) == ["adarank", "lambdamart"]


def test_bound(run, fold):
    words = ("analyse", "bound", "rankboost", "--train", fold / "train.txt", "--set", "rounds=5")
    assert len(run(*words, "--json").json["bounds"]) == 5
    assert "in training improves in 5 of 5 rounds" in run(*words).out


def test_metrics(run, folder, fold):
    words = ("analyse", "metrics", "adarank", "--metrics", "map,ndcg@3")
    assert run(*words, "--data", folder, "--json").json["queries"] == 24
    assert "\ntrained with  measured" in run(*words, "--data", fold / "train.txt", "--folds", 2).out


def test_queries(run, fold):
    words = ("analyse", "queries", "adarank", "--data", fold / "train.txt", "--folds", 3, "--draws", 2)
    found = run(*words, "--sizes", "2,4,1.0", "--json").json
    assert [one["train_queries"] for one in found["points"]] == [2, 4, 8]
    assert found["queries"] == 12


def test_features(run, fold):
    words = ("analyse", "features", "adarank", "--data", fold / "train.txt", "--folds", 2)
    found = run(*words, "--group", "first=1,2", "--group", "last=6", "--only", "--json").json
    assert (found["how"], {row["name"]: row["features"] for row in found["rows"]}) == (
        "only",
        {"first": [0, 1], "last": [5]},
    )
    shown = run(*words)
    assert "judged out of fold by 12 queries" in shown.err
    assert len(shown.out.splitlines()) == 3 + 1 + 6


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "errors MODEL --data TEST --plot TMP/x.pdf",
            "A chart is saved as .svg, .png, .html or .json, not as 'x.pdf'.",
        ),
        ("errors MODEL MODEL --data TEST", "is given twice."),
        ("pairs MODEL --data TEST --groups many", "--groups takes integers separated by commas"),
        ("rounds MODEL --train TRAIN --test TEST", "is no boosted model, so it cannot be cut to fewer rounds."),
        ("rounds TREES --train TRAIN --test TEST --rounds x", "--rounds takes integers separated by commas"),
        ("speed MODEL --data TEST --cost trees", "has no trees to count"),
        ("speed SCORES --data TEST", "holds scores; this analysis needs model files."),
        ("steps MODEL", "is no boosted model of trees"),
        ("steps TREES --set rounds=3", "--set is for rankers to train; add --train or leave it out."),
        ("bound lambdamart --train TRAIN --set rounds=2", "LambdaMART records no bound; AdaRank"),
        ("metrics adarank --data TRAIN --metrics map", "At least two different metrics are needed, not map."),
        ("queries adarank --data TRAIN", "A learning curve needs at least 20 training queries per fold, not 9."),
        ("queries adarank --data TRAIN --sizes 1,2,99", "A subset of 99 queries cannot be drawn"),
        ("queries adarank --data TRAIN --sizes a", "--sizes takes numbers separated by commas"),
        (
            "features adarank --data TRAIN --group g=7",
            "There is no feature '7' in the data; there are 1, 2, 3, 4, 5, 6.",
        ),
        ("features adarank --data TRAIN --group g", "--group takes NAME=A,B,..., not 'g'."),
        ("features adarank --data TRAIN --group g=1 --group g=2", "--group gives values for g twice."),
    ],
)
def test_mistakes_are_told_in_a_sentence(refuse, words, sentence, fold, model, trees, tmp_path):
    scores = tmp_path / "scores.txt"
    scores.write_text("1\n" * 96)
    places = {"MODEL": model, "TREES": trees, "TRAIN": fold / "train.txt", "TEST": fold / "test.txt"}
    for name, place in (places | {"TMP": tmp_path, "SCORES": scores}).items():
        words = words.replace(name, str(place))
    assert sentence in refuse("analyse", *words.split())


def test_data_with_one_label_are_refused(refuse, model, tmp_path):
    (tmp_path / "same.txt").write_text("1 qid:1 1:1 6:1\n1 qid:1 1:2 6:1\n")
    sentence = refuse("analyse", "errors", model, "--data", tmp_path / "same.txt")
    assert sentence == "All documents have the label 1; pairs need at least two different labels."

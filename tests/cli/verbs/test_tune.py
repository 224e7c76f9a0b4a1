"""`rankwright tune`: results, progress, Ctrl-C, searches that go on, and mistakes."""

from __future__ import annotations

import html
import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from rankwright import LambdaMART
from rankwright.cli.output.live_tables import LiveSearch, NewTrials
from rankwright.data import synthetic
from rankwright.data.readers.letor import read_letor, write_letor
from rankwright.data.splitting import split_queries
from rankwright.models import load
from rankwright.tuning.optuna_search import SearchProgress
from rankwright.tuning.trials import Trial
from rankwright.tuning.tune import tune

START = "import sys; from rankwright.cli import main; main()"
SMALL = ("--set", "rounds=3", "--set", "min_documents=2", "--jobs", 1)


def words(fold, *more):
    return ("tune", "lambdamart", "--data", fold / "train.txt", *SMALL, *more)


def test_a_page_shows_all_trials(run, fold, tmp_path):
    pytest.importorskip("altair")
    page, model = tmp_path / "page.html", tmp_path / "m.rw"
    code, out, err = run(*words(fold, "--trials", 3, "--model", model, "--report", page))
    assert code == 0
    assert err.splitlines()[-1].endswith(f"; wrote {model} and {page}")
    text = page.read_text()
    for title in ("What was chosen", "Trials", "Parameters", "How to reproduce"):
        assert f">{title}</h2>" in text
    assert out.splitlines()[0] in html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    assert "learning_rate" in text
    assert 'id="query-browser"' in text
    assert "The model LambdaMART" in text


def test_a_page_must_not_be_the_model(run, fold, tmp_path):
    code, _, err = run(*words(fold, "--model", tmp_path / "same", "--report", tmp_path / "same"))
    assert code == 2
    assert "--report and --model must be different files" in err


def test_tune(run, fold, tmp_path):
    code, out, err = run(*words(fold, "--trials", 3, "--model", tmp_path / "m.rw"))
    assert code == 0
    lines = out.splitlines()
    chosen = r"The best setting of LambdaMART is expected to have a mean ndcg@10 of 0\.\d{4}"
    assert re.match(rf"{chosen}|None of 2 other settings is better", lines[0])
    assert lines[2].startswith("chosen setting  learning_rate=")
    assert "is selection bias, from choosing the best of 3 complete trials" in out
    assert re.search("trial  ndcg@10  rounds  seconds  state +learning_rate", out)
    assert [line.split()[4] for line in lines[-3:]] == ["complete"] * 3
    notes = err.splitlines()
    assert [re.match(r"trial \d of 3: ndcg@10 0\.\d{4}", line) is not None for line in notes[:3]] == [True] * 3
    assert notes[3] == "3 trials: 3 complete."
    assert notes[4].startswith("96 documents of 12 queries, 6 features, ")
    assert notes[4].endswith(f"; wrote {tmp_path / 'm.rw'}")
    assert load(tmp_path / "m.rw").about["ranker"] == "LambdaMART"


def test_the_command_line_and_python_choose_the_same(run, fold):
    options = (
        "--space",
        "max_leaves=2..4",
        "--space",
        "l2=0.5,2",
        "--metric",
        "map",
        "--random-state",
        2,
        "--json",
    )
    found = run(*words(fold, "--trials", 3, *options)).json
    ranker = LambdaMART("map", rounds=3, min_documents=2, n_jobs=1)
    space = {"max_leaves": "2..4", "l2": [0.5, 2.0]}
    same = tune(ranker, read_letor(fold / "train.txt"), trials=3, space=space, random_state=2).to_dict()
    assert found["model"] is None
    for name in ("best", "baseline"):
        assert {**found[name], "seconds": 0} == {**same[name], "seconds": 0}
    for name in ("ranker", "metric", "protocol", "space", "correction", "ended"):
        assert found[name] == same[name]


def test_a_search_goes_on(run, fold, tmp_path):
    storage = ("--storage", tmp_path / "trials.log")
    run(*words(fold, "--trials", 2, *storage))
    code, _, err = run(*words(fold, "--trials", 3, *storage))
    assert code == 0
    assert err.splitlines()[0] == "resumes after 2 trials of an earlier run"
    assert err.splitlines()[1].startswith("trial 3 of 3: ")


def test_a_grid(run, fold):
    found = run(*words(fold, "--grid", "max_leaves=2,4", "--json")).json
    assert [one["parameters"] for one in found["trials"]] == [{"max_leaves": "2"}, {"max_leaves": "4"}]
    assert (found["baseline"], found["space"]) == (None, {"max_leaves": "2;4"})
    assert len(run(*words(fold, "--grid", "built-in", "--json")).json["trials"]) == 6


def test_folds(run, tmp_path):
    truth = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4)
    parts = split_queries(truth.sample(12, seed=0, n_documents=8), 4, 4, 4)
    for number in range(3):
        (tmp_path / f"Fold{number + 1}").mkdir()
        for place, name in enumerate(("train.txt", "vali.txt", "test.txt")):
            write_letor(parts[(number + place) % 3], tmp_path / f"Fold{number + 1}" / name)
    found = run("tune", "ranksvm", "--data", tmp_path, "--trials", 1, "--json").json
    assert found["correction"]["queries"] == 12
    _, out, err = run("tune", "ranksvm", "--data", tmp_path / "Fold1", "--trials", 1)
    assert "is one fold: the judged queries are its train and vali parts" in err
    assert "on the 8 queries that chose it." in out


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (("--trials", 0), "trials must be a positive integer, not 0."),
        (("--time", "soon"), "--time must be"),
        (
            ("--time", "0.001s", "--set", "rounds=1000000"),
            "The time limit of 0.001 s was too short to try even one",
        ),
        (("--space", "leaves=2..4"), "LambdaMART has no parameter 'leaves'; did you mean 'max_leaves'?"),
        (("--space", "max_leaves"), "--space takes name=low..high or name=value,value, not 'max_leaves'."),
        (("--space", "max_leaves=4..2"), "must be low..high with low below high, not 4..2."),
        (("--space", "l2=1..2", "--space", "l2=3,4"), "--space gives values for l2 twice."),
        (("--space", "max_leaves=2,x"), "max_leaves must be none or an integer of at least 2, not 'x'."),
        (("--grid", "l2=1,2", "--trials", 4), "trials is for a search"),
        (("--metric", "map", "--set", "metric=map"), "Give --metric or --set metric, not both."),
        (("--storage", "no/such/folder"), "there is no folder"),
        (("--model", "no/such/folder"), "there is no folder"),
    ],
)
def test_mistakes(refuse, fold, more, sentence):
    assert sentence in refuse(*words(fold, *more))


def test_nothing_to_tune(refuse, fold):
    sentence = refuse("tune", "auto", "--data", fold / "train.txt")
    assert sentence == (
        "There is nothing to tune in AutoRanker: it declares no search space; name parameters in --space."
    )


def test_outputs_and_inputs_are_different_files(refuse, fold, tmp_path):
    assert "is an input of this command" in refuse(*words(fold, "--storage", fold / "train.txt"))
    (tmp_path / "other").write_text("hello\n")
    assert "is not the storage file of a search" in refuse(*words(fold, "--storage", tmp_path / "other"))


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_and_is_130(fold, tmp_path):
    more = ("--trials", 100000, "--model", tmp_path / "m.rw", "--json")
    command = [sys.executable, "-c", START, *map(str, words(fold, *more))]
    process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stderr.readline().startswith("trial ")
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["ended"] == "interrupted"
    assert load(tmp_path / "m.rw").about["rounds"] == found["best"]["rounds"]


def shown(renderable):
    from rich.console import Console

    console = Console(file=io.StringIO(), width=100)
    console.print(renderable)
    return console.file.getvalue()


def test_the_live_table_has_the_best_settings():
    search = LiveSearch("map")
    assert "first trial, the ranker's own setting" in shown(search.shown())
    trials = [Trial({"a": 1}, 3, 0.5, number=0), Trial({"a": 2}, 2, 0.7, number=1)]
    pruned = Trial({"a": 9}, 2, 0.9, state="pruned", number=2)
    search.take(SearchProgress((*trials, pruned), 10, 65.0))
    lines = shown(search.shown()).splitlines()
    assert lines[0].split() == ["trial", "map", "rounds", "setting"]
    assert lines[1].split() == ["2", "0.7000", "2", "a=2"]
    assert lines[2].split()[:3] == ["1", "0.5000", "3"]
    assert lines[3] == "3 of 10 trials, 1 of them pruned, 1:05; Ctrl-C keeps the best setting so far"


def test_lines_of_trials(capsys):
    lines = NewTrials("map")
    failed = Trial({"a": 2}, 0, float("nan"), state="failed", number=1, reason="There is nothing to learn.")
    lines(SearchProgress((), 9, 0.0))
    lines(SearchProgress((failed,), 9, 1.0))
    lines(SearchProgress((failed, Trial({"a": 1}, 2, 0.9, state="pruned", number=2)), 9, 2.0))
    assert capsys.readouterr().err.splitlines() == [
        "trial 2 of 9: failed: There is nothing to learn, a=2, 0:01",
        "trial 3 of 9: map 0.9000 on the first folds, pruned, a=1, 0:02",
    ]


def test_a_time_that_is_none(run, fold):
    code, _, err = run(*words(fold, "--time", "abc"))
    assert code == 2
    assert "--time must be a positive number of seconds, or text such as '10m', not 'abc'." in err

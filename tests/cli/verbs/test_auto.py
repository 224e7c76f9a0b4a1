"""`rankwright auto`: results, standings as they go, Ctrl-C, runs that were killed, and mistakes."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from auto.small_run import small_data
from html_page import read_page
from rankwright import AutoRanker, evaluate
from rankwright.auto.mixing import FitProgress, MemberStanding
from rankwright.cli.output.live_tables import LiveStandings, NewMembers
from rankwright.data import synthetic
from rankwright.data.readers.fold_folders import read_fold
from rankwright.data.readers.letor import read_letor, write_letor
from rankwright.data.splitting import concat
from rankwright.models import load
from rankwright.training.concurrent_fits import NoTimeError, TimeLimit

START = "import sys; from rankwright.cli import main; main()"
SIMPLE = ("--portfolio", "ranksvm,adarank", "--jobs", 1)
ENDLESS = '{"ranker": "lambdamart", "rounds": 1000000}'


def auto(data, model, *more):
    return ("auto", "--data", data, "--model", model, *SIMPLE, *more)


def test_auto(run, fold, tmp_path):
    code, out, err = run(*auto(fold / "train.txt", tmp_path / "m.rw"))
    assert code == 0
    lines = out.splitlines()
    assert re.fullmatch(
        r"On new queries, expect a mean ndcg@10 of 0\.\d{4} \(95 % interval 0\.\d{4} to [01]\.\d{4}, "
        r"from 12 queries\)\.",
        lines[0],
    )
    assert lines[2] == "The expected value on new queries, and that of simpler choices."
    assert lines[3].split() == ["choice", "ndcg@10", "this", "model", "is", "ahead", "by", "p"]
    assert [line.split(" (")[0] for line in lines[5:7]] == ["best single member", "best single feature"]
    assert re.match(r"Scoring takes [\d.]+ µs per document on one thread", lines[8])
    assert lines[10].startswith("Each member alone, out of fold.")
    assert lines[11].split() == ["number", "member", "ndcg@10", "weight", "rounds", "µs", "seconds"]
    assert {line.split()[1] for line in lines[12:14]} == {"RankSVM", "AdaRank"}
    assert len(lines) == 14
    notes = err.splitlines()
    assert re.fullmatch(r"RankSVM: ndcg@10 0\.\d{4}, mixture 0\.\d{4}; 21 of 42 fits, 0:\d\d", notes[0])
    assert re.fullmatch(r"AdaRank: ndcg@10 0\.\d{4}, mixture 0\.\d{4}; 42 of 42 fits, 0:\d\d", notes[1])
    size = f"{(tmp_path / 'm.rw').stat().st_size:,} bytes"
    assert "judged out of fold by 12 queries in 10 folds, 2 times." in notes[2]
    assert notes[3].startswith("96 documents of 12 queries, 6 features, ")
    assert notes[3].endswith(f" s; wrote {tmp_path / 'm.rw'} ({size})")
    assert load(tmp_path / "m.rw").about["ranker"] == "AutoRanker"


def test_auto_for_machines(run, fold, tmp_path):
    found = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--json", "--metric", "map")).json
    assert (found["ranker"], found["metric"], found["model"]) == ("auto", "map", str(tmp_path / "m.rw"))
    assert (found["documents"], found["queries"], found["features"]) == (96, 12, 6)
    assert found["judged"] == "judged out of fold by 12 queries in 10 folds, 2 times"
    assert {one["name"] for one in found["standings"]} == {"RankSVM", "AdaRank"}
    assert sum(one["weight"] for one in found["standings"]) == pytest.approx(1)
    assert all(one["seconds"] > 0 and one["microseconds"] > 0 for one in found["standings"])
    assert found["estimate"] == load(tmp_path / "m.rw").about["estimate"]
    assert found["without_budget"] == {"value": found["value"], "microseconds": found["microseconds"]}
    assert found["bytes"] == (tmp_path / "m.rw").stat().st_size
    assert (found["failures"], found["passed_over"], found["interrupted"], found["report"]) == (
        {},
        {},
        False,
        None,
    )
    assert found["seconds"] > 0


def test_the_command_line_and_python_give_the_same_model(run, fold, tmp_path):
    run(*auto(fold / "train.txt", tmp_path / "m.rw", "--random-state", 3, "--metric", "ndcg@5"))
    judged = read_letor(fold / "train.txt")
    ranker = AutoRanker("ndcg@5", portfolio="ranksvm,adarank", random_state=3, n_jobs=2).fit(judged)
    assert load(tmp_path / "m.rw").about == ranker.model_.about
    assert load(tmp_path / "m.rw").predict(judged).tolist() == ranker.predict(judged).tolist()


def test_the_queries_of_a_folder_are_the_test_parts_of_its_folds(run, folder, tmp_path):
    together = tmp_path / "together"
    for number in (1, 2):
        (together / f"Fold{number}").mkdir(parents=True)
        for name in ("train.txt", "vali.txt", "test.txt"):
            text = (folder / "Fold1" / name).read_text()  # folds of one collection have different test queries
            (together / f"Fold{number}" / name).write_text(text.replace("qid:", f"qid:{number}"))
    assert run(*auto(together, tmp_path / "folds.rw")).code == 0
    tests = concat(*(read_fold(together / f"Fold{number}").test for number in (1, 2)))
    write_letor(tests, tmp_path / "tests.txt")
    assert run(*auto(tmp_path / "tests.txt", tmp_path / "file.rw")).code == 0
    assert (tmp_path / "folds.rw").read_bytes() == (tmp_path / "file.rw").read_bytes()


def test_a_preset_that_is_none_is_refused_by_the_name_of_the_option(refuse, fold, tmp_path):
    sentence = "--preset must be 'quick', 'default' or 'best', not 'fast'."
    assert refuse(*auto(fold / "train.txt", tmp_path / "m.rw"), "--preset", "fast") == sentence


def test_a_folder_whose_folds_share_test_queries(refuse, folder, tmp_path):
    assert refuse(*auto(folder, tmp_path / "m.rw")).startswith(
        "The judged queries of a folder are the test parts of all its folds: Parts 1 and 2 both have query "
    )


def test_one_fold_gives_its_training_and_validation_parts(run, fold, tmp_path):
    for name in ("train.txt", "vali.txt"):
        text = (fold / name).read_text()
        (tmp_path / name).write_text(text.replace("qid:", f"qid:{len(name)}"))
    code, _, err = run(*auto(tmp_path, tmp_path / "m.rw"))
    assert code == 0
    assert err.startswith(
        f"{tmp_path} is one fold: the judged queries are its train and vali parts; test is left alone\n"
    )
    assert load(tmp_path / "m.rw").about["queries"] == 24


def test_a_table_is_read_as_everywhere(run, fold, tmp_path):
    judged = read_letor(fold / "train.txt")
    lines = ["grade,query,a,b,c,d,e,f"]
    lines += [",".join(map(str, (y, q, *x))) for y, q, x in zip(judged.y, judged.qid, judged.X, strict=True)]
    (tmp_path / "shop.csv").write_text("\n".join(lines))
    words = auto(tmp_path / "shop.csv", tmp_path / "m.rw", "--qid", "query", "--label", "grade", "--drop", "f")
    assert run(*words).code == 0
    assert load(tmp_path / "m.rw").feature_names == ("a", "b", "c", "d", "e")


def test_a_configuration_is_saved_and_runs_again(run, fold, tmp_path):
    first, again, saved = (tmp_path / name for name in ("first.rw", "again.rw", "run.toml"))
    options = ("--time", "10m", "--max-us", "1000", "--random-state", 1, "--save-config", saved)
    assert run(*auto(fold / "train.txt", first, *options)).code == 0
    assert run("auto", "--config", saved, "--model", again).code == 0
    assert first.read_bytes() == again.read_bytes()
    (tmp_path / "own.toml").write_text('portfolio = ["ranksvm", "adarank"]\nmax-us = 1000\ntime = 600\n')
    words = ("--data", fold / "train.txt", "--model", again, "--random-state", 1)
    assert run("auto", "--config", tmp_path / "own.toml", *words).code == 0
    assert first.read_bytes() == again.read_bytes()


def test_a_budget_is_told_with_what_it_costs(run, fold, tmp_path):
    out = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--max-us", 1000)).out
    found = re.search(
        r"The budget of 1e\+03 µs changes the value out of fold from (0\.\d{4}), at [\d.]+ µs, to (0\.\d{4}) ", out
    )
    assert found[1] == found[2]


@pytest.mark.filterwarnings("default:AdaRank is left out")
def test_members_that_fail_are_named_and_left_out(run, fold, tmp_path):
    portfolio = '["ranksvm", {"ranker": "adarank", "metric": "dcg"}]'
    words = ("auto", "--data", fold / "train.txt", "--model", tmp_path / "m.rw", "--portfolio", portfolio)
    code, out, err = run(*words, "--jobs", 1)
    assert code == 0
    told = re.search(r"^AdaRank +failed +(AdaRank needs a metric between -1 and 1.*)$", out, re.MULTILINE)
    assert f"rankwright: AdaRank is left out of the pool: {told[1]}\n" in err
    assert run(*words, "--jobs", 1, "--json").json["failures"]["AdaRank"] == told[1]


def test_members_that_there_was_no_time_for_are_named(run, fold, tmp_path, monkeypatch):
    def admit(_limit, candidate):
        if candidate.name == "AdaRank":
            raise NoTimeError("it would take about 9 s, and 2 s were left")

    monkeypatch.setattr(TimeLimit, "admit", admit)
    code, out, err = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--time", "10m"))
    assert code == 0
    assert out.endswith("AdaRank       skipped  it would take about 9 s, and 2 s were left\n")
    assert "skipped" not in err
    found = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--time", "10m", "--json")).json
    assert found["passed_over"] == {"AdaRank": "it would take about 9 s, and 2 s were left"}


def test_a_report(run, fold, tmp_path):
    page = tmp_path / "page.html"
    code, _, err = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--report", page))
    assert code == 0
    assert err.endswith(f" and {page}\n")
    assert "AdaRank" in page.read_text()
    assert run(*auto(fold / "train.txt", tmp_path / "m.rw", "--report", page, "--json")).json["report"] == str(
        page
    )


# Standings


def progress(**changed):
    rows = (MemberStanding("MART", 0.5, 0.75, 40, 12.34), MemberStanding("RankSVM", 0.4, 0.25, 0, 1.0))
    state = FitProgress(rows, 0.6, 33, 48, {"ListNet": 1}, 61.0, 539.0)
    return state._replace(**changed)


def shown(standings):
    from rich.console import Console

    console = Console(width=100, record=True, file=io.StringIO())
    console.print(standings.shown())
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def test_a_live_table_has_members_mixture_and_clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("rankwright.cli.output.live_tables.monotonic", lambda: now[0])
    standings = LiveStandings("ndcg@10")
    now[0] += 5
    assert shown(standings) == ["first fits, 0:05"]
    standings.take(progress(standings=(), value=None, fits=1))
    assert shown(standings)[-1] == "1 of 48 fits, 1:01, 8:59 left"
    standings.take(progress())
    now[0] += 9.5
    assert shown(standings) == [
        "member ndcg@10 weight rounds time of fits",
        "MART 0.5000 75 % 40 12.3 s",
        "RankSVM 0.4000 25 % 1.00 s",
        "ListNet 1 fit ended",
        "mixture 0.6000",
        "33 of 48 fits, 1:10, 8:49 left; Ctrl-C keeps the mixture so far",
    ]
    standings.take(progress(seconds=3700.0, seconds_left=None))
    assert shown(standings)[-1].startswith("33 of 48 fits, 1:01:40; ")
    standings.take(progress(fits=48))
    assert shown(standings)[-1] == "48 of 48 fits, 1:01; estimating and timing the mixture"


def test_elsewhere_a_line_tells_of_each_new_member(capsys):
    tell = NewMembers("ndcg@10")
    tell(progress(standings=(), value=None))
    tell(progress())
    tell(progress(fits=34))
    assert capsys.readouterr().err.splitlines() == [
        "33 of 48 fits, 1:01, 8:59 left",
        "MART: ndcg@10 0.5000, mixture 0.6000; 33 of 48 fits, 1:01, 8:59 left",
        "RankSVM: ndcg@10 0.4000, mixture 0.6000; 33 of 48 fits, 1:01, 8:59 left",
    ]


def test_a_line_shows_that_a_long_run_goes_on(capsys):
    tell = NewMembers("ndcg@10", "best")
    for seconds in (5, 29, 31, 59, 60, 62):
        tell(progress(standings=(), value=None, fits=seconds, total=99, seconds=seconds, seconds_left=None))
    tell(progress(standings=progress().standings[:1], fits=70, total=99, seconds=70, seconds_left=None))
    tell(progress(standings=progress().standings[:1], fits=99, total=99, seconds=99, seconds_left=None))
    tell(progress(standings=progress().standings[:1], fits=99, total=99, seconds=101, seconds_left=9.0))
    assert capsys.readouterr().err.splitlines() == [
        "31 of 99 fits, 0:31",
        "62 of 99 fits, 1:02",
        "MART: ndcg@10 0.5000, best 0.6000; 70 of 99 fits, 1:10",
        "99 of 99 fits, 1:41",
    ]


def test_a_single_model_is_not_called_a_mixture(run, fold, tmp_path):
    code, out, err = run("auto", "--data", fold / "train.txt", "--model", tmp_path / "m.rw", "--interpretable")
    assert code == 0
    assert "mixture" not in out + err
    assert "this model is ahead by" in out


def start(*words: object, script: str = START, **options):
    command = [sys.executable, "-c", script, *map(str, words)]
    return subprocess.Popen(command, text=True, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)


def read_terminal(terminal):
    found = b""
    try:
        while block := os.read(terminal, 4096):
            found += block
    except OSError:  # how Linux says that the other end was closed
        pass
    return found.decode()


@pytest.mark.slow
def test_a_terminal_shows_standings_and_leaves_standard_output_alone(fold, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = auto(fold / "train.txt", tmp_path / "m.rw", "--json", "--time", "10m")
    process = start(*words, stderr=theirs, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    os.close(theirs)
    found = read_terminal(ours)
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert re.search(r"RankSVM +0\.\d{4} +100 %", found)
    assert re.search(r"AdaRank +\d+ fits? ended", found)
    assert re.search(r"\d+ of 42 fits, 0:\d\d, 9:\d\d left", found)
    assert json.loads(out)["ranker"] == "auto"


# Ctrl-C, and runs that were killed


def wait_for(found, process):
    """Wait until something is found, while the process runs."""
    end = time.monotonic() + 60
    while not (result := found()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.02)
    return result


def lines_until(stream, start):
    """Read lines up to one that starts so."""
    found = []
    while not (found and found[-1].startswith(start)):
        found.append(stream.readline())
        assert found[-1], found
    return found


def press_ctrl_c(process):
    time.sleep(0.3)  # so that it is no longer printing
    process.send_signal(signal.SIGINT)


def endless(fold, model, first, *more):
    return ("auto", "--data", fold / "train.txt", "--model", model, "--portfolio", f"[{first}{ENDLESS}]", *more)


@pytest.mark.slow
def test_ctrl_c_writes_the_best_mixture_so_far_and_exits_with_130(fold, tmp_path):
    work = tmp_path / "work"
    process = start(*endless(fold, tmp_path / "m.rw", '"adarank", ', "--jobs", 1, "--work", work))
    lines_until(process.stderr, "AdaRank: ")
    press_ctrl_c(process)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith(f" bytes); the same command resumes with the fits in {work}\n")
    assert "rankwright: Interrupted; the model is the mixture of 1 of 2 members.\n" in err
    assert re.search(r"^ +1  AdaRank ", out, re.MULTILINE)
    assert [one["name"] for one in load(tmp_path / "m.rw").about["members"]] == ["AdaRank"]


@pytest.mark.slow
@pytest.mark.parametrize("keeps", [False, True])
def test_ctrl_c_before_the_first_member_writes_nothing(fold, tmp_path, keeps):
    work = tmp_path / "work"
    again = f"; the same command resumes with the fits in {work}" if keeps else ""
    options = ("--work", work) if keeps else ()
    begun = tmp_path / "begun"  # written when the fits begin
    script = "import pathlib, rankwright.auto.ranker as r; fit = r.Judging.run; "
    script += f"r.Judging.run = lambda *given: (pathlib.Path({str(begun)!r}).touch(), fit(*given)); "
    process = start(*endless(fold, tmp_path / "m.rw", "", *options), script=script + START)
    wait_for(begun.exists, process)
    press_ctrl_c(process)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == f"rankwright: Interrupted: no model was written{again}.\n"
    assert not (tmp_path / "m.rw").exists()


@pytest.mark.slow
def test_a_second_ctrl_c_writes_nothing(fold, tmp_path):
    slow = "import time, rankwright.auto.ranker as r; r.estimate = lambda *_, **__: time.sleep(60); " + START
    process = start(*endless(fold, tmp_path / "m.rw", '"adarank", ', "--jobs", 1), script=slow)
    lines_until(process.stderr, "AdaRank: ")
    press_ctrl_c(process)
    lines_until(process.stderr, "rankwright: Interrupted; ")
    press_ctrl_c(process)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert err == "rankwright: Interrupted: no model was written.\n"
    assert not (tmp_path / "m.rw").exists()


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_where_it_was(run, fold, tmp_path):
    work, portfolio = tmp_path / "work", '["adarank", {"ranker": "lambdamart", "rounds": 300}, "ranksvm"]'
    words = ("auto", "--data", fold / "train.txt", "--portfolio", portfolio, "--jobs", 1, "--model")
    process = start(*words, tmp_path / "killed.rw", "--work", work)

    def trees():
        return len(list(work.glob("lambdamart-*/part-*.npz"))) >= 3

    wait_for(trees, process)
    process.kill()
    process.communicate()
    assert not (tmp_path / "killed.rw").exists()
    kept = {path: path.stat().st_mtime_ns for path in work.rglob("*.*")}
    assert 20 <= len(kept) < 64  # 3 x 21 fits and the manifest
    assert run(*words, tmp_path / "killed.rw", "--work", work).code == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert run(*words, tmp_path / "whole.rw").code == 0
    assert (tmp_path / "killed.rw").read_bytes() == (tmp_path / "whole.rw").read_bytes()


def test_a_work_folder_of_another_run(run, refuse, folder, fold, tmp_path):
    work, model = tmp_path / "work", tmp_path / "m.rw"
    assert run(*auto(fold / "train.txt", model, "--work", work)).code == 0
    before = model.read_bytes()
    assert run(*auto(fold / "train.txt", model, "--work", work)).code == 0
    assert model.read_bytes() == before
    sentence = (
        f"The work folder {work} belongs to a run that differs in {{}}: choose another folder, or delete this one."
    )
    others = {
        "data": folder / "Fold2" / "train.txt",
        "metric": fold / "train.txt",
        "random_state": fold / "train.txt",
    }
    options = {"data": (), "metric": ("--metric", "map"), "random_state": ("--random-state", 1)}
    for what, data in others.items():
        assert refuse(*auto(data, model, "--work", work, *options[what])) == sentence.format(what)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear reader")
    assert refuse(*auto(fold / "train.txt", model, "--work", tmp_path / "full")) == (
        f"The work folder {tmp_path / 'full'} must be new, empty, or that of an earlier run."
    )


# Mistakes


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--time", "soon"],
            "--time must be none or a positive number of seconds, or text such as '10m', not 'soon'.",
        ),
        (["--time", "0"], "--time must be none or a positive number of seconds, or text such as '10m', not '0'."),
        (["--max-us", "few"], "--max-us must be none or a positive number, not 'few'."),
        (["--max-us", "-1"], "--max-us must be none or a positive number, not '-1'."),
        (["--metric", "ndgc"], "There is no metric 'ndgc'; did you mean 'ndcg'?"),
        (["--portfolio", "rnaksvm"], "There is no ranker 'rnaksvm'; did you mean 'ranksvm'?"),
        (
            ["--companions", "lightgmb"],
            "--companions must be distinct values separated by commas, each 'lightgbm', 'xgboost' or 'catboost', "
            "not 'lightgmb'.",
        ),
        (
            ["--interpretable"],
            "--interpretable has a portfolio of its own, of simple models: give no --portfolio.",
        ),
    ],
)
def test_options_that_are_wrong_are_refused_before_anything_is_read(refuse, tmp_path, words, sentence):
    portfolio = () if "--portfolio" in words else SIMPLE
    data = ("auto", "--data", tmp_path / "nowhere.txt", "--model", tmp_path / "m.rw")
    assert refuse(*data, *portfolio, *words) == sentence


def test_interpretable_takes_no_companions(refuse, tmp_path):
    words = ("auto", "--data", "nowhere.txt", "--model", tmp_path / "m.rw", "--interpretable")
    assert refuse(*words, "--companions", "xgboost") == (
        "--interpretable has a portfolio of its own, of simple models: give no --companions."
    )


def test_a_companion_that_is_not_installed(refuse, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    words = auto("nowhere.txt", tmp_path / "m.rw", "--companions", "xgboost")
    assert refuse(*words) == "XGBoostRanker needs XGBoost: pip install 'rankwright[xgboost]'."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 qid:1 1:1\n1 qid:2 1:2\n", "There is nothing to learn: within every query all labels are equal."),
        (
            "1 qid:1 1:1\n0 qid:1 1:2\n",
            "AutoRanker needs at least 2 judged queries: some to learn from and others to judge.",
        ),
    ],
)
def test_too_little_to_learn_from(refuse, tmp_path, text, sentence):
    (tmp_path / "data.txt").write_text(text)
    assert refuse(*auto(tmp_path / "data.txt", tmp_path / "m.rw")) == sentence


def test_a_budget_too_small_for_one_member_says_which_would_do(run, fold, tmp_path):
    code, out, err = run(*auto(fold / "train.txt", tmp_path / "m.rw", "--max-us", "0.000001"))
    assert (code, out) == (2, "")
    found = re.fullmatch(
        r"rankwright: No member scores a document in 1e-06 microseconds: AdaRank takes [\d.]+; "
        r"--max-us=([\d.]+) would do\.",
        err.splitlines()[-1],
    )
    assert float(found[1]) > 0
    assert not (tmp_path / "m.rw").exists()


def test_a_time_too_short_for_one_member_says_which_would_do(refuse, fold, tmp_path):
    assert re.fullmatch(
        r"--time=1e-06 is too short for a single member: RankSVM takes up to ([\d.]+) seconds; "
        r"--time=\1 would do\.",
        refuse(*auto(fold / "train.txt", tmp_path / "m.rw", "--time", "0.000001")),
    )


def test_nothing_is_overwritten_or_lost(refuse, fold, tmp_path):
    train, model = fold / "train.txt", tmp_path / "m.rw"
    assert refuse(*auto(train, train)) == f"{train} is an input of this command; write to another file."
    assert refuse(*auto(fold, train)) == f"{train} is an input of this command; write to another file."
    assert refuse(*auto(fold.parent, train)) == f"{train} is an input of this command; write to another file."
    assert refuse(*auto(train, model, "--report", train)).startswith(f"{train} is an input of this command")
    assert refuse(*auto(train, model, "--report", model)) == (
        f"--report and --model must be different files, not both {model}."
    )
    assert refuse(*auto(train, model, "--report", tmp_path / "no" / "page.html")).startswith(
        f"{tmp_path / 'no' / 'page.html'} cannot be written"
    )


def test_a_folder_that_has_no_folds(refuse, tmp_path):
    assert refuse(*auto(tmp_path, tmp_path / "m.rw")) == (
        "The judged queries of a folder are the test parts of all its folds: "
        f"{tmp_path} contains no folds: looked for folders Fold1, Fold2 and so on."
    )
    assert refuse(*auto("nowhere", tmp_path / "m.rw")) == "There is no file or folder nowhere."
    assert "is a folder of folds" in refuse(*auto(tmp_path, tmp_path / "m.rw", "--n-features", 3))


# The other verbs


@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    """A model of two members."""
    from rankwright.models import save

    truth = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4)
    ranker = AutoRanker(portfolio="ranksvm,adarank", n_jobs=1).fit(truth.sample(24, seed=0, n_documents=8))
    path = tmp_path_factory.mktemp("mixture") / "m.rw"
    save(ranker, path)
    return path


def test_info_shows_estimate_and_members(run, mixture):
    out = run("info", mixture).out
    about = load(mixture).about
    assert re.search(
        rf"^estimate +metric +ndcg@10\n +value +{about['estimate']['value']:.6g}\n", out, re.MULTILINE
    )
    assert re.search(
        r"^ +best_member +name RankSVM; value 0\.\d+; ahead -?[\d.e-]+; p_value [\d.]+$", out, re.MULTILINE
    )
    head = re.search(r"^members +(name.*)\n +(RankSVM.*)\n +(AdaRank.*)$", out, re.MULTILINE)
    assert head[1].split() == ["name", "value", "weight", "rounds"]
    assert head[2].split()[1] == f"{about['members'][0]['value']:.6g}"
    assert run("info", mixture, "--json").json["members"] == about["members"]


def test_auto_is_a_ranker_of_train_and_crossval(run, fold, tmp_path):
    words = ("--set", "portfolio=ranksvm,adarank", "--jobs", 1)
    parts = ("--train", fold / "train.txt", "--valid", fold / "test.txt", "--model", tmp_path / "m.rw")
    code, out, err = run("train", "auto", *parts, *words)
    assert code == 0
    assert re.fullmatch(r"ndcg@10: 0\.\d{4} out of fold, 0\.\d{4} expected on new queries \(2 members\)\n", out)
    assert err.startswith("96 documents of 12 queries, 6 features, ")
    assert load(tmp_path / "m.rw").about["queries"] == 24
    assert (
        run("train", "auto", *parts, *words, "--json").json["estimate"]
        == load(tmp_path / "m.rw").about["estimate"]
    )
    found = run("crossval", "auto", "--data", fold / "train.txt", "--folds", 2, *words, "--json").json
    assert found["ranker"] == "auto"
    assert run("evaluate", tmp_path / "m.rw", "--data", fold / "test.txt").code == 0


def test_auto_is_listed(run):
    assert "\nauto " in run("rankers").out
    assert run("rankers", "auto").out.startswith("auto: A mixture of many rankers")
    assert run("rankers", "AutoRanker", "--json").json["parameters"].keys() >= {"time_limit", "portfolio", "work"}


def test_the_model_is_compared_with_the_order_of_today(run, refuse, tmp_path):
    data = small_data()
    table = tmp_path / "shop.csv"
    rows = [
        f"{query},{label:g},{x[0]},{x[1]},{-x[0]},shop {query}"
        for x, label, query in zip(data.X, data.y, data.qid, strict=True)
    ]
    table.write_text("qid,label,bm25,clicks,position,query_text\n" + "\n".join(rows))
    words = auto(table, tmp_path / "m.rw", "--baseline-column", "position")
    result = run(*words, "--show", "query_text", "--report", tmp_path / "page.html", "--json").json
    order = result["estimate"]["baseline"]
    assert order["name"] == "position"
    assert order["value"] == pytest.approx(evaluate(data.X[:, 0], data).mean("scores", "ndcg@10"))
    assert order["ahead"] == pytest.approx(result["estimate"]["value"] - order["value"])
    assert load(tmp_path / "m.rw").feature_names == ("bm25", "clicks"), "what is shown today is no feature"
    browser = read_page(tmp_path / "page.html").data["browser"]
    assert browser["systems"][1] == "position"
    assert browser["queries"][0]["text"] == f"shop {browser['queries'][0]['id']}"
    assert "order today (position)" in run(*words).out
    assert "There is no column 'rank'" in refuse(*words[:-1], "rank")


def in_weeks(path):
    """A table of small data with the week of each query."""
    data = small_data()
    rows = [
        f"{query},{2 * (int(query.split()[1]) % 6)},{int(label)},{','.join(map(str, features))}"
        for query, label, features in zip(data.qid, data.y, data.X.tolist(), strict=True)
    ]
    path.write_text("\n".join(["qid,week,label,a,b,c,d", *rows]))
    return path


@pytest.mark.parametrize("verb", ["auto", "crossval", "tune"])
def test_folds_in_time_order(run, refuse, verb, tmp_path):
    table = in_weeks(tmp_path / "weeks.csv")
    words = {
        "auto": ("auto", "--model", tmp_path / "m.rw", "--portfolio", "ranksvm"),
        "crossval": ("crossval", "ranksvm"),
        "tune": ("tune", "ranksvm", "--grid", "C=0.1,1"),
    }[verb] + ("--data", table, "--jobs", 1, "--time-column")
    facts = run(*words, "week", "--json").json
    if verb != "tune":
        assert facts["drift"]["periods"] == ["2", "4", "6", "8", "10"]
    assert "There is no column 'weak'; did you mean 'week'?" in refuse(*words, "weak")


def test_the_target_of_an_export(run, refuse, tmp_path):
    table, model = in_weeks(tmp_path / "weeks.csv"), tmp_path / "m.rw"
    forests = '["mart", {"ranker": "lambdamart", "rounds": 5}]'
    words = ("auto", "--data", table, "--model", model, "--jobs", 1, "--portfolio")
    assert run(*words, forests.replace('"mart"', '{"ranker": "mart", "rounds": 5}'), "--for", "solr").code == 0
    assert run("export", model, "--to", "solr", "--out", tmp_path / "solr.json").code == 0
    assert "--for must be one of lightgbm, xgboost," in refuse(*words, forests, "--for", "elastic")
    code, _, err = run(*words, "ranksvm,mart", "--for", "solr")
    assert code == 2
    assert "rankwright: RankSVM cannot be part of a model for Solr" in err


def test_a_leaderboard(run, refuse, fold, tmp_path):
    model, scores = tmp_path / "m.rw", tmp_path / "scores.txt"
    scores.write_text("\n".join(str(number) for number in range(len(read_letor(fold / "test.txt")))))
    words = auto(fold / "train.txt", model, "--leaderboard", fold / "test.txt", "--system", f"mine={scores}")
    out = run(*words).out
    assert re.search(r"On \d+ queries, this model is number \d of 5 systems by mean ndcg@10", out)
    assert "mine (given)" in out
    board = run(*words, "--json").json["leaderboard"]
    assert {place["kind"] for place in board["places"]} == {"this model", "member", "best feature", "given"}
    model.unlink()
    lacking = auto(fold / "train.txt", model, "--system", scores)
    assert "--system is for a leaderboard" in refuse(*lacking)
    scores.write_text("1")
    assert "has 1 score, the data have" in run(*words).err
    assert not model.exists()

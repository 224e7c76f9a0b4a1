"""The command as a whole: help, version, exit codes, pipes, imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from typer.main import get_command

import rankwright
from rankwright.cli.app import OTHER_NAMES, app
from rankwright.cli.options.faces import METRICS as SHOWN_METRICS
from rankwright.cli.options.signatures import declared
from rankwright.cli.verbs.tasks.analyse import KINDS
from rankwright.cli.verbs.tasks.clicks import TASKS
from rankwright.cli.verbs.tasks.judgements import TASKS as JUDGEMENT_TASKS
from rankwright.metrics import CONVENTIONS
from rankwright.metrics.catalogue import METRICS

VERBS = [
    "bin",
    "demo",
    "doctor",
    "drift",
    "reproduce",
    "auto",
    "import",
    "export",
    "analyse",
    "train",
    "tune",
    "evaluate",
    "clicks",
    "judge",
    "judgements",
    "compare",
    "combine",
    "predict",
    "rank",
    "serve",
    "crossval",
    "rankers",
    "info",
    "generate",
    "index",
    "search",
    "features",
    "text-demo",
]
SCREEN = 45  # lines
START = "import sys; from rankwright.cli import main; main()"


def start(*words: object, **options):
    command = [sys.executable, "-c", START, *map(str, words)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_every_verb_is_known():
    assert sorted(get_command(app).commands) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example_that_fits_a_terminal(run, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(verb, "--help")
    assert (code, err) == (0, "")
    example = out[out.index("Example:") :].partition("\n\n")[0]
    assert re.fullmatch(rf"Example:\n    rankwright {verb}( .*)?", example)


HELP = [[verb] for verb in VERBS] + [["analyse", kind] for kind in KINDS] + [["clicks", task] for task in TASKS]
HELP += [["judgements", task] for task in JUDGEMENT_TASKS]


@pytest.mark.parametrize("words", HELP, ids=" ".join)
@pytest.mark.parametrize("columns", [80, 120])
def test_help_fits_a_screen_and_names_no_types(run, words, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run(*words, "--help").out.splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= columns
    assert not re.search(r"<\w|\w\[|\[\[|\]\]|[╭│]", "\n".join(lines))


def test_help_has_the_common_options_and_help_all_the_others(run):
    short, everything = run("crossval", "--help").out, run("crossval", "--help-all").out
    assert re.search(r"^  --json +Print one JSON object instead of tables\.$", short, re.MULTILINE)
    assert re.search(r"^  --help-all +Show all options\.$", short, re.MULTILINE)
    for folded in (
        "--config FILE",
        "--jobs N",
        "--label COLUMN",
        "Reading data files:",
        "3 + 1 + 1",
    ):
        assert folded not in short
        assert folded in everything
    assert "--help-all" not in run("rankers", "--help").out  # which has no others
    assert run("rankers", "--help-all").out == run("rankers", "--help").out
    assert "Usage: rankwright rankers [RANKER] [OPTIONS]\n" in run("rankers", "--help").out


def test_help_all_shows_every_option(run):
    for words in HELP:
        verb = get_command(app)
        for word in words:
            verb = verb.full_command(word)
        if not hasattr(verb, "commands"):
            shown = run(*words, "--help-all").out
            names = [name for each in verb.params for name in each.opts if name not in ("--help-all", each.name)]
            assert [name for name in names if not re.search(rf"^  (--\S+, )?{name}\b", shown, re.MULTILINE)] == []


@pytest.mark.parametrize("option", ["--drop", "--metrics"])
def test_a_list_that_is_given_twice_is_refused(refuse, fold, model, option):
    words = ("evaluate", model, "--data", fold / "test.txt", option, "a", "--jobs", 1, "--jobs", 2)
    sentence = f"{option} is given twice; give it once, with commas between the values."
    assert refuse(*words, option, "b") == f"{sentence} See `rankwright evaluate --help`."


def test_no_verb_shows_what_to_do_next_and_is_bad_use(run):
    code, out, err = run()
    assert (code, err) == (2, "")
    assert "    rankwright demo\n" in out
    assert out.count("\n") < 24  # one screen
    steps = re.findall(r"^    rankwright ([a-z]+)", out, re.MULTILINE)
    assert len(steps) == 6
    assert set(steps) <= set(VERBS)
    shown = run("--help").out
    assert out.removesuffix("\nAll verbs: rankwright --help\n").partition("\n\n")[2].strip() in shown


def test_version(run):
    assert run("--version") == (0, f"rankwright {rankwright.__version__}\n", "")


def test_an_unknown_verb_is_corrected(run):
    code, out, err = run("trian")
    assert (code, out) == (2, "")
    assert "Did you mean 'train'" in err
    assert "Did you mean 'evaluate'" in run("test", "a.rw").err


def test_other_names_of_verbs_lead_to_verbs():
    assert set(OTHER_NAMES.values()) <= set(VERBS)
    assert not OTHER_NAMES.keys() & set(VERBS)


@pytest.mark.parametrize("words", [["info"], ["info", "a", "b"], ["info", "a", "--jsn"], ["demo", "--seed", "-1"]])
def test_bad_use_is_2(run, words):
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def raising(error):
    def fail(*_args):
        raise error

    return fail


def test_ctrl_c_is_130(run, model, monkeypatch):
    monkeypatch.setattr("rankwright.load", raising(KeyboardInterrupt))
    code, out, err = run("info", model)
    assert (code, out) == (130, "")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "There is not enough memory for this command."),
        (OSError(28, "No space left on device"), "Writing failed: No space left on device."),
    ],
)
def test_a_machine_that_is_full_is_told_in_a_sentence(refuse, model, monkeypatch, error, sentence):
    monkeypatch.setattr("rankwright.load", raising(error))
    assert refuse("info", model) == sentence


def test_a_reader_that_stops_early_is_no_problem(tmp_path, run, model):
    many = tmp_path / "many.txt"
    many.write_text("".join(f"0 qid:{row // 10} 1:{row} 6:1\n" for row in range(50_000)))
    process = start("predict", model, "--data", many)
    process.stdout.readline()
    process.stdout.close()  # as head -1 does
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait() in (0, 1)


def read_terminal(terminal):
    shown = b""
    try:
        while block := os.read(terminal, 4096):
            shown += block
    except OSError:  # how Linux says that the other end was closed
        pass
    return shown.decode()


@pytest.mark.slow
def test_training_shows_its_validation_value_on_a_terminal(fold, tmp_path):
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    words = ["train", "adarank", "--train", fold / "train.txt", "--valid", fold / "vali.txt", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", START, *map(str, words), "--model", str(tmp_path / "m.rw")],
        text=True,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )
    os.close(theirs)
    shown = read_terminal(ours)
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert "training adarank" in shown
    assert re.search(r"ndcg 0\.\d{4} \(validation\)", shown)
    assert json.loads(out)["ranker"] == "adarank"  # the bar leaves standard output alone


# Friction 14: start-up. What is imported decides, so these tests check that; benchmarks/startup.py measures times.

HEAVY = {
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "altair",
    "vl_convert",
    "lightgbm",
    "xgboost",
    "catboost",
}
LISTED = (
    "import atexit, sys\n"
    "show = lambda: print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    "atexit.register(show)\n"
)


def imported_by(*words: object, start=START) -> set[str]:
    """The packages that a command has imported when it ends."""
    command = [sys.executable, "-c", LISTED + start, *map(str, words)]
    done = subprocess.run(command, text=True, capture_output=True, check=False, env=os.environ | {"COLUMNS": "80"})
    assert done.returncode in (0, 2), done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        ["trian"],
        *([verb, "--help"] for verb in VERBS),
        *([verb, "--no-such-option"] for verb in ("auto", "serve", "train")),
    ],
    ids=" ".join,
)
def test_help_and_typos_do_not_import_numpy(words):
    assert imported_by(*words) & (HEAVY | {"numpy", "pydantic"}) == set()


@pytest.mark.slow
def test_importing_the_package_imports_almost_nothing():
    assert imported_by(start="import rankwright") & (HEAVY | {"numpy", "typer", "rich"}) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "predict MODEL --data FOLD/test.txt",
        "rank MODEL --data FOLD/test.txt",
        "evaluate MODEL --data FOLD/test.txt",
        "info FOLD/test.txt",
        "generate gaussian --queries 2 --out TMP/out.txt",
        "rankers",
        "rankers ranksvm",
        "train lambdamart --train FOLD/train.txt --valid FOLD/vali.txt --model TMP/m.rw --set rounds=2",
        "crossval mart --data FOLDER --set rounds=2",
    ],
)
def test_verbs_import_nothing_heavy(words, folder, fold, model, tmp_path):
    places = {"MODEL": model, "FOLDER": folder, "FOLD": fold, "TMP": tmp_path}
    for name, place in places.items():
        words = words.replace(name, str(place))
    assert imported_by(*words.split()) & HEAVY == set()


@pytest.mark.slow
def test_auto_imports_scipy_for_its_interval_and_nothing_else_heavy(fold, tmp_path):
    words = ("auto", "--data", fold / "train.txt", "--model", tmp_path / "m.rw", "--portfolio", "ranksvm")
    assert imported_by(*words) & HEAVY == {"scipy"}


@pytest.mark.slow
def test_other_rankers_do_not_import_auto(fold, tmp_path):
    words = ("train", "adarank", "--train", fold / "train.txt", "--model", tmp_path / "m.rw")
    whole = LISTED.replace("name.partition('.')[0]", "name")
    command = [sys.executable, "-c", whole + START, *map(str, words)]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    modules = done.stderr.splitlines()[-1].split()
    assert "rankwright.rankers.adarank" in modules
    assert "rankwright.rankers.mart" not in modules
    assert not [name for name in modules if name.startswith("rankwright.auto")]


def completions(words: str, monkeypatch, run) -> list[str]:
    """What the shell is offered after these words, the last of which is not complete."""
    monkeypatch.setenv("_RANKWRIGHT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"rankwright {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" "))))
    return run().out.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("ev", ["evaluate"]),
        ("au", ["auto"]),
        ("auto --portfolio ranksvm,adar", ["ranksvm,adarank"]),
        ("auto --companions x", ["xgboost"]),
        ("auto --companions lightgbm,cat", ["lightgbm,catboost"]),
        ("auto --metric ma", ["map"]),
        ("train lambda", ["lambdamart", "lambdarank"]),
        ("rankers adar", ["adarank"]),
        ("evaluate --metrics nd", ["ndcg"]),
        ("evaluate --metrics ndcg@10,ma", ["ndcg@10,map"]),
        ("combine --metric err", ["err"]),
        ("evaluate --convention let", ["letor3", "letor4"]),
        ("train mart --set learn", ["learning_rate="]),
        ("train --set learn", []),
        ("train --save", ["--save-config"]),
    ],
)
def test_names_are_completed(words, offered, monkeypatch, run):
    assert completions(words, monkeypatch, run) == offered


def test_completion_can_be_installed(run, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_RANKWRIGHT_COMPLETE" in run("--show-completion", "bash").out


def test_help_lists_all_metrics_and_conventions():
    assert tuple(METRICS) == SHOWN_METRICS
    convention = declared("evaluate")["convention"]
    assert [name for name in CONVENTIONS if f"`{name}`" not in convention.meaning] == []

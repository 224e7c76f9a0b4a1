"""The command as a whole: help, version, exit codes, pipes, imports."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

import rankwright
from rankwright.cli.app import make_command

VERBS = ["demo", "train", "evaluate", "combine", "predict", "rank", "crossval", "rankers", "info", "generate"]
START = "import sys; from rankwright.cli import main; main()"


def start(*words: object, **options):
    command = [sys.executable, "-c", START, *map(str, words)]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_every_verb_is_known():
    assert sorted(make_command().commands) == sorted(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example_that_fits_a_terminal(run, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run(verb, "--help")
    assert (code, err) == (0, "")
    example = out[out.index("Example:") : out.index("─ ")]
    # Longer than one line, an example could not be copied.
    assert re.search(rf"^ +rankwright {verb}( .*)?$", example, re.MULTILINE)
    assert len([line for line in example.splitlines() if line.strip(" │╭")]) == 2


def test_no_verb_shows_help_and_is_bad_use(run):
    code, out, err = run()
    assert code == 2
    assert "demo" in out + err


def test_version(run):
    assert run("--version") == (0, f"rankwright {rankwright.__version__}\n", "")


def test_an_unknown_verb_is_corrected(run):
    code, out, err = run("trian")
    assert (code, out) == (2, "")
    assert "Did you mean 'train'" in err


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
    monkeypatch.setattr("rankwright.cli.info.load", raising(KeyboardInterrupt))
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
    monkeypatch.setattr("rankwright.cli.info.load", raising(error))
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


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["predict", "rank", "info", "generate", "evaluate", "--help"])
def test_quick_verbs_import_nothing_heavy(verb, fold, model, tmp_path):
    words = {
        "predict": [model, "--data", fold / "test.txt"],
        "rank": [model, "--data", fold / "test.txt"],
        "evaluate": [model, "--data", fold / "test.txt"],
        "info": [fold / "test.txt"],
        "generate": ["gaussian", "--queries", "2", "--out", tmp_path / "out.txt"],
        "--help": [],
    }
    code = (
        "import sys, atexit; heavy = {'sklearn', 'scipy', 'pandas', 'polars', 'pyarrow', 'matplotlib'}\n"
        "atexit.register(lambda: print(heavy & set(sys.modules), file=sys.stderr))\n" + START
    )
    command = [sys.executable, "-c", code, verb, *map(str, words[verb])]
    done = subprocess.run(command, text=True, capture_output=True, check=True)
    assert done.stderr.splitlines()[-1] == "set()"

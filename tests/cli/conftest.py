from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from rankwright import AdaRank
from rankwright.cli.app import main
from rankwright.data import synthetic
from rankwright.data.readers.letor import write_letor
from rankwright.models import save

if TYPE_CHECKING:
    from pathlib import Path


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command line as the shell does, and return its exit code and what it printed."""

    def run_command(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rankwright", *map(str, words)])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Outcome(code, *capsys.readouterr())

    return run_command


@pytest.fixture
def refuse(run):
    """Run a command that must end with one sentence, exit code 2 and nothing else; return the sentence."""

    def run_refused(*words: object) -> str:
        code, out, err = run(*words)
        assert code == 2, err
        assert out == ""
        assert err.startswith("rankwright: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        return err.removeprefix("rankwright: ").removesuffix("\n")

    return run_refused


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """Two small folds and a model of the first; tests only read it."""
    folder = tmp_path_factory.mktemp("collection")
    for number in (1, 2):
        truth = synthetic.RandomPolynomial.draw(number, n_features=6, n_active=3, n_terms=4)
        (folder / f"Fold{number}").mkdir()
        for seed, name in enumerate(("train.txt", "vali.txt", "test.txt")):
            write_letor(truth.sample(12, seed=seed, n_documents=8), folder / f"Fold{number}" / name)
    truth = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4)
    ranker = AdaRank(directions="both").fit(*truth.sample(12, seed=0, n_documents=8))
    save(ranker, folder / "model.rw")
    return folder


@pytest.fixture
def fold(folder) -> Path:
    return folder / "Fold1"


@pytest.fixture
def model(folder) -> Path:
    return folder / "model.rw"

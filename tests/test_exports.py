"""The public names: `rankwright/__init__.pyi` lists them once, for type checkers, Python and the command line."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import rankwright as rw

PACKAGE = Path(rw.__file__).parent
STUB = PACKAGE / "__init__.pyi"

NEW_RANKER = '''
"""A ranker that somebody adds."""

from rankwright.rankers.lambdamart import LambdaMART


class Novelty(LambdaMART):
    """Rank by something new."""

    name = "novelty"
'''


def test_every_public_name_is_imported_on_first_use():
    for name in rw.__all__:
        assert getattr(rw, name) is not None
    assert dir(rw) == sorted(rw.__all__)


def test_the_stub_names_each_thing_once_and_under_its_own_name():
    lines = STUB.read_text().splitlines()
    parts = [re.fullmatch(r"from (\.[\w.]*) import (\w+) as (\w+)", line) for line in lines]
    assert all(part and part[2] == part[3] for part in parts)
    assert sorted(part[2] for part in parts) == rw.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="LambdaSmart"):
        _ = rw.LambdaSmart
    with pytest.raises(ImportError, match="LambdaSmart"):
        from rankwright import LambdaSmart  # noqa: F401


def test_importing_the_package_imports_nothing_heavy():
    code = "import rankwright, sys; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "typer", "rich", "pandas"} & set(run.stdout.split())


@pytest.mark.slow
def test_a_ranker_is_added_by_one_file_and_one_line(tmp_path):
    copy = tmp_path / "rankwright"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    native = importlib.import_module("rankwright._native")
    shutil.copy(native.__file__, copy)
    (copy / "rankers" / "novelty.py").write_text(NEW_RANKER)
    with (copy / "__init__.pyi").open("a") as stub:
        stub.write("from .rankers.novelty import Novelty as Novelty\n")
    code = "import sys, rankwright as rw; print(rw.Novelty.__module__); from rankwright.cli import main; main()"
    # -S: an editable install redirects `rankwright` to the real one from a .pth file
    path = os.pathsep.join([str(tmp_path), *sys.path])
    run = subprocess.run(
        [sys.executable, "-S", "-c", code, "rankers", "--json"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    module, _, listed = run.stdout.partition("\n")
    assert module == "rankwright.rankers.novelty"
    assert json.loads(listed)["novelty"] == "Rank by something new."

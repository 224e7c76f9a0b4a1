"""The scripts in examples/ run as a reader would run them, in any folder."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))
NEEDS = {"other_libraries": "lightgbm", "from_a_frame": "pandas", "compare_systems": "vl_convert"}


@pytest.mark.slow
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_the_example_runs(script, tmp_path):
    pytest.importorskip(NEEDS.get(script.stem, "rankwright"))
    command = [sys.executable, "-W", "error::UserWarning:rankwright", str(script)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout


def test_there_are_at_least_six_short_examples():
    assert len(EXAMPLES) >= 6
    assert all(len(script.read_text().split("\n")) <= 35 for script in EXAMPLES)

"""What is deployed: loading and scoring need neither scikit-learn nor anything that trains."""

import subprocess
import sys

from models.examples import example
from rankwright.models import save

SCORE = """
import sys, warnings
warnings.simplefilter("error")
import rankwright
scorer = rankwright.load(sys.argv[1])
scorer.rank([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], ["a", "a"])
names = [name.split(".") for name in sys.modules]
print(*sorted({name[1] for name in names if name[0] == "rankwright" and name[1:]}))
print(*sorted({name[0] for name in names} & {"sklearn", "scipy", "pandas", "matplotlib", "typer", "rich"}))
"""
DEPLOYED = {"_native", "base", "data", "interop", "models"}


def test_scoring_imports_no_training_code(tmp_path):
    save(example(), tmp_path / "model.rw")
    command = [sys.executable, "-c", SCORE, str(tmp_path / "model.rw")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    ours, heavy = run.stdout.split("\n")[:2]
    assert set(ours.split()) <= DEPLOYED
    assert heavy == ""

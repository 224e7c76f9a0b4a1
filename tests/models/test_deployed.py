"""What is deployed: loading and scoring need neither scikit-learn nor anything that trains."""

import subprocess
import sys

from models.examples import example
from rankwright.models import save

SCORE = """
import sys, warnings
warnings.simplefilter("error")
from rankwright.models import load
scorer = load(sys.argv[1])
scorer.rank([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], ["a", "a"])
unwanted = {"sklearn", "scipy", "pandas", "matplotlib", "typer", "rich"}
parts = ("learners", "boosting", "combination", "rankers", "evaluation", "cli")
unwanted |= {f"rankwright.{part}" for part in parts}
sys.exit(" ".join(sorted(unwanted & sys.modules.keys())) or 0)
"""


def test_scoring_imports_no_training_code(tmp_path):
    save(example(), tmp_path / "model.rw")
    command = [sys.executable, "-c", SCORE, str(tmp_path / "model.rw")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")

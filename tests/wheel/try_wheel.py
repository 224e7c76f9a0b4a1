"""Install a wheel into empty environments, without a compiler on the path, and rank with it.

`make wheel` and the workflows run it, with the wheel as its argument. It ends with an error if anything fails,
takes too long or is too large.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MOST_BYTES = 12_000_000
WITHOUT = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")

FIRST_RANKING = """
import rankwright as rw
train, test = (rw.synthetic.RandomPolynomial.draw(0).sample(30, seed=seed) for seed in (0, 1))
ranker = rw.LambdaMART("ndcg@10").fit(train)
rw.save(ranker, "model.rw")
print(rw.evaluate({"LambdaMART": ranker}, test, metrics="ndcg@10"))
print("Best rows of the first query:", ranker.rank(test)[:3])
"""

# What a service does that only scores: numpy and lazy-loader are all it needs.
SCORES = """
import sys
import rankwright as rw
documents = rw.Documents([[0.1 * column for column in range(50)]] * 3, ["hats"] * 3)
assert rw.load("model.rw").predict(documents).shape == (3,)
print("Scored without", *({"scipy", "sklearn", "typer"} - {name.partition(".")[0] for name in sys.modules}))
judged = rw.synthetic.gaussian_queries(5)
for wanted in ("rw.PermuRank().fit(judged)", "rw.compare_values([1.0, 0.5, 0.2], [0.4, 0.1, 0.0])"):
    try:
        exec(wanted)
    except rw.MissingPackageError as error:
        print(error)
    else:
        sys.exit(f"{wanted} does not need scipy")
"""


class Environment:
    """A new virtual environment, whose commands find nothing else on their path."""

    def __init__(self, interpreter: str, folder: Path, name: str) -> None:
        subprocess.run([interpreter, "-m", "venv", str(folder / name)], check=True)
        self.folder = folder
        self.commands = folder / name / ("Scripts" if os.name == "nt" else "bin")
        self.variables = {**os.environ, "PATH": str(self.commands), "PYTHONPATH": ""}
        if os.name != "nt":  # there, a path is needed to find system libraries
            for tool in WITHOUT:
                if (self.commands / tool).exists():
                    sys.exit(f"{tool} is in the empty environment")

    def run(self, *command: str, fails: bool = False) -> str:
        """Run a command, show what it prints, and return that; it must fail if `fails` says so."""
        executable = str(self.commands / command[0])
        process = subprocess.run(
            [executable, *command[1:]], cwd=self.folder, env=self.variables, text=True, capture_output=True
        )
        print(process.stdout + process.stderr, end="", flush=True)
        if (process.returncode != 0) != fails:
            sys.exit(f"{' '.join(command)[:80]} ended with {process.returncode}")
        return process.stdout + process.stderr

    def pip(self, command: str, *what: str) -> None:
        self.run("python", "-m", "pip", command, "--quiet", "--only-binary", ":all:", *what)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--interpreter", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    wheel = str(options.wheel.resolve())
    size = options.wheel.stat().st_size
    if size > MOST_BYTES:
        sys.exit(f"{options.wheel.name} has {size:,} bytes, more than {MOST_BYTES:,}")
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        usual = Environment(options.interpreter, Path(folder), "usual")
        before = time.perf_counter()
        usual.pip("download", "--no-cache-dir", "--dest", "wheels", wheel)
        download = time.perf_counter() - before
        usual.pip("install", "--no-index", "--find-links", "wheels", wheel)
        usual.run("python", "-c", FIRST_RANKING)
        seconds = time.perf_counter() - started
        processor = os.times().children_user + os.times().children_system  # 0 on Windows
        usual.run("rankwright", "doctor")
        smallest = Environment(options.interpreter, Path(folder), "smallest")
        smallest.pip("install", "--no-deps", wheel, "numpy", "lazy-loader")
        smallest.run("python", "-c", SCORES)
        if "This needs typer" not in smallest.run("rankwright", "--version", fails=True):
            sys.exit("without typer, the command line does not say what it needs")
    print(
        f"{options.wheel.name}: {size:,} bytes, first ranking after {seconds:.0f} s in an empty environment: "
        f"{download:.0f} s of downloads, {processor:.0f} s of processor time in all."
    )
    if seconds > options.seconds:
        sys.exit(f"The first ranking took more than {options.seconds:.0f} s.")


if __name__ == "__main__":
    main()

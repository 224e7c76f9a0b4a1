"""Damaged storage files of searches: the trials of an undamaged file, or one sentence. Nothing else."""

import tempfile
from functools import partial
from pathlib import Path

import rankwright as rw
from fuzz.campaign import ACCEPTED, REFUSED, problem_of
from fuzz.damage import damaged, revalued
from rankwright.base.errors import InputError

DATA = rw.synthetic.gaussian_queries(8, spread=(0.2, 1.3), seed=2)
RANKER = rw.RankSVM("map")
TRIALS = 5


def prepared():
    folder = Path(tempfile.mkdtemp())
    expected = _outcome(folder / "trials.log")
    return partial(_case, folder / "damaged.log", (folder / "trials.log").read_bytes(), expected)


def _outcome(file):
    tuned = rw.tune(RANKER, DATA, trials=TRIALS, space={"C": "0.1..10"}, storage=file, workers=1)
    return [(trial.number, trial.state, trial.parameters, trial.rounds, trial.value) for trial in tuned.trials]


def _case(file, content, expected, rng):
    file.write_bytes(_damaged(content, rng))
    try:
        outcome = _outcome(file)
    except InputError as error:
        return problem_of(error) or REFUSED
    return ACCEPTED if outcome == expected else f"other trials: {outcome}"


def _damaged(content, rng):
    how, lines = rng.integers(6), content.splitlines(keepends=True)
    if how == 0:
        return damaged(content, rng)
    if how == 1:
        return revalued(content, rng)
    if how == 2:  # as a killed process leaves it
        return content[: rng.integers(len(content))]
    line, other = rng.integers(len(lines), size=2)
    if how == 3:
        lines[line], lines[other] = lines[other], lines[line]
    elif how == 4:
        lines[line:line] = [lines[other]]
    else:
        lines[line] = damaged(lines[line], rng)
    return b"".join(lines)

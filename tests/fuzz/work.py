"""Damaged work folders of AutoRanker: the model of an undamaged folder, or one sentence. Nothing else."""

import shutil
import tempfile
from functools import partial
from pathlib import Path

import rankwright as rw
from fuzz.campaign import ACCEPTED, REFUSED, problem_of
from fuzz.damage import damaged, revalued
from rankwright.base.errors import InputError
from rankwright.models.model_file import encode

DATA = rw.synthetic.gaussian_queries(6, spread=(0.2, 1.3), seed=2)


def prepared():
    folder = Path(tempfile.mkdtemp()) / "work"
    expected = _outcome(folder)
    return partial(_case, folder, expected)


def _outcome(folder):
    portfolio = [rw.AdaRank(rounds=3), rw.MART(rounds=24, min_documents=2, max_leaves=4)]
    fitted = rw.AutoRanker(portfolio=portfolio, work=folder, n_jobs=1).fit(DATA)
    return encode(fitted.model_), fitted.estimate_


def _case(whole, expected, rng):
    with tempfile.TemporaryDirectory() as temporary:
        folder = shutil.copytree(whole, Path(temporary) / "work")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        manifest = folder / "work.json"
        chosen = [manifest] if rng.random() < 0.3 else rng.choice(files, 3, replace=False)
        for path in chosen:
            _damage(path, rng)
        try:
            outcome = _outcome(folder)
        except InputError as error:
            return problem_of(error) or REFUSED
        return ACCEPTED if outcome == expected else "another model"


def _damage(path, rng):
    how = rng.integers(6)
    if how < 2:
        path.unlink()
        if how == 0:
            path.mkdir()
    elif how == 2:
        path.write_bytes(b"" if rng.random() < 0.5 else b"{}")
    else:
        content = path.read_bytes()
        path.write_bytes(revalued(content, rng) if how == 3 else damaged(content, rng))

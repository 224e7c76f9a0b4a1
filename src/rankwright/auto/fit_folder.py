"""Finished fits kept in a folder, so that a run that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.auto.entries import FinalFit, JudgedScores
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.version import __version__
from rankwright.data.alignment import require_same_number
from rankwright.models.model_file import load, save

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Container

    from rankwright.auto.entries import Entry
    from rankwright.auto.plan import Plan
    from rankwright.training.workers import OnRound

MANIFEST = "work.json"


class Work:
    """Keeps the result of every fit in a folder; without a folder nothing is kept.

    Every file is written completely or not at all, so a run may be killed at any time. A file that cannot be read
    is fitted again.

    Parameters
    ----------
    folder
        The folder, made if it does not exist; None to keep nothing.
    plan
        The data and their parts; a folder that holds fits of others is refused.
    settings
        What else the fits depend on.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, plan: Plan, settings: dict[str, Any]) -> None:
        self._folder, self._plan = None if folder is None else Path(folder), plan
        if self._folder is not None:
            _claim(self._folder, {"rankwright": __version__, "data": _fingerprint(plan), **settings})

    def scores(
        self, entry: Entry, part: int, fit: Callable[[int, OnRound], JudgedScores]
    ) -> Callable[[int, OnRound], JudgedScores]:
        """Return the fit on a part, which reads its result from the folder or writes it there."""
        path = self._path(entry, f"part-{part + 1}.npz")
        read = partial(_read_scores, {1, len(entry.rounds) or 1}, len(self._plan.all_parts[part].judges))
        return fit if path is None else _kept(path, fit, read, _write_scores)

    def scorer(self, entry: Entry, fit: Callable[[int, OnRound], FinalFit]) -> Callable[[int, OnRound], FinalFit]:
        """Return the fit on all queries, which reads its result from the folder or writes it there."""
        path = self._path(entry, "all.rw")
        return fit if path is None else _kept(path, fit, partial(_read_scorer, self._plan), _write_scorer)

    def _path(self, entry: Entry, name: str) -> Path | None:
        """Return the file of a fit; the folder of an entry is named after it and the hash of its settings."""
        if self._folder is None:
            return None
        settings = hashlib.sha256(repr((entry.ranker, entry.seeds)).encode()).hexdigest()[:12]
        return self._folder / f"{re.sub(r'[^a-z0-9]+', '-', entry.name.lower()).strip('-')}-{settings}" / name


def _kept(path: Path, fit: Any, read: Callable[[Path], Any], write: Callable[[Path, Any], None]) -> Any:
    def read_or_fit(n_threads: int, on_round: OnRound) -> Any:
        if path.exists():
            try:
                return read(path)
            except Exception as error:  # a damaged archive may raise anything
                warnings.warn(f"{path} cannot be read and is fitted again: {error}", stacklevel=2)
        result = fit(n_threads, on_round)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, result)
        return result

    return read_or_fit


def _read_scores(n_rows: Container[int], n_documents: int, path: Path) -> JudgedScores:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        scores, seconds = kept["scores"], float(kept["seconds"])
    if scores.ndim != 2 or len(scores) not in n_rows or scores.shape[1] != n_documents:
        raise InputError(f"its scores have the shape {scores.shape}")
    if scores.dtype != np.float64 or not np.isfinite(scores).all():
        raise InputError("its scores are not finite numbers")
    return JudgedScores(scores, seconds)


def _write_scores(path: Path, result: JudgedScores) -> None:
    with write_whole(path) as file:
        np.savez(file, scores=result.scores, seconds=result.seconds)


def _read_scorer(plan: Plan, path: Path) -> FinalFit:
    scorer = load(path)
    require_same_number(scorer.n_features, plan.whole.n_features)
    seconds = scorer.about.get("seconds")
    return FinalFit(scorer, float(seconds) if isinstance(seconds, int | float) else 0.0)


def _write_scorer(path: Path, result: FinalFit) -> None:
    save(result.scorer.described(about={**result.scorer.about, "seconds": result.seconds}), path)


def _claim(folder: Path, wanted: dict[str, Any]) -> None:
    """Write the folder's manifest, or refuse the folder if it has another one."""
    manifest = folder / MANIFEST
    wanted = json.loads(json.dumps(wanted))
    if not manifest.exists():
        _require_empty(folder)
        with write_whole(manifest) as file:
            file.write(json.dumps(wanted, indent=2).encode())
        return
    found = _read_manifest(manifest)
    different = [name for name in wanted | found if name not in found or found[name] != wanted.get(name)]
    if different:
        raise InputError(
            f"The work folder {folder} belongs to a run that differs in {' and '.join(different)}: "
            "choose another folder, or delete this one."
        )


def _require_empty(folder: Path) -> None:
    """Make the folder, or refuse it if it has other files than what a killed run may have left."""
    if folder.exists() and (not folder.is_dir() or any(one.suffix != ".part" for one in folder.iterdir())):
        raise InputError(f"The work folder {folder} must be new, empty, or that of an earlier run.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The work folder {folder} cannot be made: {error.strerror}.") from None


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{path} cannot be read: choose another work folder, or delete this one.")
    return found


def _fingerprint(plan: Plan) -> str:
    """Return a hash of the judged documents, their order apart."""
    data, digest = plan.whole.data, hashlib.sha256()
    for array in (data.X, data.y, data.groups.sizes):
        digest.update(np.ascontiguousarray(array).data)
    digest.update(repr((data.feature_names, data.categories, plan.folds, plan.repeats)).encode())
    return digest.hexdigest()

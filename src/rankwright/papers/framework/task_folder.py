"""Finished tasks in a folder, so that a run that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.base.arrays import Doubles

Outcome = dict[tuple[str, str], "Doubles"]
"""What a task measured: arrays by model and name of the measure."""

SECONDS = "seconds"


class Work:
    """Keeps the outcome of every task in a file that is named after all that it depends on.

    A task whose declaration has changed has another name, so an outcome is never mistaken for another one. Every
    file is written completely or not at all.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"The folder {folder} for results cannot be made: {error.strerror}.") from None
        if not os.access(folder, os.W_OK):
            raise InputError(f"The folder {folder} for results cannot be written to.")
        self._folder = folder

    def path(self, *names: str, settings: str) -> Path:
        """Return the file of a task: its names, and the hash of its settings and of the version."""
        readable = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in names)
        mark = hashlib.sha256(f"{__version__}\n{names}\n{settings}".encode()).hexdigest()[:16]
        return self._folder / f"{readable[:120]}-{mark}.npz"


def read_outcome(path: Path) -> Outcome | None:
    """Return what a task measured; None if the file is not there or cannot be read: the task runs again then."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            names = json.loads(str(kept["names"]))
            return {(model, measured): kept[f"array{n}"] for n, (model, measured) in enumerate(names)}
    except FileNotFoundError:
        return None
    except Exception as error:  # a damaged archive may raise anything
        warnings.warn(f"{path} cannot be read, so its fit is repeated: {error}", stacklevel=2)
        return None


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Keep what a task measured."""
    arrays: dict[str, Any] = {f"array{n}": np.asarray(values) for n, values in enumerate(outcome.values())}
    with write_whole(path) as file:
        np.savez_compressed(file, names=json.dumps(list(outcome)), **arrays)

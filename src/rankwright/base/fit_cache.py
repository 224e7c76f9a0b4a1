"""Caches fits so that runs can resume: one file per fit, in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

Fit = TypeVar("Fit")

MANIFEST = "work.json"
LONGEST_NAME = 120


@dataclass(frozen=True)
class Encoding(Generic[Fit]):
    """How a fit is read from a file and written to one; `read` raises an exception for an invalid file."""

    read: Callable[[Path], Fit]
    write: Callable[[Fit, Path], None]


class FitCache:
    """Files of finished fits in a folder.

    `Encoding.write` must write a file completely or not at all, so that a run may be killed at any time, and
    `Encoding.read` must not unpickle anything.

    Parameters
    ----------
    folder
        The folder; it is made if it does not exist.
    manifest
        What all fits depend on, such as the data. The folder is then that of one run, and one with another
        manifest, or of another version of rankwright, is refused. Without a manifest, fits of several runs share
        the folder, and the settings of each must have everything.
    """

    def __init__(self, folder: str | os.PathLike[str], manifest: Mapping[str, Any] | None = None) -> None:
        self.folder, self._warned = Path(folder), False
        if manifest is None:
            _make(self.folder)
        else:
            _claim(self.folder, {"rankwright": __version__, **manifest})

    def path(self, *names: str, settings: str) -> Path:
        """Return the path of a fit, without a suffix: readable names, and a hash of the settings."""
        readable = "-".join(re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") for name in names)
        return self.folder / f"{readable[:LONGEST_NAME]}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"

    def read(self, path: Path, encoding: Encoding[Fit]) -> Fit | None:
        """Return a fit; None if it is not there, or with a warning if its file is invalid."""
        try:
            return encoding.read(path) if path.is_file() else None
        except Exception as error:  # a damaged archive may raise anything
            warnings.warn(f"{path} cannot be read and is fitted again: {error}", stacklevel=3)
            return None

    def write(self, fit: Fit, path: Path, encoding: Encoding[Fit]) -> None:
        """Keep a fit; InputError if that cannot be done."""
        _make(path.parent)
        encoding.write(fit, path)

    def read_or_make(self, path: Path, encoding: Encoding[Fit], make: Callable[..., Fit], *arguments: Any) -> Fit:
        """Return a fit that is kept, or make it and keep it; the first one that cannot be kept gives a warning."""
        fit = self.read(path, encoding)
        if fit is not None:
            return fit
        fit = make(*arguments)
        try:
            self.write(fit, path, encoding)
        except InputError as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"The work folder {self.folder} cannot keep every fit, so that a later run may have to repeat "
                    f"some; the model is the same: {error}",
                    stacklevel=2,
                )
        return fit


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file by name; nothing is unpickled, and every checksum is verified."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
        damaged = kept.zip.testzip()  # np.load does not see damage behind the end of what a changed shape reads
        if damaged is not None:
            raise InputError(f"its {damaged} is damaged")
        return dict(kept)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The work folder {folder} cannot be made: {error.strerror}.") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"The work folder {folder} cannot be written to.")


def _claim(folder: Path, wanted: Mapping[str, Any]) -> None:
    """Write the folder's manifest, or refuse the folder if it has another one."""
    manifest = folder / MANIFEST
    wanted = json.loads(json.dumps(wanted))
    if not manifest.exists():
        # A killed run may have left a part of its manifest.
        if folder.exists() and (not folder.is_dir() or any(file.suffix != ".part" for file in folder.iterdir())):
            raise InputError(f"The work folder {folder} must be new, empty, or that of an earlier run.")
        _make(folder)
        with write_whole(manifest) as file:
            file.write(json.dumps(wanted, indent=2).encode())
        return
    kept = _read_manifest(manifest)
    different = [name for name in {**wanted, **kept} if name not in kept or kept[name] != wanted.get(name)]
    if different:
        raise InputError(
            f"The work folder {folder} belongs to a run that differs in {' and '.join(different)}: "
            "choose another folder, or delete this one."
        )


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict):
        raise InputError(f"{path} cannot be read: choose another work folder, or delete this one.")
    return manifest

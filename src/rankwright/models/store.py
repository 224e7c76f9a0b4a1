"""Models saved to files and loaded from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rankwright.data.files import write_whole
from rankwright.errors import InputError
from rankwright.models.format import MAGIC, decode, encode
from rankwright.models.scorer import Scorer

if TYPE_CHECKING:
    import os


class Fitted(Protocol):
    """A ranker after `fit`."""

    @property
    def model_(self) -> Scorer:
        """The scorer it has learned."""


def save(model: Scorer | Fitted, path: str | os.PathLike[str]) -> None:
    """Write a scorer, or a fitted ranker's scorer, to one file: whole or not at all."""
    scorer = model if isinstance(model, Scorer) else getattr(model, "model_", None)
    if not isinstance(scorer, Scorer):
        raise InputError(f"This {type(model).__name__} is not a model, nor a ranker that was fitted.")
    content = encode(scorer)
    with write_whole(path) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Scorer:
    """Read the scorer in a model file; nothing in the file is ever run."""
    return decode(_content(Path(path)), str(path))


def _content(path: Path) -> bytes:
    try:
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        if not path.is_file():  # reading a pipe or a device might never end
            raise InputError(f"{path} is not a file.")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start  # never all of some huge other file
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None

"""Models saved to files and loaded from them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.models.fitted import scorer_of
from rankwright.models.model_file import MAGIC, decode, encode

if TYPE_CHECKING:
    import os

    from rankwright.models.fitted import Fitted
    from rankwright.models.scorer import Scorer


def save(model: Scorer | Fitted, path: str | os.PathLike[str]) -> None:
    """Write a scorer, or the scorer of a fitted ranker, to a file: completely or not at all."""
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"save takes a scorer or a fitted ranker, not this {type(model).__name__}.")
    content = encode(scorer)
    with write_whole(path) as file:
        file.write(content)


def load(path: str | os.PathLike[str]) -> Scorer:
    """Read the scorer in a model file; nothing in the file is executed."""
    return decode(_content(Path(path)), str(path))


def _content(path: Path) -> bytes:
    try:
        if not path.exists():
            raise InputError(f"There is no file {path}.")
        if not path.is_file():  # reading a pipe or a device might never end
            raise InputError(f"{path} is not a file.")
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
            return start + file.read() if start == MAGIC else start  # some other file may be huge
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None

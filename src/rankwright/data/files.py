"""Files that are written whole or not at all."""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rankwright.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that takes the name `path` once the block ends well, and vanishes otherwise."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as file:
            yield file
        unfinished.replace(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)

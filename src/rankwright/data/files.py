"""Files: read with a sentence for what is wrong, written whole or not at all."""

from __future__ import annotations

import gzip
import os
import secrets
import stat
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rankwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Yield a file to read bytes from, decompressed where its name ends with .gz."""
    try:
        with gzip.open(path, "rb") if is_compressed(path) else Path(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path} is not a whole gzip file: it is truncated or corrupt.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Return whether a file's name says that it is compressed."""
    return os.fspath(path).endswith(".gz")


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that takes its name once all of it is on disk; an exception leaves the old file.

    The file ends up with the permissions a plain `open` would give it, and a symbolic link is followed.
    """
    target = Path(path).resolve()
    temporary = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        mode = _mode_of(target)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:  # Ctrl-C too must leave nothing behind
        with suppress(OSError):
            temporary.unlink()
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """Return the permissions of the file that is there, None if there is none; refuse what is not a file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):  # replacing a device such as /dev/null would break the machine
        raise InputError(f"{target} is there already and is not a file.")
    return stat.S_IMODE(status.st_mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system lets a folder be opened."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:  # some file systems cannot; the file itself is safe
        pass
    finally:
        os.close(descriptor)

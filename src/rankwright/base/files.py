"""Opens files with readable errors, and writes them atomically."""

from __future__ import annotations

import gzip
import hashlib
import os
import secrets
import shutil
import stat
import zlib
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where stale parts stay
    fcntl = None  # type: ignore[assignment]


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Open a file for reading bytes, decompressed if its name ends with .gz."""
    try:
        with gzip.open(path, "rb") if is_compressed(path) else Path(path).open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder, not a file.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{path} is not a complete gzip file: it is truncated or corrupt.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def is_compressed(path: str | os.PathLike[str]) -> bool:
    """Return whether the name of a file ends with .gz."""
    return os.fspath(path).endswith(".gz")


def require_writable(path: Path) -> None:
    """Refuse a file that could not be written, before the work whose result it is to hold."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if not os.access(folder := path.resolve().parent, os.W_OK):  # where a symbolic link leads
        raise InputError(f"{path} cannot be written: nothing can be written to the folder {folder}.")


@contextmanager
def write_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file that replaces the target once it is complete and on disk.

    After an exception the target is unchanged. The file gets the permissions that a plain `open` would give it. A
    symbolic link is followed. Until then the content is in a hidden `.part` file in the same folder, which the
    process keeps locked. If the process is killed, the next write to the same target removes that file.
    """
    target = Path(path).resolve()
    part = None
    try:
        mode = _mode_of(target)
        remove_stale_parts(target.parent, _part_name(target, ANY))
        part, descriptor = _new_part(target)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if mode is not None:
                part.chmod(mode)
            part.replace(target)  # still locked
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:  # Ctrl-C too must leave nothing behind
        if part is not None:
            with suppress(OSError):
                part.unlink()
    sync_folder(target.parent)


ANY = "?" * 16
ANY_PART = f".{ANY}-{ANY}.part"


def _part_name(target: Path, token: str) -> str:
    """Return the name of a part of the target: a hash, since the target's name may be as long as names can be."""
    return f".{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-{token}.part"


def _new_part(target: Path) -> tuple[Path, int]:
    """Create a locked part of the target; return its path and descriptor."""
    while True:
        part = target.with_name(_part_name(target, secrets.token_hex(8)))
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        with suppress(OSError):  # without locks, a stale part is never removed
            lock_file(descriptor)
        if os.fstat(descriptor).st_nlink > 0:
            return part, descriptor
        os.close(descriptor)  # another writer removed it before it was locked


def remove_stale_parts(folder: Path, pattern: str = ANY_PART) -> None:
    """Remove the parts of files in a folder that no living process has locked."""
    for part in folder.glob(pattern):
        with suppress(OSError):
            descriptor = os.open(part, os.O_RDWR)
            try:
                lock_file(descriptor, wait=False)
                part.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder whose name begins with the prefix, and remove it after the block.

    If the process is killed, the next one that makes a folder with the prefix there removes it.
    """
    for stale in parent.glob(f"{prefix}*"):
        with suppress(OSError), _locked_folder(stale, wait=False):
            shutil.rmtree(stale)
    with ExitStack() as stack:
        while True:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix=prefix, dir=parent)))
            with suppress(OSError):  # without locks, a stale folder is never removed
                stack.enter_context(_locked_folder(folder, wait=True))
            if folder.exists():  # no other process removed it before it was locked
                break
        yield folder


@contextmanager
def _locked_folder(folder: Path, *, wait: bool) -> Iterator[None]:
    """Lock a folder; OSError if that cannot be done."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock_file(descriptor, wait=wait)
        yield
    finally:
        os.close(descriptor)


def lock_file(descriptor: int, *, wait: bool = True) -> None:
    """Lock a file for this process; OSError if that cannot be done."""
    if fcntl is None:
        raise OSError("this system has no file locks")
    fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _mode_of(target: Path) -> int | None:
    """Return the permissions of an existing file, None if there is none; refuse devices and the like."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):  # replacing a device such as /dev/null would break the machine
        raise InputError(f"{target} exists and is not a file.")
    return stat.S_IMODE(status.st_mode)


def sync_folder(folder: Path) -> None:
    """Make the new name survive a power cut, where the system can open a folder."""
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


FileState: TypeAlias = tuple[int, ...] | None


def file_state(path: Path) -> FileState:
    """Return numbers that differ after a file was written or replaced; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns

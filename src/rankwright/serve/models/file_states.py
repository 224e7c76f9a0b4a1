"""Whether a file has changed since it was loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

FileState: TypeAlias = tuple[int, ...] | None


def file_state(path: Path) -> FileState:
    """Return numbers that differ after a file was written or replaced; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns

"""How much memory this process may use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


@cache
def available_memory() -> int:
    """Return the bytes this process may use: the machine's memory, cut by the container's limit."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), _cgroup_bytes()]
    return min(limit for limit in limits if limit is not None)


def _cgroup_bytes(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return a cgroup's limit in bytes (version 2, then 1), or None where there is none."""
    for limit_file in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            return int((root / limit_file).read_text())
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None

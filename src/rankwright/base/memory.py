"""The memory that this process can still allocate."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Limit, usage and reclaimable page cache of a container: cgroup version 2, then version 1.
_CGROUP_FILES = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def available_memory() -> int:
    """Return the number of bytes that the machine and the container allow to allocate now."""
    bounds = [_machine_bytes(), _container_bytes()]
    return min(bound for bound in bounds if bound is not None)


def _machine_bytes(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the machine's available memory, or its total memory if the system does not report that."""
    available = _number_after("MemAvailable:", meminfo)
    if available is not None:
        return available * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _container_bytes(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the memory left within the limit of the container (cgroup), or None if there is no limit."""
    for limit_file, usage_file, statistics, cache in _CGROUP_FILES:
        limit = _number_after("", root / limit_file)
        if limit is not None:
            used = _number_after("", root / usage_file) or 0
            return max(0, limit - used + (_number_after(cache, root / statistics) or 0))
    return None


def _number_after(word: str, path: Path) -> int | None:
    """Return the number after a word at the start of a line, or None if there is no such file or number."""
    try:
        match = re.search(rf"^{word}\s*([0-9]+)\b", path.read_text(), flags=re.MULTILINE)
    except OSError:
        return None
    return None if match is None else int(match[1])

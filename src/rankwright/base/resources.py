"""The threads and the memory that this process may use."""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from functools import cache
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError, parameter, requiring

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import SupportsIndex


MAX_THREADS = 1024  # more than the native code ever starts


def resolve_threads(n_jobs: SupportsIndex | None) -> int:
    """Return the number of threads to use: `n_jobs`, or all that this process may use for None and -1."""
    if n_jobs is None:
        return available_threads()
    try:  # isinstance(n_jobs, SupportsIndex) takes as long as scoring a document
        count = 0 if isinstance(n_jobs, bool) else index(n_jobs)
    except TypeError:
        count = 0
    if count == -1:
        return available_threads()
    if count < 1:
        raise InputError(f"{parameter('n_jobs')} must be None, -1 or a positive integer, not {n_jobs!r}.")
    return min(count, MAX_THREADS)


@contextmanager
def one_thread_for_libraries() -> Iterator[None]:
    """Keep numpy's linear algebra to one thread: waking others costs more than it saves on small matrices."""
    with requiring("threadpoolctl"):
        from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


@cache
def available_threads() -> int:
    """Return the number of cores that this process may use: its CPU affinity, limited by the container's quota."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, min(cores, _cgroup_cores() or cores))


def _cgroup_cores(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the number of whole cores in a cgroup's CPU quota (version 2, then 1), or None without a quota."""
    for quota_file, period_file in (("cpu.max", None), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            words = (root / quota_file).read_text().split()
            if period_file is not None:
                words += (root / period_file).read_text().split()
            quota, period = int(words[0]), int(words[1])
        except (OSError, ValueError, IndexError):  # no such file, or "max"
            continue
        if quota > 0 and period > 0:
            return max(1, quota // period)
    return None


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
    if sys.platform == "win32":
        return _windows_bytes()
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _windows_bytes() -> int:
    """Return the available memory as Windows reports it."""
    import ctypes

    words = (ctypes.c_uint64 * 8)()  # MEMORYSTATUSEX: two numbers of 32 bits, then total and available bytes, ...
    ctypes.c_uint32.from_buffer(words).value = ctypes.sizeof(words)
    if not ctypes.CDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(words)):
        raise OSError("Windows does not say how much memory there is")
    return words[2]


def _container_bytes(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the memory left within the limit of the container (cgroup), or None if there is no limit."""
    for limit_file, usage_file, statistics, page_cache in _CGROUP_FILES:
        limit = _number_after("", root / limit_file)
        if limit is not None:
            used = _number_after("", root / usage_file) or 0
            return max(0, limit - used + (_number_after(page_cache, root / statistics) or 0))
    return None


def _number_after(word: str, path: Path) -> int | None:
    """Return the number after a word at the start of a line, or None if there is no such file or number."""
    try:
        match = re.search(rf"^{word}\s*([0-9]+)\b", path.read_text(), flags=re.MULTILINE)
    except OSError:
        return None
    return None if match is None else int(match[1])

"""The cluster of a fit: its engine, its source of documents and its checkpoint."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.array_files import MAGIC
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import scratch_folder
from rankwright.base.resources import available_threads
from rankwright.distributed.checkpoint import Checkpoint
from rankwright.distributed.coordinator import Coordinator
from rankwright.distributed.engine import Engine
from rankwright.distributed.processes import Processes
from rankwright.training.binned_data import BinnedData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankwright.distributed.partition import PartRanker


class Cluster(NamedTuple):
    """Where a fit runs; `n_partitions` None: one per worker."""

    engine: Engine
    checkpoint: Checkpoint | None = None
    n_partitions: int | None = None

    @contextmanager
    def coordinator(self, data: BinnedData, ranker: PartRanker, n_jobs: int | None) -> Iterator[Coordinator]:
        """Start workers; end them with the block."""
        if data.max_memory is not None:
            raise InputError(f"A fit on a cluster takes no {parameter('max_memory')}: more workers need less.")
        if n_jobs is None:  # processes share this machine; elsewhere a worker has the core that its engine gave it
            shares = isinstance(self.engine, Processes)
            n_jobs = max(1, available_threads() // self.engine.n_workers) if shares else 1
        coordinator = Coordinator(self.engine, data, ranker, n_jobs, self.n_partitions)
        try:
            yield coordinator
        finally:
            coordinator.close()


@contextmanager
def opened_cluster(cluster: Any, checkpoint: Any) -> Iterator[Cluster]:
    """Return the cluster that `fit` was given: an engine, or a number of processes, which end with the block."""
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        checkpoint = Checkpoint(checkpoint)
    if isinstance(cluster, Cluster):
        yield cluster._replace(checkpoint=checkpoint)
    elif isinstance(cluster, Engine):
        yield Cluster(cluster, checkpoint)
    elif isinstance(cluster, int) and not isinstance(cluster, bool) and cluster >= 1:
        with Processes(cluster) as engine:
            yield Cluster(engine, checkpoint)
    else:
        raise InputError(
            f"{parameter('cluster')} must be a number of processes or an engine such as "
            f"rw.distributed.Ray(), not {cluster!r}."
        )


@contextmanager
def opened_source(source: Any, bins: dict[str, Any]) -> Iterator[BinnedData]:
    """Return the documents of a fit on a cluster as binned data; what is not binned is binned first, with `bins`.

    Files are binned beside themselves. The workers of a Ray Dataset or a Dask DataFrame write it as Parquet files.
    """
    if isinstance(source, BinnedData):
        yield source
    elif isinstance(source, str | os.PathLike) and _is_binned(Path(source)):
        yield BinnedData(source)
    elif isinstance(source, str | os.PathLike):
        path = Path(source)
        with scratch_folder(path if path.is_dir() else path.parent, ".fit-") as folder:
            yield BinnedData.create(source, folder / "documents.binned", **bins)
    else:
        write = _writer(source)
        with TemporaryDirectory(prefix="fit-") as folder:
            parts = Path(folder) / "parts"
            parts.mkdir()
            write(str(parts))
            yield BinnedData.create(parts, Path(folder) / "documents.binned", **bins)


def _writer(source: Any) -> Callable[[str], Any]:
    """Return the method of a Ray Dataset or a Dask DataFrame that writes it as Parquet files into a folder."""
    kind = type(source).__module__.partition(".")[0]
    if kind == "ray" and hasattr(source, "write_parquet"):
        return source.write_parquet  # type: ignore[no-any-return]
    if kind.startswith("dask") and hasattr(source, "to_parquet"):
        return partial(source.to_parquet, write_index=False, compute_kwargs=_scheduler())
    raise InputError(
        f"{parameter('cluster')} needs documents in files that all workers see, not {type(source).__name__}: "
        "give a path or pattern of files, BinnedData, a Ray Dataset or a Dask DataFrame."
    )


def _scheduler() -> dict[str, str]:
    """Return where Dask computes: with its current client, or, as a client may have been closed, on threads."""
    try:
        import_module("distributed").get_client()
    except (ModuleNotFoundError, ValueError):
        return {"scheduler": "threads"}
    return {}


def _is_binned(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC

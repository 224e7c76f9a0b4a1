"""The option that says on which cluster fits run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import is_binned
from rankwright.cli.options.option_groups import MORE, option
from rankwright.cli.output.console import note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from rankwright.distributed.checkpoint import Checkpoint
    from rankwright.distributed.engine import Engine

CLUSTER = option(
    "Where fits run: a number of processes, ray or dask for a cluster of this machine, or the address of a "
    "cluster, such as ray://10.0.0.1:10001 or tcp://10.0.0.1:8786 (Dask).",
    "WHERE",
    panel=MORE,
)

CHECKPOINT = option(
    "With --cluster: file of the rounds so far, from which the same command resumes.", "FILE", panel=MORE
)
MAX_MEMORY = option(
    "Bytes that training from a binned file may take; codes are then read from disk in blocks.",
    "BYTES",
    min=1,
    panel=MORE,
)


@contextmanager
def opened_engine(cluster: str | None) -> Iterator[Engine | None]:
    """Return the engine that the option names; None without it."""
    if cluster is None:
        yield None
        return
    with _engine(cluster) as engine:
        yield engine


@contextmanager
def fits_sent(cluster: str | None, workers: int | None = None) -> Iterator[None]:
    """Let the engine that the option names, if any, run whole fits."""
    if cluster is not None and workers is not None:
        raise InputError("Give --cluster or --workers, not both: a cluster runs as many fits as it has workers.")
    with opened_engine(cluster) as engine:
        if engine is None:
            yield
            return
        from rankwright.distributed.whole_fits import fits_on

        with fits_on(engine):
            yield


def check_source(path: Path, *, cluster: str | None, asked: Mapping[str, Any]) -> None:
    """Refuse a cluster without a binned file, and options that a binned file has no values for."""
    if not is_binned(path):
        if cluster is not None:
            raise InputError(
                f"--cluster needs a binned file that all workers see: rankwright bin {path} --out FILE."
            )
        return
    for name, value in asked.items():
        if value:
            raise InputError(f"{name} needs the values of features, and {path} holds bins: leave it out.")


def checked_checkpoint(path: Path | None) -> Checkpoint | None:
    """Return the checkpoint of the option, if any; one that cannot be written is refused."""
    if path is None:
        return None
    from rankwright.distributed import Checkpoint

    if path.is_file():
        note(f"resumes from the rounds in {path}")
    return Checkpoint(path)


def _engine(cluster: str) -> Engine:
    from rankwright.distributed import Dask, Processes, Ray

    if cluster.isdecimal() and int(cluster):
        return Processes(int(cluster))
    kind, _, address = cluster.partition("://")
    if kind == "ray":
        return Ray(cluster if address else None)
    if kind == "dask" and not address:
        return Dask()
    if kind in ("tcp", "tls", "ws", "wss", "ucx") and address:
        return Dask(cluster)
    raise InputError(
        f"--cluster is a number of processes, ray, dask, ray://HOST:PORT or tcp://HOST:PORT, not {cluster!r}."
    )

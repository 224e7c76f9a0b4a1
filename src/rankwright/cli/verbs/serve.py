"""`rankwright serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.cli.options.option_groups import argument, option, option_group

if TYPE_CHECKING:
    from rankwright.serve.settings import Pair

DAY = 86_400  # seconds
PACKAGES = ("httptools", "msgspec", "prometheus_client", "uvicorn")


@option_group
class ServiceOptions:
    """Where a service listens, who may ask, how much and how long."""

    host: str = option("Address to listen at; 0.0.0.0 for all.", "ADDRESS", default="127.0.0.1")
    port: int = option("Port; 0 for any that is free.", "N", min=0, max=65535, default=8000)
    workers: int = option("Number of processes.", "N", min=1, max=256, default=1)
    tokens: Path | None = option(
        "File with one bearer token per line; requests without one get health only.", "FILE"
    )
    allow_host: list[str] | None = option(
        "Name in the header Host to answer; repeatable. By default any, but without tokens at a loopback address "
        "only localhost, 127.0.0.1, [::1] and --host.",
        "NAME",
    )
    max_body: int = option("Maximum size of the body of a request.", "MIB", min=1, max=1024, default=32)
    max_documents: int = option("Maximum number of documents per request.", "N", min=1, default=10_000)
    timeout: float = option("Time to read a request, and to answer it.", "SECONDS", min=0.1, max=DAY, default=30.0)
    reload: float = option(
        "Time between checks for changed files; 0 to check only at SIGHUP.", "SECONDS", min=0, max=DAY, default=1.0
    )
    grace: float = option(
        "Time for which new requests are still answered after SIGTERM.", "SECONDS", min=0, max=DAY, default=1.0
    )
    log_problems: bool = option("Log only requests that failed, not all.", default=False)

    def settings(self) -> dict[str, Any]:
        """Return the options as settings of a service."""
        from rankwright.serve.settings import MEBIBYTE

        given = {name: value for name, value in vars(self).items() if name not in ("log_problems", "allow_host")}
        return given | {
            "allow_hosts": tuple(self.allow_host or ()),
            "max_body": self.max_body * MEBIBYTE,
            "log_requests": not self.log_problems,
        }


def serve(
    *,
    service: ServiceOptions,
    models: list[str] | None = argument(
        "Model files: FILE, NAME=FILE or NAME@VERSION=FILE. The first answers requests that name none, the "
        "last version of a name those without a version.",
        "MODEL...",
    ),
    index: Path | None = option("Index to search at /search, ranked by the models if there are any.", "DIR"),
    searcher: Path | None = option("Saved searcher, or the folder of its index, instead of --index.", "PATH"),
    candidates: int = option("With --index: number of documents that a model ranks.", "N", min=1, default=100),
    shadow: list[str] | None = option(
        "Model to score and log beside the one that answers; repeatable.", "[LIVE=]NAME"
    ),
    interleave: list[str] | None = option(
        "Model to interleave with LIVE, by default the first; repeatable.", "[LIVE=]NAME"
    ),
    interleave_fraction: float = option("Fraction of the requests to interleave.", "F", min=0, max=1, default=1.0),
) -> None:
    """Answer requests to rank, score and explain documents, over HTTP.

    Example:

        rankwright serve model.rw --port 8000
    """
    _require_packages()
    from rankwright.serve.http.workers import serve as run
    from rankwright.serve.settings import ModelSource, Settings

    sources = tuple(ModelSource.parse(text) for text in models or ())
    first = sources[0].name if sources else ""
    pairs = (_pairs(shadow, "--shadow", first), _pairs(interleave, "--interleave", first))
    options = service.settings() | {"shadows": pairs[0], "interleaved": pairs[1]}
    options["interleave_fraction"] = interleave_fraction
    run(Settings(sources, index=index, searcher=searcher, candidates=candidates, **options))


def _pairs(given: list[str] | None, name: str, first: str) -> tuple[Pair, ...]:
    from rankwright.serve.settings import Pair

    if given and not first:
        raise InputError(f"{name} needs models.")
    return tuple(Pair.parse(text, name, first) for text in given or ())


def _require_packages() -> None:
    from importlib.util import find_spec

    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingPackageError(f"rankwright serve needs {', '.join(absent)}: pip install 'rankwright[serve]'.")

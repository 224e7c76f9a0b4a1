"""`rankwright serve`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.cli.options.option_groups import takes_options

if TYPE_CHECKING:
    from rankwright.serve.settings import Pair

DAY = 86_400  # seconds
PACKAGES = ("httptools", "msgspec", "prometheus_client", "uvicorn")


def _option(name: str, metavar: str, words: str, **limits: Any) -> Any:
    return typer.Option(name, metavar=metavar, help=words, **limits)


@dataclass(frozen=True)
class ServiceOptions:
    """Where a service listens, who may ask, how much and how long."""

    host: Annotated[str, _option("--host", "ADDRESS", "Address to listen at; 0.0.0.0 for all.")] = "127.0.0.1"
    port: Annotated[int, _option("--port", "N", "Port; 0 for any that is free.", min=0, max=65535)] = 8000
    workers: Annotated[int, _option("--workers", "N", "Number of processes.", min=1, max=256)] = 1
    tokens: Annotated[
        Path | None,
        _option("--tokens", "FILE", "File with one bearer token per line; requests without one get health only."),
    ] = None
    max_body: Annotated[
        int, _option("--max-body", "MIB", "Maximum size of the body of a request.", min=1, max=1024)
    ] = 32
    max_documents: Annotated[
        int, _option("--max-documents", "N", "Maximum number of documents per request.", min=1)
    ] = 10_000
    timeout: Annotated[
        float, _option("--timeout", "SECONDS", "Time to read a request, and to answer it.", min=0.1, max=DAY)
    ] = 30.0
    reload: Annotated[
        float,
        _option(
            "--reload",
            "SECONDS",
            "Time between checks for changed files; 0 to check only at SIGHUP.",
            min=0,
            max=DAY,
        ),
    ] = 1.0
    grace: Annotated[
        float,
        _option(
            "--grace", "SECONDS", "Time for which new requests are still answered after SIGTERM.", min=0, max=DAY
        ),
    ] = 1.0
    log_problems: Annotated[
        bool, typer.Option("--log-problems", help="Log only requests that failed, not all.")
    ] = False

    def settings(self) -> dict[str, Any]:
        """Return the options as settings of a service."""
        from rankwright.serve.settings import MEBIBYTE

        given = {name: value for name, value in vars(self).items() if name != "log_problems"}
        return given | {"max_body": self.max_body * MEBIBYTE, "log_requests": not self.log_problems}


@takes_options(ServiceOptions, "service")
def serve(
    service: ServiceOptions,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...",
            help="Model files: FILE, NAME=FILE or NAME@VERSION=FILE. The first answers requests that name none, "
            "the last version of a name those without a version.",
        ),
    ] = None,
    index: Annotated[
        Path | None,
        _option("--index", "DIR", "Index to search at /search, ranked by the models if there are any."),
    ] = None,
    searcher: Annotated[
        Path | None,
        _option("--searcher", "PATH", "Saved searcher, or the folder of its index, instead of --index."),
    ] = None,
    candidates: Annotated[
        int, _option("--candidates", "N", "With --index: number of documents that a model ranks.", min=1)
    ] = 100,
    shadow: Annotated[
        list[str] | None,
        _option("--shadow", "[LIVE=]NAME", "Model to score and log beside the one that answers; repeatable."),
    ] = None,
    interleave: Annotated[
        list[str] | None,
        _option("--interleave", "[LIVE=]NAME", "Model to interleave with LIVE, by default the first; repeatable."),
    ] = None,
) -> None:
    """Answer requests to rank, score and explain documents, over HTTP.

    Example:

        rankwright serve model.rw --port 8000
    """
    _require_packages()
    from rankwright.serve.http.workers import serve as run
    from rankwright.serve.settings import ModelSource, Settings

    sources = tuple(ModelSource.parse(one) for one in models or ())
    first = sources[0].name if sources else ""
    pairs = (_pairs(shadow, "--shadow", first), _pairs(interleave, "--interleave", first))
    options = service.settings() | {"shadows": pairs[0], "interleaved": pairs[1]}
    run(Settings(sources, index=index, searcher=searcher, candidates=candidates, **options))


def _pairs(given: list[str] | None, option: str, first: str) -> tuple[Pair, ...]:
    from rankwright.serve.settings import Pair

    if given and not first:
        raise InputError(f"{option} needs models.")
    return tuple(Pair.parse(one, option, first) for one in given or ())


def _require_packages() -> None:
    from importlib.util import find_spec

    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        raise MissingPackageError(f"rankwright serve needs {', '.join(absent)}: pip install 'rankwright[serve]'.")

"""Settings of a service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rankwright.base.errors import InputError

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
REFERENCE = re.compile(rf"({NAME})(?:@({NAME}))?")
FIRST_VERSION = "1"
MEBIBYTE = 1 << 20
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class ModelSource:
    """A model file, and the name and version under which it is served."""

    name: str
    version: str
    path: Path

    @classmethod
    def parse(cls, text: str) -> ModelSource:
        """Parse `FILE`, `NAME=FILE` or `NAME@VERSION=FILE`; the name of a file alone is that of the file."""
        before, equals, after = text.partition("=")
        match = REFERENCE.fullmatch(before) if equals else None
        if match:
            return cls(match[1], match[2] or FIRST_VERSION, Path(after))
        path = Path(text)
        name = path.name.split(".")[0]
        if not re.fullmatch(NAME, name):
            raise InputError(f"{text} gives no name that an address can have; give NAME={text}.")
        return cls(name, FIRST_VERSION, path)

    @cached_property
    def reference(self) -> str:
        """Name and version, as in `ranker@2`."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True)
class Pair:
    """A live model, and its shadow or the model it is interleaved with."""

    live: str
    other: str

    @classmethod
    def parse(cls, text: str, option: str, first: str) -> Pair:
        """Parse `LIVE=OTHER`, or `OTHER` for the first model."""
        before, equals, after = text.rpartition("=")
        live, other = (before if equals else first), after
        if not REFERENCE.fullmatch(live) or not REFERENCE.fullmatch(other):
            raise InputError(f"{option} must be NAME or LIVE=NAME, with @VERSION if need be, not {text!r}.")
        return cls(live, other)


@dataclass(frozen=True, kw_only=True)
class Listening:
    """Where a service listens, who may ask, how much and how long.

    Parameters
    ----------
    host, port
        The address; port 0 takes any that is free.
    allow_hosts
        Names under which requests may address the service, besides those of the loopback interface.
    max_body
        Bytes of a request.
    timeout
        Seconds for reading a request, and for answering it.
    grace
        Seconds for which new requests are still answered after SIGTERM.
    log_requests
        Whether all requests are logged, or only those that failed.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    allow_hosts: tuple[str, ...] = ()
    max_body: int = 32 * MEBIBYTE
    timeout: float = 30.0
    grace: float = 1.0
    log_requests: bool = True

    @property
    def needs_token(self) -> bool:
        """Whether requests need a token, so that any name in the header `Host` is safe."""
        return True

    @cached_property
    def allowed_hosts(self) -> frozenset[str] | None:
        """The names in the header `Host` that are answered; None for all.

        All are with tokens, and at an address of a network, unless `allow_hosts` names some.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host.lower()
        is_loopback = host in LOOPBACK or host.startswith("127.")
        if not self.allow_hosts and (self.needs_token or not is_loopback):
            return None
        local = LOOPBACK if is_loopback else ()
        return frozenset(name.lower() for name in (*local, host, *self.allow_hosts))


@dataclass(frozen=True)
class Settings(Listening):
    """The settings of a service of models.

    Parameters
    ----------
    models
        The models. The first is the default; of several versions, the last.
    index, searcher
        Folder of an index that the models search, or a saved searcher; at most one of them.
    candidates
        Number of documents of the index that a model ranks.
    workers
        Number of processes.
    tokens
        A file of bearer tokens; without it, requests need no token.
    max_documents
        Documents of a request.
    reload
        Seconds between checks for changed files; 0 to reload at SIGHUP only.
    shadows
        Shadow models: scored and logged, never returned.
    interleaved
        Pairs of models whose rankings are interleaved.
    interleave_fraction
        Fraction of the requests that are interleaved.
    """

    models: tuple[ModelSource, ...] = ()
    index: Path | None = None
    searcher: Path | None = None
    candidates: int = 100
    workers: int = 1
    tokens: Path | None = None
    max_documents: int = 10_000
    reload: float = 1.0
    shadows: tuple[Pair, ...] = ()
    interleaved: tuple[Pair, ...] = ()
    interleave_fraction: float = 1.0

    def __post_init__(self) -> None:
        if not self.models and self.index is None and self.searcher is None:
            raise InputError("Give at least one model, --index or --searcher.")
        if self.index is not None and self.searcher is not None:
            raise InputError("Give --index or --searcher, not both.")
        references = [model.reference for model in self.models]
        for reference in references:
            if references.count(reference) > 1:
                raise InputError(f"Two models are called {reference}; name them, as in other=FILE or name@2=FILE.")

    @property
    def needs_token(self) -> bool:
        return self.tokens is not None

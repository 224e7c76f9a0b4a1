"""Starts the judging page."""

from __future__ import annotations

import secrets
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError, parameter
from rankwright.base.wording import counted
from rankwright.judgements.judging.pool import pool_of
from rankwright.judgements.judging.session import JudgingSession, parsed_scale
from rankwright.judgements.system_orders import checked_runs
from rankwright.text.features.candidates import as_queries

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.data.readers.trec import Run
    from rankwright.judgements.judging.pool import JudgingPool
    from rankwright.text.collections.queries import Queries
    from rankwright.text.searcher import Searcher

SCALE = "0=irrelevant,1=related,2=highly relevant,3=perfect"
PACKAGES = ("httptools", "msgspec", "prometheus_client", "uvicorn")
ANY_ADDRESS = ("0.0.0.0", "::")


def judge(
    searcher: Searcher,
    queries: Queries | Mapping[str, str],
    out: str | os.PathLike[str],
    *,
    pool: Mapping[str, Run] | Sequence[Run] | None = None,
    depth: int = 10,
    scale: str = SCALE,
    host: str = "127.0.0.1",
    port: int = 8765,
    tokens: str | os.PathLike[str] | None = None,
    on_ready: Callable[[str, Sequence[str]], None] | None = None,
) -> None:
    """Serve a local page to judge documents with, until Ctrl-C.

    Every judgement is appended to a file, and on disk before the next document appears. A judge sees the documents
    of a query in a random order that does not depend on ranks. Started again with the same file, it resumes.

    Parameters
    ----------
    searcher
        Finds the documents to judge, and has their texts.
    queries
        The queries to judge.
    out
        The file of judgements (.jsonl), new or to be continued; `read_grades` reads it.
    pool
        Runs of several systems whose first documents are judged instead of those that the searcher finds.
    depth
        The number of documents per query that the searcher or each run contributes.
    scale
        The grades with their names, such as `0=no,1=yes`.
    host
        The address to listen at; 0.0.0.0 for all, so that judges at other machines can use the page.
    port
        The port; 0 for any that is free.
    tokens
        A file whose first line is the token in the address of the page, so that the address stays the same when
        the server is started again. By default a new token for each start.
    on_ready
        Called with the address of the page and with notes, the last of which names it, when judges can begin; by
        default they are printed to standard error.

    Examples
    --------
    >>> documents = [rw.text.TextDocument("d1", {"body": "red hats"})]
    >>> searcher = rw.text.Searcher(rw.text.Index.build(documents, "index"))
    >>> rw.judgements.judge(searcher, {"q1": "blue shoes"}, "judgements.jsonl")
    Traceback (most recent call last):
    ...
    rankwright...InputError: The pool is empty: no document was found for any query.
    """
    _require_packages()
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise InputError(f"{parameter('depth')} must be a positive integer, not {depth!r}.")
    named_grades = parsed_scale(scale)
    documents = pool_of(searcher, as_queries(queries), None if pool is None else checked_runs(pool), depth)
    token = secrets.token_urlsafe(16) if tokens is None else _first_token(Path(tokens))
    _serve(documents, Path(out), named_grades, token, (host, port), on_ready or _print_notes)


def _serve(
    documents: JudgingPool, out: Path, scale: Mapping[float, str], token: str, at: tuple[str, int], on_ready: Any
) -> None:
    """Listen at an address, open the file, say that judges can begin, and serve the page."""
    from rankwright.judgements.judging.journal import Journal
    from rankwright.judgements.judging.routes import ROUTES
    from rankwright.serve.http.server import GracefulServer, bound, run
    from rankwright.serve.http.tokens import KnownTokens
    from rankwright.serve.settings import MEBIBYTE, Listening

    host, port = at
    settings = Listening(host=host, port=port, max_body=MEBIBYTE, grace=0.0, log_requests=False)
    with bound(settings) as listening:
        session = JudgingSession(documents, Journal(out), scale, settings, KnownTokens.of(token))
        address = _address(listening, host, token)
        ready = f"Judge at {address} (Ctrl-C stops; everything is saved as it is entered)"
        on_ready(address, [*_notes(session), ready])
        run(GracefulServer(session, ROUTES), listening)


def _print_notes(_address: str, notes: Sequence[str]) -> None:
    sys.stderr.write("".join(f"{sentence}\n" for sentence in notes))


def _require_packages() -> None:
    if absent := [name for name in PACKAGES if find_spec(name) is None]:
        raise MissingPackageError(f"The judging page needs {', '.join(absent)}: pip install 'rankwright[serve]'.")


def _first_token(path: Path) -> str:
    """Return the first token of a file, which is checked."""
    from rankwright.serve.http.tokens import Tokens

    Tokens(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    return next(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def _address(listening: Any, host: str, token: str) -> str:
    """Return the address of the page; the token is behind #, which a browser does not send."""
    name = socket.gethostname() if host in ANY_ADDRESS else f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}/#token={token}"


def _notes(session: JudgingSession) -> list[str]:
    pool = session.pool
    size = f"{counted(len(pool.pairs), 'document')} of {counted(len(pool.documents), 'query')} to judge"
    graded = session.graded()
    so_far = ", ".join(f"{judge} has judged {number:,}" for judge, number in graded.items())
    notes = [f"{size}; {so_far}." if so_far else f"{size}.", *pool.notes]
    if session.journal.cut_short:
        notes.append("The last line of the file was cut short, so that it was never confirmed: it is removed.")
    if session.unknown:
        notes.append(f"{counted(session.unknown, 'line')} of the file about other documents, kept.")
    return notes

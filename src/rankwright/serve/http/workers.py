"""Worker processes that share one port."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from rankwright.base.errors import InputError
from rankwright.serve.http.logs import log

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType

    from rankwright.serve.settings import Settings

SIGNALS = tuple(number for number in signal.Signals if number.name in ("SIGTERM", "SIGINT", "SIGHUP"))
PAUSE = 1.0  # seconds before a process that ended is replaced


def serve(settings: Settings) -> None:
    """Load everything, listen, and serve until SIGTERM or Ctrl-C."""
    if not (hasattr(os, "fork") and hasattr(signal, "pthread_sigmask")):
        raise InputError("A service needs POSIX processes and signals: run it on Linux or macOS.")
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to reload, it must not end the process
    folder = _counting_together() if settings.workers > 1 else None
    try:
        _serve(settings)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _counting_together() -> str:
    """Make prometheus_client count over all processes; it reads the variable when it is imported."""
    folder = tempfile.mkdtemp(prefix="rankwright-metrics-")
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
    return folder


def _serve(settings: Settings) -> None:
    from rankwright.serve.http.server import Server, bound, run
    from rankwright.serve.service import Service

    with bound(settings) as listening:
        service = Service(settings)
        host, port = listening.getsockname()[:2]
        log("listening", host=host, port=port, workers=settings.workers, pid=os.getpid())
        gc.collect()
        gc.freeze()  # garbage collection skips what is loaded, and workers share its memory
        if settings.workers == 1:
            run(Server(service), listening)
        else:
            Workers(settings.workers, listening, lambda: run(Server(service), listening)).run()


class Workers:
    """Processes that each run the service; a process that ends unexpectedly is replaced.

    The new process is forked from the parent, as the others were, and loads the files that have changed since.
    """

    def __init__(self, count: int, listening: socket.socket, run: Callable[[], None]) -> None:
        self._count = count
        self._listening = listening
        self._run = run
        self._pids: set[int] = set()
        self._is_stopping = False
        self._parent_lives = os.pipe()  # closed when the parent ends, however it ends

    def run(self) -> None:
        """Start the processes, forward signals to them, and return when all have ended."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        signal.signal(signal.SIGHUP, self._reload)
        for _ in range(self._count):
            self._start()
        while self._pids:
            pid, status = os.wait()
            self._pids.discard(pid)
            if not self._is_stopping:
                self._replace(pid, os.waitstatus_to_exitcode(status))

    def _start(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # a signal that arrives now reaches the new process too
        if not self._is_stopping:
            pid = os.fork()
            if not pid:
                self._work()
            self._pids.add(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _work(self) -> NoReturn:
        """Run the service in the new process, then end the process."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        os.close(self._parent_lives[1])
        threading.Thread(target=self._follow_parent, daemon=True).start()
        code = 1
        try:
            self._run()
            code = 0
        except Exception as error:
            log("failure", level="error", error=type(error).__name__)
        finally:
            os._exit(code)  # skips the cleanup of the parent

    def _follow_parent(self) -> None:
        """Stop when the parent has ended: this process would keep the port, and nobody would replace it."""
        os.read(self._parent_lives[0], 1)
        log("parent ended", level="error")
        os.kill(os.getpid(), signal.SIGTERM)

    def _replace(self, pid: int, code: int) -> None:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(pid)  # type: ignore[no-untyped-call]
        log("worker ended", level="error", pid=pid, code=code)
        time.sleep(PAUSE)
        self._start()

    def _stop(self, _signal: int, _frame: FrameType | None) -> None:
        self._is_stopping = True
        self._listening.close()  # the last process to close the port closes it for good
        self._send(signal.SIGTERM)  # not SIGINT: the terminal has sent it to them already

    def _reload(self, _signal: int, _frame: FrameType | None) -> None:
        self._send(signal.SIGHUP)

    def _send(self, number: signal.Signals) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

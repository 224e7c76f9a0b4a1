"""`rankwright serve` in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Each process would compile all modules anew where the environment forbids writing compiled files.
ENVIRONMENT = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
START = "from rankwright.cli import main; main()"


class ServiceProcess:
    """A running service, and what it has logged."""

    def __init__(self, log: Path, *words: object) -> None:
        self.log = log
        command = [sys.executable, "-c", START, "serve", *map(str, words), "--port", "0"]
        with log.open("w") as output:
            environment = ENVIRONMENT | {"TMPDIR": str(log.parent)}
            self.process = subprocess.Popen(command, stderr=output, stdout=output, env=environment)
        self.port = self.wait_for("listening")["port"]
        self.wait_for("ready")

    @property
    def pid(self) -> int:
        return self.process.pid

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if f'"event":"{name}"' in line]

    def wait_for(self, name: str, count: int = 1, seconds: float = 60) -> dict[str, Any]:
        """Wait for the nth event of a name, and return it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and len(found := self.events(name)) < count:
            assert self.process.poll() is None or name == "stopped", self.log.read_text()
            time.sleep(0.02)
        assert len(found) >= count, self.log.read_text()
        return found[count - 1]

    def reload(self) -> None:
        self.process.send_signal(signal.SIGHUP)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def end(self, seconds: float = 60) -> int:
        """Stop the service and return its exit code."""
        self.terminate()
        return self.process.wait(seconds)


@contextlib.contextmanager
def serving(log: Path, *words: object) -> Iterator[ServiceProcess]:
    service = ServiceProcess(log, *words)
    try:
        yield service
    finally:
        service.process.kill()
        service.process.wait()

"""`rankwright judge` in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import rankwright as rw

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
START = "from rankwright.cli import main; main()"
HOSTILE = "</p><script>alert(1)</script><img src=x onerror=alert(2)>"
TOKEN = "a-token-for-tests-only"


class JudgingProcess:
    """The server of a judging page, which can be killed and started again at the same address."""

    def __init__(self, folder: Path, n_queries: int = 10, *more: object) -> None:
        self.folder, self.out, self.log = folder, folder / "judgements.jsonl", folder / "judge.log"
        documents, queries, _ = rw.text.generated_collection(200, n_queries)
        hostile = [rw.text.TextDocument(each.id, dict(each.fields) | {"markup": HOSTILE}) for each in documents]
        rw.text.Index.build(hostile, folder / "index")
        lines = [json.dumps({"id": query, "text": text}) for query, text in queries]
        (folder / "queries.jsonl").write_text("\n".join(lines))
        (folder / "tokens").write_text(TOKEN)
        self.port = free_port()
        self.more = more
        self.start()

    def start(self) -> None:
        words = ("judge", "--index", self.folder / "index", "--queries", self.folder / "queries.jsonl")
        options = ("--out", self.out, "--tokens", self.folder / "tokens", "--port", self.port, *self.more)
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", START, *map(str, (*words, *options))],
                stdout=output,
                stderr=output,
                env=ENVIRONMENT,
            )
        end = time.monotonic() + 60
        while not (shown := re.search(r"http://\S+", self.log.read_text())):
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end
            time.sleep(0.02)
        self.address = shown[0]
        while not self._listens():
            assert time.monotonic() < end
            time.sleep(0.02)

    def _listens(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self) -> None:
        """Kill the server as nothing can prevent."""
        self.process.kill()
        self.process.wait()

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.out.read_text().splitlines()]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def judging(folder: Path, n_queries: int = 10, *more: object):
    server = JudgingProcess(folder, n_queries, *more)
    try:
        yield server
    finally:
        server.kill()

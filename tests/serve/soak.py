"""A long run of a service under everything that goes wrong in service: `make soak`.

Clients ask in all forms and compare every score with that of the model which was in service when they asked; some
requests are malformed, some clients are slow, some go away; the model's file is replaced again and again, now and
then by a broken one. In the end the service gets SIGTERM under load. Nothing may be lost, late or wrong; each
malformed request must be refused with its own status; memory and open files must stay as they were; and all of
this must really have happened.

    python tests/serve/soak.py --minutes 20 --reloads 50 --broken 5
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import io
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import rankwright as rw
from rankwright.models import TreeEnsemble
from serve.http_client import Connection, LostError, Reply, written
from serve.service_process import ServiceProcess

N_FEATURES, N_DOCUMENTS, N_TREES, DEPTH = 136, 100, 500, 5
N_MODELS, N_PAYLOADS, N_EXPLAINED = 4, 6, 2
TIMEOUT = 4  # seconds of the service
NPY = "application/x-npy"
N_KINDS = 7
FEW_FILES = 40  # connections that may be open at any moment
HEADROOM = 0.05  # growth of memory that counts as flat, as a fraction
WARM = 600  # seconds; in a shorter run growth is that of the first reloads, which take some MiB once
PATIENCE = 30  # seconds in which each request must be answered


@dataclass
class Findings:
    """What happened; anything in `faults` is a failure."""

    answers: Counter[str] = field(default_factory=Counter)
    refusals: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    loaded: int = 0
    refused: int = 0
    vanished: int = 0
    memory: list[int] = field(default_factory=list)
    open_files: list[int] = field(default_factory=list)
    slowest: float = 0.0


def random_trees(seed: int) -> TreeEnsemble:
    """Return complete trees of random splits, as a model to serve."""
    draw = np.random.default_rng(seed)
    per_tree = 2**DEPTH - 1
    n = N_TREES * per_tree
    place = np.arange(per_tree)
    left, right = 2 * place + 1, 2 * place + 2
    children = [np.where(one < per_tree, one, -1 - (one - per_tree)) for one in (left, right)]
    return TreeEnsemble(
        np.arange(N_TREES + 1) * per_tree,
        draw.integers(0, N_FEATURES, n),
        draw.normal(size=n),
        draw.integers(0, 2, n),
        *(np.tile(one, N_TREES) for one in children),
        leaf_value=draw.normal(size=n + N_TREES),
        gain=np.ones(n),
        cover=np.ones(n + N_TREES),
        n_features=N_FEATURES,
    )


class Material:
    """Models, documents, and the scores that each model must give to each set of documents."""

    def __init__(self, folder: Path) -> None:
        self.live = folder / "ranker.rw"
        self.files = [folder / f"model{number}.rw" for number in range(N_MODELS)]
        draw = np.random.default_rng(0)
        self.matrices = [draw.normal(size=(N_DOCUMENTS, N_FEATURES)).astype(np.float32) for _ in range(N_PAYLOADS)]
        self.scores: dict[tuple[str, int], list[float]] = {}
        for seed, path in enumerate(self.files):
            model = random_trees(seed)
            rw.save(model, path)
            for place, matrix in enumerate(self.matrices):
                self.scores[self.revision(path), place] = model.predict(matrix, n_jobs=1).tolist()
        self.put(self.files[0].read_bytes())
        self.requests = [self._requests(matrix) for matrix in self.matrices]
        self.bad = self._bad_requests()

    @staticmethod
    def revision(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]

    def put(self, content: bytes) -> None:
        """Replace the model in service, as a deployment does."""
        new = self.live.with_suffix(".new")
        new.write_bytes(content)
        new.replace(self.live)

    @staticmethod
    def _requests(matrix: Any) -> dict[str, bytes]:
        rows = matrix.astype(float).tolist()
        plain = json.dumps({"features": rows}).encode()
        tensor = {"name": "features", "shape": [*matrix.shape], "datatype": "FP32", "data": rows}
        return {
            "score": written("POST", "/score", plain, content_type="application/json"),
            "rank": written("POST", "/rank", plain, content_type="application/json"),
            "npy": written("POST", "/score", _saved(matrix), content_type=NPY, accept=NPY),
            "chunked": _in_chunks(plain),
            "explain": written("POST", "/explain?top=1", _saved(matrix[:N_EXPLAINED]), content_type=NPY),
            "infer": written("POST", "/v2/models/ranker/infer", json.dumps({"inputs": [tensor]}).encode()),
            "invocations": written("POST", "/invocations", json.dumps({"inputs": rows}).encode()),
        }

    def _bad_requests(self) -> list[tuple[int, bytes]]:
        """Return requests with the status that each must get."""
        many = b'{"features": [' + b"[1]," * 200_000 + b"[1]]}"
        matrix = _saved(self.matrices[0])
        sized = matrix[:128].replace(b"(100, 136), }  ", b"(-100, -136), }") + matrix[128:]
        return [
            (400, written("POST", "/rank", b'{"features": [[1, NaN]]}')),
            (422, written("POST", "/rank", b'{"features": [[1, 2], [3]]}')),
            (422, written("POST", "/rank", b'{"features": [[1, 2], [3, 4]]}')),
            (422, written("POST", "/rank", b'{"features": [{"age": 1}]}')),
            (422, written("POST", "/rank", b'{"features": [[1e39' + b", 0" * (N_FEATURES - 1) + b"]]}")),
            (422, written("POST", "/rank", b'{"features": [["1"]]}')),
            (400, written("POST", "/rank", b"\xff\xfe{")),
            (413, written("POST", "/rank", many)),
            (413, written("POST", "/rank", b"x" * 2_000_000)),
            (415, written("POST", "/rank", b"{}", content_type="text/csv")),
            (422, written("POST", "/score", b"\x93NUMPY\x01\x00v\x00{'descr'", content_type=NPY)),
            (422, written("POST", "/score", sized, content_type=NPY)),
            (404, written("POST", "/score?model=..%2fmodel0.rw", matrix, content_type=NPY)),
            (404, written("POST", "/v2/models/..%2f..%2fetc/infer", b"{}")),
            (405, written("GET", "/rank")),
            (404, written("GET", "/no/such/place")),
            (422, written("POST", "/clicks", b'{"impression": "forged", "ranks": [1]}')),
            (400, b"no HTTP\r\n\r\n"),
        ]

    def is_right(self, kind: str, place: int, reply: Reply, revisions: set[str]) -> bool:
        """Return whether the scores are those of a model that was in service, and of the one that is named."""
        if kind == "npy":
            given, named = np.load(io.BytesIO(reply.body)).tolist(), reply.headers["x-model"].split()[1]
        else:
            given, named = self._scores(kind, reply.json), reply.json.get("revision")
        for revision in revisions if named is None else revisions & {named}:
            expected = self.scores[revision, place]
            if kind == "explain":
                return bool(np.allclose(given, expected[:N_EXPLAINED]))
            if kind == "rank":
                order = sorted(range(N_DOCUMENTS), key=lambda row: -expected[row])
                expected = [(row, expected[row]) for row in order]
            if given == expected:
                return True
        return False

    @staticmethod
    def _scores(kind: str, answer: Any) -> Any:
        if kind == "rank":
            return [(one["row"], one["score"]) for one in answer["ranking"]]
        if kind == "explain":
            return [one["score"] for one in answer["explanations"]]
        if kind == "invocations":
            return answer["predictions"]
        return answer["outputs"][0]["data"] if kind == "infer" else answer["scores"]


def _saved(matrix: Any) -> bytes:
    saved = io.BytesIO()
    np.save(saved, matrix)
    return saved.getvalue()


def _in_chunks(body: bytes) -> bytes:
    """Return a request to /score whose body has no length."""
    size = len(body) // 5 + 1
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
    head = b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    return head + b"transfer-encoding: chunked\r\n\r\n" + chunks


class Soak:
    """The clients, the deployments and the measurements of one run."""

    def __init__(self, service: ServiceProcess, material: Material, options: argparse.Namespace) -> None:
        self.service, self.material, self.options = service, material, options
        self.findings = Findings()
        self.random = random.Random(options.seed)
        self.in_service = {material.revision(material.files[0])}
        self.pace = options.clients / options.rate

    async def run(self) -> Findings:
        clients = [asyncio.create_task(self._client()) for _ in range(self.options.clients)]
        others = [self._slow(complete=True), self._slow(complete=False), self._half_header(), self._vanishing()]
        nuisances = [asyncio.create_task(one) for one in (*others, self._measure())]
        await self._deploy()
        for task in nuisances:
            task.cancel()
        self.service.terminate()
        for result in await asyncio.gather(
            *clients, *nuisances, return_exceptions=True
        ):  # until the port is closed
            if isinstance(result, Exception):
                self.findings.faults[f"a client failed: {result!r}"] += 1
        code = await asyncio.to_thread(self.service.process.wait, 60)
        if code:
            self.findings.faults[f"exit code {code}"] += 1
        self._read_log()
        return self.findings

    def _read_log(self) -> None:
        """Count what the service itself calls an error, besides the broken files."""
        for line in map(json.loads, self.service.log.read_text().splitlines()):
            if line["level"] == "error" and line["event"] != "reload":
                self.findings.faults[f"logged: {line['event']} {line.get('error', line.get('status'))}"] += 1

    async def _client(self) -> None:
        """Ask again and again; end when the service no longer listens."""
        connection = Connection(self.service.port)
        while True:
            await asyncio.sleep(self.random.expovariate(1 / self.pace))
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._ask(connection)
            except ConnectionRefusedError:
                if not self.service.events("stopping"):
                    self.findings.faults["connection refused"] += 1
                return
            except (LostError, TimeoutError) as error:
                when = "while stopping" if self.service.events("stopping") else "while running"
                self.findings.faults[f"lost {when}: {error!r}"] += 1
                await connection.close()

    async def _ask(self, connection: Connection) -> None:
        if self.random.random() < self.options.malformed:
            status, request = self.random.choice(self.material.bad)
            self._refusal(status, await connection.ask(request))
            return
        place = self.random.randrange(N_PAYLOADS)
        kind = self.random.choice([*self.material.requests[place]])
        await connection.open()
        start, before = time.perf_counter(), self.in_service
        reply = await connection.ask(self.material.requests[place][kind])
        self.findings.slowest = max(self.findings.slowest, time.perf_counter() - start)
        self._answer(kind, place, reply, before)

    def _answer(self, kind: str, place: int, reply: Reply, before: set[str]) -> None:
        """Judge an answer by the models that were in service between the request and now."""
        if reply.status != 200:
            self.findings.faults[f"{kind}: {reply.status} {reply.body[:80]!r}"] += 1
        elif not self.material.is_right(kind, place, reply, before | self.in_service):
            self.findings.faults[f"{kind}: wrong scores"] += 1
        else:
            self.findings.answers[kind] += 1

    def _refusal(self, status: int, reply: Reply) -> None:
        self.findings.refusals[reply.status] += 1
        if reply.status != status:
            self.findings.faults[f"refused with {reply.status} instead of {status}"] += 1
        elif not reply.json["error"] or reply.json["request_id"] != reply.headers["x-request-id"]:
            self.findings.faults[f"no clean refusal: {reply.body[:80]!r}"] += 1

    async def _slow(self, *, complete: bool) -> None:
        """Send a request in small parts: one is complete in time, the other never."""
        while True:
            place = self.random.randrange(N_PAYLOADS)
            request = self.material.requests[place]["score"]
            connection = Connection(self.service.port)
            await connection.open()
            step = len(request) // 40 + 1
            before = self.in_service
            try:
                for start in range(0, len(request) if complete else 4 * step, step):
                    connection.writer.write(request[start : start + step])
                    await connection.writer.drain()
                    await asyncio.sleep(0.02)
                reply = await connection.reply()
            except (ConnectionError, asyncio.IncompleteReadError) as error:
                self.findings.faults[f"slow client: {type(error).__name__}"] += 1
            else:
                if complete:
                    self._answer("score", place, reply, before)
                else:
                    self._refusal(408, reply)
            await connection.close()

    async def _half_header(self) -> None:
        """Begin a request and send no more."""
        while True:
            connection = Connection(self.service.port)
            self._refusal(408, await connection.ask(b"POST /score HTTP/1.1\r\nhost: te"))

    async def _vanishing(self) -> None:
        """Go away in the middle of a request, or before the answer."""
        while True:
            request = self.random.choice([*self.material.requests[0].values()])
            connection = Connection(self.service.port)
            await connection.open()
            connection.writer.write(request[: self.random.choice([10, 500, len(request) // 2, len(request)])])
            await asyncio.sleep(self.random.random() * 0.01)
            connection.writer.transport.abort()
            await connection.close()
            self.findings.vanished += 1
            await asyncio.sleep(0.2)

    async def _deploy(self) -> None:
        """Replace the model in service at even intervals, sometimes by a broken file."""
        broken = set(self.random.sample(range(self.options.reloads), self.options.broken))
        pause = self.options.minutes * 60 / (self.options.reloads + 1)
        before = 0
        for number in range(self.options.reloads):
            await asyncio.sleep(pause)
            chosen = self.random.choice([one for one in range(N_MODELS) if one != before])
            content = self.material.files[chosen].read_bytes()
            new = self.material.revision(self.material.files[chosen])
            if number in broken:
                damaged = content[:-1] + bytes([content[-1] ^ 1])
                content = self.random.choice([b"", b"no model", content[: len(content) // 2], damaged])
            else:
                self.in_service = self.in_service | {new}
            self.material.put(content)
            event = await asyncio.to_thread(self.service.wait_for, "reload", number + 1, 30)
            if (number in broken) != ("problem" in event):
                self.findings.faults["a reload went wrong"] += 1
            if number not in broken:
                self.in_service = {new}
            self.findings.loaded += "problem" not in event
            self.findings.refused += "problem" in event
            before = before if number in broken else chosen
        await asyncio.sleep(pause)

    async def _measure(self) -> None:
        """Note the memory and the open files of the service once per second."""
        while True:
            status = Path(f"/proc/{self.service.pid}/status").read_text()
            self.findings.memory.append(int(status.split("VmRSS:")[1].split()[0]) // 1024)
            self.findings.open_files.append(len([*Path(f"/proc/{self.service.pid}/fd").iterdir()]))
            await asyncio.sleep(1)


def report(findings: Findings, seconds: float) -> bool:
    """Print what happened; return whether nothing was wrong."""
    memory = np.array(findings.memory)
    early, late = memory[len(memory) // 5 : 2 * len(memory) // 5], memory[-len(memory) // 5 :]
    growth = late.mean() / early.mean() - 1
    if growth > HEADROOM and len(memory) > WARM:
        findings.faults[f"memory grew by {growth:.1%}"] += 1
    if findings.open_files[-1] > findings.open_files[0] + FEW_FILES:
        findings.faults[f"{findings.open_files[-1]} open files, {findings.open_files[0]} at first"] += 1
    if not all((len(findings.answers) == N_KINDS, findings.refusals[408], findings.vanished, findings.loaded)):
        findings.faults["something that was to be tried did not happen"] += 1
    total = findings.answers.total()
    print(f"{total:,} right answers in {seconds / 60:.1f} minutes ({total / seconds:.0f} per second)")
    print("  by kind:   ", dict(findings.answers))
    print("  refusals:  ", dict(sorted(findings.refusals.items())))
    print(f"  reloads:    {findings.loaded} loaded, {findings.refused} refused")
    course = ", ".join(f"{part.mean():.1f}" for part in np.array_split(memory, 10))
    print(f"  memory:     {course} MiB by tenths; second to last fifth {growth:+.1%}")
    print(f"  open files: {findings.open_files[0]} at first, {findings.open_files[-1]} at last")
    print(f"  vanished:   {findings.vanished} clients")
    print(f"  slowest:    {findings.slowest * 1000:.0f} ms")
    for fault, count in findings.faults.items():
        print(f"  FAULT:      {fault} ({count} times)")
    print("nothing lost, nothing wrong" if not findings.faults else "FAILED")
    return not findings.faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--reloads", type=int, default=50)
    parser.add_argument("--broken", type=int, default=5, help="how many of the reloads are broken files")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--rate", type=float, default=150, help="requests per second")
    parser.add_argument("--malformed", type=float, default=0.01, help="fraction of requests")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        material = Material(folder)
        words = (
            f"ranker={material.live}",
            "--reload",
            0.25,
            "--max-body",
            1,
            "--timeout",
            TIMEOUT,
            "--log-problems",
        )
        service = ServiceProcess(folder / "log", *words)
        start = time.monotonic()
        try:
            findings = asyncio.run(Soak(service, material, options).run())
        finally:
            service.process.kill()
            service.process.wait()
        sys.exit(not report(findings, time.monotonic() - start))


if __name__ == "__main__":
    main()

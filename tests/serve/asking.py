"""A service in this process, asked without a network; and small models to serve."""

from __future__ import annotations

import asyncio
import io
import json as json_module
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("bm25", "clicks", "age", "price")
X = np.random.default_rng(5).normal(size=(7, 4)).astype(np.float32)
NPY = "application/x-npy"


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json_module.loads(self.body)

    @property
    def error(self) -> str:
        assert set(self.json) == {"error", "request_id"}
        return self.json["error"]

    @property
    def array(self) -> Any:
        return np.load(io.BytesIO(self.body), allow_pickle=False)


class Client:
    """Asks a service."""

    def __init__(self, settings: Any) -> None:
        from rankwright.serve.http.application import Application
        from rankwright.serve.http.routes import routes_of
        from rankwright.serve.service import Service

        self.service = Service(settings)
        self.application = Application(self.service, routes_of(self.service))

    def get(self, path: str, **parts: Any) -> Answer:
        return self.ask("GET", path, **parts)

    def post(self, path: str, json: Any = None, **parts: Any) -> Answer:
        if json is not None:
            parts["body"] = json_module.dumps(json).encode()
        return self.ask("POST", path, **parts)

    def ask(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        return asyncio.run(self.asked(method, path, [body], headers))

    async def asked(self, method: str, path: str, parts: list[bytes], headers: dict[str, str] | None) -> Answer:
        """Send a request whose body arrives in parts; after the last the client has gone if it is None."""
        waiting = [*parts]
        sent: list[Any] = []

        async def receive() -> Any:
            part = waiting.pop(0)
            if part is None:
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": part, "more_body": bool(waiting)}

        async def send(message: Any) -> None:
            sent.append(message)

        address, _, query = path.partition("?")
        headers = {"content-type": "application/json"} | (headers or {})
        given = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        scope = {
            "type": "http",
            "method": method,
            "path": address,
            "query_string": query.encode(),
            "headers": given,
        }
        await self.application(scope, receive, send)
        if not sent:
            return Answer(0, {}, b"")
        start, end = sent
        found = {name.decode(): value.decode() for name, value in start["headers"]}
        assert int(found["content-length"]) == len(end["body"])
        return Answer(start["status"], found, end["body"])


def client(*models: Path | str, **settings: Any) -> Client:
    from rankwright.serve.settings import ModelSource, Settings

    return Client(Settings(tuple(ModelSource.parse(str(one)) for one in models), **settings))


def small_model(seed: int = 0, names: tuple[str, ...] | None = NAMES, **parameters: Any) -> Any:
    """A ranker of four features; those of even seeds like what the others dislike."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(300, 4)).astype(np.float32)
    labels = (features[:, 0] * 2 * (-1) ** seed + features[:, 1 + seed % 3] + random.normal(size=300) > 1).astype(
        int
    )
    data = rw.RankingData(features, labels, np.repeat(np.arange(30), 10), feature_names=names)
    return rw.LambdaMART(rounds=8, max_leaves=6, min_documents=5, **parameters).fit(data).model_


def matrix(values: Any) -> bytes:
    content = io.BytesIO()
    np.save(content, values)
    return content.getvalue()

"""A plain HTTP client over asyncio that says exactly what was sent and what came back."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def closes(self) -> bool:
        return self.headers.get("connection", "") == "close"


class LostError(Exception):
    """A request that was sent and not answered."""


def written(method: str, path: str, body: bytes = b"", **headers: str) -> bytes:
    """Return the bytes of a request, of JSON by default; an underscore in the name of a header is a hyphen."""
    headers = {"host": "localhost", "content_type": "application/json"} | headers
    lines = [f"{method} {path} HTTP/1.1", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Connection:
    """One connection at a time, opened when it is needed."""

    port: int
    reader: asyncio.StreamReader | None = None
    writer: Any = field(default=None)

    async def ask(self, request: bytes) -> Reply:
        """Send a request and return the reply; LostError if it was sent and no reply came."""
        await self.open()
        try:
            self.writer.write(request)
            await self.writer.drain()
            return await self.reply()
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            await self.close()
            raise LostError(f"{type(error).__name__}: {error}") from None

    async def open(self) -> None:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)

    async def reply(self) -> Reply:
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines if line)}
        body = await self.reader.readexactly(int(headers["content-length"]))
        reply = Reply(int(first.split()[1]), headers, body)
        if reply.closes:
            await self.close()
        return reply

    async def close(self) -> None:
        writer, self.reader, self.writer = self.writer, None, None
        if writer is not None:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


def ask(port: int, request: bytes) -> Reply:
    """Send a request over a connection of its own."""

    async def once() -> Reply:
        connection = Connection(port)
        reply = await connection.ask(request)
        await connection.close()
        return reply

    return asyncio.run(once())

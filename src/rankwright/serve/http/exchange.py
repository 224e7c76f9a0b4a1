"""One request and its response, or its refusal, over ASGI."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from random import getrandbits
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec

from rankwright.base.wording import brief_list

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

JSON = "application/json"
REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
PORT = re.compile(r":\d*$")
CLOSE = (b"connection", b"close")
T = TypeVar("T")
_POLICY = (  # a page is one file: nothing comes from elsewhere, and it asks this service only
    b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    b"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_TYPE = "text/html; charset=utf-8"
PAGE_POLICY = ((b"content-security-policy", _POLICY),)
_encode = msgspec.json.Encoder().encode


class RefusalError(Exception):
    """A refused request: an HTTP status, and one sentence for the client."""

    def __init__(self, status: int, sentence: str, *, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers


class DisconnectedError(Exception):
    """The client disconnected before its request was complete."""


class Decoder(Generic[T]):
    """Decodes JSON of one type; an invalid body is refused."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, body: bytes) -> T:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            raise RefusalError(400, f"The body is invalid: {error}{self._known(str(error))}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RefusalError(400, f"The body is not JSON: {error}; a missing value is null, not NaN.") from None

    def _known(self, problem: str) -> str:
        """Return the fields of the body, if the problem is that it has another one."""
        if "unknown field" not in problem or " - at " in problem or not issubclass(self.kind, msgspec.Struct):
            return ""
        return f"; it may have {brief_list(field.encode_name for field in msgspec.structs.fields(self.kind))}"


@dataclass(frozen=True)
class Response:
    """A response; `afterwards` is called when it has been sent."""

    body: bytes
    status: int = 200
    media_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    afterwards: Callable[[], None] | None = None

    @classmethod
    def json(cls, value: Any, status: int = 200, **parts: Any) -> Response:
        """Return a value as JSON."""
        return cls(_encode(value), status, **parts)


@dataclass(frozen=True)
class Route:
    """A method and a path with their handler; segments of the path in braces are arguments.

    `parameters` are those of the query string; a public route needs no token; `takes_matrix` and `gives_matrix`
    say whether bodies may be in numpy's format.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Response]]
    answer: type[Any] | None
    tag: str
    summary: str
    request: type[Any] | None = None
    parameters: tuple[str, ...] = ()
    public: bool = False
    takes_matrix: bool = False
    gives_matrix: bool = False

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """The segments of the path."""
        return tuple(self.path.split("/"))

    def arguments(self, segments: Sequence[str]) -> dict[str, str] | None:
        """Return the arguments in a path; None if the path is not of this route."""
        if len(segments) != len(self.segments):
            return None
        arguments = {}
        for given, own in zip(segments, self.segments, strict=True):
            if own.startswith("{") and given:
                arguments[own[1:-1]] = given
            elif given != own:
                return None
        return arguments


class Exchange:
    """A request as it arrives, and the facts about it that are logged."""

    def __init__(self, scope: Any, receive: Callable[[], Awaitable[Any]], max_body: int) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.id = self._request_id()
        self.is_reading = False
        self.has_unread_body = self._has_body()
        self.model: str | None = None
        self.n_documents: int | None = None
        self.size = 0
        self._query: bytes = scope["query_string"]
        self._receive = receive
        self._max_body = max_body

    def _request_id(self) -> str:
        given = self.headers.get(b"x-request-id", b"")
        return given.decode() if REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}"

    @property
    def host(self) -> str | None:
        """The name in the header `Host`, without the port; None if there is no such header, as from no browser."""
        given = self.headers.get(b"host")
        return None if given is None else PORT.sub("", given.decode("latin-1")).lower()

    def _has_body(self) -> bool:
        return b"transfer-encoding" in self.headers or self.headers.get(b"content-length", b"0") != b"0"

    def query(self, *known: str) -> dict[str, str]:
        """Return the parameters of the query string; unknown and repeated ones are refused."""
        if not self._query:
            return {}
        try:
            pairs = parse_qsl(self._query.decode(), keep_blank_values=True, errors="strict", max_num_fields=20)
        except ValueError:
            raise RefusalError(400, "The parameters after ? cannot be read.") from None
        parameters = dict(pairs)
        if len(parameters) < len(pairs):
            raise RefusalError(400, "A parameter after ? is given twice.")
        for name in parameters:
            if name not in known:
                raise RefusalError(
                    400, f"There is no parameter {name[:60]!r}; known are {', '.join(known) or 'none'}."
                )
        return parameters

    @cached_property
    def media_type(self) -> str:
        """The media type of the body without its parameters; empty if the request has none."""
        given = self.headers.get(b"content-type", b"").decode("latin-1")
        return given.partition(";")[0].strip().lower()

    def accepts(self, media_type: str) -> bool:
        """Return whether the header `Accept` names a media type."""
        return media_type.encode() in self.headers.get(b"accept", b"").lower()

    async def body(self) -> bytes:
        """Return the body; a body that is too long is refused, before or while it arrives."""
        if b"content-encoding" in self.headers:
            raise RefusalError(415, "Compressed bodies are not read.")
        self.is_reading = True
        if int(self.headers.get(b"content-length", b"0")) > self._max_body:
            self._refuse_body()
        part, more = await self._part()
        if more:
            parts = [part]
            while more:
                part, more = await self._part()
                parts.append(part)
                if self.size > self._max_body:
                    self._refuse_body()
            part = b"".join(parts)
        self.is_reading = False
        return part

    async def discard_body(self, deadline: float) -> None:
        """Drop what has not been read of the body: many clients read no answer before they have sent everything.

        `has_unread_body` stays true if it does not arrive in time, or if the client waits before it sends it.
        """
        if not self.size and self.headers.get(b"expect", b"").lower() == b"100-continue":
            return
        with suppress(TimeoutError, DisconnectedError):
            async with asyncio.timeout_at(deadline):
                while self.has_unread_body:
                    await self._part()

    async def _part(self) -> tuple[bytes, bool]:
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise DisconnectedError
        part: bytes = message.get("body", b"")
        self.size += len(part)
        self.has_unread_body = message.get("more_body", False)
        return part, self.has_unread_body

    def _refuse_body(self) -> None:
        raise RefusalError(413, f"The body is longer than {self._max_body:,} bytes, the limit of this service.")

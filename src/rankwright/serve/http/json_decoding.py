"""Decodes JSON that must be of one type."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from rankwright.serve.http.refusals import RefusalError

T = TypeVar("T")


class Decoder(Generic[T]):
    """Decodes JSON of one type; a body that is not of the type is refused."""

    def __init__(self, kind: type[T]) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    def __call__(self, body: bytes) -> T:
        try:
            return self._decode(body)
        except msgspec.ValidationError as error:
            raise RefusalError(400, f"The body is not as it should be: {error}.") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RefusalError(400, f"The body is not JSON: {error}; a missing value is null, not NaN.") from None

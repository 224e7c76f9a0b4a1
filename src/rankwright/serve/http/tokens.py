"""Bearer tokens, of a file or made for one run."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.files import file_state

if TYPE_CHECKING:
    from pathlib import Path

SHORTEST = 16  # characters; `openssl rand -hex 32` makes 64


class KnownTokens:
    """The valid tokens.

    Only their hashes are stored and compared, so that the time of an answer says nothing about a token.
    """

    def __init__(self, hashes: frozenset[bytes]) -> None:
        self._hashes = hashes

    @classmethod
    def of(cls, *tokens: str) -> KnownTokens:
        """Return the tokens that are given."""
        return cls(frozenset(map(_hash, tokens)))

    def allow(self, authorization: bytes) -> bool:
        """Return whether a header `Authorization` holds a valid token."""
        scheme, _, token = authorization.partition(b" ")
        return scheme.lower() == b"bearer" and hashlib.sha256(token.strip()).digest() in self._hashes


class Tokens(KnownTokens):
    """The tokens of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = file_state(path)
        """The state of the file when the first tokens were read."""
        super().__init__(self.read())

    def read(self) -> frozenset[bytes]:
        """Return the hashes of the tokens in the file: one per line; empty lines and lines with # are ignored."""
        try:
            lines = self.path.read_text(encoding="utf-8").split("\n")
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise InputError(f"{self.path} must hold one token per line, as text.") from None
        tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
        for number, token in enumerate(tokens, start=1):
            if len(token) < SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
                raise InputError(
                    f"Token {number} of {self.path} must have at least {SHORTEST} ASCII characters and no spaces."
                )
        if not tokens:
            raise InputError(f"{self.path} holds no token, so nobody could use the service.")
        return frozenset(map(_hash, tokens))

    def replace(self, hashes: frozenset[bytes]) -> str:
        """Replace the valid tokens by those that `read` returned."""
        self._hashes = hashes
        return f"{len(hashes)} tokens"


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()

"""Interleaving: two rankers compared by clicks on one list (team draft; Radlinski, Kurup & Joachims, CIKM 2008).

A list that was shown is an impression. The client receives it as a signed text, which says which ranker picked
which document, and sends the text back with the clicks. So any process of the service can count them, and
nothing is stored per impression.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIGNATURE = 16  # bytes
FIRST, SECOND = 0, 1


class Draft(NamedTuple):
    """An interleaved list: rows, best first, and for each the team (FIRST or SECOND) that picked it."""

    order: list[int]
    teams: list[int]


def team_draft(first: Sequence[int], second: Sequence[int], coin: Callable[[], int]) -> Draft:
    """Interleave two rankings of the same rows.

    The team with fewer picks goes next, by the coin (0 or 1) if both have as many; it picks its best document that
    has not been picked.
    """
    waiting = [iter(first), iter(second)]
    picks = [0, 0]
    taken: set[int] = set()
    draft = Draft([], [])
    while len(taken) < len(first):
        team = coin() if picks[FIRST] == picks[SECOND] else int(picks[FIRST] > picks[SECOND])
        row = next(row for row in waiting[team] if row not in taken)
        taken.add(row)
        picks[team] += 1
        draft.order.append(row)
        draft.teams.append(team)
    return draft


def flip() -> int:
    """Return 0 or 1 at random."""
    return secrets.randbits(1)


class Impression(msgspec.Struct, frozen=True, array_like=True):
    """A list that was shown: its id, the two models by reference, and the team of each rank."""

    id: str
    first: str
    second: str
    teams: bytes

    def clicks(self, ranks: Sequence[int]) -> tuple[int, int]:
        """Return how many clicks each model gets; the same rank twice is one click."""
        for rank in ranks:
            if not 1 <= rank <= len(self.teams):
                raise InputError(f"The list of this impression had {len(self.teams)} ranks, and none is {rank}.")
        second = sum(self.teams[rank - 1] for rank in set(ranks))
        return len(set(ranks)) - second, second


class Impressions:
    """Writes and reads impressions as signed texts."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)
        self._decoder = msgspec.msgpack.Decoder(Impression)

    def written(self, first: str, second: str, teams: Sequence[int]) -> str:
        """Return the text of a new impression."""
        impression = Impression(secrets.token_hex(8), first, second, bytes(teams))
        content = msgspec.msgpack.encode(impression)
        return urlsafe_b64encode(self._signature(content) + content).decode()

    def read(self, text: str) -> Impression:
        """Return the impression in a text; InputError if this service did not sign it."""
        try:
            signed = urlsafe_b64decode(text.encode())
        except (Base64Error, ValueError):
            signed = b""
        content = signed[SIGNATURE:]
        if not hmac.compare_digest(signed[:SIGNATURE], self._signature(content)):
            raise InputError("This impression was not signed by this service, or was signed before a restart.")
        return self._decoder.decode(content)

    def _signature(self, content: bytes) -> bytes:
        return hmac.digest(self._key, content, hashlib.sha256)[:SIGNATURE]

"""Interleaving: two rankers compared by clicks on one list (team draft; Radlinski, Kurup & Joachims, CIKM 2008).

A list that was shown is an impression. The client receives it as a signed text, which says which ranker picked
which document, and sends the text back with the clicks. So any process of the service can count them, and one bit
per impression is stored: whether it has been reported.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import tempfile
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from contextlib import contextmanager
from mmap import mmap
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SIGNATURE = 16  # bytes
REMEMBERED = 1 << 26  # impressions, of which the memory has one bit each
COUNTER = 8  # bytes
EXAMPLE = -1  # the number of an impression that was never shown
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
    """A list that was shown: its number, the two models by reference, and the team of each rank."""

    number: int
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
    """Writes and reads impressions as signed texts, and remembers which of the latest have been reported.

    Processes that are forked later share the memory; `processes` is how many there will be. A lock on a file,
    unlike a semaphore, is released if the process that holds it is killed.
    """

    def __init__(self, processes: int = 1, *, remembered: int = REMEMBERED) -> None:
        self._key = secrets.token_bytes(32)
        self._decoder = msgspec.msgpack.Decoder(Impression)
        self._remembered = remembered
        self._memory = mmap(-1, COUNTER + remembered // 8)  # how many impressions there are, then their bits
        self._lock = tempfile.TemporaryFile() if processes > 1 else None  # noqa: SIM115  # as long as this lives

    def written(self, first: str, second: str, teams: Sequence[int]) -> str:
        """Return the text of a new impression."""
        with self._locked():
            number = self._count()
            self._memory[:COUNTER] = (number + 1).to_bytes(COUNTER, "little")
            self._is_set(number, set_to=False)
        return self._signed(Impression(number, first, second, bytes(teams)))

    def example(self, first: str, second: str) -> str:
        """Return the text of an impression of three documents whose reports are answered and never counted."""
        return self._signed(Impression(EXAMPLE, first, second, bytes([FIRST, SECOND, FIRST])))

    def _signed(self, impression: Impression) -> str:
        content = msgspec.msgpack.encode(impression)
        return urlsafe_b64encode(self._signature(content) + content).decode()

    def report(self, impression: Impression) -> bool:
        """Remember that an impression was reported; return whether this is the first report."""
        if impression.number == EXAMPLE:
            return False
        with self._locked():
            if impression.number < self._count() - self._remembered:
                raise InputError(f"This impression is too old: {self._remembered:,} followed it.")
            return not self._is_set(impression.number, set_to=True)

    def _count(self) -> int:
        return int.from_bytes(self._memory[:COUNTER], "little")

    def _is_set(self, number: int, *, set_to: bool) -> bool:
        """Return the bit of an impression, and change it."""
        byte, bit = divmod(number % self._remembered, 8)
        before = self._memory[COUNTER + byte]
        self._memory[COUNTER + byte] = before | 1 << bit if set_to else before & ~(1 << bit)
        return bool(before >> bit & 1)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._lock is None:
            yield
            return
        import fcntl  # only systems that can fork have it, and only processes that were forked share a lock

        fcntl.lockf(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

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

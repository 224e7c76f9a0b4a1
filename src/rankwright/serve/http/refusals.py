"""What a request can be refused with."""

from __future__ import annotations


class RefusalError(Exception):
    """A request that is not answered: an HTTP status, and one sentence for whoever sent it."""

    def __init__(self, status: int, sentence: str, *, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence
        self.headers = headers


class DisconnectedError(Exception):
    """The client has gone before its request was complete."""

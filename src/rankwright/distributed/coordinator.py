"""The coordinator: asks workers for sums over all documents, and replaces workers that are lost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.distributed.worker import Request, Share, Worker, combined
from rankwright.training.binned_part import query_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.distributed.engine import Actor, Call, Engine
    from rankwright.distributed.partition import PartRanker, RoundTrees
    from rankwright.training.binned_data import BinnedData

LOAD_TIMEOUTS = 10.0  # a worker that starts may be silent for so many times the engine's timeout
MAX_ATTEMPTS = 5  # at one request


class Coordinator:
    """Workers that hold all documents together.

    A lost worker's partitions are read again by a new one, or by another worker if there is none: their scores are
    rebuilt from the trees so far, and the requests of the round repeated. No answer depends on how often that
    happens.

    Parameters
    ----------
    n_partitions
        Number of parts of the documents; None: one per worker.
    """

    def __init__(
        self, engine: Engine, data: BinnedData, ranker: PartRanker, n_threads: int, n_partitions: int | None = None
    ) -> None:
        self._engine, self._sizes, self._n_partitions = engine, data.data.groups.sizes, n_partitions
        self._make = partial(Worker, str(data.path.resolve()), ranker, n_threads)
        self._rounds: list[RoundTrees] = []
        self._requests: list[Request] = []  # of this round
        self._shares: dict[Actor, list[Share]] = {}
        self._room = 0  # for workers: the least that the engine had since these were started
        self.n_lost = 0
        self.n_requests = self.n_divisions = self.n_bytes = 0
        self._start()

    def _start(self) -> None:
        """Divide the documents among as many workers as the engine has room for."""
        n_workers = self._room = self._engine.n_workers
        ranges = query_ranges(self._sizes, self._n_partitions or n_workers)
        shares = [Share(number, *queries) for number, queries in enumerate(ranges)]
        actors = self._engine.start(self._make, min(n_workers, len(shares)))
        self._shares = {actor: shares[i :: len(actors)] for i, actor in enumerate(actors)}
        calls = {self._load(actor): actor for actor in actors}
        self._answers(calls, self._engine.timeout * LOAD_TIMEOUTS)

    def close(self) -> None:
        """End the workers."""
        self._engine.end(self._shares)
        self._shares = {}

    def begin_round(self) -> None:
        """Let workers that joined the cluster take part."""
        n_workers = self._engine.n_workers
        if self._n_partitions is None and n_workers > self._room:
            self.close()
            self._start()
        self._room = min(self._room, n_workers)

    def end_round(self, trees: RoundTrees) -> None:
        """Remember trees that have been added to the scores."""
        self._rounds.append(trees)
        self._requests.clear()

    def ask(self, method: str, *arguments: Any) -> Any:
        """Return the answer of all partitions together to a request."""
        self._requests.append((method, arguments))
        self.n_requests += 1
        self.n_divisions += len(arguments[0]) if method == "divide" else 0
        calls = {}
        for actor, shares in self._shares.items():
            numbers = [share.number for share in shares]
            calls[self._engine.call(actor, "run", numbers, method, *arguments)] = actor
        answers = self._answers(calls, None)
        self.n_bytes += len(calls) * _size(arguments) + sum(map(_size, answers))
        return combined(method, answers)

    def _load(self, actor: Actor) -> Call:
        return self._engine.call(actor, "load", self._shares[actor], self._rounds, self._requests)

    def _answers(self, calls: dict[Call, Actor], timeout: float | None) -> list[Any]:
        """Return the answer to each call; where its worker is lost, those of workers in its place."""
        answers: dict[Actor, list[Any]] = {}
        for _ in range(MAX_ATTEMPTS):
            done, lost = self._engine.wait(calls, timeout)
            for call, answer in done:
                answers.setdefault(calls[call], []).append(answer)
            if not lost:
                return [answer for each in answers.values() for answer in each]
            gone = list(dict.fromkeys(calls[call] for call, _ in lost))
            self.n_lost += len(gone)
            for actor in gone:
                answers.pop(actor, None)  # its partitions, also those it answered for, are loaded elsewhere
            calls = self._replaced(gone)
            timeout = self._engine.timeout * LOAD_TIMEOUTS
        raise InputError(f"A worker was lost {MAX_ATTEMPTS} times in a row: {lost[0].reason}.")

    def _replaced(self, lost: Sequence[Actor]) -> dict[Call, Actor]:
        """Return the calls that load the partitions of lost workers elsewhere."""
        calls = {}
        orphans = {actor: self._shares.pop(actor) for actor in lost}
        for actor, shares in orphans.items():
            try:
                new = self._engine.restart(actor)
                self._shares[new] = shares
            except Exception as error:
                if not self._shares:
                    raise InputError(f"No worker is left: {str(error).removesuffix('.')}.") from error
                new = min(self._shares, key=lambda other: len(self._shares[other]))
                self._shares[new] = [*self._shares[new], *shares]
            calls[self._engine.call(new, "load", shares, self._rounds, self._requests)] = new
        return calls


def _size(value: Any) -> int:
    """Return the number of bytes of the numbers in a message."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    if isinstance(value, tuple | list):
        parts: Iterable[Any] = value
        return sum(map(_size, parts))
    return 16 if isinstance(value, int) and value.bit_length() > 63 else 8

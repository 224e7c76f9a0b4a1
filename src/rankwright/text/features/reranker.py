"""Scores of a cross-encoder or another service, cached by query and document, with what they cost."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import SENTENCE, counted, measured, shortened
from rankwright.data.tables import first_line
from rankwright.reports.blocks import Column, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.text.collections.documents import TextDocument

SCHEMA = "CREATE TABLE IF NOT EXISTS scores (pair BLOB PRIMARY KEY, score REAL NOT NULL, seconds REAL NOT NULL)"
BATCH = 64  # documents that are scored together, and then kept


@dataclass(frozen=True, eq=False)
class CachedReranker:
    """Scores of documents by a slow model, such as a cross-encoder, as a feature; each is computed once.

    Parameters
    ----------
    function : callable
        Takes the text of a query and a list of texts of documents, and returns one number per document.
    name : str
        What tells its scores from those of other models in the cache.
    cache : path, optional
        A file (SQLite) that keeps scores by query and document, with the time that they took; by default none are
        kept after the process ends.

    Examples
    --------
    >>> def overlap(query, texts):
    ...     return [len({*query.split()} & {*text.split()}) for text in texts]
    >>> index = rw.text.Index.build(rw.text.generated_collection(30, 5).documents, "index")
    >>> slow = rw.text.CachedReranker(overlap, "overlap", cache="scores.db")
    >>> features = rw.text.FeatureSet(["BM25"], fields=["body"], functions={"overlap": slow})
    >>> features.documents(index, {"q1": "old bridge"}, {"q1": ["d7", "d5"]}).X[:, -1].tolist()
    [2.0, 2.0]
    >>> slow.cost.n_computed, slow.cost.n_cached
    (2, 0)
    """

    function: Callable[[str, list[str]], Any]
    name: str
    cache: str | os.PathLike[str] | None = field(default=None, kw_only=True)
    _connection: list[sqlite3.Connection] = field(init=False, repr=False, default_factory=list)
    _asked: list[int] = field(init=False, repr=False, default_factory=lambda: [0, 0])  # computed, cached

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"A reranker must be a function of a query and texts, not {self.function!r}.")
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"The name of a reranker must be text, not {self.name!r}.")

    def scores(self, query: str, documents: Sequence[TextDocument]) -> Doubles:
        """Return the score of each document; only those that are not cached are computed."""
        texts = [" ".join(text for text in document.fields.values() if text) for document in documents]
        keys = [self._key(query, document.id, text) for document, text in zip(documents, texts, strict=True)]
        known = self._known(keys)
        new = [row for row, key in enumerate(keys) if key not in known]
        for start in range(0, len(new), BATCH):
            rows = new[start : start + BATCH]
            begin = time.perf_counter()
            made = self._computed(query, [texts[row] for row in rows])
            seconds = (time.perf_counter() - begin) / len(rows)
            self._keep([(keys[row], score, seconds) for row, score in zip(rows, made, strict=True)])
            known |= {keys[row]: score for row, score in zip(rows, made, strict=True)}
        self._asked[0] += len(new)
        self._asked[1] += len(keys) - len(new)
        return np.array([known[key] for key in keys], np.float64)

    @property
    def cost(self) -> RerankingCost:
        """What scores cost: all that the cache has, and how many this process computed and found there."""
        count, seconds = self._database().execute("SELECT COUNT(*), TOTAL(seconds) FROM scores").fetchone()
        per_document = 1000.0 * seconds / count if count else float("nan")
        n_computed, n_cached = self._asked
        return RerankingCost(self.name, n_computed, n_cached, count, per_document)

    def _key(self, query: str, document: str, text: str) -> bytes:
        return hashlib.sha256(repr((self.name, query, document, text)).encode("utf-8", "replace")).digest()

    def _known(self, keys: Sequence[bytes]) -> dict[bytes, float]:
        rows: dict[bytes, float] = {}
        for start in range(0, len(keys), 500):  # SQLite limits the number of parameters
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            asked = self._database().execute(f"SELECT pair, score FROM scores WHERE pair IN ({marks})", part)
            rows.update(asked.fetchall())
        return rows

    def _keep(self, rows: list[tuple[bytes, float, float]]) -> None:
        with self._database() as database:
            database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?)", rows)

    def _computed(self, query: str, texts: list[str]) -> list[float]:
        try:
            given = self.function(query, texts)
        except Exception as error:
            what = shortened(f"{type(error).__name__}: {first_line(error)}", SENTENCE)
            raise InputError(f"The reranker {self.name} failed: {what}") from error
        try:
            numbers = np.asarray(given, np.float64)
        except (TypeError, ValueError):
            numbers = np.zeros(0)
        if numbers.shape != (len(texts),) or not np.isfinite(numbers).all():
            raise InputError(f"The reranker {self.name} must return one finite number per document.")
        return [float(number) for number in numbers]

    def _database(self) -> sqlite3.Connection:
        if not self._connection:
            path = ":memory:" if self.cache is None else os.fspath(self.cache)
            try:
                connection = sqlite3.connect(path, check_same_thread=False)
                with closing(connection.execute(SCHEMA)):
                    pass
            except sqlite3.Error as error:
                raise InputError(f"{path} cannot be used as a cache of scores: {error}.") from None
            self._connection.append(connection)
        return self._connection[0]


@dataclass(frozen=True, repr=False)
class RerankingCost(Result):
    """What the scores of a reranker cost.

    Parameters
    ----------
    reranker
        Its name.
    n_computed, n_cached
        How many scores this process computed, and how many it took from the cache.
    n_kept
        The number of scores in the cache.
    milliseconds
        The mean time of one score when it was computed.
    """

    reranker: str
    n_computed: int
    n_cached: int
    n_kept: int
    milliseconds: float

    @property
    def summary(self) -> str:
        return (
            f"{self.reranker}: {counted(self.n_computed, 'score')} computed, {self.n_cached:,} from the cache; "
            f"{measured(self.milliseconds)} ms each."
        )

    def blocks(self) -> Iterator[Table]:
        columns = [
            Column("reranker", Kind.TEXT),
            Column("computed", Kind.COUNT),
            Column("cached", Kind.COUNT),
            Column("ms per document", Kind.NUMBER),
        ]
        yield Table(columns, [[self.reranker, self.n_computed, self.n_cached, self.milliseconds]])

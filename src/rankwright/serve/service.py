"""What all routes share: models, the searcher, limits, and a few threads for long work."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import available_threads
from rankwright.serve.http import prometheus as instruments
from rankwright.serve.http.json_sizes import has_more_lists
from rankwright.serve.http.refusals import RefusalError
from rankwright.serve.http.tokens import Tokens
from rankwright.serve.models.interleaving import Impressions
from rankwright.serve.models.loaded_models import Models
from rankwright.serve.protocols.request_features import for_other_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles, Floats
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.indexes import Search
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.settings import Pair, Settings

T = TypeVar("T")
INLINE = 1_000_000  # comparisons, some milliseconds: less than that is done before other requests go on
MOST_THREADS = 8
SHORT_BODY = 1 << 18  # bytes, which are decoded in no time whatever they hold
OTHER_LISTS = 1_000  # lists and objects in a request that are no documents
MOST_WAITING = 16  # requests whose documents are kept for a shadow


class Service:
    """A service that is being offered. Loading it fails with one sentence if any of its files cannot be used."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models = Models(settings.models)
        self.search = _search(settings, self.models)
        self.tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self.impressions = Impressions()
        self.is_draining = False
        self._threads = ThreadPoolExecutor(min(available_threads(), MOST_THREADS), "work")
        self._background = ThreadPoolExecutor(1, "background")
        self._n_waiting = 0
        self._shadow_of = self._others("--shadow", settings.shadows)
        self._rival_of = self._others("--interleave", settings.interleaved)
        for live, rival in self._rival_of.items():
            instruments.impressions.labels(live, rival)  # shown from the start, with 0

    def shadow(self, model: ServedModel) -> ServedModel | None:
        """Return the model that is scored beside this one."""
        return self._other(model, self._shadow_of)

    def rival(self, model: ServedModel) -> ServedModel | None:
        """Return the model whose ranking is interleaved with that of this one."""
        return self._other(model, self._rival_of)

    def require_few(self, n_documents: int) -> None:
        """Refuse a request with too many documents."""
        limit = self.settings.max_documents
        if n_documents > limit:
            raise RefusalError(
                413, f"The request has {n_documents:,} documents; this service takes {limit:,} at a time."
            )

    def require_few_lists(self, body: bytes) -> None:
        """Refuse JSON with far too many documents before it is decoded, which would take seconds and gigabytes."""
        limit = self.settings.max_documents
        if len(body) > SHORT_BODY and has_more_lists(body, 2 * limit + OTHER_LISTS):
            raise RefusalError(413, f"The request has more than {limit:,} documents, the limit of this service.")

    async def scores(self, exchange: Exchange, model: ServedModel, X: Floats) -> Doubles:
        """Return the scores of the documents of a request."""
        exchange.model, exchange.n_documents = model, len(X)
        if model.work(len(X)) > INLINE:
            scores = await self.in_thread(model.scores, X)
        else:
            scores = model.scores(X)
        instruments.documents_by(model.source.name, model.source.version).inc(len(X))
        return scores

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function that takes long, while other requests are answered."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    @property
    def is_behind(self) -> bool:
        """Whether so much waits for `in_background` that no more should."""
        return self._n_waiting >= MOST_WAITING

    async def in_background(self, function: Callable[[], None]) -> None:
        """Call a function that no answer waits for, one at a time."""
        self._n_waiting += 1
        try:
            await asyncio.get_running_loop().run_in_executor(self._background, function)
        finally:
            self._n_waiting -= 1

    def close(self) -> None:
        """End the threads, after what they are doing."""
        self._threads.shutdown()
        self._background.shutdown()

    def _others(self, option: str, pairs: Sequence[Pair]) -> dict[str, str]:
        """Return the other model of each pair by the reference of the model that answers."""
        found: dict[str, str] = {}
        for pair in pairs:
            live, other = self._model(pair.live), self._model(pair.other)
            names = live.source.reference, other.source.reference
            if live is other:
                raise InputError(f"{option} needs another model than {names[0]}, which answers.")
            if names[0] in found:
                raise InputError(f"{option} gives {names[0]} two other models, {found[names[0]]} and {names[1]}.")
            try:
                for_other_model(np.zeros((1, live.scorer.n_features), np.float32), live, other)
            except InputError as error:
                raise InputError(f"{names[1]} cannot score the requests to {names[0]}: {error}") from None
            found[names[0]] = names[1]
        return found

    def _model(self, reference: str) -> ServedModel:
        try:
            return self.models.get(reference)
        except RefusalError as error:
            raise InputError(error.sentence) from None

    def _other(self, model: ServedModel, others: dict[str, str]) -> ServedModel | None:
        found = others.get(model.source.reference) if others else None
        return None if found is None else self.models.get(found)


def _search(settings: Settings, models: Models) -> Search | None:
    """Return the search of a service that has an index; what searches is imported only then."""
    if settings.index is None and settings.searcher is None:
        return None
    from rankwright.serve.models.indexes import Search

    return Search(settings, models)

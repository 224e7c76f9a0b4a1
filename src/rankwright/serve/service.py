"""What all routes share: models, the searcher, limits, and a few threads for long work."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from rankwright.errors import InputError
from rankwright.serve import instruments
from rankwright.serve.interleaving import Impressions
from rankwright.serve.models import Models
from rankwright.serve.refusals import RefusalError
from rankwright.serve.tokens import Tokens
from rankwright.threads import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.arrays import Doubles, Floats
    from rankwright.serve.exchange import Exchange
    from rankwright.serve.indexes import Search
    from rankwright.serve.models import ServedModel
    from rankwright.serve.settings import Settings

T = TypeVar("T")
INLINE = 1_000_000  # comparisons, some milliseconds: less than that is done before other requests go on
MOST_THREADS = 8


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
        self._shadow_of = {self._reference(one.live): self._reference(one.other) for one in settings.shadows}
        self._rival_of = {self._reference(one.live): self._reference(one.other) for one in settings.interleaved}
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

    async def scores(self, exchange: Exchange, model: ServedModel, X: Floats) -> Doubles:
        """Return the scores of the documents of a request."""
        exchange.model, exchange.n_documents = model, len(X)
        if model.work(len(X)) > INLINE:
            scores = await self.in_thread(model.scores, X)
        else:
            scores = model.scores(X)
        instruments.documents.labels(model.source.name, model.source.version).inc(len(X))
        return scores

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function that takes long, while other requests are answered."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    def close(self) -> None:
        """End the threads, after what they are doing."""
        self._threads.shutdown()

    def _reference(self, given: str) -> str:
        try:
            return self.models.get(given).source.reference
        except RefusalError as error:
            raise InputError(error.sentence) from None

    def _other(self, model: ServedModel, others: dict[str, str]) -> ServedModel | None:
        found = others.get(model.source.reference) if others else None
        return None if found is None else self.models.get(found)


def _search(settings: Settings, models: Models) -> Search | None:
    """Return the search of a service that has an index; what searches is imported only then."""
    if settings.index is None and settings.searcher is None:
        return None
    from rankwright.serve.indexes import Search

    return Search(settings, models)

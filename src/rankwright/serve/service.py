"""The state that all routes share: models, the searcher, limits, and threads for long work."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from random import random
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import available_threads
from rankwright.serve.http import prometheus
from rankwright.serve.http.exchange import RefusalError
from rankwright.serve.http.logs import log
from rankwright.serve.http.tokens import Tokens
from rankwright.serve.models.interleaving import Impressions
from rankwright.serve.models.loaded_models import LoadedModels, for_other_model, new_columns
from rankwright.serve.models.monitoring import FeatureMonitor, unusual_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.base.arrays import Doubles, Floats, Integers
    from rankwright.serve.http.exchange import Exchange
    from rankwright.serve.models.indexes import Search
    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.settings import Pair, Settings

T = TypeVar("T")
INLINE = 1_000_000  # comparisons, which take some milliseconds; more are computed in a thread
MAX_THREADS = 8
SHORT_BODY = 1 << 18  # bytes, decoded quickly whatever they hold
OTHER_LISTS = 1_000  # lists and objects in a request besides its documents
SHADOW = "--shadow"
MAX_WAITING = 16  # requests that wait for a shadow model

# Up to the next list or object that is not part of a string; without a way back, so that it takes linear time.
_NEXT_LIST = re.compile(rb'(?:[^"\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[\[{]', re.DOTALL)


class Service:
    """A running service. If one of its files is invalid, loading fails with one sentence."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.models = LoadedModels(settings.models)
        self.search = _search(settings, self.models)
        self.tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self.impressions = Impressions(settings.workers)
        self.monitor = FeatureMonitor()
        for model in self.models:
            self.monitor.show_training(model)
        self.is_draining = False
        self._threads = ThreadPoolExecutor(min(available_threads(), MAX_THREADS), "work")
        self._background = ThreadPoolExecutor(1, "background")
        self._n_waiting = 0
        self._shadow_of = self._others(SHADOW, settings.shadows)
        self._rival_of = self._others("--interleave", settings.interleaved)
        for live, rival in self._rival_of.items():
            prometheus.impressions.labels(live, rival)  # shown from the start, with 0

    def shadow(self, model: ServedModel) -> ServedModel | None:
        """Return the shadow of a model, if it has one."""
        return self._other(model, self._shadow_of)

    def rival(self, model: ServedModel) -> ServedModel | None:
        """Return the model to interleave with in this request, at random if only a fraction is interleaved."""
        return self._other(model, self._rival_of) if random() < self.settings.interleave_fraction else None

    def example_pair(self) -> tuple[str, str]:
        """Return two models that are interleaved, or made-up names if there are none."""
        return next(iter(self._rival_of.items()), ("live@1", "new@1"))

    def require_few(self, n_documents: int) -> None:
        """Refuse a request with too many documents."""
        limit = self.settings.max_documents
        if n_documents > limit:
            raise RefusalError(
                413, f"The request has {n_documents:,} documents; this service takes {limit:,} at a time."
            )

    def require_few_lists(self, body: bytes) -> None:
        """Refuse JSON with far too many documents before decoding it, which would take seconds and gigabytes."""
        limit = self.settings.max_documents
        if len(body) > SHORT_BODY and has_more_lists(body, 2 * limit + OTHER_LISTS):
            raise RefusalError(413, f"The request has more than {limit:,} documents, the limit of this service.")

    async def scores(self, exchange: Exchange, model: ServedModel, X: Floats) -> Doubles:
        """Return the scores of the documents of a request."""
        exchange.model, exchange.n_documents = model.source.reference, len(X)
        if model.work(len(X)) > INLINE:
            scores, unusual = await self.in_thread(_scored, model, X)
        else:
            scores, unusual = _scored(model, X)
        prometheus.documents_by(model.source.name, model.source.version).inc(len(X))
        self.monitor.add(model, *unusual)
        return scores

    async def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a slow function in a thread, so that other requests are answered meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)

    @property
    def is_behind(self) -> bool:
        """Whether the queue of `in_background` is full."""
        return self._n_waiting >= MAX_WAITING

    async def in_background(self, function: Callable[[], None]) -> None:
        """Call a function for which no answer waits, one at a time."""
        self._n_waiting += 1
        try:
            await asyncio.get_running_loop().run_in_executor(self._background, function)
        finally:
            self._n_waiting -= 1

    def close(self) -> None:
        """End the threads after their current work."""
        self._threads.shutdown()
        self._background.shutdown()

    def _others(self, option: str, pairs: Sequence[Pair]) -> dict[str, str]:
        """Return the other model of each pair, by the reference of the live model."""
        others: dict[str, str] = {}
        for pair in pairs:
            live, other = self._model(pair.live), self._model(pair.other)
            names = live.source.reference, other.source.reference
            if live is other:
                raise InputError(f"{option} needs a model other than {names[0]}, which answers.")
            if names[0] in others:
                raise InputError(f"{option} gives {names[0]} two other models, {others[names[0]]} and {names[1]}.")
            try:
                for_other_model(np.zeros((1, live.scorer.n_features), np.float32), live, other)
            except InputError as error:
                needed = new_columns(live, other)
                if option != SHADOW or not needed:
                    raise InputError(f"{names[1]} cannot score the requests to {names[0]}: {error}") from None
                log("shadow", live=names[0], shadow=names[1], scores_only_requests_with=needed)
            others[names[0]] = names[1]
        return others

    def _model(self, reference: str) -> ServedModel:
        try:
            return self.models.get(reference)
        except RefusalError as error:
            raise InputError(error.sentence) from None

    def _other(self, model: ServedModel, others: dict[str, str]) -> ServedModel | None:
        reference = others.get(model.source.reference) if others else None
        return None if reference is None else self.models.get(reference)


def _scored(model: ServedModel, X: Floats) -> tuple[Doubles, tuple[Integers, Integers]]:
    return model.scores(X), unusual_values(model, X)


def _search(settings: Settings, models: LoadedModels) -> Search | None:
    """Return the search of a service with an index; it is imported only then."""
    if settings.index is None and settings.searcher is None:
        return None
    from rankwright.serve.models.indexes import Search

    return Search(settings, models)


def has_more_lists(text: bytes, most: int) -> bool:
    """Return whether JSON has more than `most` lists and objects."""
    if text.count(b"[") + text.count(b"{") <= most:
        return False
    position = 0
    for _ in range(most + 1):
        match = _NEXT_LIST.match(text, position)
        if match is None:
            return False
        position = match.end()
    return True

"""Reloads files that change; an invalid file leaves the model in service as it is."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from rankwright.base.errors import InputError
from rankwright.base.files import FileState, file_state
from rankwright.serve.http import prometheus
from rankwright.serve.http.logs import log
from rankwright.serve.models.loaded_models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankwright.serve.models.loaded_models import ServedModel
    from rankwright.serve.service import Service

State: TypeAlias = tuple[FileState, ...]


@dataclass
class Watched:
    """A model, index or list of tokens in service, with its files.

    `used` is the state of the files in service; in a replaced worker, that of the start. `load` runs in a thread;
    `use` puts what it returns in service; `refused` is called with the problem if that fails.
    """

    name: str
    used: State
    files: Callable[[], list[Path]]
    load: Callable[[], Any]
    use: Callable[[Any], str]
    refused: Callable[[str], None] | None = None
    seen: State = field(init=False)

    def __post_init__(self) -> None:
        self.seen = self.state()

    def state(self) -> State:
        """Return the current state of the files."""
        return tuple(map(file_state, self.files()))


class Watcher:
    """Polls the files of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watched = _watched(service)
        self._reloading = asyncio.Lock()
        self._asked: set[asyncio.Task[None]] = set()

    async def catch_up(self) -> None:
        """Reload what has changed since the service was loaded."""
        for watched in self._watched:
            if watched.state() != watched.used:
                await self._reload(watched)

    async def run(self) -> None:
        """Poll the files; a changed file is loaded when two polls in a row see the same state.

        Loading a file that has been removed fails, and is logged.
        """
        while self._service.settings.reload:
            await asyncio.sleep(self._service.settings.reload)
            for watched in self._watched:
                state = watched.state()
                if state != watched.used and state == watched.seen:
                    await self._reload(watched)
                watched.seen = state

    def reload_all(self) -> None:
        """Reload everything now, changed or not."""
        task = asyncio.get_running_loop().create_task(self._reload_all())
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _reload_all(self) -> None:
        for watched in self._watched:
            await self._reload(watched)

    async def _reload(self, watched: Watched) -> None:
        async with self._reloading:
            watched.used = watched.state()  # before loading: a change meanwhile is loaded next time
            try:
                facts = watched.use(await self._service.in_thread(watched.load))
            except Exception as error:
                self._keep_old(watched, str(error) if isinstance(error, InputError) else type(error).__name__)
                return
            prometheus.reloads.labels(watched.name, "loaded").inc()
            log("reload", file=watched.name, loaded=facts)

    @staticmethod
    def _keep_old(watched: Watched, problem: str) -> None:
        if watched.refused is not None:
            watched.refused(problem)
        prometheus.reloads.labels(watched.name, "refused").inc()
        log("reload", level="error", file=watched.name, problem=problem, kept="the one in service")


def _watched(service: Service) -> list[Watched]:
    watched = [_watched_model(service, model) for model in service.models]
    if service.search is not None:
        search = service.search
        watched.append(Watched("search", search.state, lambda: search.files, search.open, search.replace))
    if service.tokens is not None:
        tokens = service.tokens
        watched.append(Watched("tokens", (tokens.state,), lambda: [tokens.path], tokens.read, tokens.replace))
    return watched


def _watched_model(service: Service, model: ServedModel) -> Watched:
    source = model.source
    return Watched(
        source.reference,
        (model.state,),
        lambda: [source.path],
        partial(load_model, source),
        partial(_use_model, service),
        partial(service.models.problems.__setitem__, source.reference),
    )


def _use_model(service: Service, model: Any) -> str:
    service.models.replace(model)
    service.monitor.show_training(model)
    return str(model.revision)

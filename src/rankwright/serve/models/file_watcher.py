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
    """Something in service that was made from files.

    `used` is the state of the files in service; a worker that replaces another has those of the start at first.
    `load` runs in a thread and returns what `use` puts in service; `refused` is told if it could not be.
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
        """Return the present state of the files."""
        return tuple(map(file_state, self.files()))


class Watcher:
    """Looks at the files of a service again and again."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._watched = _watched(service)
        self._reloading = asyncio.Lock()
        self._asked: set[asyncio.Task[None]] = set()

    async def catch_up(self) -> None:
        """Load what has changed since the service was loaded."""
        for watched in self._watched:
            if watched.state() != watched.used:
                await self._reload(watched)

    async def run(self) -> None:
        """Look at the files for ever; a changed file is loaded once it has stayed the same from look to look.

        That of a file which is gone for so long fails, and says so.
        """
        while self._service.settings.reload:
            await asyncio.sleep(self._service.settings.reload)
            for watched in self._watched:
                state = watched.state()
                if state != watched.used and state == watched.seen:
                    await self._reload(watched)
                watched.seen = state

    def reload_all(self) -> None:
        """Load everything again now, changed or not."""
        task = asyncio.get_running_loop().create_task(self._reload_all())
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)

    async def _reload_all(self) -> None:
        for watched in self._watched:
            await self._reload(watched)

    async def _reload(self, watched: Watched) -> None:
        async with self._reloading:
            watched.used = watched.state()  # before loading: what changes meanwhile is loaded next time
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
    return str(model.revision)

"""The index of a service, reopened when it changes, and the searchers that rank its documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.files import file_state
from rankwright.serve.http.exchange import RefusalError
from rankwright.text.index.index import Index
from rankwright.text.index.manifest import NAME as MANIFEST
from rankwright.text.searcher import NAME as SEARCHER
from rankwright.text.searcher import Searcher

if TYPE_CHECKING:
    from rankwright.serve.models.loaded_models import LoadedModels, ServedModel
    from rankwright.serve.settings import Settings


class Search:
    """An index in service. Only the event loop's thread replaces it."""

    def __init__(self, settings: Settings, models: LoadedModels) -> None:
        self._settings = settings
        self._models = models
        self._ranked: dict[str, tuple[ServedModel, Searcher]] = {}
        self.opened = self.open()
        self.state = tuple(map(file_state, self.files))
        """The state of the files when they were first opened."""

    @property
    def files(self) -> list[Path]:
        """The files that change when the index or the searcher does."""
        if self._settings.index is not None:
            return [self._settings.index / MANIFEST]
        saved = Path(self._settings.searcher or "")
        folder = saved if saved.is_dir() else self.opened.index.path
        return [saved / SEARCHER if saved.is_dir() else saved, folder / MANIFEST]

    def open(self) -> Searcher:
        """Open the index as it is now."""
        if self._settings.index is None:
            assert self._settings.searcher is not None
            return Searcher.load(self._settings.searcher)
        opened = Searcher(Index.open(self._settings.index), candidates=self._settings.candidates)
        if len(self._models):
            self._with_model(
                opened, self._models.get()
            )  # an unsuitable model is refused now, not at the first query
        return opened

    def replace(self, opened: Searcher) -> str:
        """Replace the searcher by what `open` returned."""
        self.opened, self._ranked = opened, {}
        return f"{len(opened.index):,} documents"

    def searcher(self, name: str | None, version: str | None) -> Searcher:
        """Return the searcher that ranks with a model, by default the first model, if there is any."""
        if self._settings.index is None:
            if name is not None or version is not None:
                raise RefusalError(
                    400, "This service searches with the model of its searcher; leave out model and version."
                )
            return self.opened
        if not len(self._models) and name is None and version is None:
            return self.opened
        model = self._models.get(name, version)
        used, searcher = self._ranked.get(model.source.reference, (None, None))
        if searcher is None or used is not model:
            searcher = self._with_model(self.opened, model)
            self._ranked[model.source.reference] = (model, searcher)
        return searcher

    def _with_model(self, opened: Searcher, model: ServedModel) -> Searcher:
        try:
            return Searcher(opened.index, model=model.scorer, candidates=self._settings.candidates)
        except InputError as error:
            raise InputError(f"{model.source.reference} cannot rank documents of the index: {error}") from None

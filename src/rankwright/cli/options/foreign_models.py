"""Models of other libraries, read by the library itself, which must be installed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.models.other_libraries import ordered_for

if TYPE_CHECKING:
    from pathlib import Path

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import Documents


@dataclass(frozen=True)
class ForeignModel(ABC):
    """A model file of another library, whose features are matched as those of such a model in Python."""

    path: Path
    package: ClassVar[str]
    library: ClassVar[str]
    takes_documents: ClassVar[bool] = True

    @abstractmethod
    def _load(self, package: Any) -> Any:
        """Return the library's model."""

    @abstractmethod
    def _predict(self, X: Any, n_jobs: int | None) -> Any:
        """Return the library's scores."""

    @cached_property
    def model(self) -> Any:
        """The library's model."""
        try:
            package = import_module(self.package)
        except ImportError:
            raise MissingPackageError(
                f"{self.path} is a {self.library} model; to read it, run pip install {self.package}."
            ) from None
        try:
            return self._load(package)
        except Exception as error:  # each library has its own
            raise InputError(f"{self.path} cannot be read as a {self.library} model: {_first(error)}") from error

    def predict(self, X: Documents, *, n_jobs: int | None = None) -> Doubles:
        """Return the same as `scores`, as a system of `rw.evaluate` does."""
        return self.scores(X, n_jobs)

    def scores(self, documents: Documents, n_jobs: int | None) -> Doubles:
        """Return the library's scores of documents."""
        model = self.model
        try:
            scores = np.asarray(self._predict(ordered_for(model, documents), n_jobs), dtype=np.float64)
        except Exception as error:
            raise InputError(f"{self.path} cannot score the data: {_first(error)}") from error
        if scores.shape != (len(documents),):
            raise InputError(f"{self.path} gives several scores per document, so it cannot rank.")
        return scores


class LightGBMModel(ForeignModel):
    """A LightGBM model in its text format."""

    package, library = "lightgbm", "LightGBM"

    def _load(self, package: Any) -> Any:
        return package.Booster(model_file=str(self.path))

    def _predict(self, X: Any, n_jobs: int | None) -> Any:
        return self.model.predict(X, num_threads=n_jobs or 0)


class XGBoostModel(ForeignModel):
    """An XGBoost model as JSON or UBJSON."""

    package, library = "xgboost", "XGBoost"

    def _load(self, package: Any) -> Any:
        return package.Booster(model_file=bytearray(self.path.read_bytes()))  # whatever the name ends with

    def _predict(self, X: Any, n_jobs: int | None) -> Any:
        if n_jobs is not None:
            self.model.set_param("nthread", n_jobs)
        return self.model.inplace_predict(X)


class CatBoostModel(ForeignModel):
    """A CatBoost model in its binary format."""

    package, library = "catboost", "CatBoost"

    def _load(self, package: Any) -> Any:
        return package.CatBoost().load_model(str(self.path), format="cbm")

    def _predict(self, X: Any, n_jobs: int | None) -> Any:
        return self.model.predict(X, thread_count=n_jobs or -1)


def _first(error: Exception) -> str:
    """Return the first line of a library's message, as a sentence."""
    text = str(error).strip().partition("\n")[0] or type(error).__name__
    return text if text.endswith(".") else f"{text}."

"""A finished model as a ranker, so that it can be judged and mixed like trained ones."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.interop.loading import load
from rankwright.rankers.parameters.checks import Integer, PathText
from rankwright.rankers.parameters.declaration import parameter
from rankwright.rankers.ranker import Ranker
from rankwright.training.history import History

if TYPE_CHECKING:
    import os

    from rankwright.data.dataset import Documents
    from rankwright.models.scorer import Scorer
    from rankwright.training.fit_task import FitTask


@lru_cache(maxsize=16)
def _loaded(path: str, _checksum: int, n_features: int) -> Scorer:
    """Return the scorer in a file, which is read once for all fits."""
    return load(path, n_features=n_features)


class ReadyModel(Ranker):
    """A model file of rankwright or of another tool; fitting does not change it.

    Not a public name: AutoRanker takes the files.
    """

    path: str | os.PathLike[str] = parameter(PathText(), "The model file.", default="model.rw")
    checksum: int = parameter(Integer(0), "CRC-32 of the file: another content is another model.", default=0)

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> ReadyModel:
        """Return the model of a file as it is now."""
        with open_bytes(Path(path)) as file:
            return cls(path=path, checksum=crc32(file.read()))

    def scorer_for(self, data: Documents) -> Scorer:
        """Return the scorer; refuse a model of other features than those of the data."""
        scorer = _loaded(str(self.path), self.checksum, data.n_features)
        if scorer.needs_init_score:
            raise InputError(
                f"{self.path} holds a residual model, which needs init_score; add it to its first model."
            )
        both_named = scorer.feature_names is not None and data.feature_names is not None
        if both_named and (scorer.feature_names, scorer.categories) != (data.feature_names, data.categories):
            raise InputError(
                f"The features of {self.path} are not those of the data: they must have the same names, "
                "categories and order."
            )
        return scorer.bare()  # the mixture has the names of the data

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        return self.scorer_for(task.train.data), History((), 0, reason="the model was ready")

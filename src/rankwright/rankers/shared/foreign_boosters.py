"""Rankers that train another library's boosted trees and convert them to our scorers.

They are the companions of our own rankers in an `AutoRanker`, and no public names: `FOREIGN_BOOSTERS` has them by
name. The settings are those for small judged collections (small trees, a low learning rate, sampling of rows and
columns) or the library's own defaults.
"""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.interop.importers.catboost import scorer_from_catboost
from rankwright.interop.importers.lightgbm import scorer_from_lightgbm
from rankwright.interop.importers.xgboost import scorer_from_xgboost
from rankwright.rankers.parameters.checks import Flag, Integer
from rankwright.rankers.parameters.declaration import RandomParameters, parameter
from rankwright.rankers.ranker import Ranker
from rankwright.training.monitor import WeightedModel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Scorer
    from rankwright.models.trees import TreeEnsemble
    from rankwright.training.fit_task import FitTask
    from rankwright.training.history import History
    from rankwright.training.monitor import Monitor

LEARNING_RATE, MAX_LEAVES, MAX_DEPTH = 0.05, 7, 4
ROW_FRACTION, FEATURE_FRACTION = 0.7, 0.5
COMPARED_DOCUMENTS = 10_000  # at most, with the library's own scores
LARGEST_DIFFERENCE = 1e-5  # of a score, relative to the largest; XGBoost sums in 32 bits


class Judged(NamedTuple):
    """Documents in canonical order, query by query."""

    X: NDArray[np.float32]
    y: Doubles
    sizes: NDArray[np.int64]

    @property
    def query(self) -> NDArray[np.int64]:
        """The number of each document's query."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)


class Trained(NamedTuple):
    """A library's model as our scorer, and how the library itself scores documents."""

    scorer: TreeEnsemble
    predict: Callable[[NDArray[np.float32]], Any]


class ForeignBooster(RandomParameters, Ranker):
    """Trains another library's model for a fixed number of rounds; a subclass knows the library.

    Validation data choose how many of the rounds are kept. The scorer is compared with the library's own scores of
    training documents, and refused if they differ.
    """

    library: ClassVar[str]
    small_settings: ClassVar[Mapping[str, Any]]
    highest_label: ClassVar[int | None] = None
    """The highest label, an integer, that the library's objective takes; None if labels may be any numbers."""

    rounds: int = parameter(
        Integer(1), "Number of rounds to train. Validation data choose how many are kept.", default=200
    )

    small: bool = parameter(
        Flag(), "Whether the settings are for small judged collections, or the library's defaults.", default=True
    )

    @property
    def settings(self) -> Mapping[str, Any]:
        """The library's own parameters, without objective, seed and number of threads."""
        return self.small_settings if self.small else {}

    @abstractmethod
    def _train(self, package: Any, data: Judged, rounds: int, n_threads: int) -> Trained:
        """Return the model that the library, an imported package, has learned."""

    def _fit(self, task: FitTask) -> tuple[Scorer, History]:
        if task.weights is not None:
            raise InputError(f"{type(self).__name__} takes no weights: every document counts the same.")
        package, labels = self.package(), task.train.labels
        self._require_labels(labels.y)
        data = Judged(task.train.data.X[task.train.canonical_rows], labels.y, labels.groups.sizes)
        trained = self._trained(package, data, task)
        if not len(trained.scorer.feature):
            raise InputError(f"There is nothing to learn: no tree of {self.library} has a split.")
        return _kept(trained.scorer, data.X, task.monitor(self.metric, task.watched_labels), task.n_threads)

    def package(self) -> Any:
        """Return the library, or say how to install it."""
        name = self.library.lower()
        try:
            return import_module(name)
        except ImportError:
            raise MissingPackageError(
                f"{type(self).__name__} needs {self.library}: pip install 'rankwright[{name}]'."
            ) from None

    def _require_labels(self, labels: Doubles) -> None:
        if self.highest_label is None:
            return
        wrong = (labels < 0) | (labels > self.highest_label) | (labels != np.floor(labels))
        if wrong.any():
            raise InputError(
                f"{self.library} takes labels that are integers from 0 to {self.highest_label}, "
                f"not {labels[wrong.argmax()]:g}."
            )

    def _trained(self, package: Any, data: Judged, task: FitTask) -> Trained:
        """Return the library's model, if its scores equal those of the scorer."""
        version = f"{self.library} {package.__version__}"
        try:
            trained = self._train(package, data, task.stop_after or self.rounds, task.n_threads)
            sample = data.X[:: 1 + len(data.X) // COMPARED_DOCUMENTS]
            expected = np.asarray(trained.predict(sample), dtype=np.float64).ravel()
        except InputError:
            raise
        except Exception as error:  # each library has its own
            raise InputError(f"{version} cannot learn from these data: {_first_line(error)}") from error
        difference = np.abs(trained.scorer.predict(sample, n_jobs=task.n_threads) - expected).max()
        if not difference <= LARGEST_DIFFERENCE * np.abs(expected).max():
            raise InputError(
                f"The scores of {version} and those of its converted model differ by up to {difference:g}."
            )
        return trained

    def _about(self, task: FitTask, history: History) -> dict[str, Any]:
        return super()._about(task, history) | {"library": f"{self.library} {self.package().__version__}"}


class LightGBMRanker(ForeignBooster):
    """LightGBM's lambdarank; small, with 7 leaves per tree."""

    name: ClassVar[str] = "lightgbm"
    library: ClassVar[str] = "LightGBM"
    small_settings: ClassVar[Mapping[str, Any]] = {
        "num_leaves": MAX_LEAVES,
        "learning_rate": LEARNING_RATE,
        "bagging_fraction": ROW_FRACTION,
        "bagging_freq": 1,
        "feature_fraction": FEATURE_FRACTION,
    }
    highest_label: ClassVar[int | None] = 30

    def _train(self, package: Any, data: Judged, rounds: int, n_threads: int) -> Trained:
        settings = {
            "objective": "lambdarank",
            **self.settings,
            "seed": self.random_state,
            "num_threads": n_threads,
            "deterministic": True,  # so that the model does not depend on the number of threads
            "force_row_wise": True,
            "verbosity": -1,
        }
        given = package.Dataset(data.X, data.y, group=data.sizes, params={"verbosity": -1})
        model = package.train(settings, given, rounds)
        scorer = scorer_from_lightgbm(model.model_to_string())
        return Trained(scorer, lambda X: model.predict(X, raw_score=True, num_threads=n_threads))


class XGBoostRanker(ForeignBooster):
    """XGBoost's rank:ndcg; small, with trees of depth 4."""

    name: ClassVar[str] = "xgboost"
    library: ClassVar[str] = "XGBoost"
    small_settings: ClassVar[Mapping[str, Any]] = {
        "max_depth": MAX_DEPTH,
        "learning_rate": LEARNING_RATE,
        "subsample": ROW_FRACTION,
        "colsample_bytree": FEATURE_FRACTION,
    }
    highest_label: ClassVar[int | None] = 31

    def _train(self, package: Any, data: Judged, rounds: int, n_threads: int) -> Trained:
        settings = {
            "objective": "rank:ndcg",
            **self.settings,
            "seed": self.random_state,
            "nthread": n_threads,
            "verbosity": 0,
        }
        given = package.DMatrix(data.X, data.y, qid=data.query, nthread=n_threads)
        model = package.train(settings, given, rounds)
        scorer = scorer_from_xgboost(bytes(model.save_raw("json")))
        return Trained(scorer, lambda X: model.predict(package.DMatrix(X, nthread=n_threads), output_margin=True))


class CatBoostRanker(ForeignBooster):
    """CatBoost's YetiRank; small, with symmetric trees of depth 4."""

    name: ClassVar[str] = "catboost"
    library: ClassVar[str] = "CatBoost"
    small_settings: ClassVar[Mapping[str, Any]] = {
        "depth": MAX_DEPTH,
        "learning_rate": LEARNING_RATE,
        "rsm": FEATURE_FRACTION,
    }

    def _train(self, package: Any, data: Judged, rounds: int, n_threads: int) -> Trained:
        settings = {
            "loss_function": "YetiRank",
            "iterations": rounds,
            **self.settings,
            "random_seed": self.random_state,
            "thread_count": n_threads,
            "allow_writing_files": False,
            "verbose": False,
        }
        model = package.CatBoost(settings)
        model.fit(package.Pool(data.X, data.y, group_id=data.query, thread_count=n_threads))
        scorer = scorer_from_catboost(_json_of(model))
        return Trained(scorer, lambda X: model.predict(X, prediction_type="RawFormulaVal", thread_count=n_threads))


FOREIGN_BOOSTERS: Mapping[str, type[ForeignBooster]] = {
    kind.name: kind for kind in (LightGBMRanker, XGBoostRanker, CatBoostRanker)
}
"""Rankers of other libraries by name."""


def _kept(
    scorer: TreeEnsemble, X: NDArray[np.float32], monitor: Monitor, n_threads: int
) -> tuple[Scorer, History]:
    """Return the rounds that the monitor keeps, and all of them as a history."""
    scores = np.zeros(len(X))
    with monitor:  # Ctrl-C ends the rounds, not the fit
        for number in range(scorer.n_trees):
            tree = scorer.take([number])
            scores += tree.predict(X, n_jobs=n_threads)
            if monitor.observe(WeightedModel(1.0, tree), scores):
                break
    return scorer.first(monitor.best_round), monitor.history


def _json_of(model: Any) -> bytes:
    """Return CatBoost's model as JSON, which it writes to files only."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        model.save_model(str(path), format="json")
        return path.read_bytes()


def _first_line(error: Exception) -> str:
    """Return what an error says, without a trace; a sentence ends with a full stop."""
    text = str(error).strip() or repr(error)
    return text.splitlines()[0].rstrip(".,") + "."

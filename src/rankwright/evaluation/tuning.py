"""Chooses the setting and the number of rounds of a ranker on judged queries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.data.alignment import aligned
from rankwright.data.counted import counted
from rankwright.data.splitting import concat
from rankwright.errors import InputError
from rankwright.rankers.catalogue import as_ranker
from rankwright.rankers.parameters import require_known
from rankwright.threads import resolve_threads
from rankwright.training import TrainingSet, smoothed
from rankwright.training.sampling import fold_queries
from rankwright.training.workers import run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.data import RankingData
    from rankwright.rankers.ranker import Ranker
    from rankwright.training import History, Round
    from rankwright.training.workers import OnRound

    Grid = Mapping[str, Sequence[Any]]
    Judged = RankingData | TrainingSet

FOLDS = 4  # number of folds of the protocol "out-of-fold"
SEED = 0  # seed of these folds


class Part(NamedTuple):
    """The queries that a setting is fitted on, and those that it is evaluated on."""

    train: TrainingSet
    judges: TrainingSet


class Plan(NamedTuple):
    """The parts that choose the setting, and the data for the final fit with it."""

    parts: Sequence[Part]
    final: TrainingSet


@dataclass(frozen=True)
class Protocol:
    """How settings are chosen: how the training and validation data are divided, and into how many parts."""

    plan: Callable[[Judged, Judged | None], Plan]
    n_parts: int


def by_validation(train: Judged, valid: Judged | None) -> Plan:
    """Fit on the training part and evaluate on the validation part; the final fit uses the training part."""
    if valid is None:
        raise InputError("Choosing a setting on validation needs a validation part; 'out-of-fold' does not.")
    learned_from = TrainingSet.of(train)
    return Plan([Part(learned_from, TrainingSet.of(valid))], final=learned_from)


def out_of_fold(train: Judged, valid: Judged | None) -> Plan:
    """Cross-validate over the queries of both parts; the final fit uses both."""
    both = TrainingSet.of(train)
    if valid is not None:  # equal query ids in the two parts need not be the same query
        other = aligned(TrainingSet.of(valid).data, both.data)
        both = TrainingSet(concat(both.data, other, shared_queries="separate"))
    return Plan([Part(*fold) for fold in fold_queries(both, FOLDS, np.random.default_rng(SEED))], final=both)


PROTOCOLS = {"validation": Protocol(by_validation, 1), "out-of-fold": Protocol(out_of_fold, FOLDS)}


def default_protocol(*, has_validation: bool) -> str:
    """Return the name of the protocol that is used if none is named."""
    return "validation" if has_validation else "out-of-fold"


def find_protocol(name: str) -> Protocol:
    """Return the protocol of that name."""
    if name not in PROTOCOLS:
        raise InputError(f"There is no tuning protocol {name!r}; choose {' or '.join(map(repr, PROTOCOLS))}.")
    return PROTOCOLS[name]


@dataclass(frozen=True)
class Trial:
    """A setting, its best number of rounds, and the smoothed mean of the ranker's metric there."""

    parameters: Mapping[str, Any]
    rounds: int
    value: float

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain JSON."""
        return {"parameters": dict(self.parameters), "rounds": self.rounds, "value": self.value}


@dataclass(frozen=True, repr=False)
class Tuning:
    """The choice of a setting.

    `ranker` has the chosen setting and number of rounds and is not fitted yet; `data` are the documents to fit it
    on: those given, together with the validation part if settings were compared `"out-of-fold"` (`protocol`).
    `best` is the best of all `trials`.
    """

    ranker: Ranker
    data: TrainingSet
    protocol: str
    best: Trial
    trials: tuple[Trial, ...]

    def __repr__(self) -> str:
        settings = counted(len(self.trials), "setting")
        return f"Tuning({self.ranker!r} by {self.protocol} from {settings}, {self.best.value:.4f})"

    def fit(self, *, on_round: Callable[[Round], None] | None = None) -> Ranker:
        """Fit the ranker with the chosen setting and number of rounds on `data`, and return it."""
        return self.ranker.fit(self.data, on_round=on_round)


def tune(
    ranker: Ranker | str,
    data: Judged,
    *,
    validation: Judged | None = None,
    choose: str | None = None,
    grid: Grid | None = None,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> Tuning:
    """Choose the setting and the number of rounds of a ranker.

    `tune(...).fit()` returns the ranker fitted with them.

    Parameters
    ----------
    ranker
        The ranker to tune, or its name; it is not changed.
    data, validation
        Judged documents. Without a validation part, settings are compared out of fold.
    choose
        How settings are compared: on the `"validation"` part, the default if there is one; or `"out-of-fold"`, by
        cross-validation over the queries of `data` and, if given, `validation`.
    grid, workers
        As in `cross_validate`.
    on_fit
        Called after each fit.
    """
    ranker = as_ranker(ranker)
    require_workers(workers)
    name = default_protocol(has_validation=validation is not None) if choose is None else choose
    parts, final = find_protocol(name).plan(data, validation)
    trials = try_settings(ranker, settings_of(ranker, grid), parts, workers=workers, on_fit=on_fit)
    best = best_of(trials)
    return Tuning(configured(ranker, chosen_parameters(ranker, best)), final, name, best, tuple(trials))


def count_trials(ranker: Ranker, choose: str | None, *, has_validation: bool, grid: Grid | None = None) -> int:
    """Return the number of fits of `tune`."""
    name = default_protocol(has_validation=has_validation) if choose is None else choose
    return len(settings_of(ranker, grid)) * find_protocol(name).n_parts


def settings_of(ranker: Ranker, grid: Grid | None = None) -> list[dict[str, Any]]:
    """Return every combination of the grid's values; without a grid, of the ranker's default grid.

    The default grid leaves out parameters that have been set to other values than their defaults.
    """
    if grid is None:
        current, defaults = ranker.get_params(deep=False), type(ranker)().get_params(deep=False)
        grid = {name: values for name, values in ranker.grid.items() if current[name] == defaults[name]}
    _check_grid(ranker, grid)
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def try_settings(
    ranker: Ranker,
    settings: Sequence[Mapping[str, Any]],
    parts: Sequence[Part],
    *,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Fit every setting on every part, and return one trial per setting.

    The curve of a setting is the mean over parts of the ranker's metric after each round. It is smoothed, because
    on a few dozen queries differences between single rounds are mostly noise. Its maximum gives the value and the
    number of rounds of the setting; if rounds converge, its last point does.
    """
    tasks = [(setting, part) for setting in settings for part in parts]
    threads = resolve_threads(ranker.n_jobs)
    at_once = min(workers or threads, len(tasks))
    n_threads = max(1, threads // at_once)

    def fit(task: tuple[Mapping[str, Any], Part], on_round: OnRound) -> History:
        setting, part = task
        one = configured(ranker, {**setting, "n_jobs": n_threads})
        return one.fit(part.train, validation=part.judges, on_round=on_round).history_

    histories = run_all(fit, tasks, workers=at_once, on_done=on_fit)
    return [
        _trial(setting, histories[first : first + len(parts)])
        for setting, first in zip(settings, range(0, len(tasks), len(parts)), strict=True)
    ]


def best_of(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the highest value; the first one if several are equal."""
    return max(trials, key=lambda trial: trial.value)


def configured(ranker: Ranker, parameters: Mapping[str, Any]) -> Ranker:
    """Return an unfitted copy of the ranker with these parameters."""
    return ranker.unfitted().set_params(**parameters)


def chosen_parameters(ranker: Ranker, trial: Trial) -> dict[str, Any]:
    """Return the setting of a trial and, if the ranker has rounds, the number of rounds."""
    rounds = {"rounds": trial.rounds} if "rounds" in ranker.get_params(deep=False) else {}
    return {**trial.parameters, **rounds}


def require_workers(workers: int | None) -> None:
    """Refuse anything but None or a positive integer."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be None or a positive integer, not {workers!r}.")


def _trial(setting: Mapping[str, Any], histories: Sequence[History]) -> Trial:
    curve = mean_curve([history.validation for history in histories])
    if histories[0].converging:
        return Trial(setting, len(curve), float(curve[-1]))
    curve = smoothed(curve)
    best = int(np.argmax(curve))
    return Trial(setting, best + 1, float(curve[best]))


def mean_curve(curves: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the mean of curves; a curve that ended early is extended by its last value."""
    longest = max(map(len, curves))
    held = [np.pad(curve, (0, longest - len(curve)), mode="edge") for curve in curves]
    return np.asarray(np.mean(held, axis=0))


def _check_grid(ranker: Ranker, grid: Grid) -> None:
    require_known(type(ranker), grid)
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise InputError(f"The grid must give a list of values for {name}, not {values!r}.")
        if name in ("metric", "rounds", "n_jobs"):
            raise InputError(
                f"The grid cannot contain {name}, which is the same for all settings: set it in the ranker. Each "
                "setting is measured after every round, and its best number of rounds is kept."
            )

"""Grid search: tries every combination of a few values of parameters."""

from __future__ import annotations

from itertools import product
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.rankers.parameters.declaration import require_known
from rankwright.rankers.parameters.search_space import NEVER_SEARCHED
from rankwright.training.concurrent_fits import run_all
from rankwright.tuning.trials import Trial, best_rounds, configured, judged_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.tuning.judging_queries import JudgingPart
    from rankwright.tuning.trials import RoundsCurve

    Grid = Mapping[str, Sequence[Any]]


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
    parts: Sequence[JudgingPart],
    *,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> list[Trial]:
    """Fit every setting on every part, and return one trial per setting; see `best_rounds`."""
    tasks = [(setting, part) for setting in settings for part in parts]
    threads = resolve_threads(ranker.n_jobs)
    at_once = min(workers or threads, len(tasks))
    n_threads = max(1, threads // at_once)

    def fit(task: tuple[Mapping[str, Any], JudgingPart], on_round: OnRound) -> tuple[RoundsCurve, float]:
        started = monotonic()
        setting, part = task
        curve = judged_curve(configured(ranker, {**setting, "n_jobs": n_threads}), part, on_round)
        return curve, monotonic() - started

    fits = run_all(fit, tasks, workers=at_once, on_done=on_fit)
    return [
        _trial(number, setting, fits[number * len(parts) : (number + 1) * len(parts)])
        for number, setting in enumerate(settings)
    ]


def _trial(number: int, setting: Mapping[str, Any], fits: Sequence[tuple[RoundsCurve, float]]) -> Trial:
    rounds, value, values = best_rounds([curve for curve, _ in fits])
    return Trial(setting, rounds, value, values, number=number, seconds=sum(seconds for _, seconds in fits))


def _check_grid(ranker: Ranker, grid: Grid) -> None:
    require_known(type(ranker), grid)
    for name, values in grid.items():
        if isinstance(values, str) or not len(values):
            raise InputError(f"The grid must give a list of values for {name}, not {values!r}.")
        if name in NEVER_SEARCHED:
            raise InputError(
                f"The grid cannot contain {name}, which is the same for all settings: set it in the ranker. Each "
                "setting is measured after every round, and its best number of rounds is kept."
            )

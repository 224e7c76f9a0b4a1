"""Chooses the setting and the number of rounds of a ranker on judged queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, parameter
from rankwright.rankers.catalogue import as_ranker
from rankwright.rankers.parameters.checks import Duration, Integer, Real
from rankwright.rankers.parameters.declaration import Parameter, Parameters, require_known
from rankwright.rankers.parameters.search_space import NEVER_SEARCHED, Choices, Range
from rankwright.rankers.parameters.spelling import spelled
from rankwright.tuning.grid import settings_of, try_settings
from rankwright.tuning.judging_queries import OUT_OF_FOLD, default_protocol, find_protocol
from rankwright.tuning.optuna_search import INTERRUPTED, NO_TIME, SettingSearch
from rankwright.tuning.optuna_storage import import_optuna, open_study, purpose_of, quiet
from rankwright.tuning.trials import COMPLETE, best_of, chosen_parameters, configured
from rankwright.tuning.tuning_result import Tuning

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from rankwright.rankers.parameters.search_space import Space
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.grid import Grid
    from rankwright.tuning.judging_queries import Judged, JudgingPlan
    from rankwright.tuning.optuna_search import SearchProgress
    from rankwright.tuning.trials import Trial

TRIALS = 60  # of a search, by default


def tune(
    ranker: Ranker | str,
    data: Judged,
    *,
    validation: Judged | None = None,
    choose: str | None = None,
    time_column: str | None = None,
    trials: int | None = None,
    time_limit: float | str | None = None,
    space: Mapping[str, Any] | None = None,
    grid: Grid | bool | None = None,
    storage: str | os.PathLike[str] | None = None,
    prune: bool = True,
    random_state: int = 0,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
    on_progress: Callable[[SearchProgress], None] = lambda _: None,
) -> Tuning:
    """Choose the setting and the number of rounds of a ranker: by a search with Optuna, or from a grid.

    `tune(...).fit()` returns the ranker fitted with them. Ctrl-C ends a search with the best setting so far.

    Parameters
    ----------
    ranker, data, validation, choose
        The ranker, or its name; judged documents; and how settings are compared, of which the ranker's own is the
        first: on the `"validation"` part, the default if there is one, or `"out-of-fold"` over both parts.
    time_column
        Column with the time of each query: folds are in time order, as in `make_folds`. None: random folds.
    trials
        Number of settings to try; by default 60.
    time_limit
        Time for all trials, in seconds or as text such as `"10m"`. None: no limit.
    space
        Values to try in place of those that the ranker declares (`ranker.space`), by parameter: `"0.01..0.3"`,
        `"4..64:log"`, or a list. A parameter that has been set stays as it is unless it is named here.
    grid
        Try all combinations of these values, by parameter, instead of a search; True: of the ranker's own grid.
    storage
        A file that keeps every trial: the same call resumes the search, even if the process was killed.
    prune
        Whether to stop a trial that is clearly worse than the best one on the first folds.
    random_state
        Seed of the search.
    workers
        Number of concurrent fits; None: one per thread. A search uses at most four.
    on_fit, on_progress
        Called after each fit, and after each trial of a search.

    Examples
    --------
    >>> judged = rw.synthetic.gaussian_queries(12, spread=(0.2, 1.3))
    >>> tuned = rw.tune(rw.RankSVM("map"), judged, trials=3, space={"C": "0.1..10"})
    >>> len(tuned.trials), tuned.best.value >= tuned.baseline.value
    (3, True)
    >>> ranker = tuned.fit()  # the best setting, on all queries
    """
    require_workers(workers)
    protocol = default_protocol(has_validation=validation is not None) if choose is None else choose
    _require_out_of_fold(protocol, time_column)
    plan = partial(find_protocol(protocol).plan, data, validation, time_column)
    task = _Task(as_ranker(ranker), plan, protocol, workers, on_fit, time_column)
    if grid is not None and grid is not False:
        _refuse_with_grid({"trials": trials, "time_limit": time_limit, "space": space, "storage": storage})
        return task.from_grid(None if grid is True else grid)
    Integer(0).require(parameter("random_state"), random_state)
    options = {"random_state": random_state, "prune": prune}
    return task.from_search(_space(task.ranker, space), _limits(trials, time_limit), storage, options, on_progress)


def _require_out_of_fold(protocol: str, time_column: str | None) -> None:
    if time_column is not None and protocol != OUT_OF_FOLD:
        option = parameter("time_column")
        raise InputError(f"{option} divides queries out of fold; a validation part is given here.")


def _limits(trials: int | None, time_limit: float | str | None) -> tuple[int, float | None]:
    """Return the number of trials of a search, and its time in seconds."""
    most = TRIALS if trials is None else trials
    Integer(1).require(parameter("trials"), most)
    return most, None if time_limit is None else Duration().take("time_limit", time_limit)


@dataclass(frozen=True)
class _Task:
    """A ranker to tune, and the queries that choose its setting."""

    ranker: Ranker
    plan: Callable[[], JudgingPlan]
    protocol: str
    workers: int | None
    on_fit: Callable[[], None]
    time_column: str | None

    def from_grid(self, grid: Grid | None) -> Tuning:
        """Try all combinations of a grid's values."""
        started, settings = monotonic(), settings_of(self.ranker, grid)
        plan = self.plan()
        trials = try_settings(self.ranker, settings, plan.parts, workers=self.workers, on_fit=self.on_fit)
        tried = {name: ";".join({spelled(setting[name]): None for setting in settings}) for name in settings[0]}
        return self._tuning(plan, trials, space=tried, seconds=monotonic() - started)

    def from_search(
        self,
        space: Mapping[str, Space],
        limits: tuple[int, float | None],
        storage: str | os.PathLike[str] | None,
        options: Mapping[str, Any],
        on_progress: Callable[[SearchProgress], None],
    ) -> Tuning:
        """Let Optuna search; missing packages and mistakes are reported before the data are split."""
        started = monotonic()
        import_optuna()
        plan = self.plan()
        purpose = {} if storage is None else purpose_of(self.ranker, space, plan, self.protocol, **options)
        watch: dict[str, Any] = {"workers": self.workers, "on_fit": self.on_fit, "on_progress": on_progress}
        with quiet(), open_study(storage, purpose) as study:
            search = SettingSearch(self.ranker, space, plan, study, **options, **watch)
            ended = search.run(*limits)
            trials = search.trials()
        _require_result(trials, ended, limits[1])
        texts = {name: str(range_) for name, range_ in space.items()}
        return self._tuning(plan, trials, space=texts, study=study, ended=ended, seconds=monotonic() - started)

    def _tuning(self, plan: JudgingPlan, trials: Sequence[Trial], **facts: Any) -> Tuning:
        best = best_of(trials)
        chosen = configured(self.ranker, chosen_parameters(self.ranker, best))
        own = next((trial for trial in trials if self._is_own(trial.parameters)), None)
        facts["time_column"] = self.time_column
        return Tuning(chosen, plan.final, self.protocol, best, tuple(trials), own, **facts)

    def _is_own(self, setting: Mapping[str, Any]) -> bool:
        """Return whether a setting is the ranker's own."""
        return all(getattr(self.ranker, name) == value for name, value in setting.items())


def count_trials(ranker: Ranker, choose: str | None, *, has_validation: bool, grid: Grid | None = None) -> int:
    """Return the number of fits of a grid."""
    name = default_protocol(has_validation=has_validation) if choose is None else choose
    return len(settings_of(ranker, grid)) * find_protocol(name).n_parts


def require_workers(workers: int | None) -> None:
    """Refuse anything but None or a positive integer."""
    Integer(1, optional=True).require(parameter("workers"), workers)


def _space(ranker: Ranker, given: Mapping[str, Any] | None) -> dict[str, Space]:
    space = search_space(ranker, given)
    if not space:
        declared = ", ".join(ranker.space)
        why = f"all of {declared} are set" if declared else "it declares no search space"
        raise InputError(
            f"There is nothing to tune in {type(ranker).__name__}: {why}; name parameters in {parameter('space')}."
        )
    return space


def _refuse_with_grid(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value is not None:
            option = parameter(name)
            end = f"leave out {option} or {parameter('grid')}."
            raise InputError(f"{option} is for a search; a grid tries all its settings: {end}")


def _require_result(trials: Sequence[Trial], ended: str, seconds: float | None) -> None:
    """Refuse a search that ended before its first trial was complete."""
    if any(trial.state == COMPLETE for trial in trials):
        return
    if ended == INTERRUPTED:
        raise KeyboardInterrupt
    assert ended == NO_TIME  # the first trial is complete or raises
    raise InputError(f"The time limit of {seconds:g} s was too short to try even one setting: allow more time.")


def search_space(ranker: Parameters, given: Mapping[str, Any] | None = None) -> dict[str, Space]:
    """Return the space to search, by parameter: what a ranker declares, with what is given in its place.

    Parameters that have been set to other values than their defaults stay as they are, unless they are given.
    """
    current, defaults = ranker.get_params(deep=False), type(ranker)().get_params(deep=False)
    own = {name: space for name, space in ranker.space.items() if current[name] == defaults[name]}
    return own | _read_spaces(ranker, given or {})


def _read_spaces(ranker: Parameters, given: Mapping[str, Any]) -> dict[str, Space]:
    """Return spaces as they are spelled: `"0.01..0.3"`, `"4..64:log"`, `"a,b,c"`, or a list of choices.

    A range has a log scale if the declared one has.
    """
    require_known(type(ranker), given)
    for name in NEVER_SEARCHED:
        if name in given:
            raise InputError(
                f"The space cannot contain {name}, which is the same for all settings: set it in the ranker. Each "
                "setting is measured after every round, and its best number of rounds is kept."
            )
    return {name: _read_space(ranker.declared[name], space) for name, space in given.items()}


def _read_space(declared: Parameter, given: Any) -> Space:
    if isinstance(given, str):
        space = _read_text(declared, given)
    elif isinstance(given, Range | Choices):
        space = given
    elif isinstance(given, list | tuple):
        space = Choices(*(declared.check.take(declared.name, choice) for choice in given))
    else:
        raise InputError(
            f"The space of {declared.name} must be text such as '0.01..0.3', or a list of choices, not {given!r}."
        )
    space.require(declared.name, declared.check)
    return space


def _read_text(declared: Parameter, text: str) -> Space:
    name, check = declared.name, declared.check
    if ".." not in text:
        parts = text.split(";" if ";" in text else ",")
        return Choices(*(check.parse(name, part.strip()) for part in parts))
    bounds, _, scale = text.partition(":")
    if scale.strip() not in ("", "log"):
        raise InputError(f"The space of {name} must be low..high or low..high:log, not {text!r}.")
    low, high = (check.parse(name, bound.strip()) for bound in bounds.split("..", 1))
    if not isinstance(check, Integer | Real) or low is None or high is None:
        raise InputError(f"The space of {name} must be choices, or numbers low..high, not {text!r}.")
    own = declared.search if isinstance(declared.search, Range) else Range(low, high)
    return replace(own, low=low, high=high, log=own.log or bool(scale))

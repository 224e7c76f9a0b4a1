"""Chooses the setting and the number of rounds of a ranker on judged queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.rankers.catalogue import as_ranker
from rankwright.rankers.parameters.checks import Duration, Integer
from rankwright.rankers.parameters.declaration import search_space
from rankwright.rankers.parameters.spelling import spelled
from rankwright.statistics.intervals import without_nan
from rankwright.tuning.grid import settings_of, try_settings
from rankwright.tuning.judging_queries import default_protocol, find_protocol
from rankwright.tuning.optuna_search import ALL_TRIALS, INTERRUPTED, NO_TIME, SettingSearch
from rankwright.tuning.optuna_storage import import_optuna, open_study, purpose_of, quiet
from rankwright.tuning.selection_bias import Correction, corrected
from rankwright.tuning.trials import COMPLETE, Trial, best_of, chosen_parameters, configured

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from optuna.study import Study

    from rankwright.rankers.parameters.search_space import Space
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.history import Round
    from rankwright.training.training_set import TrainingSet
    from rankwright.tuning.grid import Grid
    from rankwright.tuning.judging_queries import Judged, Plan
    from rankwright.tuning.optuna_search import Progress

TRIALS = 60  # of a search, by default


@dataclass(frozen=True, repr=False)
class Tuning:
    """The choice of a setting.

    `ranker` has the chosen setting and number of rounds and is not fitted yet; `data` are the documents to fit it
    on: those given, together with the validation part if settings were compared `"out-of-fold"` (`protocol`).
    `best` is the best of all `trials`, `baseline` the one with the ranker's own setting, None if it is not among
    them. `study` is Optuna's, for its plots; None after a grid. `ended` says why there are no more trials:
    `"all trials"`, `"time limit"` or `"interrupted"`.
    """

    ranker: Ranker
    data: TrainingSet
    protocol: str
    best: Trial
    trials: tuple[Trial, ...]
    baseline: Trial | None = None
    space: Mapping[str, str] = field(default_factory=dict)
    study: Study | None = None
    ended: str = ALL_TRIALS
    seconds: float = 0.0

    def __repr__(self) -> str:
        trials = counted(len(self.trials), "trial")
        return f"Tuning({self.ranker!r} by {self.protocol} from {trials}, {self.best.value:.4f})"

    @cached_property
    def correction(self) -> Correction:
        """The winner's value without the luck of choosing, beside the ranker's own setting."""
        return corrected(str(self.ranker.metric), self.trials, self.best, self.baseline)

    def fit(self, *, on_round: Callable[[Round], None] | None = None) -> Ranker:
        """Fit the ranker with the chosen setting and number of rounds on `data`, and return it."""
        return self.ranker.fit(self.data, on_round=on_round)

    def to_dict(self) -> dict[str, Any]:
        """Return choice and trials as plain JSON; settings are spelled as on the command line."""
        facts: dict[str, Any] = without_nan(
            {
                "ranker": self.ranker.name,
                "metric": str(self.ranker.metric),
                "protocol": self.protocol,
                "space": dict(self.space),
                "best": _plain(self.best),
                "baseline": None if self.baseline is None else _plain(self.baseline),
                "correction": self.correction.to_dict(),
                "trials": [_plain(one) for one in self.trials],
                "ended": self.ended,
                "seconds": self.seconds,
            }
        )
        return facts


def tune(
    ranker: Ranker | str,
    data: Judged,
    *,
    validation: Judged | None = None,
    choose: str | None = None,
    trials: int | None = None,
    time_limit: float | str | None = None,
    space: Mapping[str, Any] | None = None,
    grid: Grid | bool | None = None,
    storage: str | os.PathLike[str] | None = None,
    prune: bool = True,
    random_state: int = 0,
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Tuning:
    """Choose the setting and the number of rounds of a ranker: by a search with Optuna, or from a grid.

    `tune(...).fit()` returns the ranker fitted with them. The ranker's own setting is tried first. Ctrl-C ends a
    search with the best setting so far. The result depends neither on `workers` nor on the number of threads.

    Parameters
    ----------
    ranker
        The ranker to tune, or its name; it is not changed.
    data, validation, choose
        Judged documents, and how settings are compared: on the `"validation"` part, the default if there is one;
        or `"out-of-fold"`, by cross-validation over the queries of `data` and, if given, `validation`.
    trials, time_limit
        The number of settings to try, by default 60; and the time for them, in seconds or text such as `"10m"`.
    space
        Values to try in place of those that the ranker declares (`ranker.space`), by parameter: `"0.01..0.3"`,
        `"4..64:log"`, or a list. A parameter that has been set stays as it is unless it is named here.
    grid
        Try all combinations of these values, by parameter, instead of a search; True: of the ranker's own grid.
    storage
        A file that keeps every trial: the same call goes on with it, even if the process was killed.
    prune, random_state
        Whether to give up a setting that is clearly worse than the best on the first folds; the search's seed.
    workers
        Number of concurrent fits; None: one per thread. A search uses at most four.
    on_fit, on_progress
        Called after each fit, and after each trial of a search.
    """
    task = _Task.checked(ranker, data, validation, choose, workers, on_fit)
    if grid is not None and grid is not False:
        _refuse_with_grid({"trials": trials, "time_limit": time_limit, "space": space, "storage": storage})
        return task.from_grid(None if grid is True else grid)
    limits = _Limits.checked(trials, time_limit)
    Integer(0).require("random_state", random_state)
    options = {"random_state": random_state, "prune": prune}
    return task.from_search(_space(task.ranker, space), limits, storage, options, on_progress)


class _Limits(NamedTuple):
    """How many trials a search may have, and how many seconds."""

    trials: int
    seconds: float | None

    @classmethod
    def checked(cls, trials: int | None, time_limit: float | str | None) -> _Limits:
        most = TRIALS if trials is None else trials
        Integer(1).require("trials", most)
        return cls(most, Duration(optional=True).take("time_limit", time_limit))


@dataclass(frozen=True)
class _Task:
    """A ranker to tune, and the queries that choose its setting."""

    ranker: Ranker
    plan: Callable[[], Plan]
    protocol: str
    workers: int | None
    on_fit: Callable[[], None]

    @classmethod
    def checked(
        cls,
        ranker: Ranker | str,
        data: Judged,
        validation: Judged | None,
        choose: str | None,
        workers: int | None,
        on_fit: Callable[[], None],
    ) -> _Task:
        require_workers(workers)
        name = default_protocol(has_validation=validation is not None) if choose is None else choose
        plan = partial(find_protocol(name).plan, data, validation)
        return cls(as_ranker(ranker), plan, name, workers, on_fit)

    def from_grid(self, grid: Grid | None) -> Tuning:
        """Try all combinations of some values."""
        started, settings = monotonic(), settings_of(self.ranker, grid)
        plan = self.plan()
        found = try_settings(self.ranker, settings, plan.parts, workers=self.workers, on_fit=self.on_fit)
        tried = {name: ";".join({spelled(one[name]): None for one in settings}) for name in settings[0]}
        return self._tuning(plan, found, space=tried, seconds=monotonic() - started)

    def from_search(
        self,
        space: Mapping[str, Space],
        limits: _Limits,
        storage: str | os.PathLike[str] | None,
        options: Mapping[str, Any],
        on_progress: Callable[[Progress], None],
    ) -> Tuning:
        """Let Optuna search; what is missing or mistaken is reported before the data are divided."""
        started = monotonic()
        import_optuna()
        plan = self.plan()
        purpose = purpose_of(self.ranker, space, plan, self.protocol, **options)
        watch: dict[str, Any] = {"workers": self.workers, "on_fit": self.on_fit, "on_progress": on_progress}
        with quiet(), open_study(storage, purpose) as study:
            search = SettingSearch(self.ranker, space, plan, study, **options, **watch)
            ended = search.run(*limits)
            found = search.trials()
        _require_result(found, ended, limits.seconds)
        texts = {name: str(one) for name, one in space.items()}
        return self._tuning(plan, found, space=texts, study=study, ended=ended, seconds=monotonic() - started)

    def _tuning(self, plan: Plan, trials: Sequence[Trial], **facts: Any) -> Tuning:
        best = best_of(trials)
        chosen = configured(self.ranker, chosen_parameters(self.ranker, best))
        own = next((one for one in trials if self._is_own(one.parameters)), None)
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
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be None or a positive integer, not {workers!r}.")


def _space(ranker: Ranker, given: Mapping[str, Any] | None) -> dict[str, Space]:
    found = search_space(ranker, given)
    if not found:
        declared = ", ".join(ranker.space)
        why = f"all of {declared} are set" if declared else "it declares no search space"
        raise InputError(f"There is nothing to tune in {type(ranker).__name__}: {why}; name parameters in space.")
    return found


def _refuse_with_grid(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(f"{name} is for a search; a grid tries all its settings: leave out {name} or grid.")


def _require_result(trials: Sequence[Trial], ended: str, seconds: float | None) -> None:
    """Refuse a search that ended before its first trial was complete."""
    if any(one.state == COMPLETE for one in trials):
        return
    if ended == INTERRUPTED:
        raise KeyboardInterrupt
    assert ended == NO_TIME  # the first trial is complete or raises
    raise InputError(f"The time limit of {seconds:g} s was too short to try even one setting: allow more time.")


def _plain(trial: Trial) -> dict[str, Any]:
    return {
        "number": trial.number,
        "state": trial.state,
        "parameters": {name: spelled(value) for name, value in trial.parameters.items()},
        "rounds": trial.rounds,
        "value": trial.value,
        "seconds": trial.seconds,
        **({"reason": trial.reason} if trial.reason else {}),
    }

"""Chooses the setting and the number of rounds of a ranker on judged queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, Any

from rankwright.data.counted import counted
from rankwright.errors import InputError
from rankwright.evaluation.choosing import default_protocol, find_protocol
from rankwright.evaluation.expected import without_nan
from rankwright.evaluation.grid import settings_of, try_settings
from rankwright.evaluation.luck import Correction, corrected
from rankwright.evaluation.search import ALL_TRIALS, INTERRUPTED, NO_TIME, SettingSearch
from rankwright.evaluation.studies import import_optuna, open_study, purpose_of, quiet
from rankwright.evaluation.trials import COMPLETE, Trial, best_of, chosen_parameters, configured
from rankwright.rankers.catalogue import as_ranker
from rankwright.rankers.checks import Duration, Integer
from rankwright.rankers.search_space import search_space
from rankwright.rankers.spelling import spelled

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from optuna.study import Study

    from rankwright.evaluation.choosing import Judged, Plan
    from rankwright.evaluation.grid import Grid
    from rankwright.evaluation.search import Progress
    from rankwright.rankers.ranker import Ranker
    from rankwright.rankers.search_space import Space
    from rankwright.training import Round, TrainingSet

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
        settings = counted(len(self.trials), "setting")
        return f"Tuning({self.ranker!r} by {self.protocol} from {settings}, {self.best.value:.4f})"

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
    data, validation
        Judged documents. Without a validation part, settings are compared out of fold.
    choose
        How settings are compared: on the `"validation"` part, the default if there is one; or `"out-of-fold"`, by
        cross-validation over the queries of `data` and, if given, `validation`.
    trials, time_limit
        The number of settings to try, by default 60; and the time for them, in seconds or as text such as `"10m"`.
    space
        Values to try in place of those that the ranker declares (`ranker.space`), by parameter: `"0.01..0.3"`,
        `"4..64:log"`, or a list. A parameter that has been set stays as it is unless it is named here.
    grid
        Try all combinations of these values, by parameter, instead of a search; True: of the ranker's own small
        grid, without parameters that have been set.
    storage
        A file that keeps every trial: the same call goes on with it, even if the process was killed.
    prune
        Whether to give up a setting that is clearly worse than the best one on the queries of the first folds.
    random_state
        The seed of the search.
    workers
        Number of concurrent fits; None: one per thread. A search uses at most four.
    on_fit, on_progress
        Called after each fit, and after each trial of a search.
    """
    started = monotonic()
    ranker = as_ranker(ranker)
    require_workers(workers)
    protocol = default_protocol(has_validation=validation is not None) if choose is None else choose
    if grid is not None and grid is not False:
        _refuse_with_grid({"trials": trials, "time_limit": time_limit, "space": space, "storage": storage})
        settings = settings_of(ranker, None if grid is True else grid)
        plan = find_protocol(protocol).plan(data, validation)
        found = tuple(try_settings(ranker, settings, plan.parts, workers=workers, on_fit=on_fit))
        tried = {name: ";".join({spelled(one[name]): None for one in settings}) for name in settings[0]}
        return _tuning(ranker, plan, protocol, found, space=tried, seconds=monotonic() - started)
    most = TRIALS if trials is None else trials
    Integer(1).require("trials", most)
    Integer(0).require("random_state", random_state)
    seconds = Duration(optional=True).take("time_limit", time_limit)
    searched = _space(ranker, space)
    import_optuna()
    plan = find_protocol(protocol).plan(data, validation)
    options: dict[str, Any] = {"random_state": random_state, "prune": prune}
    purpose = purpose_of(ranker, searched, plan, protocol, **options)
    with quiet(), open_study(storage, purpose) as study:
        search = SettingSearch(
            ranker, searched, plan, study, **options, workers=workers, on_fit=on_fit, on_progress=on_progress
        )
        ended = search.run(most, seconds)
        found = tuple(search.trials())
    _require_result(found, ended, seconds)
    texts = {name: str(one) for name, one in searched.items()}
    return _tuning(
        ranker, plan, protocol, found, space=texts, study=study, ended=ended, seconds=monotonic() - started
    )


def count_trials(ranker: Ranker, choose: str | None, *, has_validation: bool, grid: Grid | None = None) -> int:
    """Return the number of fits of a grid."""
    name = default_protocol(has_validation=has_validation) if choose is None else choose
    return len(settings_of(ranker, grid)) * find_protocol(name).n_parts


def require_workers(workers: int | None) -> None:
    """Refuse anything but None or a positive integer."""
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise InputError(f"workers must be None or a positive integer, not {workers!r}.")


def _tuning(ranker: Ranker, plan: Plan, protocol: str, trials: Sequence[Trial], **facts: Any) -> Tuning:
    best = best_of(trials)
    chosen = configured(ranker, chosen_parameters(ranker, best))
    own = [one for one in trials if all(getattr(ranker, name) == value for name, value in one.parameters.items())]
    return Tuning(chosen, plan.final, protocol, best, tuple(trials), baseline=own[0] if own else None, **facts)


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

"""Searches the space of a ranker's settings with Optuna.

Trials run in batches of a fixed size, and a batch depends only on the batches before it. So the search is the same
for any number of workers, and resuming a killed search changes nothing: its unfinished trials run again, with the
settings that the storage has for them.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError, requiring
from rankwright.base.resources import resolve_threads
from rankwright.rankers.parameters.spelling import spelled
from rankwright.training.concurrent_fits import SECONDS_PER_WAIT, fits_at_once
from rankwright.tuning.optuna_storage import import_optuna
from rankwright.tuning.trials import (
    COMPLETE,
    FAILED,
    PRUNED,
    Trial,
    best_of,
    best_rounds,
    configured,
    judged_curve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from optuna.study import Study

    from rankwright.base.arrays import Doubles
    from rankwright.rankers.parameters.search_space import Space
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.tuning.judging_queries import JudgingPlan

BATCH = 4  # trials that are asked for, and may run, together
FIRST_TRIALS = 10  # spread over the space, before Optuna's sampler has seen enough to learn from
PRUNING_LEVEL = 0.1  # p-value below which a trial is pruned
DIGITS = 6  # of a query's value in the storage

ALL_TRIALS, NO_TIME, INTERRUPTED = "all trials", "time limit", "interrupted"  # why a search ended


class SearchProgress(NamedTuple):
    """A search so far: the trials that have ended, how many there will be, and the seconds of this run."""

    trials: tuple[Trial, ...]
    total: int
    seconds: float


class _TimeOverError(Exception):
    """Ends the running fits."""


class _Asked(NamedTuple):
    """A trial of Optuna, and its setting."""

    trial: Any
    setting: Mapping[str, Any]


@dataclass(eq=False)
class SettingSearch:
    """Runs the trials of a study.

    Parameters
    ----------
    ranker, space, plan
        What to search, and by which queries.
    study
        The study, which may have trials already.
    random_state
        The seed of the settings that are tried.
    workers
        Number of concurrent fits; None: one per thread.
    prune
        Whether to stop trials that are clearly worse than the best one on the first parts.
    on_fit, on_progress
        Called after each fit, and after each trial.
    """

    ranker: Ranker
    space: Mapping[str, Space]
    plan: JudgingPlan
    study: Study
    random_state: int
    workers: int | None
    prune: bool
    on_fit: Callable[[], None]
    on_progress: Callable[[SearchProgress], None]

    def __post_init__(self) -> None:
        self._threads = resolve_threads(self.ranker.n_jobs)
        self._at_once = min(self.workers or self._threads, BATCH)
        self._started, self._running, self._lock = monotonic(), 0, Lock()

    def run(self, trials: int, seconds: float | None) -> str:
        """Run trials until there are enough, the time is over or Ctrl-C is pressed; return which it was."""
        ends = None if seconds is None else self._started + seconds
        self._report(trials)
        try:
            for first in range(0, trials, BATCH):
                ended = {trial.number for trial in self.trials()}
                numbers = [number for number in range(first, min(first + BATCH, trials)) if number not in ended]
                if numbers:
                    self._run_batch(list(map(self._ask, numbers)), trials, ends)
        except _TimeOverError:
            return NO_TIME
        except KeyboardInterrupt:
            return INTERRUPTED
        return ALL_TRIALS

    def trials(self) -> list[Trial]:
        """Return the trials that have ended."""
        trials = map(self._read, self.study.get_trials(deepcopy=False))
        return [trial for trial in trials if trial is not None]

    def _ask(self, number: int) -> _Asked:
        """Return the trial of that number: an unfinished one of a killed search, or a new one."""
        optuna = import_optuna()
        seed = np.random.SeedSequence([self.random_state, number]).generate_state(1)[0]
        self.study.sampler = optuna.samplers.TPESampler(
            seed=int(seed), n_startup_trials=0, multivariate=True, constant_liar=True
        )
        known = self.study.get_trials(deepcopy=False)
        if number == len(known) and number < FIRST_TRIALS:
            self.study.enqueue_trial(self._first_setting(number))
        if number < len(known) and known[number].state == optuna.trial.TrialState.RUNNING:
            trial = optuna.trial.Trial(self.study, known[number]._trial_id)
        else:
            trial = self.study.ask()
        names = self.space if number else self._own_setting()
        setting = {name: self.space[name].suggest(trial, name) for name in names}
        return _Asked(trial, setting if number else self._current())

    def _first_setting(self, number: int) -> dict[str, Any]:
        """Return one of the first settings as Optuna is to know it: the ranker's own, then a Latin hypercube."""
        if number == 0:
            return self._own_setting()
        random, shape = np.random.default_rng(self.random_state), (len(self.space), FIRST_TRIALS - 1)
        strata = random.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1)
        points = ((strata + random.random(shape)) / shape[1])[:, number - 1].tolist()
        return {name: range_.at(point) for (name, range_), point in zip(self.space.items(), points, strict=True)}

    def _current(self) -> dict[str, Any]:
        """Return the ranker's own values of the parameters to search."""
        return {name: getattr(self.ranker, name) for name in self.space}

    def _own_setting(self) -> dict[str, Any]:
        """Return the ranker's own setting as Optuna is to know it, without values that the space does not have."""
        documents = len(self.plan.parts[0].train)
        values = {name: self.space[name].nearest(value, documents) for name, value in self._current().items()}
        return {name: value for name, value in values.items() if value is not None}

    def _run_batch(self, asked: Sequence[_Asked], total: int, ends: float | None) -> None:
        before = [trial for trial in self.trials() if trial.number < asked[0].trial.number // BATCH * BATCH]
        best = best_of(before) if any(trial.state == COMPLETE for trial in before) else None
        known = {_text(trial.parameters): trial for trial in before if trial.state != FAILED}

        def run(new: _Asked, on_round: OnRound) -> tuple[_Asked, Trial]:
            same = known.get(_text(new.setting))
            return new, self._judged(new, best, on_round) if same is None else same

        with fits_at_once(run, asked, workers=min(self._at_once, len(asked))) as running:
            pending = set(running)
            while pending:
                left = SECONDS_PER_WAIT if ends is None else max(0.0, ends - monotonic())
                done, pending = wait(pending, min(left, SECONDS_PER_WAIT), return_when=FIRST_COMPLETED)
                for fit in done:
                    self._tell(*fit.result())
                    self._report(total)
                if pending and ends is not None and monotonic() > ends:
                    raise _TimeOverError
        if ends is not None and monotonic() > ends and len(self.trials()) < total:
            raise _TimeOverError

    def _judged(self, asked: _Asked, best: Trial | None, on_round: OnRound) -> Trial:
        """Fit a setting on one part after the other, until it is clearly worse than the best."""
        started, curves = monotonic(), []
        with self._lock:
            self._running += 1
        try:
            for step, part in enumerate(self.plan.parts, start=1):
                # The last trials of a batch get the threads of those that have ended.
                n_threads = max(1, self._threads // min(self._running, self._at_once))
                ranker = configured(self.ranker, {**asked.setting, "n_jobs": n_threads})
                curves.append(judged_curve(ranker, part, on_round))
                choice = best_rounds(curves)
                asked.trial.report(choice.value, step)
                with self._lock:
                    self.on_fit()
                is_last = step == len(self.plan.parts)
                if not is_last and self.prune and best is not None and is_worse(choice.values, best.values):
                    return Trial(asked.setting, *choice, state=PRUNED, seconds=monotonic() - started)
            if np.isnan(choice.value):
                raise InputError(f"No query that judges has a value of {self.ranker.metric}.")
        except InputError as error:
            if asked.trial.number == 0:
                raise
            reason, seconds = str(error), monotonic() - started
            return Trial(asked.setting, 0, np.nan, state=FAILED, seconds=seconds, reason=reason)
        finally:
            with self._lock:
                self._running -= 1
        return Trial(asked.setting, *choice, seconds=monotonic() - started)

    def _tell(self, asked: _Asked, result: Trial) -> None:
        """Write the result of a trial; its state comes last, so that a killed search leaves no half result."""
        states = import_optuna().trial.TrialState
        state = {COMPLETE: states.COMPLETE, PRUNED: states.PRUNED, FAILED: states.FAIL}[result.state]
        if result.values is not None:
            plain = [None if np.isnan(value) else round(float(value), DIGITS) for value in result.values]
            asked.trial.set_user_attr("values", plain)
        facts = {"rounds": result.rounds, "seconds": round(result.seconds, 3), "reason": result.reason}
        asked.trial.set_user_attr("result", {**facts, "value": None if result.state == FAILED else result.value})
        self.study.tell(asked.trial, result.value if result.state == COMPLETE else None, state)

    def _read(self, stored: Any) -> Trial | None:
        """Return a trial of the study that has ended; None if it has not."""
        states = import_optuna().trial.TrialState
        state = {states.COMPLETE: COMPLETE, states.PRUNED: PRUNED, states.FAIL: FAILED}.get(stored.state)
        if state is None:
            return None
        result, plain = stored.user_attrs.get("result", {}), stored.user_attrs.get("values")
        value = result.get("value")
        return Trial(
            self._current() if stored.number == 0 else self._setting(stored.params),
            int(result.get("rounds", 0)),
            np.nan if value is None else float(value),
            None if plain is None else np.array(plain, dtype=np.float64),
            state,
            stored.number,
            float(result.get("seconds", 0.0)),
            str(result.get("reason", "")),
        )

    def _setting(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        fixed = import_optuna().trial.FixedTrial(parameters)
        return {name: range_.suggest(fixed, name) for name, range_ in self.space.items()}

    def _report(self, total: int) -> None:
        ended = tuple(self.trials())
        self.on_progress(SearchProgress(ended, max(total, len(ended)), monotonic() - self._started))


def is_worse(values: Doubles, best: Doubles | None) -> bool:
    """Return whether a setting is clearly worse than the best on the queries of its first parts.

    Wilcoxon's signed-rank test over queries, as Optuna's WilcoxonPruner makes it.
    """
    with requiring("scipy"):
        from scipy.stats import wilcoxon

    differences = np.zeros(0) if best is None else values - best[: len(values)]
    differences = differences[~np.isnan(differences)]
    if not len(differences) or not differences.any() or differences.mean() >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < PRUNING_LEVEL)


def _text(setting: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={spelled(value)}" for name, value in setting.items())

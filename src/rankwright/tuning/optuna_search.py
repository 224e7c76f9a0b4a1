"""Searches the space of a ranker's settings with Optuna.

Trials are asked for in batches of a fixed size, and a batch knows only the batches before it. So the search is the
same for any number of workers, and a search that was killed goes on as if nothing had happened: the trials that
were under way are run again, with the settings that the storage has for them.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, wait
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.threads import resolve_threads
from rankwright.rankers.parameters.spelling import spelled
from rankwright.training.workers import SECONDS_PER_WAIT, fits_at_once
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
    from rankwright.training.workers import OnRound
    from rankwright.tuning.judging_queries import Plan

BATCH = 4  # trials that are asked for, and may run, together
FIRST_TRIALS = 10  # spread over the space, before Optuna's sampler has seen enough to learn from
PRUNING_LEVEL = 0.1  # p-value below which a setting is given up
DIGITS = 6  # of a query's value in the storage

ALL_TRIALS, NO_TIME, INTERRUPTED = "all trials", "time limit", "interrupted"  # why a search ended


class Progress(NamedTuple):
    """A search so far: the trials that have ended, how many there will be, and the seconds of this run."""

    trials: tuple[Trial, ...]
    total: int
    seconds: float


class _TimeOverError(Exception):
    """Ends the fits under way."""


class _Asked(NamedTuple):
    """A trial of Optuna, and its setting."""

    trial: Any
    setting: Mapping[str, Any]


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
        Whether to give up settings that some parts tell to be worse than the best one.
    on_fit, on_progress
        Called after each fit, and after each trial.
    """

    def __init__(
        self,
        ranker: Ranker,
        space: Mapping[str, Space],
        plan: Plan,
        study: Study,
        *,
        random_state: int,
        workers: int | None,
        prune: bool,
        on_fit: Callable[[], None],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._ranker, self._space, self._plan, self._study = ranker, space, plan, study
        self._random_state, self._prune = random_state, prune
        self._threads = resolve_threads(ranker.n_jobs)
        self._workers = min(workers or self._threads, BATCH)
        self._on_fit, self._on_progress = on_fit, on_progress
        self._started, self._running, self._lock = monotonic(), 0, Lock()

    def run(self, trials: int, seconds: float | None) -> str:
        """Run trials until there are so many, the time is over or Ctrl-C; return which of them it was."""
        ends = None if seconds is None else self._started + seconds
        self._report(trials)
        try:
            for first in range(0, trials, BATCH):
                ended = {one.number for one in self.trials()}
                numbers = [one for one in range(first, min(first + BATCH, trials)) if one not in ended]
                if numbers:
                    self._run_batch([self._ask(one) for one in numbers], trials, ends)
        except _TimeOverError:
            return NO_TIME
        except KeyboardInterrupt:
            return INTERRUPTED
        return ALL_TRIALS

    def trials(self) -> list[Trial]:
        """Return the trials that have ended."""
        found = (self._read(one) for one in self._study.get_trials(deepcopy=False))
        return [one for one in found if one is not None]

    def _ask(self, number: int) -> _Asked:
        """Return the trial of that number: one that was under way when a search was killed, or a new one."""
        optuna = import_optuna()
        seed = np.random.SeedSequence([self._random_state, number]).generate_state(1)[0]
        self._study.sampler = optuna.samplers.TPESampler(
            seed=int(seed), n_startup_trials=0, multivariate=True, constant_liar=True
        )
        known = self._study.get_trials(deepcopy=False)
        if number == len(known) and number < FIRST_TRIALS:
            self._study.enqueue_trial(self._first_setting(number))
        if number < len(known) and known[number].state == optuna.trial.TrialState.RUNNING:
            trial = optuna.trial.Trial(self._study, known[number]._trial_id)
        else:
            trial = self._study.ask()
        names = self._space if number else self._own_setting()
        setting = {name: self._space[name].suggest(trial, name) for name in names}
        return _Asked(trial, setting if number else self._current())

    def _first_setting(self, number: int) -> dict[str, Any]:
        """Return one of the first settings as Optuna is to know it: the ranker's own, then a Latin hypercube."""
        if number == 0:
            return self._own_setting()
        random, shape = np.random.default_rng(self._random_state), (len(self._space), FIRST_TRIALS - 1)
        strata = random.permuted(np.tile(np.arange(shape[1]), (shape[0], 1)), axis=1)
        places = ((strata + random.random(shape)) / shape[1])[:, number - 1]
        return {name: one.at(float(place)) for (name, one), place in zip(self._space.items(), places, strict=True)}

    def _current(self) -> dict[str, Any]:
        """Return the ranker's own values of the parameters to search."""
        return {name: getattr(self._ranker, name) for name in self._space}

    def _own_setting(self) -> dict[str, Any]:
        """Return the ranker's own setting as Optuna is to know it, without values that the space does not have."""
        documents = len(self._plan.parts[0].train)
        found = {name: self._space[name].nearest(value, documents) for name, value in self._current().items()}
        return {name: value for name, value in found.items() if value is not None}

    def _run_batch(self, asked: Sequence[_Asked], total: int, ends: float | None) -> None:
        before = [one for one in self.trials() if one.number < asked[0].trial.number // BATCH * BATCH]
        complete = [one for one in before if one.state == COMPLETE]
        best = best_of(complete) if complete else None
        known = {_text(one.parameters): one for one in before if one.state != FAILED}

        def run(one: _Asked, on_round: OnRound) -> tuple[_Asked, Trial]:
            same = known.get(_text(one.setting))
            return one, self._judged(one, best, on_round) if same is None else same

        with fits_at_once(run, asked, workers=min(self._workers, len(asked))) as running:
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
            for place, part in enumerate(self._plan.parts, start=1):
                # The last trials of a batch get the threads of those that have ended.
                n_threads = max(1, self._threads // min(self._running, self._workers))
                one = configured(self._ranker, {**asked.setting, "n_jobs": n_threads})
                curves.append(judged_curve(one, part, on_round))
                found = best_rounds(curves)
                asked.trial.report(found.value, place)
                with self._lock:
                    self._on_fit()
                is_last = place == len(self._plan.parts)
                if not is_last and self._prune and best is not None and is_worse(found.values, best.values):
                    return Trial(asked.setting, *found, state=PRUNED, seconds=monotonic() - started)
            if np.isnan(found.value):
                raise InputError(f"No query that judges has a value of {self._ranker.metric}.")
        except InputError as error:
            if asked.trial.number == 0:
                raise
            reason, seconds = str(error), monotonic() - started
            return Trial(asked.setting, 0, np.nan, state=FAILED, seconds=seconds, reason=reason)
        finally:
            with self._lock:
                self._running -= 1
        return Trial(asked.setting, *found, seconds=monotonic() - started)

    def _tell(self, asked: _Asked, result: Trial) -> None:
        """Write the result of a trial; its state comes last, so that a killed search leaves no half result."""
        states = import_optuna().trial.TrialState
        state = {COMPLETE: states.COMPLETE, PRUNED: states.PRUNED, FAILED: states.FAIL}[result.state]
        if result.values is not None:
            plain = [None if np.isnan(one) else round(float(one), DIGITS) for one in result.values]
            asked.trial.set_user_attr("values", plain)
        facts = {"rounds": result.rounds, "seconds": round(result.seconds, 3), "reason": result.reason}
        asked.trial.set_user_attr("result", {**facts, "value": None if result.state == FAILED else result.value})
        self._study.tell(asked.trial, result.value if result.state == COMPLETE else None, state)

    def _read(self, found: Any) -> Trial | None:
        """Return a trial that has ended, as the study has it; None if it has not."""
        states = import_optuna().trial.TrialState
        state = {states.COMPLETE: COMPLETE, states.PRUNED: PRUNED, states.FAIL: FAILED}.get(found.state)
        if state is None:
            return None
        result, plain = found.user_attrs.get("result", {}), found.user_attrs.get("values")
        value = result.get("value")
        return Trial(
            self._current() if found.number == 0 else self._setting(found),
            int(result.get("rounds", 0)),
            np.nan if value is None else float(value),
            None if plain is None else np.array(plain, dtype=np.float64),
            state,
            found.number,
            float(result.get("seconds", 0.0)),
            str(result.get("reason", "")),
        )

    def _setting(self, found: Any) -> dict[str, Any]:
        fixed = import_optuna().trial.FixedTrial(found.params)
        return {name: one.suggest(fixed, name) for name, one in self._space.items()}

    def _report(self, total: int) -> None:
        ended = tuple(self.trials())
        self._on_progress(Progress(ended, max(total, len(ended)), monotonic() - self._started))


def is_worse(values: Doubles, best: Doubles | None) -> bool:
    """Return whether a setting is clearly worse than the best on the queries of its first parts.

    Wilcoxon's signed-rank test over queries, as Optuna's WilcoxonPruner makes it.
    """
    from scipy.stats import wilcoxon

    differences = np.zeros(0) if best is None else values - best[: len(values)]
    differences = differences[~np.isnan(differences)]
    if not len(differences) or not differences.any() or differences.mean() >= 0:
        return False
    return bool(wilcoxon(differences, alternative="less", zero_method="zsplit").pvalue < PRUNING_LEVEL)


def _text(setting: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={spelled(value)}" for name, value in setting.items())

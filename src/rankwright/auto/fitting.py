"""Runs the fits of a portfolio, several at once, and reports the standings after each."""

from __future__ import annotations

import warnings
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from rankwright.auto.cached_fits import candidate_of
from rankwright.auto.mixing import FitProgress, mix, standings_of
from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import counted, rounded_up
from rankwright.ensembling.pool import Pool
from rankwright.metrics.base import mean_over_queries
from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankwright.auto.cached_fits import CachedFits
    from rankwright.auto.entries import Entry, JudgedEntry
    from rankwright.auto.mixing import Mix, Weigh
    from rankwright.auto.plan import FitPlan
    from rankwright.metrics.base import Metric
    from rankwright.training.fit_task import FitTask

    Watch = Callable[[FitProgress], None]

PILOT_QUERIES = 20


class SkippedMemberWarning(UserWarning):
    """There was no time for a member of an AutoRanker."""


class Judging:
    """The fits of a portfolio.

    Parameters
    ----------
    plan
        The parts that judge.
    metric
        Judges members and mixtures.
    task
        The checked input of the fit: weights of documents, threads.
    time_limit
        Seconds for all fits; None for no limit.
    weigh
        Gives the weights of the mixture.
    """

    def __init__(
        self, plan: FitPlan, metric: Metric, task: FitTask, time_limit: float | None, weigh: Weigh
    ) -> None:
        self._plan, self._metric, self._task = plan, metric, task
        self._time_limit, self._weigh = time_limit, weigh
        self.pool: Pool[JudgedEntry] = Pool()
        self._rounds: list[Round] = []
        self._n_entries = 0

    @property
    def history(self) -> History:
        """The value of the mixture after each member; the last one is kept."""
        reason = f"all {counted(len(self.pool), 'member')}"
        n_rounds = len(self._rounds)
        metric = str(self._metric)
        return History(tuple(self._rounds), n_rounds, self.pool.interrupted, True, reason, metric)

    def run(self, entries: Sequence[Entry], fits: CachedFits, watch: Watch | None) -> None:
        """Fit all entries; entries that fail are named in a warning, as are those that there was no time for."""
        weights = self._task.weights
        candidates = [candidate_of(entry, self._plan, self._metric, weights, fits) for entry in entries]
        report = _Report(
            watch, {candidate.name: len(candidate.fits) for candidate in candidates}, self._time_limit
        )

        def joined() -> None:
            before = len(self._rounds)
            for chosen, value in self._new_rounds():
                if self._task.on_round is not None:
                    self._task.on_round(self._rounds[-1])
                report.joined(chosen, value)
            if len(self._rounds) == before:
                report.left_out([name for name, _ in (*self.pool.failures, *self.pool.skipped)])

        self.pool.fill(
            candidates,
            n_jobs=self._task.n_threads,
            time_limit=self._time_limit,
            on_joined=joined,
            on_fit=report.fitted,
            skip_failures=True,
        )
        if len(self.pool) > len(self._rounds):  # members whose fits had ended at Ctrl-C
            joined()
        self._tell(entries)

    def _new_rounds(self) -> Iterator[tuple[Mix, float]]:
        """Record a round for each member that has joined since the last, and yield its mixture and value."""
        while len(self._rounds) < len(self.pool):
            number = len(self._rounds) + 1
            chosen = mix(self.pool.members[:number], self._weigh)
            values = self._plan.held_out.values(self._metric, chosen.scores, self._task.n_threads)
            self._rounds.append(Round(number, 1.0, None, mean_over_queries(values)))
            yield chosen, mean_over_queries(values)

    def _tell(self, entries: Sequence[Entry]) -> None:
        """Say what is missing; refuse a time limit that was too short for any member."""
        if not len(self.pool):
            needed = rounded_up(self._seconds_needed(entries[0]))
            limit = parameter("time_limit")
            raise InputError(
                f"{limit}={self._time_limit:g} is too short for a single member: {entries[0].name} takes up to "
                f"{needed} seconds; {limit}={needed} would do."
            )
        for name, reason in self.pool.skipped:
            warnings.warn(f"{name} is skipped: {reason}.", SkippedMemberWarning, stacklevel=5)
        if self.pool.interrupted:
            members = f"{len(self.pool)} of {counted(len(entries), 'member')}"
            warnings.warn(f"Interrupted; the model is the mixture of {members}.", stacklevel=5)

    def _seconds_needed(self, entry: Entry) -> float:
        """Return about how long the fits of an entry take, from a fit on a few queries."""
        whole = self._plan.whole
        queries = np.flatnonzero(whole.labels.varied)  # from others there is nothing to learn
        pilot = whole.take_queries(queries[:: max(1, len(queries) // PILOT_QUERIES)])
        for _ in range(2):  # the first fit also imports modules
            started = monotonic()
            entry.fitted(pilot, 1, lambda _: None)
        seconds = (monotonic() - started) * len(whole) / len(pilot)
        n_fits = len(self._plan.all_parts) + 1
        return 1.5 * seconds * n_fits / min(n_fits, self._task.n_threads)


class _Report:
    """Calls `watch` after each fit."""

    def __init__(self, watch: Watch | None, n_fits: dict[str, int], time_limit: float | None) -> None:
        self._watch, self._started = watch, monotonic()
        self._n_fits, self._time_limit = n_fits, time_limit
        self._ended = Counter[str]()
        self._settled = set[str]()  # members, and entries that were left out
        self._chosen: Mix | None = None
        self._value: float | None = None

    def fitted(self, name: str) -> None:
        """Count a fit of this entry."""
        self._ended[name] += 1
        self._call()

    def left_out(self, names: Sequence[str]) -> None:
        """Expect no more fits of these entries."""
        self._n_fits |= {name: self._ended[name] for name in names}
        self._settled.update(names)
        self._call()

    def joined(self, chosen: Mix, value: float) -> None:
        """Take the mixture of the members so far, and its value."""
        self._chosen, self._value = chosen, value
        self._settled.update(entry.name for entry in chosen.entries)
        self._call()

    def _call(self) -> None:
        if self._watch is None:
            return
        seconds = monotonic() - self._started
        left = None if self._time_limit is None else max(0.0, self._time_limit - seconds)
        standings = () if self._chosen is None else standings_of(self._chosen)
        ended = {name: number for name, number in self._ended.items() if name not in self._settled}
        fits, total = self._ended.total(), sum(self._n_fits.values())
        self._watch(FitProgress(standings, self._value, fits, total, ended, seconds, left))

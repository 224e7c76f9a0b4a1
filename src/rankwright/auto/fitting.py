"""Runs the fits of a portfolio, several at once, and reports the standings after each.

Each fit is read from the cache of a work folder, if there is one, or made and written to it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.auto.mixing import FitProgress, JudgedEntry, mix, standings_of
from rankwright.auto.time_budget import pilot_seconds
from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError, parameter
from rankwright.base.files import write_whole
from rankwright.base.fit_cache import Encoding, read_arrays
from rankwright.base.wording import counted, rounded_up
from rankwright.data.alignment import require_same_number
from rankwright.data.query_features import spread_within, standardised
from rankwright.ensembling.pool import Candidate, Pool
from rankwright.metrics.base import mean_over_queries
from rankwright.models.model_file import load, save
from rankwright.models.nested_scorers import QueryFeatureScorer
from rankwright.training.history import History, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence
    from pathlib import Path

    from rankwright.auto.mixing import Mix, Weigh
    from rankwright.auto.plan import FitPlan, HeldOut, PlanPart
    from rankwright.auto.portfolio import Entry
    from rankwright.base.arrays import Doubles
    from rankwright.base.fit_cache import FitCache
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.fit_task import FitTask
    from rankwright.training.training_set import TrainingSet

    Watch = Callable[[FitProgress], None]
    Fill = Callable[[Pool[JudgedEntry], Sequence[Entry], Callable[[], None]], None]


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
    seconds_per_cost
        Expected seconds of all fits of an entry per unit of its cost; None if the first fits are to tell.
    """

    def __init__(
        self,
        plan: FitPlan,
        metric: Metric,
        task: FitTask,
        time_limit: float | None,
        weigh: Weigh,
        seconds_per_cost: float | None = None,
    ) -> None:
        self._plan, self._metric, self._task = plan, metric, task
        self._time_limit, self._weigh, self._seconds_per_cost = time_limit, weigh, seconds_per_cost
        self.pool: Pool[JudgedEntry] = Pool()
        self._rounds: list[Round] = []

    @property
    def history(self) -> History:
        """The value of the mixture after each member; the last one is kept."""
        reason = f"all {counted(len(self.pool), 'member')}"
        n_rounds = len(self._rounds)
        metric = str(self._metric)
        return History(tuple(self._rounds), n_rounds, self.pool.interrupted, True, reason, metric)

    def run(self, entries: Sequence[Entry], cache: FitCache | None, watch: Watch | None) -> None:
        """Fit all entries, then those whose value still rises with more and more rounds, then more seeds.

        Entries that fail are named in a warning, as are those that there was no time for.
        """
        report = _Report(watch, self._time_limit)

        def fill(pool: Pool[JudgedEntry], chosen: Sequence[Entry], joined: Callable[[], None]) -> None:
            candidates = [
                candidate_of(entry, self._plan, self._metric, self._task.weights, cache) for entry in chosen
            ]
            report.expect(candidates)
            pool.fill(
                candidates,
                n_jobs=self._task.n_threads,
                time_limit=report.seconds_left,
                seconds_per_cost=self._seconds_per_cost,
                on_joined=joined,
                on_fit=report.fitted,
                skip_failures=True,
            )

        def joined() -> None:
            before = len(self._rounds)
            for chosen, value in self._new_rounds():
                if self._task.on_round is not None:
                    self._task.on_round(self._rounds[-1])
                report.joined(chosen, value)
            if len(self._rounds) == before:
                report.left_out([name for name, _ in (*self.pool.failures, *self.pool.skipped)])

        fill(self.pool, entries, joined)
        if len(self.pool) > len(self._rounds):  # members whose fits had ended at Ctrl-C
            joined()
        while rising := self._rising():
            longer = [entry.entry.longer() for entry in rising]
            named = {entry.name: f"{entry.name} with {counted(entry.rounds[-1], 'round')}" for entry in longer}
            self._improve(fill, longer, named)
        for entry in self._heavy():
            if entry.entry.spare_seeds and not self.pool.interrupted:
                self._improve(fill, [entry.entry.with_all_seeds()], {})
        self._tell(entries)

    def _rising(self) -> list[JudgedEntry]:
        """Return the heavy members whose value would rise with more rounds, unless fits have to end."""
        if self.pool.interrupted or self.pool.skipped:
            return []
        failed = dict(self.pool.failures)
        return [entry for entry in self._heavy() if entry.rises and entry.name not in failed]

    def _heavy(self) -> list[JudgedEntry]:
        """Return the members that weigh more than if all weighed the same, the heaviest first."""
        if not len(self.pool):
            return []
        chosen = mix(self.pool.members, self._weigh)
        heaviest = np.argsort(-chosen.weights, kind="stable")
        return [chosen.entries[index] for index in heaviest if chosen.weights[index] >= 1 / len(heaviest)]

    def _improve(self, fill: Fill, entries: Sequence[Entry], named: Mapping[str, str]) -> None:
        """Let dearer fits of members take the places of their cheaper ones, which stay where there is no time."""
        dearer = Pool[JudgedEntry]()
        try:
            fill(dearer, entries, lambda: None)
        except KeyboardInterrupt:
            dearer.interrupted = True
        except InputError:  # all failed, and failures are named
            pass
        by_name = {entry.name: entry for entry in dearer.members}
        self.pool.members = [by_name.get(entry.name, entry) for entry in self.pool.members]
        self.pool.skipped += [(named[name], reason) for name, reason in dearer.skipped if name in named]
        self.pool.failures += dearer.failures
        self.pool.interrupted = self.pool.interrupted or dearer.interrupted

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
            n_fits = len(self._plan.all_parts) + 1
            seconds = pilot_seconds(entries[0], self._plan.whole) * n_fits / min(n_fits, self._task.n_threads)
            needed = rounded_up(1.5 * seconds)
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


class _Report:
    """Calls `watch` after each fit."""

    def __init__(self, watch: Watch | None, time_limit: float | None) -> None:
        self._watch, self._time_limit, self._started = watch, time_limit, monotonic()
        self._n_fits = Counter[str]()
        self._ended = Counter[str]()
        self._settled = set[str]()  # members, and entries that were left out
        self._chosen: Mix | None = None
        self._value: float | None = None

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time limit; None without one."""
        return self._left_after(monotonic() - self._started)

    def expect(self, candidates: Sequence[Candidate[JudgedEntry]]) -> None:
        """Expect the fits of these candidates too."""
        self._n_fits.update({candidate.name: len(candidate.fits) for candidate in candidates})

    def fitted(self, name: str) -> None:
        """Count a fit of this entry."""
        self._ended[name] += 1
        self._call()

    def left_out(self, names: Sequence[str]) -> None:
        """Expect no more fits of these entries."""
        self._n_fits.update({name: self._ended[name] - self._n_fits[name] for name in names})
        self._settled.update(names)
        self._call()

    def joined(self, chosen: Mix, value: float) -> None:
        """Take the mixture of the members so far, and its value."""
        self._chosen, self._value = chosen, value
        self._settled.update(entry.name for entry in chosen.entries)
        self._call()

    def _left_after(self, seconds: float) -> float | None:
        return None if self._time_limit is None else max(0.0, self._time_limit - seconds)

    def _call(self) -> None:
        if self._watch is None:
            return
        seconds = monotonic() - self._started
        standings = () if self._chosen is None else standings_of(self._chosen)
        ended = {name: number for name, number in self._ended.items() if name not in self._settled}
        fits, total = self._ended.total(), sum(self._n_fits.values())
        self._watch(FitProgress(standings, self._value, fits, total, ended, seconds, self._left_after(seconds)))


class EntryScores(NamedTuple):
    """The scores of a part's judging documents, one row per number of rounds, and the seconds of the fit.

    There is a single row if the scorer cannot be cut to fewer rounds.
    """

    scores: Doubles
    seconds: float


class FinalFit(NamedTuple):
    """The scorer that was fitted on all queries, and the seconds of the fit."""

    scorer: Scorer
    seconds: float


def _read_scores(n_rows: Container[int], n_documents: int, path: Path) -> EntryScores:
    arrays = read_arrays(path)
    scores, seconds = arrays["scores"], float(arrays["seconds"])
    if scores.ndim != 2 or len(scores) not in n_rows or scores.shape[1] != n_documents:
        raise InputError(f"its scores have the shape {scores.shape}")
    if scores.dtype != np.float64 or not np.isfinite(scores).all():
        raise InputError("its scores are not finite numbers")
    return EntryScores(scores, seconds)


def _write_scores(result: EntryScores, path: Path) -> None:
    with write_whole(path) as file:
        np.savez(file, scores=result.scores, seconds=result.seconds)


def _read_scorer(plan: FitPlan, path: Path) -> FinalFit:
    scorer = load(path)
    require_same_number(scorer.n_features, plan.whole.n_features)
    seconds = scorer.about.get("seconds")
    return FinalFit(scorer, float(seconds) if isinstance(seconds, int | float) else 0.0)


def _write_scorer(result: FinalFit, path: Path) -> None:
    save(result.scorer.described(about={**result.scorer.about, "seconds": result.seconds}), path)


def candidate_of(
    entry: Entry, plan: FitPlan, metric: Metric, weights: Doubles | None = None, cache: FitCache | None = None
) -> Candidate[JudgedEntry]:
    """Return the candidate that fits an entry on every part and on the whole data; the fits may be cached."""

    def on_part(part: PlanPart, n_threads: int, on_round: OnRound) -> EntryScores:
        started = monotonic()
        own = None if weights is None else weights[part.rows]
        scorer = entry.fitted(part.train, n_threads, on_round, own)
        return EntryScores(_staged(entry, scorer, part.judges, n_threads), monotonic() - started)

    def on_all(n_threads: int, on_round: OnRound) -> FinalFit:
        started = monotonic()
        return FinalFit(entry.fitted(plan.whole, n_threads, on_round, weights), monotonic() - started)

    def members(results: Sequence[Any]) -> list[JudgedEntry]:
        return [_judged(entry, results[:-1], results[-1], plan, metric)]

    n_rows = {1, len(entry.rounds) or 1}
    fits: list[tuple[str, Callable[[int, OnRound], Any], Encoding[Any]]] = [
        (
            f"part-{number}.npz",
            partial(on_part, part),
            Encoding(partial(_read_scores, n_rows, len(part.judges)), _write_scores),
        )
        for number, part in enumerate(plan.all_parts, start=1)
    ]
    fits.append(("all.rw", on_all, Encoding(partial(_read_scorer, plan), _write_scorer)))
    if cache is None:
        return Candidate(entry.name, [fit for _, fit, _ in fits], members, cost=entry.cost)
    settings = entry.ranker, entry.seeds
    folder = cache.path(entry.name, settings=identity(settings, repr(settings)))
    cached = [partial(cache.read_or_make, folder / file, encoding, fit) for file, fit, encoding in fits]
    return Candidate(entry.name, cached, members, cost=entry.cost)


def _staged(entry: Entry, scorer: Scorer, judges: TrainingSet, n_threads: int) -> Doubles:
    """Return the scores of the judging documents, one row per number of rounds that the scorer can be cut to."""
    if isinstance(scorer, QueryFeatureScorer):  # its columns are made once for all cuts, and for other members
        judges, scorer = judges.with_query_features(scorer.columns, raw=scorer.raw), scorer.inner
    rounds = entry.rounds if scorer.n_rounds else ()
    cut = [scorer.first(n_rounds) if n_rounds < scorer.n_rounds else scorer for n_rounds in rounds] or [scorer]
    return np.array([model.predict(judges.data, n_jobs=n_threads) for model in cut])


def _judged(
    entry: Entry, fits: Sequence[EntryScores], final: FinalFit, plan: FitPlan, metric: Metric
) -> JudgedEntry:
    parts, halves = fits[: len(plan.parts)], fits[len(plan.parts) :]
    scores, spreads = _comparable(parts, plan.held_out, plan)
    half_scores = [] if plan.halves is None else _comparable(halves, plan.halves.held_out, plan, spreads)[0]
    return JudgedEntry(
        entry,
        final.scorer,
        entry.rounds if len(scores) > 1 else (0,),
        scores=scores,
        values=[plan.held_out.values(metric, row, 1) for row in scores],
        held_out=plan.held_out,
        seconds=sum(fit.seconds for fit in fits) + final.seconds,
        half_scores=half_scores,
        spreads=spreads,
    )


def _comparable(
    fits: Sequence[EntryScores], held_out: HeldOut, plan: FitPlan, spreads: Sequence[float] = ()
) -> tuple[list[Doubles], Sequence[float]]:
    """Return the scores of all judging documents, for each number of rounds, on the scale of all members.

    They are standardised within the query, or else divided by their spread, which is returned too.
    """
    rows, groups = np.concatenate([fit.scores for fit in fits], axis=1), held_out.labels.groups
    if plan.standardise:
        return [standardised(row, groups) for row in rows], ()
    spreads = spreads or [spread_within(row, groups) for row in rows]
    return [row / spread for row, spread in zip(rows, spreads, strict=True)], spreads

"""A pool of scorers that any ranker can join: candidates are fitted, judged, and become members.

A `Candidate` is anything that can be fitted: a ranker, once or on every fold, or a base learner that gives many
members. A `Judge` values scores by a metric. A `Member` is a fitted scorer with its scores of the judge's
documents and their value. A mixer (`ensembling/mixtures.py`) turns members into one scorer.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.resources import resolve_threads
from rankwright.models.scorer import checked_scorers
from rankwright.training.concurrent_fits import NoTimeError, TimeLimit, fits_at_once, result_of
from rankwright.training.fit_task import Heartbeat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.training_set import QueryLabels, TrainingSet

    Fit = Callable[[int, OnRound], Any]


@dataclass(frozen=True, eq=False)
class Judge:
    """Values scores of judged documents by the mean of a metric over their queries.

    Parameters
    ----------
    data
        The documents; `QueryLabels` (labels and queries without features) if the scores are known already.
    n_jobs
        Number of threads, None for all that this process may use; the value does not depend on it.
    """

    data: RankingData | QueryLabels
    metric: Metric
    n_jobs: int | None = None

    @property
    def n_threads(self) -> int:
        """Number of threads to use."""
        return resolve_threads(self.n_jobs)

    def __call__(self, scores: Doubles) -> float:
        """Return the mean of the metric over queries."""
        return self.metric.mean(self.data.y, scores, self.data.groups, n_jobs=self.n_jobs)


@dataclass(frozen=True, eq=False, kw_only=True)
class Member:
    """A fitted scorer in a pool.

    Parameters
    ----------
    name
        Describes the member in standings and messages.
    scorer
        Gives the member's share of the mixture's score.
    scores
        Its scores of the judge's documents, on the same scale as those of other members; empty if not judged.
    value
        The judge's value of these scores; NaN if not judged.
    """

    name: str
    scorer: Scorer
    scores: Doubles = field(default_factory=lambda: np.zeros(0))
    value: float = np.nan

    @classmethod
    def judged(cls, name: str, scorer: Scorer, judge: Judge) -> Member:
        """Score the judge's documents and value the scores."""
        scores = scorer.predict(judge.data, n_jobs=judge.n_jobs)
        return cls(name=name, scorer=scorer, scores=scores, value=judge(scores))


M = TypeVar("M", bound=Member)
Joining = TypeVar("Joining")  # what candidates give: members, or what members are made from


@dataclass(frozen=True, eq=False)
class Candidate(Generic[Joining]):
    """One or several independent fits that together give members of a pool.

    Parameters
    ----------
    name
        Names the candidate in messages.
    fits
        Each is called with a number of threads and with `on_round`, which a long fit must call from time to time:
        it raises an exception when the fit is no longer needed. Results must not depend on the number of threads.
    members
        Makes the members from the results of all fits.
    cost
        The expected processor time of all fits, in any unit that the candidates of a pool share.
    """

    name: str
    fits: Sequence[Fit]
    members: Callable[[Sequence[Any]], Iterable[Joining]]
    cost: float = 1.0

    @classmethod
    def single(cls, name: str, fit: Callable[[int, OnRound], Iterable[Joining]]) -> Candidate[Joining]:
        """Return the candidate of one fit, which returns the members."""
        return cls(name, [fit], lambda results: results[0])


def ranker_candidate(
    ranker: Any,
    train: RankingData | TrainingSet,
    *,
    name: str | None = None,
    judge: Judge | None = None,
    scale: Callable[[Scorer], Scorer] = lambda scorer: scorer,
) -> Candidate[Member]:
    """Return the candidate that fits a copy of a ranker, through all its rounds.

    `scale` wraps the fitted scorer; for rankers whose scores differ in scale use `within_query`. Without a judge
    the member has no value and can join uniform mixtures only.
    """
    named = name or type(ranker).__name__

    def fit(n_threads: int, on_round: OnRound) -> list[Member]:
        scorer = scale(fitted_scorer(ranker, train, n_threads, on_round))
        return [Member(name=named, scorer=scorer) if judge is None else Member.judged(named, scorer, judge)]

    return Candidate.single(named, fit)


def fitted_scorer(
    ranker: Any, train: RankingData | TrainingSet, n_threads: int, on_round: OnRound, **options: Any
) -> Scorer:
    """Fit a copy of a ranker through all its rounds and return its scorer; `options` are those of `fit`."""
    fitted = ranker.unfitted().set_params(n_jobs=n_threads).fit(train, on_round=Heartbeat(on_round), **options)
    if fitted.history_.interrupted:
        raise KeyboardInterrupt
    return checked_scorers([fitted])[0]


class _InterruptedFillError(Exception):
    """Ctrl-C has ended a fill that has members; a second Ctrl-C is a `KeyboardInterrupt` again."""


class Pool(Generic[Joining]):
    """Members in the order of their candidates.

    After `fill`, `failures` holds name and error of every candidate that could not be fitted, `skipped` name
    and reason of every candidate that there was no time for, and `interrupted` says whether Ctrl-C ended it.
    """

    def __init__(self, members: Iterable[Joining] = ()) -> None:
        self.members: list[Joining] = list(members)
        self.failures: list[tuple[str, Exception]] = []
        self.skipped: list[tuple[str, str]] = []
        self.interrupted = False

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Joining]:
        return iter(self.members)

    def fill(
        self,
        candidates: Sequence[Candidate[Joining]],
        *,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        seconds_per_cost: float | None = None,
        on_joined: Callable[[], None] = lambda: None,
        on_fit: Callable[[str], None] = lambda _name: None,
        skip_failures: bool = False,
    ) -> None:
        """Run the fits of all candidates, several at once, and add their members in the order of the candidates.

        Without a time limit the pool depends neither on the number of threads nor on the order in which the fits
        end. Ctrl-C ends the fill and keeps the members so far; it is raised again if there are none, or if it is
        pressed again before the fits under way have ended.

        Parameters
        ----------
        n_jobs
            Number of threads, shared among the fits; None for all that this process may use.
        time_limit
            Seconds after which fits end. A candidate that would need more than the time left, by its cost and
            the time that others took, is skipped.
        seconds_per_cost
            Expected seconds of all fits of a candidate per unit of its cost, before any has ended; None if that is
            not known.
        on_joined
            Called after the members of each candidate have joined.
        on_fit
            Called after each fit, in order, with the name of its candidate.
        skip_failures
            Whether a candidate that cannot be fitted is left out with a warning; by default the fill fails.
        """
        n_threads = resolve_threads(n_jobs)
        dearest = max((candidate.cost for candidate in candidates), default=0.0)
        known = (seconds_per_cost * dearest, dearest) if seconds_per_cost else ()
        limit = TimeLimit(time_limit, n_threads, *known)
        tasks = [(candidate, fit) for candidate in candidates for fit in candidate.fits]
        threads_per_fit = max(1, n_threads // max(1, len(tasks)))
        run = _runner(limit, threads_per_fit)
        try:
            with fits_at_once(run, tasks, workers=n_threads) as running:
                futures = iter(running)
                fits_of = [[next(futures) for _ in candidate.fits] for candidate in candidates]
                self._join_all(candidates, fits_of, skip_failures, on_joined, on_fit)
        except _InterruptedFillError:
            self.interrupted = True
        if self.failures and not self.members:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in [*self.failures, *self.skipped])
            raise InputError(f"No candidate of the pool could be fitted. {reasons}")

    def _join_all(
        self,
        candidates: Sequence[Candidate[Joining]],
        fits_of: Sequence[Sequence[Future[Any]]],
        skip_failures: bool,
        on_joined: Callable[[], None],
        on_fit: Callable[[str], None],
    ) -> None:
        """Let candidates join in their order; at Ctrl-C those whose fits have all ended still join."""
        waiting = list(zip(candidates, fits_of, strict=True))
        try:
            while waiting:
                candidate, fits = waiting[0]
                error = next(_failures(fits, partial(on_fit, candidate.name)), None)
                waiting.pop(0)
                if error is None:
                    self.members += candidate.members([fit.result() for fit in fits])
                else:
                    self._leave_out(candidate.name, error, skip_failures)
                on_joined()
        except KeyboardInterrupt:
            for candidate, fits in waiting:
                if all(fit.done() and not fit.cancelled() and fit.exception() is None for fit in fits):
                    self.members += candidate.members([fit.result() for fit in fits])
            if not self.members:
                raise
            raise _InterruptedFillError from None

    def _leave_out(self, name: str, error: Exception, skip_failures: bool) -> None:
        if isinstance(error, NoTimeError):
            self.skipped.append((name, str(error)))
        elif skip_failures:
            self.failures.append((name, error))
            warnings.warn(f"{name} is left out of the pool: {error}", stacklevel=4)
        elif isinstance(error, InputError):
            raise InputError(f"{name}: {error}") from error
        else:
            error.add_note(f"This happened while {name} was fitted for a pool.")
            raise error


def _runner(limit: TimeLimit, n_threads: int) -> Callable[[tuple[Candidate[Any], Fit], OnRound], Any]:
    """Return the function that runs one fit of a candidate, unless another fit of the candidate has failed."""
    failed: set[Candidate[Any]] = set()

    def run(task: tuple[Candidate[Any], Fit], on_round: OnRound) -> Any:
        candidate, fit = task
        if candidate in failed:  # its error is known already
            return None
        limit.admit(candidate)
        started = monotonic()
        try:
            result = fit(n_threads, limit.ending(on_round))
        except Exception:
            failed.add(candidate)
            raise
        limit.note(candidate, monotonic() - started)
        return result

    return run


def _failures(fits: Sequence[Future[Any]], on_fit: Callable[[], None]) -> Iterator[Exception]:
    """Wait for the fits in order, and yield the errors of those that failed."""
    for fit in fits:
        try:
            result_of(fit)
        except Exception as error:
            yield error
        else:
            on_fit()

"""A pool of scorers that any ranker can join: candidates are fitted, judged, and become members.

A `Candidate` is anything that can be fitted: a ranker, or a base learner that gives many members. A `Judge` values
scores by a metric. A `Member` is a fitted scorer with its scores of the judge's documents and their value. A mixer
(`ensembling/mixtures.py`) turns members into one scorer.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import numpy as np

from rankwright.errors import InputError
from rankwright.models.fitted import checked_scorers
from rankwright.threads import resolve_threads
from rankwright.training.workers import fits_at_once, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future

    from rankwright.arrays import Doubles
    from rankwright.data import RankingData
    from rankwright.metrics import Metric
    from rankwright.models import Scorer
    from rankwright.training import QueryLabels, TrainingSet
    from rankwright.training.workers import OnRound


@dataclass(frozen=True, eq=False)
class Judge:
    """Values scores of judged documents by the mean of a metric over their queries.

    Parameters
    ----------
    data
        The documents; `QueryLabels` (labels and queries without features) if the scores are known already.
    metric
        The metric.
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


class Candidate(NamedTuple, Generic[M]):
    """A fit that gives members of a pool.

    Parameters
    ----------
    name
        Names the candidate in messages.
    fit
        Called with a number of threads and with `on_round`, which a long fit must call from time to time: it
        raises an exception when the fit is no longer needed. Returns the members; they must not depend on the
        number of threads.
    """

    name: str
    fit: Callable[[int, OnRound], Iterable[M]]


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
        fitted = ranker.unfitted().set_params(n_jobs=n_threads).fit(train, on_round=on_round)
        if fitted.history_.interrupted:
            raise KeyboardInterrupt
        scorer = scale(*checked_scorers([fitted]))
        return [Member(name=named, scorer=scorer) if judge is None else Member.judged(named, scorer, judge)]

    return Candidate(named, fit)


class Pool(Generic[M]):
    """Members in the order of their candidates.

    After `fill`, `failures` holds name and error of every candidate that was left out, and `interrupted` says
    whether Ctrl-C ended it.
    """

    def __init__(self, members: Iterable[M] = ()) -> None:
        self.members: list[M] = list(members)
        self.failures: list[tuple[str, Exception]] = []
        self.interrupted = False

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[M]:
        return iter(self.members)

    def fill(
        self,
        candidates: Sequence[Candidate[M]],
        *,
        n_jobs: int | None = None,
        on_joined: Callable[[], None] = lambda: None,
        skip_failures: bool = False,
    ) -> None:
        """Fit all candidates, several at once, and add their members in the order of the candidates.

        The pool depends neither on the number of threads nor on the order in which the fits end. Ctrl-C ends the
        fill and keeps the members so far; it is raised again if there are none.

        Parameters
        ----------
        candidates
            The candidates.
        n_jobs
            Number of threads, shared among the fits; None for all that this process may use.
        on_joined
            Called after the members of each candidate have joined.
        skip_failures
            Whether a candidate that cannot be fitted is left out with a warning; by default the fill fails.
        """
        n_threads = resolve_threads(n_jobs)
        threads_per_fit = max(1, n_threads // max(1, len(candidates)))

        def fit(candidate: Candidate[M], on_round: OnRound) -> list[M]:
            return list(candidate.fit(threads_per_fit, on_round))

        try:
            with one_thread_for_libraries(), fits_at_once(fit, candidates, workers=n_threads) as running:
                for candidate, fitted in zip(candidates, running, strict=True):
                    self._join(candidate.name, fitted, skip_failures)
                    on_joined()
        except KeyboardInterrupt:
            if not self.members:
                raise
            self.interrupted = True
        if self.failures and not self.members:
            reasons = "; ".join(f"{name}: {error}" for name, error in self.failures)
            raise InputError(f"No candidate of the pool could be fitted. {reasons}")

    def _join(self, name: str, fitted: Future[list[M]], skip_failures: bool) -> None:
        try:
            joined: list[M] = result_of(fitted)
            self.members += joined
        except Exception as error:
            if skip_failures:
                self.failures.append((name, error))
                warnings.warn(f"{name} is left out of the pool: {error}", stacklevel=4)
            elif isinstance(error, InputError):
                raise InputError(f"{name}: {error}") from error
            else:
                error.add_note(f"This happened while {name} was fitted for a pool.")
                raise


@contextmanager
def one_thread_for_libraries() -> Iterator[None]:
    """Keep numpy's linear algebra to one thread: waking others costs more than it saves on small matrices."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    with threadpool_limits(1):
        yield

"""The fits of entries: each is read from a cache, or made and written to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankwright.auto.entries import EntryScores, FinalFit, JudgedEntry
from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError
from rankwright.base.files import write_whole
from rankwright.base.fit_cache import Encoding, read_arrays
from rankwright.data.alignment import require_same_number
from rankwright.data.query_features import standardised
from rankwright.ensembling.pool import Candidate
from rankwright.models.model_file import load, save

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence
    from pathlib import Path

    from rankwright.auto.entries import Entry
    from rankwright.auto.plan import FitPlan, HeldOut, PlanPart
    from rankwright.base.arrays import Doubles
    from rankwright.base.fit_cache import FitCache
    from rankwright.metrics.base import Metric
    from rankwright.models.scorer import Scorer
    from rankwright.training.concurrent_fits import OnRound
    from rankwright.training.training_set import TrainingSet

Fit = TypeVar("Fit")


@dataclass(frozen=True, eq=False)
class CachedFits:
    """Wraps the fits of a plan; without a cache, fits stay as they are."""

    plan: FitPlan
    cache: FitCache | None = None

    def scores(
        self, entry: Entry, part: int, fit: Callable[[int, OnRound], EntryScores]
    ) -> Callable[[int, OnRound], EntryScores]:
        """Return the fit on a part."""
        read = partial(_read_scores, {1, len(entry.rounds) or 1}, len(self.plan.all_parts[part].judges))
        return self._cached(entry, f"part-{part + 1}.npz", fit, Encoding(read, _write_scores))

    def scorer(self, entry: Entry, fit: Callable[[int, OnRound], FinalFit]) -> Callable[[int, OnRound], FinalFit]:
        """Return the fit on all queries."""
        return self._cached(entry, "all.rw", fit, Encoding(partial(_read_scorer, self.plan), _write_scorer))

    def _cached(
        self, entry: Entry, file: str, fit: Callable[[int, OnRound], Fit], encoding: Encoding[Fit]
    ) -> Callable[[int, OnRound], Fit]:
        if self.cache is None:
            return fit
        cache = self.cache
        settings = entry.ranker, entry.seeds
        path = cache.path(entry.name, settings=identity(settings, repr(settings))) / file

        def read_or_fit(n_threads: int, on_round: OnRound) -> Fit:
            result = cache.read(path, encoding)
            if result is None:
                result = fit(n_threads, on_round)
                cache.try_to_write(result, path, encoding)
            return result

        return read_or_fit


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
    entry: Entry, plan: FitPlan, metric: Metric, weights: Doubles | None, cache: CachedFits
) -> Candidate[JudgedEntry]:
    """Return the candidate that fits an entry on every part and on the whole data."""

    def on_part(part: PlanPart) -> Callable[[int, OnRound], EntryScores]:
        def fit(n_threads: int, on_round: OnRound) -> EntryScores:
            started = monotonic()
            own = None if weights is None else weights[part.rows]
            scorer = entry.fitted(part.train, n_threads, on_round, own)
            return EntryScores(_staged(entry, scorer, part.judges, n_threads), monotonic() - started)

        return fit

    def on_all(n_threads: int, on_round: OnRound) -> FinalFit:
        started = monotonic()
        scorer = entry.fitted(plan.whole, n_threads, on_round, weights)
        return FinalFit(scorer, monotonic() - started)

    def members(results: Sequence[Any]) -> list[JudgedEntry]:
        return [_judged(entry, results[:-1], results[-1], plan, metric)]

    fits = [cache.scores(entry, number, on_part(part)) for number, part in enumerate(plan.all_parts)]
    return Candidate(entry.name, [*fits, cache.scorer(entry, on_all)], members, cost=entry.cost)


def _staged(entry: Entry, scorer: Scorer, judges: TrainingSet, n_threads: int) -> Doubles:
    """Return the scores of the judging documents, one row per number of rounds that the scorer can be cut to."""
    rounds = entry.rounds if scorer.n_rounds else ()
    cut = [scorer.first(n_rounds) if n_rounds < scorer.n_rounds else scorer for n_rounds in rounds] or [scorer]
    return np.array([model.predict(judges.data, n_jobs=n_threads) for model in cut])


def _judged(
    entry: Entry, fits: Sequence[EntryScores], final: FinalFit, plan: FitPlan, metric: Metric
) -> JudgedEntry:
    parts, halves = fits[: len(plan.parts)], fits[len(plan.parts) :]
    scores = _standardised(parts, plan.held_out)
    return JudgedEntry(
        entry,
        final.scorer,
        entry.rounds if len(scores) > 1 else (0,),
        scores=scores,
        values=[plan.held_out.values(metric, row, 1) for row in scores],
        held_out=plan.held_out,
        seconds=sum(fit.seconds for fit in fits) + final.seconds,
        half_scores=[] if plan.halves is None else _standardised(halves, plan.halves.held_out),
    )


def _standardised(fits: Sequence[EntryScores], held_out: HeldOut) -> list[Doubles]:
    """Return the scores of all judging documents, standardised within the query, for each number of rounds."""
    rows = np.concatenate([fit.scores for fit in fits], axis=1)
    return [standardised(row, held_out.labels.groups) for row in rows]

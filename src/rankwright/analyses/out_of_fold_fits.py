"""Variants of a ranker, each fitted on every fold and judged by the queries that it has not learned from."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.base.resources import resolve_threads
from rankwright.crossval.folds import Folds
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics.base import mean_over_queries
from rankwright.training.concurrent_fits import run_all
from rankwright.training.training_set import TrainingSet
from rankwright.tuning.trials import configured
from rankwright.tuning.tune import require_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles
    from rankwright.crossval.folds import FoldParts, FoldsData
    from rankwright.crossval.splits import SplitOptions
    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.metrics.base import Metric
    from rankwright.rankers.ranker import Ranker
    from rankwright.training.concurrent_fits import OnRound


def _unchanged(parts: FoldParts) -> FoldParts:
    return parts


class Variant(NamedTuple):
    """A ranker, and how the parts of a fold are changed before it is fitted on them."""

    ranker: Ranker
    change: Callable[[FoldParts], FoldParts] = _unchanged


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Values of variants on the queries that judged them.

    Parameters
    ----------
    values
        By variant and metric, one value per test query: the mean over repeats of the division into folds.
    folds
        The number of the fold that each of these values comes from, in the first repeat.
    train_means
        By variant and metric, the mean over folds of the mean over training queries; empty if not asked for.
    train_queries
        The least number of training queries of a fold.
    """

    values: Mapping[tuple[str, str], Doubles]
    folds: NDArray[np.int64]
    train_means: Mapping[tuple[str, str], float]
    train_queries: int

    def __len__(self) -> int:
        return len(self.folds)


@dataclass(frozen=True)
class Fitting:
    """How variants are fitted and measured: by metrics as a convention defines them, `workers` fits at a time.

    Without `workers`, it is one per thread. `on_fit` is called after each fit, and with `on_train` variants are
    measured on their training queries too.
    """

    metrics: Sequence[Metric]
    convention: str
    workers: int | None = None
    on_fit: Callable[[], None] = lambda: None
    on_train: bool = False

    def __post_init__(self) -> None:
        require_workers(self.workers)


def first_train(data: FoldsData, division: SplitOptions) -> RankingData:
    """Return the training part of the first fold; of folds that are made here, none is smaller."""
    return next(iter(Folds.of(data, division))).train


def fit_out_of_fold(
    variants: Mapping[str, Variant] | Callable[[FoldParts], Mapping[str, Variant]],
    data: FoldsData,
    division: SplitOptions,
    how: Fitting,
) -> OutOfFold:
    """Fit all variants on every fold, and measure them on its test part.

    A validation part, if there is one, chooses the round to keep. `variants` may be a function of the fold.
    """
    measured: list[tuple[FoldParts, list[dict[str, Report]]]] = []
    for parts in Folds.of(data, division):
        chosen = variants(parts) if callable(variants) else variants
        measured.append((parts, _measure(chosen, parts, how)))
    return _joined(measured)


def _measure(variants: Mapping[str, Variant], parts: FoldParts, how: Fitting) -> list[dict[str, Report]]:
    """Return reports of all variants on the test part and, if asked for, on the training part."""
    names = list(variants)
    threads = resolve_threads(variants[names[0]].ranker.n_jobs)
    at_once = min(how.workers or threads, len(names))
    n_threads = max(1, threads // at_once)
    shared = TrainingSet(parts.train)
    options: dict[str, Any] = {"metrics": how.metrics, "convention": how.convention, "n_jobs": n_threads}

    def fit(name: str, on_round: OnRound) -> list[Report]:
        variant = variants[name]
        changed = variant.change(parts)
        train = shared if changed.train is parts.train else changed.train
        ranker = configured(variant.ranker, {"n_jobs": n_threads})
        ranker.fit(train, validation=changed.valid, on_round=on_round)
        judges = [changed.test, *([changed.train] if how.on_train else [])]
        return [evaluate({name: ranker.predict(part)}, part, **options) for part in judges]

    by_variant = run_all(fit, names, workers=at_once, on_done=how.on_fit)
    return [dict(zip(names, reports, strict=True)) for reports in zip(*by_variant, strict=True)]


def _joined(measured: Sequence[tuple[FoldParts, list[dict[str, Report]]]]) -> OutOfFold:
    """Return the values of all folds; those of a query in several repeats become their mean."""
    by_repeat: dict[int, list[dict[str, Report]]] = defaultdict(list)
    train_means: dict[tuple[str, str], list[float]] = defaultdict(list)
    for parts, (test, *train) in measured:
        by_repeat[parts.repeat].append(test)
        for reports in train:
            for name, report in reports.items():
                for metric in report.metrics:
                    train_means[name, metric].append(mean_over_queries(report.per_query(name, metric)))
    first = by_repeat[1]
    folds = np.repeat(np.arange(len(first)), [len(_any(reports).queries) for reports in first])
    values = {
        (name, metric): _mean_over_repeats(list(by_repeat.values()), name, metric)
        for name, report in first[0].items()
        for metric in report.metrics
    }
    order = _order(first) if len(by_repeat) > 1 else np.arange(len(folds))
    means = {key: float(np.mean(by_fold)) for key, by_fold in train_means.items()}
    return OutOfFold(values, folds[order], means, min(len(parts.train.groups) for parts, _ in measured))


def _mean_over_repeats(repeats: Sequence[Sequence[dict[str, Report]]], name: str, metric: str) -> Doubles:
    columns = [np.concatenate([reports[name].per_query(name, metric) for reports in folds]) for folds in repeats]
    if len(repeats) == 1:
        return columns[0]
    ordered = [column[_order(folds)] for column, folds in zip(columns, repeats, strict=True)]
    return np.asarray(np.mean(ordered, axis=0))


def _order(folds: Sequence[dict[str, Report]]) -> Any:
    """Return the order by query id, which is the same in every repeat."""
    return np.argsort(np.concatenate([_any(reports).queries for reports in folds]), kind="stable")


def _any(reports: dict[str, Report]) -> Report:
    return next(iter(reports.values()))

"""Feature ablation: what a ranker loses without a feature, or reaches with it alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankwright.analyses.out_of_fold_fits import Fitting, Variant, first_train, fit_out_of_fold
from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list, closest, counted, metric_value, said_p_value
from rankwright.crossval.folds import count_folds
from rankwright.crossval.splits import SplitOptions
from rankwright.evaluation.evaluate import checked_metrics
from rankwright.metrics.base import mean_over_queries
from rankwright.metrics.catalogue import find_convention
from rankwright.models.scorer import name_of
from rankwright.rankers.catalogue import as_ranker
from rankwright.reports.blocks import Column, Figure, Interval, Kind, Note, Table
from rankwright.reports.result import Result
from rankwright.statistics.paired_tests import compare_values, holm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.crossval.folds import FoldParts, FoldsData
    from rankwright.data.dataset import RankingData
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.blocks import Block
    from rankwright.reports.charts.chart import Chart
    from rankwright.statistics.paired_tests import Comparison

    Groups = Mapping[str, Sequence[int | str]] | Sequence[int | str]

WHOLE = "all features"
HOW = {"drop": "without", "only": "only"}


class AblationRow(NamedTuple):
    """A feature or group: the value without it or with it alone, and the comparison with all features.

    `p_holm` is the p-value, corrected for the number of features by Holm's method.
    """

    name: str
    features: tuple[int, ...]
    value: float
    against_all: Comparison
    p_holm: float


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(Result):
    """Values of a ranker fitted without some of the features, or with them alone, judged out of fold.

    Parameters
    ----------
    ranker, metric
        Names of the ranker and the metric.
    how
        `"drop"` if each feature was taken away, `"only"` if each was kept alone.
    whole
        The value with all features.
    rows
        One per feature or group, the most useful first.
    n_queries
        Number of queries that judged.
    """

    ranker: str
    metric: str
    how: str
    whole: float
    rows: tuple[AblationRow, ...]
    n_queries: int

    @property
    def summary(self) -> str:
        """The most useful feature or group."""
        best, whole = self.rows[0], f"the mean {self.metric} of {self.ranker}"
        own, of_all = metric_value(best.value), metric_value(self.whole)
        if self.how == "only":
            return f"With {best.name} alone, {whole} is {own}; with all features it is {of_all}."
        if best.against_all.difference >= 0:
            return f"Leaving out any one of the features does not lower {whole}."
        return f"Without {best.name}, {whole} falls most, from {of_all} to {own} ({said_p_value(best.p_holm)})."

    def blocks(self) -> list[Block]:
        """Return one row per feature or group, and their chart."""
        columns = [
            Column(HOW[self.how], Kind.TEXT),
            Column(self.metric),
            Column("against all features", Kind.DIFFERENCE),
            Column("p", Kind.P_VALUE),
            Column("p (Holm)", Kind.P_VALUE),
        ]
        rows = [
            (
                row.name,
                row.value,
                Interval(row.against_all.difference, *row.against_all.interval),
                row.against_all.p_value,
                row.p_holm,
            )
            for row in self.rows
        ]
        about = Note(f"Fitted again for each row, and judged out of fold by {counted(self.n_queries, 'query')}.")
        return [Table(columns, [(WHOLE, self.whole, None, None, None), *rows]), about, Figure(self.chart)]

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as JSON values; features are numbered from 0."""
        rows = [
            {
                "name": row.name,
                "features": list(row.features),
                "value": row.value,
                "difference": row.against_all.difference,
                "interval": list(row.against_all.interval),
                "p_value": row.against_all.p_value,
                "p_holm": row.p_holm,
            }
            for row in self.rows
        ]
        facts = {"ranker": self.ranker, "metric": self.metric, "how": self.how, "all_features": self.whole}
        return facts | {"queries": self.n_queries, "rows": rows}

    def chart(self) -> Chart:
        """Return a dot and its interval per feature: how far the metric is from that of all features."""
        from rankwright.reports.charts.bars import interval_chart

        verb = "with it alone" if self.how == "only" else "without it"
        return interval_chart(
            [(row.name, row.against_all.difference, *row.against_all.interval) for row in self.rows],
            f"{self.metric} {verb}, minus {self.metric} with all features",
            description=f"Change of the {self.metric} of {self.ranker} {verb}, by feature or group.",
        )


def ablation(
    ranker: Ranker | str,
    data: FoldsData,
    *,
    features: Groups | None = None,
    how: str = "drop",
    metric: MetricLike = "ndcg@10",
    folds: int = 5,
    repeats: int = 1,
    validation: float | str = 0.0,
    random_state: int = 0,
    convention: str = "standard",
    workers: int | None = None,
    on_fit: Callable[[], None] = lambda: None,
) -> Ablation:
    """Fit a ranker again without each feature or group, and measure what is lost on queries out of fold.

    A feature is taken away by giving all documents the same value, from which nothing can be learned. Unlike after
    `permutation_importance`, the ranker can make up for it with the other features: a feature whose absence
    changes nothing is not needed, though a model may use it.

    Parameters
    ----------
    ranker
        The ranker, or its name; it is not changed.
    data, folds, repeats, validation, random_state, workers
        As for `rankwright.cross_validate`.
    features
        The features to look at, or groups of them by name, such as `{"text": ["bm25_*", "tf_title"]}`. Text is a
        name or a pattern or, if the data have no names, LETOR's number from 1; integers count from 0. None: every
        feature, and the columns of one category together.
    how
        `"drop"`: all features but these. `"only"`: these alone.
    metric
        The metric.
    convention
        As for `rankwright.evaluate`.
    on_fit
        Called after each fit: one per fold for all features and for each feature or group.

    Examples
    --------
    >>> data = rw.synthetic.gaussian_queries(20, spread=(0.5, 9.0))
    >>> result = rw.analyses.ablation("ranksvm", data, metric="map", folds=2)
    >>> round(result.whole, 2), {row.name: round(row.value, 2) for row in result.rows}
    (0.97, {'1': 0.61, '2': 0.95})
    """
    ranker, asked = as_ranker(ranker), checked_metrics([metric], find_convention(convention))
    if how not in HOW:
        raise InputError(f"how must be 'drop' or 'only', not {how!r}.")
    division = SplitOptions(folds, repeats, validation, random_state)
    first = first_train(data, division)
    groups = feature_groups(first, features)
    variants = {WHOLE: Variant(ranker)} | {
        name: Variant(ranker, _changing(_taken_away(columns, first.n_features, how)))
        for name, columns in groups.items()
    }
    fitted = fit_out_of_fold(variants, data, division, Fitting(asked, convention, workers, on_fit))
    return _result(
        name_of(ranker),
        str(asked[0]),
        how,
        groups,
        {name: fitted.values[name, str(asked[0])] for name in variants},
    )


def feature_groups(data: RankingData, features: Groups | None) -> dict[str, tuple[int, ...]]:
    """Return the columns of each feature or group to look at."""
    if features is None:
        return _every_feature(data)
    given = (
        features if isinstance(features, Mapping) else {_spelled(feature, data): [feature] for feature in features}
    )
    if isinstance(features, str) or not given:
        raise InputError("features must be a list of features, or lists of features by name.")
    groups = {}
    for name, members in given.items():
        columns = {column for member in members for column in _columns(member, data)}
        if not columns:
            raise InputError(f"The group {name!r} has no features.")
        groups[str(name)] = tuple(sorted(columns))
    if WHOLE in groups:
        raise InputError(f"A group cannot be called {WHOLE!r}.")
    return groups


def count_ablation_fits(data: FoldsData, division: SplitOptions, features: Groups | None) -> int:
    """Return the number of fits of `ablation`: per fold, one for all features and one for each group."""
    return (1 + len(feature_groups(first_train(data, division), features))) * count_folds(data, division)


def _every_feature(data: RankingData) -> dict[str, tuple[int, ...]]:
    made_from = {column: category.name for category in data.categories for column in category.columns}
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(_names(data)):
        groups.setdefault(made_from.get(name, name), []).append(number)
    return {name: tuple(columns) for name, columns in groups.items()}


def _names(data: RankingData) -> Sequence[str]:
    return data.feature_names or [str(number) for number in range(1, data.n_features + 1)]


def _spelled(feature: int | str, data: RankingData) -> str:
    """Return the name of a feature that is given by its number from 0; a text as it is."""
    return feature if isinstance(feature, str) else _names(data)[_columns(feature, data)[0]]


def _columns(feature: int | str, data: RankingData) -> list[int]:
    """Return the columns that a number, a name, a pattern or a category stands for."""
    names = _names(data)
    if not isinstance(feature, str):
        whole = isinstance(feature, int | np.integer) and not isinstance(feature, bool)
        if whole and 0 <= feature < data.n_features:
            return [int(feature)]
        raise InputError(
            f"There is no feature {feature!r}; features are numbered from 0 to {data.n_features - 1}."
        )
    categories = {category.name: category.columns for category in data.categories}
    wanted = categories.get(feature, (feature,))
    matches = [column for column, name in enumerate(names) if name in wanted]
    matches = matches or [column for column, name in enumerate(names) if fnmatchcase(name, feature)]
    if not matches:
        close = closest(feature, [*names, *categories])
        hint = f"did you mean {close!r}?" if close else f"there are {brief_list(names)}."
        raise InputError(f"There is no feature {feature!r} in the data; {hint}")
    return matches


def _taken_away(columns: tuple[int, ...], n_features: int, how: str) -> list[int]:
    """Return the columns that hold nothing in a variant."""
    kept = set(columns)
    return list(columns) if how == "drop" else [column for column in range(n_features) if column not in kept]


def _changing(columns: list[int]) -> Callable[[FoldParts], FoldParts]:
    def change(parts: FoldParts) -> FoldParts:
        valid = None if parts.valid is None else _without(parts.valid, columns)
        return parts._replace(
            train=_without(parts.train, columns), valid=valid, test=_without(parts.test, columns)
        )

    return change


def _without(data: RankingData, columns: list[int]) -> RankingData:
    X = data.X.copy()
    X[:, columns] = 0.0
    return data.with_features(sealed(X), data.feature_names, data.categories)


def _result(
    ranker: str, metric: str, how: str, groups: Mapping[str, tuple[int, ...]], values: Mapping[str, Any]
) -> Ablation:
    whole = values[WHOLE]
    compared = {name: compare_values(values[name], whole) for name in groups}
    p_values = np.array([comparison.p_value for comparison in compared.values()])
    corrected = dict(zip(groups, holm(p_values).tolist(), strict=True))
    rows = [
        AblationRow(name, columns, mean_over_queries(values[name]), compared[name], corrected[name])
        for name, columns in groups.items()
    ]
    rows.sort(key=lambda row: row.against_all.difference, reverse=how == "only")
    return Ablation(ranker, metric, how, mean_over_queries(whole), tuple(rows), len(whole))

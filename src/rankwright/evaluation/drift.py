"""Drift: documents beside those that a model was trained on, feature by feature."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.arrays import checked_features
from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list, counted, rounded_percent
from rankwright.data.alignment import named_columns, require_columns, require_same_number
from rankwright.data.categories import source_columns
from rankwright.data.dataset import Documents
from rankwright.models.scorer import scorer_of
from rankwright.reports.blocks import Column, Kind, Table
from rankwright.reports.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.base.arrays import Floats
    from rankwright.data.categories import Category
    from rankwright.data.feature_ranges import FeatureRanges
    from rankwright.models.scorer import Scorer

COLUMNS = [
    Column("feature", Kind.TEXT),
    Column("training min", Kind.MEASURED),
    Column("training max", Kind.MEASURED),
    Column("min", Kind.MEASURED),
    Column("max", Kind.MEASURED),
    Column("missing in training", Kind.PERCENT),
    Column("missing", Kind.PERCENT),
    Column("outside", Kind.PERCENT),
    Column("unseen levels", Kind.TEXT),
]


@dataclass(frozen=True)
class FeatureDrift:
    """One feature, or one column of categories, in training and in the documents.

    Parameters
    ----------
    feature
        The name of the column; the number of the feature, from 1, if the model has no names.
    trained, given
        The smallest and the largest value; None for categories, and where all values are missing.
    missing_in_training, missing
        Fraction of the documents without a value.
    outside
        Fraction of the documents whose value training did not have: out of its range, or an unseen level.
    unseen
        The levels that training did not have, and in how many documents each is, the most frequent first.
    """

    feature: str
    trained: tuple[float, float] | None
    given: tuple[float, float] | None
    missing_in_training: float
    missing: float
    outside: float
    unseen: Mapping[str, int]


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """How the features of documents differ from those that a model was trained on.

    Parameters
    ----------
    n_documents
        Number of the documents.
    features
        The features, those with most values outside of training first, then by the change of the missing rate.

    Examples
    --------
    >>> ranker = rw.AdaRank().fit(rw.synthetic.gaussian_queries(20, seed=1))
    >>> result = rw.drift(ranker, rw.synthetic.gaussian_queries(20, seed=1))
    >>> isinstance(result, rw.Drift), result.summary
    (True, 'All values of 420 documents are as in training.')
    """

    n_documents: int
    features: tuple[FeatureDrift, ...]

    @property
    def summary(self) -> str:
        """How many features have values that training did not have, and which has most."""
        outside = [feature for feature in self.features if feature.outside]
        if not outside:
            return f"All values of {counted(self.n_documents, 'document')} are as in training."
        worst, has = outside[0], "has" if len(outside) == 1 else "have"
        part = f"{rounded_percent(worst.outside)} of {counted(self.n_documents, 'document')}"
        return (
            f"{len(outside)} of {counted(len(self.features), 'feature')} {has} values that training did not have, "
            f"most of all {worst.feature} in {part}."
        )

    def blocks(self) -> list[Table]:
        """Return one row per feature."""
        nothing = (None, None)
        rows = [
            (
                each.feature,
                *(each.trained or nothing),
                *(each.given or nothing),
                each.missing_in_training,
                each.missing,
                each.outside,
                brief_list(each.unseen) if each.unseen else "",
            )
            for each in self.features
        ]
        return [Table(COLUMNS, rows)]


def drift(model: Any, data: Any) -> Drift:
    """Compare the features of documents with those that a model was trained on.

    Parameters
    ----------
    model
        A fitted ranker, or a scorer of a file that rankwright wrote.
    data
        Documents, a data frame or a matrix: what `predict` of the model takes.

    Examples
    --------
    >>> model = rw.AdaRank().fit(rw.synthetic.gaussian_queries(20, seed=1)).model_
    >>> result = rw.drift(model, [[0.5, float("nan")], [0.5, 900.0]])
    >>> result.summary
    '1 of 2 features has values that training did not have, most of all 2 in 50 % of 2 documents.'
    >>> result.features[0].missing
    0.5
    """
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"drift takes a scorer or a fitted ranker, not this {type(model).__name__}.")
    if scorer.ranges is None:
        raise InputError(
            "The model does not hold the ranges of its training features: another tool or an earlier version "
            "made it. Train it again."
        )
    shape = (len(data),) if isinstance(data, Documents) else np.shape(data)
    if not any(shape[:1]):
        raise InputError(f"drift needs documents, a data frame or a matrix with rows, not {type(data).__name__}.")
    features = sorted(_features(scorer, scorer.ranges, data), key=_by_difference)
    return Drift(shape[0], tuple(features))


def _by_difference(feature: FeatureDrift) -> tuple[float, float]:
    return -feature.outside, -abs(feature.missing - feature.missing_in_training)


def _features(scorer: Scorer, ranges: FeatureRanges, data: Any) -> Iterator[FeatureDrift]:
    table = None if scorer.feature_names is None else named_columns(data)
    if table is None:
        X = data.X if isinstance(data, Documents) else checked_features(data, allow_infinite=True)
        require_same_number(scorer.n_features, X.shape[1])
        names = scorer.feature_names or tuple(map(str, range(1, scorer.n_features + 1)))
        yield from (_of_numbers(name, ranges, column, X[:, column]) for column, name in enumerate(names))
        return
    assert scorer.feature_names is not None
    columns = source_columns(scorer.feature_names, scorer.categories)
    require_columns(columns, table.columns)
    position = {name: column for column, name in enumerate(scorer.feature_names)}
    categories = {category.name: category for category in scorer.categories}
    for name in columns:
        if name in categories:
            missing = float(ranges.missing[position[categories[name].columns[0]]])
            yield _of_category(categories[name], missing, table.texts(categories[name]))
        else:
            yield _of_numbers(name, ranges, position[name], table.numbers(name))


def _of_numbers(name: str, ranges: FeatureRanges, column: int, values: Floats) -> FeatureDrift:
    trained = float(ranges.minimum[column]), float(ranges.maximum[column])
    values = values.astype(np.float32)  # as in training
    present = values[~np.isnan(values)]
    return FeatureDrift(
        name,
        trained if trained[0] <= trained[1] else None,
        (float(present.min()), float(present.max())) if len(present) else None,
        float(ranges.missing[column]),
        1 - len(present) / len(values),
        float(np.mean((values < trained[0]) | (values > trained[1]))),
        {},
    )


def _of_category(category: Category, missing: float, texts: list[str | None]) -> FeatureDrift:
    known = set(category.values)
    unseen = Counter(text for text in texts if text is not None and text not in known)
    n_missing = texts.count(None)
    outside = unseen.total() / len(texts)
    return FeatureDrift(
        category.name, None, None, missing, n_missing / len(texts), outside, dict(unseen.most_common())
    )

"""Encodes categories, such as colours or brands, as numbers, without using labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats, Integers

MAX_ONE_HOT = 10
MAX_VALUES = 65_536
MAX_CHARACTERS = 1_000  # of a value, so that a column of whole texts is refused


@dataclass(frozen=True)
class Category:
    """How a column of categories becomes numbers.

    One-hot: one column `name=value` per value, 1 where the document has the value and 0 elsewhere. Otherwise: one
    column `name` with the position of the value in `values`. Missing and unknown values become 0 in
    every one-hot column, or NaN in the single column.

    Parameters
    ----------
    name
        The name of the column in the table.
    values
        Its values as text, the most frequent first.
    one_hot
        Whether there is one column per value.
    """

    name: str
    values: tuple[str, ...]
    one_hot: bool

    def __post_init__(self) -> None:
        texts = isinstance(self.values, list | tuple) and all(isinstance(value, str) for value in self.values)
        if not isinstance(self.name, str) or not texts or not isinstance(self.one_hot, bool):
            raise InputError(
                "A category must have a name, a list of texts as values, and one_hot as True or False."
            )
        if len(set(self.values)) < len(self.values) or len(self.values) > MAX_VALUES:
            raise InputError(f"The category {self.name[:60]!r} must have up to {MAX_VALUES:,} different values.")
        if self.one_hot and not self.values:
            raise InputError(f"The category {self.name[:60]!r} is one-hot, but has no values.")
        object.__setattr__(self, "values", tuple(self.values))

    @classmethod
    def of(cls, name: str, texts: Iterable[str | None]) -> Category:
        """Return the category of a column: one-hot if it has 1 to 10 values."""
        return cls.of_counts(name, Counter(text for text in texts if text is not None))

    @classmethod
    def of_counts(cls, name: str, counts: Counter[str]) -> Category:
        """Return the category of a column whose values are counted already."""
        longest = max(map(len, counts), default=0)
        if len(counts) > MAX_VALUES or longest > MAX_CHARACTERS:
            raise InputError(
                f"Column {name!r} cannot be categorical: it has {len(counts):,} values of up to {longest:,} "
                f"characters; at most {MAX_VALUES:,} of {MAX_CHARACTERS:,} are allowed."
            )
        values = sorted(counts, key=lambda value: (-counts[value], value))
        return cls(name, tuple(values), 1 <= len(values) <= MAX_ONE_HOT)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the features that it becomes."""
        return tuple(self.each_column())

    def each_column(self) -> Iterator[str]:
        """Yield the names of the features one by one: a damaged file may declare more than fit in memory."""
        return (f"{self.name}={value}" for value in self.values) if self.one_hot else iter([self.name])

    def codes(self, texts: Sequence[str | None]) -> Integers:
        """Return the position of each value in `values`, -1 for a missing or unknown one."""
        position: dict[str | None, int] = {value: number for number, value in enumerate(self.values)}
        return np.fromiter((position.get(text, -1) for text in texts), dtype=np.int64, count=len(texts))

    def encoded(self, codes: Integers) -> Floats:
        """Return the columns of documents whose values have these codes."""
        if not self.one_hot:
            return np.where(codes < 0, np.nan, codes).astype(np.float32)[:, None]
        return np.asarray(codes[:, None] == np.arange(len(self.values)), dtype=np.float32)

    def decoded(self, columns: NDArray[Any]) -> Integers:
        """Return the codes that `encoded` made these columns of, -1 for missing and unknown values."""
        if self.one_hot:
            return np.where((columns == 1).any(axis=1), (columns == 1).argmax(axis=1), -1)
        known = (columns[:, 0] >= 0) & (columns[:, 0] < len(self.values))  # neither is true of NaN
        return np.where(known, columns[:, 0], -1).astype(np.int64)

    def recoded(self, codes: Integers, other: Category) -> Integers:
        """Return codes of this category as codes of another category of the same column."""
        return np.append(other.codes(self.values), -1)[codes]  # code -1, unknown, indexes the appended -1


def encodings(categories: Sequence[Category], features: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return how each column of categories becomes features, for a program that has no `Category`.

    `otherwise` has the features of a missing or unknown value, `levels` those that each value then sets; None is
    missing. `features` says how to call each feature: by another name, or by its number.
    """
    tables = {}
    for category in categories:
        own = [features[column] for column in category.columns]
        if category.one_hot:
            levels = {value: {feature: 1} for value, feature in zip(category.values, own, strict=True)}
        else:
            levels = {value: {own[0]: code} for code, value in enumerate(category.values)}
        tables[category.name] = {
            "otherwise": dict.fromkeys(own, 0 if category.one_hot else None),
            "levels": levels,
        }
    return tables


def checked_categories(categories: Sequence[Category], names: Sequence[str] | None) -> tuple[Category, ...]:
    """Return categories as a tuple: each only once, and all their columns among the feature names."""
    if not all(isinstance(category, Category) for category in categories):
        raise InputError("categories must be a list of Category.")
    if len({category.name for category in categories}) < len(categories):
        raise InputError("A category is given twice.")
    free = set(names or ())
    for category in categories:
        for column in category.each_column():
            if column not in free:
                raise InputError(f"The category {category.name[:60]!r} lacks its feature {column[:60]!r}.")
            free.remove(column)
    return tuple(categories)


def source_columns(names: Sequence[str], categories: Sequence[Category]) -> list[str]:
    """Return the columns of a table that features with these names are made from, in order."""
    made_from = {column: category.name for category in categories for column in category.columns}
    return list(dict.fromkeys(made_from.get(name, name) for name in names))


def levelled(names: Sequence[str] | None, categories: Sequence[Category]) -> dict[int, Category]:
    """Return the categories that are one column each, by the column's number."""
    kept = [category for category in categories if category.values and not category.one_hot]
    return {(names or ()).index(category.name): category for category in kept}


def level_counts(X: Floats, names: Sequence[str] | None, categories: Sequence[Category]) -> dict[int, int]:
    """Return the number of levels of each column that holds the levels of a category, by the column's number."""
    counts = {}
    for feature, category in levelled(names, categories).items():
        highest = len(category.values) - 1
        column, counts[feature] = X[:, feature], highest + 1
        levels = (column >= 0) & (column <= highest) & (column == np.floor(column))
        wrong = ~np.isnan(column) & ~levels
        if wrong.any():
            row = wrong.argmax()
            raise InputError(
                f"The category {category.name!r} has the levels 0 to {highest:,}; row {row} has {column[row]:g}."
            )
    return counts

"""The documents of binned data: labels and queries, but no values of features."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.categories import Category
    from rankwright.data.column_roles import Columns
    from rankwright.data.groups import QueryGroups


class BinnedDocuments(RankingData):
    """Judged documents whose features are known as bin codes only."""

    def __init__(
        self,
        y: Doubles,
        groups: QueryGroups,
        n_features: int,
        names: tuple[str, ...] | None,
        categories: tuple[Category, ...] = (),
        columns: Columns | None = None,
    ) -> None:
        for name, value in {"y": y, "feature_names": names, "document_ids": None, "columns": columns}.items():
            self._set(name, value)
        self._set("groups", groups)
        self._set("categories", categories)
        self._set("shown", {})
        self._set("_n_features", n_features)

    @property
    def X(self) -> Never:  # noqa: N802  # as documents call their features
        """Refuse: there are no values."""
        raise InputError(
            "Binned data hold bins of features, not their values: LambdaMART, MART, McRank, AdaBoostMH, RankBoost "
            "and MPBoost learn from them, without all_thresholds; all else needs the documents."
        )

    @property
    def qid(self) -> Integers:
        """The number of each document's query."""
        return self.groups.query_of_row

    @property
    def n_features(self) -> int:
        return self._n_features  # type: ignore[attr-defined, no-any-return]

    def __len__(self) -> int:
        return len(self.y)

"""A part of binned data: adjacent queries, in the order of the file."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.groups import QueryGroups
from rankwright.training.binned_documents import BinnedDocuments
from rankwright.training.binned_features import BinnedFeatures
from rankwright.training.training_set import QueryLabels, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.training.binned_data import BinnedData


class BinnedPart(TrainingSet):
    """The queries from `first` to before `last` of binned data; their codes are verified, and no others read."""

    def __init__(self, whole: BinnedData, first: int, last: int) -> None:
        offsets = whole.data.groups.offsets
        self.first_query, self.first_row, self._last_row = first, int(offsets[first]), int(offsets[last])
        self._whole = whole
        groups = QueryGroups.of_sizes(np.diff(offsets[first : last + 1]))
        y = whole.data.y[self.first_row : self._last_row]
        super().__init__(BinnedDocuments(y, groups, whole.n_features, whole.data.feature_names))

    @property
    def all_labels(self) -> Doubles:
        return self._whole.data.y

    @property
    def canonical_rows(self) -> NDArray[np.int64]:
        return np.arange(len(self))

    def _labels(self) -> QueryLabels:
        return QueryLabels(self.data.y, self.data.groups)

    def codes(self) -> BinnedFeatures:
        """Return the codes of these documents."""
        rows = self.first_row, self._last_row
        whole = self._whole.binned(self._whole.max_bins, coarse=self._whole.coarse, rows=rows)
        return BinnedFeatures(whole.matrix.part(*rows), whole.sources)


def query_ranges(sizes: Integers, n_parts: int) -> Sequence[tuple[int, int]]:
    """Return the first query of each part, and the first after it: parts have about equally many documents."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    wanted = total * np.arange(1, n_parts) / n_parts
    cuts = [0, *np.searchsorted(ends, wanted, side="left").tolist(), len(sizes)]
    return [(first, max(first, last)) for first, last in pairwise(cuts)]

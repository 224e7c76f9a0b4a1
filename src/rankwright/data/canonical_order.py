"""An order of documents and queries that depends only on their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.threads import available_threads
from rankwright.data.dataset import RankingData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles, Integers
    from rankwright.data.dataset import Documents


def canonical_rows(data: Documents) -> Integers:
    """Return the rows, query by query, in an order that depends only on features and labels.

    Random draws, sums and ties in this order do not depend on the order of the input rows, nor on the names of
    queries.
    """
    query = data.groups.query_of_row
    content = _native.hash_rows(data.X, available_threads())
    if isinstance(data, RankingData):
        content = content + _hashes(data.y)
    content = _spread(content)
    of_query = np.zeros(len(data.groups), dtype=np.uint64)
    np.add.at(of_query, query, content)
    return np.lexsort((content, query, of_query[query]))


def canonical_queries(data: Documents, rows: Integers | None = None) -> Integers:
    """Return the numbers of the queries in canonical order; `rows` are the canonical rows, if they are known."""
    of_row = data.groups.query_of_row[canonical_rows(data) if rows is None else rows]
    return np.asarray(of_row[np.sort(np.unique(of_row, return_index=True)[1])])


def _hashes(values: Doubles) -> NDArray[np.uint64]:
    """Return a hash of each value; 0.0 and -0.0 have the same."""
    return (values + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _spread(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of hashes, so that sums over a query depend on which features occur with which label."""
    mixed = (hashes ^ (hashes >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))

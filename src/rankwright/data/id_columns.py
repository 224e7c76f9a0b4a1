"""Recognises columns of numbers that hold ids, which must not become features: by their name or their values.

An id differs for every document; a number that means something repeats. How many different values a column could
hold is estimated from how rarely two documents share one, so that few documents prove nothing. Times are the
exception: they hardly ever repeat, and they are features.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Integers

# As the last word, as in doc_id, docId, DOC-ID or parent_asin; `id` with a usual word before it; and the name that
# pandas gives to an index without one.
_WORD = r"(ids?|skus?|asins?|ean(8|13)?|gtin(8|12|13|14)?|upc|isbn(10|13)?|issn|uuid|guid|barcode)"
_JOINED = r"(q|query|doc|document|item|product|user|session|page|url|u)ids?"
ID_NAME = re.compile(rf"(.*[^a-z0-9])?{_WORD}|{_JOINED}|(unnamed: [0-9]+)?", re.IGNORECASE)
CAMEL_ID = re.compile(r".*[a-z0-9](I[dD]s?|S[kK][uU]|A[sS][iI][nN]|E[aA][nN]|G[tT][iI][nN]|U[uU][iI][dD])")

LOOKS_LIKE_ID = "looks like an id"
HARDLY_REPEATS = "integers that hardly ever repeat, as ids"

LEAST_NUMBERED_ROWS = 20  # in a shorter table, consecutive integers may be a coincidence
POSSIBLE_VALUES = 2_000_000  # as many as prices up to 20,000.00 in cents, if all of them were equally common
SAMPLE_ROWS = 20_000  # enough to estimate the number of possible values
EXACT_INTEGERS = 1 << 24  # up to which a 32-bit float holds every integer
KEPT_APART = 0.99  # of the different integers of a feature, which rounding to 32 bits may leave different
YEARS_2000_TO_2040 = (946_684_800, 2_208_988_800)  # in seconds since 1970
UNITS_OF_TIME = (1, 10**3, 10**6, 10**9)  # in a second


def looks_like_id(name: str) -> bool:
    """Return whether the name of a column says that it holds ids."""
    return bool(ID_NAME.fullmatch(name) or CAMEL_ID.fullmatch(name))


def sample_of_documents(n_rows: int, documents: NDArray[Any] | None) -> Integers:
    """Return some rows, one of each document if their ids are known: a document may occur in several queries."""
    rows = np.arange(0, n_rows, -(-n_rows // SAMPLE_ROWS))
    return rows if documents is None else rows[np.unique(documents[rows].astype(str), return_index=True)[1]]


def id_reason(values: NDArray[Any], sample: Integers) -> str | None:
    """Return why a column of numbers must hold ids, by these rows of it; None if it is a feature."""
    if len(values) < LEAST_NUMBERED_ROWS or not _are_integers(values):
        return rounding(values)
    if _numbers_rows(values):
        return LOOKS_LIKE_ID
    return rounding(values) or (HARDLY_REPEATS if _hardly_repeats(values, sample) else None)


def rounding(values: NDArray[Any]) -> str | None:
    """Return what rounding to 32-bit floats does to a column of integers; None if it keeps them apart."""
    if values.dtype == np.float32 or np.fmax.reduce(np.abs(values)) <= EXACT_INTEGERS or not _are_integers(values):
        return None
    exact = np.unique(values[np.isfinite(values)])
    with np.errstate(over="ignore"):
        n_rounded = len(np.unique(exact.astype(np.float32)))
    if n_rounded >= KEPT_APART * len(exact):
        return None
    return f"{counted(len(exact), 'integer')} become {n_rounded:,} as 32-bit floats"


def _are_integers(values: NDArray[Any]) -> bool:
    """Return whether all values are integers or missing, and some are not missing."""
    for some in (values[:100], values):  # most columns end at the first
        known = some[np.isfinite(some)]
        if not (np.rint(known) == known).all():
            return False
    return bool(known.size)


def _numbers_rows(values: NDArray[Any]) -> bool:
    """Return whether the values are consecutive, each once and none missing, as an index or a serial id is."""
    span: float = values.max() - values.min()
    return span == len(values) - 1 and len(np.unique(values)) == len(values)


def _hardly_repeats(values: NDArray[Any], sample: Integers) -> bool:
    if len(sample) ** 2 < 2 * POSSIBLE_VALUES:
        return False
    values = values[sample]
    values = values[np.isfinite(values)]
    n_pairs, n_repeats = len(values) * (len(values) - 1) // 2, len(values) - len(np.unique(values))
    return n_pairs >= POSSIBLE_VALUES * (n_repeats + 1) and not _are_times(values)


def _are_times(values: NDArray[Any]) -> bool:
    earliest, latest = YEARS_2000_TO_2040
    return any(earliest * unit <= values.min() and values.max() <= latest * unit for unit in UNITS_OF_TIME)

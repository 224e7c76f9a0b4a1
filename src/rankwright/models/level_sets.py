"""Sets of levels of categories as bits, one set per split of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Floats, Integers

SETS = ("set_size", "set_words")
"""The arrays of a `TreeEnsemble` that hold sets."""

WORD_BITS = 32
MAX_WORDS = 2**24 // WORD_BITS  # of a set: a 32-bit float tells so many levels apart
# Level 0 begins above -1, as in LightGBM, or at 0, as in XGBoost.
ABOVE_MINUS_ONE, FROM_ZERO = np.float32(-1.0), np.nextafter(np.float32(0.0), np.float32(-1.0))


def no_words() -> NDArray[np.uint32]:
    """Return the words of no set."""
    return np.zeros(0, np.uint32)


def no_sets(n_splits: int) -> dict[str, NDArray[np.uint32]]:
    """Return the arrays of splits that have no sets."""
    return {"set_size": np.zeros(n_splits, np.uint32), "set_words": no_words()}


def levels_of(words: NDArray[np.uint32]) -> Integers:
    """Return the levels of a set, ascending."""
    return np.flatnonzero(np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little"))


def words_of(levels: Integers) -> NDArray[np.uint32]:
    """Return the words of a set of levels: as few as hold them, at least one."""
    bits = np.zeros((int(levels.max(initial=0)) // WORD_BITS + 1) * WORD_BITS, dtype=np.uint8)
    bits[levels] = 1
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def require_sets(sizes: NDArray[np.uint32], words: NDArray[np.uint32], thresholds: Floats) -> None:
    """Refuse sets that are too large or incomplete, or whose levels begin elsewhere."""
    if sizes.max(initial=0) > MAX_WORDS:
        raise InputError(f"set_size[{sizes.argmax()}] is {sizes.max()}; it must be from 0 to {MAX_WORDS}.")
    n_words = int(sizes.sum(dtype=np.int64))
    if len(words) != n_words:
        raise InputError(f"set_words must be the {n_words} words that set_size announces.")
    if not np.isin(thresholds[sizes > 0], (ABOVE_MINUS_ONE, FROM_ZERO)).all():
        raise InputError("The threshold of a set must be -1 or the highest number below 0.")

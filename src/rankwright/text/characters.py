"""The characters of words, as tables by code point for the native tokeniser."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from rankwright import _native
from rankwright.base.arrays import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEPARATOR, PART, SINGLE = 0, 1, 2

_WITH_CASES = 0x20000  # no character from here on has a lower case
_IDEOGRAPHS_END = 0x40000  # planes 2 and 3 have ideographs only, and all later ones nothing that words consist of
_SINGLES = ((0x3041, 0x3097), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00))  # Hiragana and ideographs


@cache
def characters(lowercase: bool) -> _native.Characters:
    """Return the tables of Unicode's characters.

    Letters, marks, numbers and connectors such as the underscore are parts of words. Ideographs and Hiragana,
    written without spaces, are words of one character each (as in Unicode's annex 29). With `lowercase` each one
    stands for the first character of its lower case.
    """
    kinds, mapped = character_arrays(lowercase)
    return _native.Characters(kinds, mapped)


def character_arrays(lowercase: bool) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Return what every code point is in a word, and the code point that stands for it; later ones separate."""
    mapped = np.arange(_IDEOGRAPHS_END, dtype=np.uint32)
    if lowercase:
        cased = [code for code, category in enumerate(_categories()) if category in ("Lu", "Lt", "Nl")]
        mapped[cased] = [ord(chr(code).lower()[0]) for code in cased]
    return character_kinds().copy(), mapped


@cache
def character_kinds() -> NDArray[np.uint8]:
    """Return what every code point is in a word; later ones separate words."""
    kinds = np.full(_IDEOGRAPHS_END, SINGLE, dtype=np.uint8)
    kinds[:_WITH_CASES] = [PART if name[0] in "LMN" or name == "Pc" else SEPARATOR for name in _categories()]
    for first, end in _SINGLES:
        kinds[first:end] = SINGLE
    return sealed(kinds)


@cache
def _categories() -> list[str]:
    return [unicodedata.category(chr(code)) for code in range(_WITH_CASES)]

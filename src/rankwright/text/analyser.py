"""Analysis of text: words, lower case, stop words and stems."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rankwright import _native
from rankwright.base.arrays import sealed
from rankwright.base.errors import InputError, MissingPackageError, parameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

CUSTOM = "custom"  # stored in place of a user's own function

Analysis: TypeAlias = "Analyser | Callable[[str], Sequence[str]]"


# Apostrophes separate words, so that "don't" is "don" and "t".
_ENGLISH = """
a about above after again against all am an and any are aren as at be because been before being below between
both but by can could couldn did didn do does doesn doing don down during each few for from further had hadn has
hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll me
more most mustn my myself no nor not now of off on once only or other our ours ourselves out over own re s same
shan she should shouldn so some such t than that the their theirs them themselves then there these they this
those through to too under until up ve very was wasn we were weren what when where which while who whom why will
with won would wouldn you your yours yourself yourselves
"""

STOP_WORDS = {"english": frozenset(_ENGLISH.split())}

SEPARATOR, PART, SINGLE = 0, 1, 2

_WITH_CASES = 0x20000  # no character from here on has a lower case
_IDEOGRAPHS_END = 0x40000  # planes 2 and 3 have ideographs only, and all later ones nothing that words consist of
_SINGLES = ((0x3041, 0x3097), (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00))  # Hiragana and ideographs


@dataclass(frozen=True)
class Analyser:
    """Turns text into terms.

    Words are found and lower-cased by character; stop words, short words and stems are decided once per distinct
    word. Removed words keep their positions: in "ship of state" the terms are two apart. Words longer than 255
    bytes are removed. Words that are not ASCII are put into Unicode's normal form NFKC.

    Parameters
    ----------
    words : str
        "unicode": letters, marks, numbers and connectors form words; ideographs and Hiragana are words by
        themselves.
    lowercase : bool
        Whether case is ignored.
    stop_words : str, collection of str or None
        A language (there is a list for "english"), or words to remove, compared before stemming.
    stemmer : str or None
        An algorithm of PyStemmer: a language, or "porter".
    min_length : int
        Shorter words, in characters, are removed.

    Examples
    --------
    >>> rw.text.Analyser()("The lift of thin wings")
    ['lift', 'thin', 'wing']
    >>> rw.text.Analyser(stop_words=None, stemmer=None)("The lift of thin wings")
    ['the', 'lift', 'of', 'thin', 'wings']
    """

    words: str = "unicode"
    lowercase: bool = True
    stop_words: str | Collection[str] | None = "english"
    stemmer: str | None = "english"
    min_length: int = 1

    def __post_init__(self) -> None:
        if self.words != "unicode":
            raise InputError(
                f"words must be 'unicode', not {self.words!r}; other words need a function as analyser."
            )
        if type(self.lowercase) is not bool:
            raise InputError(f"lowercase must be true or false, not {self.lowercase!r}.")
        if type(self.min_length) is not int or self.min_length < 1:
            raise InputError(f"{parameter('min_length')} must be a positive integer, not {self.min_length!r}.")
        object.__setattr__(self, "stop_words", _checked_stop_words(self.stop_words))
        if self.stemmer is not None:
            _stemmer(self.stemmer)

    def terms(self, words: Sequence[str]) -> list[str | None]:
        """Return the term of each word of the tokeniser, None for words that are removed."""
        if isinstance(words, str):
            raise InputError("terms takes a list of words; for the terms of a text, call the analyser with it.")
        normal = [word if word.isascii() else self._normal(word) for word in words]
        stems = normal if self.stemmer is None else _stemmer(self.stemmer).stemWords(normal)
        stopped = self._stopped()
        return [
            None if len(word) < self.min_length or word in stopped else stem
            for word, stem in zip(normal, stems, strict=True)
        ]

    def __call__(self, text: str) -> list[str]:
        """Return the terms of a text."""
        (words,) = _native.words_of([text], self.characters())
        return [term for term in self.terms(words) if term is not None]

    def characters(self) -> _native.Characters:
        """Return the tables that the tokeniser needs."""
        return characters(self.lowercase)

    def _normal(self, word: str) -> str:
        normal = unicodedata.normalize("NFKC", word)
        return normal.lower() if self.lowercase else normal

    def _stopped(self) -> Collection[str]:
        return stop_words_of(self.stop_words) if isinstance(self.stop_words, str) else self.stop_words or ()


def state_of(analyser: Analysis) -> dict[str, Any] | str:
    """Return the settings of an analyser as JSON, to be stored with an index."""
    if not isinstance(analyser, Analyser):
        return CUSTOM
    state = asdict(analyser)
    if isinstance(analyser.stop_words, frozenset):
        state["stop_words"] = sorted(analyser.stop_words)
    return state


def analyser_from(state: Any) -> Analyser | None:
    """Return the analyser of stored settings, None for a user's own function."""
    if state == CUSTOM:
        return None
    names = {field.name for field in fields(Analyser)}
    if not isinstance(state, dict) or state.keys() != names:
        raise InputError(f"an analyser must be {CUSTOM!r} or an object of {', '.join(sorted(names))}.")
    return Analyser(**state)


def checked_analyser(analyser: Any) -> Analysis:
    """Return an analyser or a function of text."""
    if not callable(analyser):
        raise InputError(f"analyser must be an Analyser or a function from text to words, not {analyser!r}.")
    result: Analysis = analyser
    return result


class PositionedTerms(NamedTuple):
    """The terms of a text in order, and the position of each among the words of the text, removed words too."""

    terms: tuple[str, ...]
    positions: tuple[int, ...]


def terms_of_texts(analyser: Analysis, texts: Sequence[str]) -> list[list[str]]:
    """Return the terms of each text; every distinct word is analysed once."""
    return [[*positioned.terms] for positioned in positioned_terms(analyser, texts)]


def positioned_terms(analyser: Analysis, texts: Sequence[str]) -> list[PositionedTerms]:
    """Return the terms of each text with their positions; every distinct word is analysed once."""
    if not isinstance(analyser, Analyser):
        return [PositionedTerms(tuple(words), tuple(range(len(words)))) for words in _words_of(analyser, texts)]
    by_text = _native.words_of([*texts], analyser.characters())
    distinct = list({word: None for words in by_text for word in words})
    term_of = dict(zip(distinct, analyser.terms(distinct), strict=True))
    return [_positioned([term_of[word] for word in words]) for words in by_text]


def _positioned(terms: Sequence[str | None]) -> PositionedTerms:
    kept = [(term, position) for position, term in enumerate(terms) if term is not None]
    return PositionedTerms(tuple(term for term, _ in kept), tuple(position for _, position in kept))


def _words_of(function: Callable[[str], Sequence[str]], texts: Sequence[str]) -> list[list[str]]:
    return [words_by(function, text) for text in texts]


def words_by(function: Callable[[str], Sequence[str]], text: str) -> list[str]:
    """Return the words that a user's own function finds in a text."""
    words = function(text)
    is_list = isinstance(words, Iterable) and not isinstance(words, str | bytes)
    if not is_list or not all(isinstance(word, str) for word in words):
        raise InputError(f"The analyser must return a list of words, not {words!r}.")
    return [*words]


def _checked_stop_words(given: Any) -> str | frozenset[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        stop_words_of(given)
        return given
    if isinstance(given, Collection) and all(isinstance(word, str) for word in given):
        return frozenset(given)
    raise InputError(f"{parameter('stop_words')} must be a language, a list of words or None, not {given!r}.")


class _Stemmers(threading.local):
    """The stemmers of one thread by name: making one takes longer than a query, and threads cannot share one."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}


_stemmers = _Stemmers()


def _stemmer(name: Any) -> Any:
    if not isinstance(name, str) or name not in _stemmers.known:
        _stemmers.known[name] = _new_stemmer(name)
    return _stemmers.known[name]


def _new_stemmer(name: Any) -> Any:
    try:
        import Stemmer
    except ImportError:
        raise MissingPackageError(
            "Stemming needs PyStemmer: pip install 'rankwright[text]', or use Analyser(stemmer=None)."
        ) from None
    if name not in Stemmer.algorithms():
        known = ", ".join(Stemmer.algorithms())
        raise InputError(f"There is no stemmer {name!r}; PyStemmer has {known}.")
    return Stemmer.Stemmer(name)


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    if language not in STOP_WORDS:
        known = ", ".join(sorted(STOP_WORDS))
        raise InputError(
            f"There is no list of stop words for {language!r}, only for {known}: give a list of words, or None."
        )
    return STOP_WORDS[language]


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

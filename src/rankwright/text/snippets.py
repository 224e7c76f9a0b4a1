"""Snippets: the part of a document that matches the query best.

Words are compared as terms, so that "ships" is marked for the query "ship" where the index has stems.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwright import _native
from rankwright.text.analyser import PART, SINGLE, Analyser, character_kinds, words_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rankwright.text.analyser import Analysis

WIDTH = 200
LONGEST_TEXT = 1 << 17  # characters of a field that are searched
MORE = "…"
REPEATED = 0.1  # the weight of a repeated word, as a fraction
ROUNDING = 1e-9  # windows that differ by less are equal


class WordMatch(NamedTuple):
    """A word in a text that is a term of the query: its first character, the one after its last, its term."""

    begin: int
    end: int
    term: str


class Window(NamedTuple):
    """A part of a text with terms of the query."""

    value: float
    begin: int
    end: int


@dataclass(frozen=True)
class Snippet:
    """A part of a text.

    Parameters
    ----------
    field
        The field of the document that it is from.
    text
        The part; "…" stands for text that was left out before or after it.
    marks
        The words of the query in it: first character, and the one after the last.

    Examples
    --------
    >>> documents = [rw.text.TextDocument("d1", {"body": "Thin wings have a high lift at low speed."})]
    >>> searcher = rw.text.Searcher(rw.text.Index.build(documents, "index"))
    >>> snippets = searcher.snippets("lift of wings", searcher.search("lift of wings"))
    >>> snippets[0].marked("<b>", "</b>")
    'Thin <b>wings</b> have a high <b>lift</b> at low speed.'
    """

    field: str
    text: str
    marks: tuple[tuple[int, int], ...]

    def marked(self, before: str = "**", after: str = "**") -> str:
        """Return the text with the words of the query between two marks."""
        parts, end = [], 0
        for first, last in self.marks:
            parts += [self.text[end:first], before, self.text[first:last], after]
            end = last
        return "".join([*parts, self.text[end:]])

    def __str__(self) -> str:
        return self.marked()


def best_snippet(
    texts: Mapping[str, str], weights: Mapping[str, float], analyser: Analysis, width: int = WIDTH
) -> Snippet:
    """Return the best part of a document's fields; where no field has a word of the query, its beginning.

    Parameters
    ----------
    texts
        The text of each field.
    weights
        The terms of the query, with the importance of each.
    width
        The number of characters at most, apart from the signs for what was left out.
    """
    best = None
    for field, text in texts.items():
        plain = " ".join(text[:LONGEST_TEXT].split())
        matches = matches_of(plain, weights.keys(), analyser)
        window = _best_window(matches, weights, width)
        if plain and (best is None or window.value > best[-1].value):
            best = field, plain, matches, window
    return Snippet(next(iter(texts), ""), "", ()) if best is None else _snippet(*best, width)


def matches_of(text: str, terms: Iterable[str], analyser: Analysis) -> list[WordMatch]:
    """Return the words of a text that are among the terms, in their order."""
    bounds = word_bounds(text)
    words = [text[begin:end] for begin, end in bounds]
    distinct = list(dict.fromkeys(words))
    term_of = dict(zip(distinct, _terms(distinct, set(terms), analyser), strict=True))
    return [
        WordMatch(begin, end, term)
        for (begin, end), word in zip(bounds, words, strict=True)
        if (term := term_of[word]) is not None
    ]


def word_bounds(text: str) -> list[tuple[int, int]]:
    """Return where the words of a text begin and end, as the tokeniser finds them."""
    kinds = character_kinds()
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    kind = np.where(codes < len(kinds), kinds[np.minimum(codes, len(kinds) - 1)], 0)
    before = np.concatenate([[0], kind[:-1]])
    after = np.concatenate([kind[1:], [0]])
    is_part, is_single = kind == PART, kind == SINGLE
    begins = np.flatnonzero((is_part & (before != PART)) | is_single)
    ends = np.flatnonzero((is_part & (after != PART)) | is_single) + 1
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def _terms(words: Sequence[str], wanted: set[str], analyser: Analysis) -> list[str | None]:
    """Return the term of each word that is wanted, None for the others."""
    if not isinstance(analyser, Analyser):
        return [next((term for term in words_by(analyser, word) if term in wanted), None) for word in words]
    # Each is one word, or none if it is too long.
    read = _native.words_of([*words], analyser.characters())
    terms = iter(analyser.terms([word for words in read for word in words]))
    return [term if words and (term := next(terms)) in wanted else None for words in read]


def _best_window(matches: Sequence[WordMatch], weights: Mapping[str, float], width: int) -> Window:
    """Return the best window of at most `width` characters, the first of equal ones.

    The value of a window is the sum of the weights of its distinct terms, plus a fraction for repetitions.
    """
    best = Window(0.0, 0, 0)
    counts: Counter[str] = Counter()
    value, first = 0.0, 0
    for word in matches:
        value += weights[word.term] * (REPEATED if counts[word.term] else 1.0)
        counts[word.term] += 1
        while word.end - matches[first].begin > width and matches[first] is not word:
            gone = matches[first].term
            counts[gone] -= 1
            value -= weights[gone] * (REPEATED if counts[gone] else 1.0)
            first += 1
        if value > best.value * (1 + ROUNDING):
            best = Window(value, matches[first].begin, word.end)
    return best


def _snippet(field: str, text: str, matches: Sequence[WordMatch], window: Window, width: int) -> Snippet:
    """Return the window with its surroundings; all terms of the query in it are marked."""
    begin, end = _bounds(text, window.begin, window.end, width)
    start = f"{MORE} " if begin > 0 else ""
    shift = len(start) - begin
    inside = [word for word in matches if begin <= word.begin and word.end <= end]
    marks = tuple((word.begin + shift, word.end + shift) for word in inside)
    return Snippet(field, start + text[begin:end] + (f" {MORE}" if end < len(text) else ""), marks)


def _bounds(text: str, first: int, last: int, width: int) -> tuple[int, int]:
    """Return where a part of the text begins and ends that has the characters from first to last in its middle.

    It is cut between words, unless a word is longer than the part.
    """
    if len(text) <= width:
        return 0, len(text)
    begin = max(0, min(first - max(0, width - (last - first)) // 2, len(text) - width))
    end = max(last, min(len(text), begin + width))
    if begin > 0:
        begin = text.find(" ", begin - 1, first) + 1 or first
    if end < len(text):
        space = text.rfind(" ", last, end + 1)
        end = end if space < 0 else space
    return begin, end

"""Analysis: words as plain Python finds them, stop words and stems by distinct word."""

import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankwright as rw
from rankwright import _native
from rankwright.text import Analyser
from rankwright.text.analyser import analyser_from, character_arrays, characters, state_of
from reference import text as reference

PLAIN = Analyser(stop_words=None, stemmer=None)


def words_of(text):
    return _native.words_of([text], characters(True))[0]


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("Don't STOP-me now_1, ΟΔΟΣ İstanbul ǅ Ⅳ naïve e\u0301 漢字かなカナ 𐐀 𠀋 \u200b\U000e0100x\0y")
@example("a" * 255 + " " + "b" * 256 + " " + "é" * 127 + " " + "é" * 128)
def test_words_are_those_of_the_twin(text):
    assert [word or None for word in words_of(text)] == reference.words(text)


def test_every_character_is_what_the_twin_says():
    codes = [code for code in range(0x40100) if not 0xD800 <= code < 0xE000]
    text = " ".join(map(chr, codes))
    assert words_of(text) == reference.words(text)


def test_a_word_of_a_megabyte_is_none():
    assert words_of("a " + "b" * (1 << 20) + " c") == ["a", "", "c"]
    assert PLAIN("a " + "b" * (1 << 20) + " c") == ["a", "c"]


def test_lone_surrogates_separate_words():
    assert words_of("one\ud800two") == ["one", "two"]


def test_stop_words_and_stems():
    assert Analyser()("The ships were sailing") == ["ship", "sail"]
    assert Analyser(stop_words=["ships"], stemmer=None)("The Ships") == ["the"]
    assert Analyser(stop_words=None, stemmer=None, lowercase=False)("The Ship") == ["The", "Ship"]
    assert Analyser(stop_words=None, stemmer=None, min_length=2)("a bc d") == ["bc"]


def test_words_have_one_normal_form():
    assert PLAIN("ﬁne e\u0301te\u0301 \uff21\uff22\uff23") == ["fine", "été", "abc"]


@pytest.mark.parametrize(
    "analyser", [Analyser(), PLAIN, Analyser(stop_words=["b", "a"], min_length=3, lowercase=False)]
)
def test_an_analyser_is_remembered(analyser):
    assert analyser_from(state_of(analyser)) == analyser


def test_a_function_is_remembered_as_custom():
    assert state_of(str.split) == "custom"
    assert analyser_from("custom") is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"words": "letters"}, "words must be 'unicode'"),
        ({"stop_words": "klingon"}, "no list of stop words for 'klingon', only for english"),
        ({"stop_words": [1]}, "stop_words must be a language"),
        ({"stemmer": "klingon"}, "There is no stemmer 'klingon'"),
        ({"min_length": 0}, "min_length must be a positive integer"),
        ({"lowercase": 1}, "lowercase must be true or false"),
    ],
)
def test_wrong_options_are_one_sentence(options, message):
    with pytest.raises(rw.InputError, match=message):
        Analyser(**options)


def test_without_pystemmer_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    monkeypatch.setattr("rankwright.text.analyser._stemmers.known", {})
    with pytest.raises(rw.MissingPackageError, match=r"rankwright\[text\]"):
        Analyser()


@pytest.mark.parametrize(
    ("place", "kind", "character"), [(65, 2, 65), (65, 1, 200), (65, 1, 0), (200, 3, 200), (200, 1, 0x110000)]
)
def test_tables_are_checked(place, kind, character):
    kinds, mapped = character_arrays(True)
    kinds[place], mapped[place] = kind, character
    with pytest.raises(ValueError, match="out of range"):
        _native.Characters(kinds, mapped)
    with pytest.raises(ValueError, match="same size"):
        _native.Characters(kinds, np.zeros(3, np.uint32))

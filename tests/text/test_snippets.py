"""Snippets: windows and marks, compared with a literal reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright import _native
from rankwright.text import Analyser
from rankwright.text.snippets import MORE, REPEATED, Snippet, _best_window, best_snippet, matches_of, word_bounds
from text_documents import VOCABULARY

PLAIN = Analyser(stop_words=None, stemmer=None)


@given(st.text(max_size=80) | st.lists(st.sampled_from([*VOCABULARY, "İx", "²", "a‿b", "ﬁn", "."])).map(" ".join))
def test_words_are_those_of_the_tokeniser(text):
    found = [text[begin:end] for begin, end in word_bounds(text)]
    (words,) = _native.words_of([text], PLAIN.characters())
    assert [word for one in _native.words_of(found, PLAIN.characters()) for word in one] == words


def test_stems_are_marked_as_they_are_written():
    found = best_snippet({"body": "All Ships, at sea; the harbour."}, {"ship": 1.0, "sea": 1.0}, Analyser())
    assert found.marked("<", ">") == "All <Ships>, at <sea>; the harbour."
    assert str(found) == "All **Ships**, at **sea**; the harbour."


def test_a_function_as_analyser():
    found = best_snippet({"body": "AB-cd ef"}, {"CD": 1.0}, lambda text: text.upper().split())
    assert found.marked() == "AB-**cd** ef"


def literal(matches, weights, width):
    """Return the value of the best window by trying all."""
    best = 0.0
    for first in range(len(matches)):
        for last in range(first, len(matches)):
            if last > first and matches[last].end - matches[first].begin > width:
                break
            terms = [place.term for place in matches[first : last + 1]]
            value = sum(weights[one] * (1 + REPEATED * (terms.count(one) - 1)) for one in set(terms))
            best = max(best, value)
    return best


@given(st.lists(st.sampled_from(VOCABULARY), max_size=40), st.integers(1, 60), st.data())
def test_the_best_window_is_found(words, width, data):
    text = " ".join(words)
    weights = {word: data.draw(st.sampled_from([0.5, 1.0, 2.0])) for word in ("ship", "sea", "x", "漢", "字")}
    matches = matches_of(text, weights, PLAIN)
    window = _best_window(matches, weights, width)
    assert window.value == pytest.approx(literal(matches, weights, width))
    found = best_snippet({"body": text}, weights, PLAIN, width)
    core = found.text.removeprefix(f"{MORE} ").removesuffix(f" {MORE}")
    assert core in text
    assert len(core) <= max([width, *(place.end - place.begin for place in matches)])
    assert {found.text[begin:end] for begin, end in found.marks} <= weights.keys()
    marked = [found.text[begin:end] for begin, end in found.marks]
    value = sum(weights[one] * (1 + REPEATED * (marked.count(one) - 1)) for one in set(marked))
    assert value >= window.value * (1 - 1e-9)


def test_words_are_not_cut():
    text = " ".join(["alpha", "beta", "gamma", "delta", "target", "epsilon", "zeta", "eta", "theta"])
    found = best_snippet({"body": text}, {"target": 1.0}, PLAIN, 25)
    assert found.text == f"{MORE} delta target epsilon {MORE}"
    assert found.marked("<", ">") == f"{MORE} delta <target> epsilon {MORE}"


def test_the_field_with_more_of_the_query_is_shown():
    texts = {"title": "sea", "body": "a ship at sea"}
    assert best_snippet(texts, {"ship": 1.0, "sea": 1.0}, PLAIN).field == "body"
    assert best_snippet(texts, {"sea": 1.0}, PLAIN).field == "title"


def test_without_a_word_of_the_query_the_beginning_is_shown():
    assert best_snippet({"title": " ", "body": "one two three"}, {"x": 1.0}, PLAIN, 8) == Snippet(
        "body", f"one two {MORE}", ()
    )
    assert best_snippet({"title": "", "body": " "}, {}, PLAIN) == Snippet("title", "", ())


def test_a_long_text_of_one_word_takes_no_time():
    found = best_snippet({"body": "sea " * (1 << 20)}, {"sea": 1.0}, PLAIN)
    assert len(found.text) < 220
    found = best_snippet({"body": "x" * (1 << 20) + " sea"}, {"sea": 1.0}, PLAIN)
    assert found.text == "x" * 200 + f" {MORE}"

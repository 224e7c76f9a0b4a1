from __future__ import annotations

import numpy as np
import pytest

from rankwright.rankers.catalogue import known_rankers
from rankwright.rankers.parameters.search_space import NEVER_SEARCHED, Choices, Range
from rankwright.rankers.parameters.spelling import spelled
from rankwright.tuning.tune import search_space

WITHOUT = {"auto", "bm25", "fusion", "lmir"}  # they choose by themselves
DECLARED = [(kind, name) for kind in known_rankers().values() for name in kind.space]


@pytest.mark.parametrize("kind", known_rankers().values(), ids=lambda kind: kind.name)
def test_every_ranker_worth_tuning_has_a_space(kind):
    assert bool(kind.space) == (kind.name not in WITHOUT)
    assert not set(kind.space) & set(NEVER_SEARCHED)
    if kind.space:
        assert set(kind.grid) <= set(kind.space), "what the small grid tries is worth a search"


@pytest.mark.parametrize(("kind", "name"), DECLARED, ids=lambda one: getattr(one, "name", one))
def test_every_space_lies_within_the_check(kind, name):
    declared = kind.declared[name]
    declared.search.require(name, declared.check)
    for place in (0.0, 0.3, 0.999, 1.0):
        value = declared.search.at(place)
        declared.check.take(name, value)
    ranker = kind()
    own = declared.search.nearest(getattr(ranker, name), 10_000)
    assert own is not None, "the space must have the default"
    if isinstance(declared.search, Choices):
        texts = list(map(spelled, declared.search.values))
        assert len(set(texts)) == len(texts)
        assert [declared.check.parse(name, text) for text in texts] == list(declared.search.values)
    elif declared.default is not None:
        assert declared.search.low <= declared.default <= declared.search.high


def test_a_space_is_spelled_as_it_is_read():
    ranker = known_rankers()["lambdamart"]()
    texts = {name: str(one) for name, one in ranker.space.items()}
    again = search_space(ranker, texts)
    assert {name: str(one) for name, one in again.items()} == texts
    assert again["max_leaves"] == ranker.space["max_leaves"]


def test_places_are_even_on_the_scale_of_the_range():
    assert Range(1.0, 100.0, log=True).at(0.5) == pytest.approx(10.0)
    assert Range(1, 100, log=True).at(0.5) == 10
    assert Range(0.0, 1.0).at(0.25) == 0.25
    places = np.linspace(0, 1, 301)
    assert {Choices("a", "b", "c").at(place) for place in places} == {"a", "b", "c"}
    assert Range(0.01, 0.3, log=True).at(1.0) == 0.3

"""Click rates of each behaviour beside a literal simulation of one user at a time."""

import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.clicks.behaviours import BEHAVIOURS, named_behaviour

ATTRACTION = np.array([0.3, 0.8, 0.1, 0.5, 0.9])
N_USERS = 40_000


def literal_user(name, random, eta=1.0, trust=0.5):
    """Return the clicks of one user."""
    clicks, last = [], 0
    for position, attraction in enumerate(ATTRACTION, start=1):
        attracted = random.random() < attraction
        if name == "position":
            clicks.append(attracted and random.random() < position**-eta)
        elif name == "trust":
            fooled = random.random() < trust / position
            clicks.append((attracted or fooled) and random.random() < position**-eta)
        elif name == "browsing":
            clicks.append(attracted and random.random() < (position - last) ** -eta)
        elif name == "none":
            clicks.append(attracted)
        elif attracted:  # those who read from the top, and may stop after a click
            clicks.append(True)
            if name == "cascade" or random.random() >= position**-eta:
                break
        else:
            clicks.append(False)
        last = position if clicks[-1] else last
    return clicks + [False] * (len(ATTRACTION) - len(clicks))


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_click_rates_and_pairs_of_clicks_are_those_of_literal_users(name):
    drawn = named_behaviour(name).draw(np.tile(ATTRACTION, (N_USERS, 1)), np.random.default_rng(1)).astype(float)
    random = np.random.default_rng(2)
    literal = np.array([literal_user(name, random) for _ in range(N_USERS // 4)], dtype=float)
    both, expected = drawn.T @ drawn / len(drawn), literal.T @ literal / len(literal)
    error = np.sqrt(expected * (1 - expected) * (1 / len(drawn) + 1 / len(literal)))
    assert (np.abs(both - expected) <= 5 * error + 1e-12).all()


def test_eta_0_is_no_position_bias():
    attraction = np.tile(ATTRACTION, (50, 1))
    draws = [
        named_behaviour(name, eta=eta).draw(attraction, np.random.default_rng(0))
        for name, eta in (("position", 0.0), ("none", None), ("browsing", 0.0))
    ]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] == draws[2]).all()


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("postion", {}, "There is no behaviour 'postion'; did you mean 'position'?"),
        ("cascade", {"eta": 1.0}, "The behaviour 'cascade' has no eta."),
        ("position", {"eta": -1.0}, "eta must lie between 0 and 100, not -1.0."),
        ("trust", {"trust": 2.0}, "trust must lie between 0 and 1, not 2.0."),
    ],
)
def test_a_wrong_behaviour_is_refused(name, options, sentence):
    with pytest.raises(InputError) as refused:
        named_behaviour(name, **options)
    assert str(refused.value) == sentence

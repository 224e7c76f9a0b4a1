from dataclasses import dataclass

import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.rankers.shared.distances import (
    Binary,
    Distance,
    Linear,
    Logarithmic,
    Logistic,
    OnGains,
    parse_distance,
    require_directed,
    require_distance,
)

VALUES = [
    (Linear(0.2), 3, 1, 0.4),
    (Linear(0.2), 1, 3, -0.4),
    (Logarithmic(3.0), 4, 2, np.log(7)),
    (Logarithmic(3.0), 2, 4, -np.log(7)),
    (Logistic(0.5), 2, 0, 1 / (1 + np.exp(-1))),
    (Logistic(0.5), 0, 2, -1 / (1 + np.exp(-1))),
    (Binary(), 7, 1, 1),
    (Binary(), 1, 7, -1),
    (OnGains(Linear(0.5)), 2, 0, 0.5 * (4 - 1)),
    (OnGains(Logistic(0.5)), 1, 2, -1 / (1 + np.exp(-0.5 * 2))),
]


@pytest.mark.parametrize(("distance", "first", "second", "wanted"), VALUES, ids=str)
def test_distances_are_those_of_the_paper(distance, first, second, wanted):
    assert distance.between(np.array([float(first)]), np.array([float(second)])) == pytest.approx([wanted])
    assert distance.between(np.array([2.0]), np.array([2.0])).tolist() == [0.0]


@pytest.mark.parametrize("distance", [Linear(), Logarithmic(0.3), Logistic(0.1)], ids=str)
@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0.5, 3, 4], np.linspace(-1, 1, 1000)], ids=len)
def test_those_of_the_paper_are_directed(distance, labels):
    require_directed(distance, np.array(labels, dtype=float))


@pytest.mark.parametrize(
    "distance", [Linear(0.25), Logarithmic(1.5), Logistic(2.0), Binary(), OnGains(Linear(0.25))], ids=str
)
def test_text_and_value_are_one(distance):
    assert parse_distance(str(distance)) == distance


def test_text_may_leave_the_parameter_out():
    assert parse_distance("Logistic") == Logistic()
    assert parse_distance(" linear ( 2 ) ") == Linear(2.0)


@pytest.mark.parametrize(
    "text", ["cubic", "linear(", "linear(a)", "linear(1,2)", "binary(1)", "", " on gains", "binary on gains"]
)
def test_what_is_no_distance_is_told(text):
    with pytest.raises(InputError, match="distance"):
        parse_distance(text)


@pytest.mark.parametrize("kind", [Linear, Logarithmic, Logistic])
@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "1", True])
def test_a_parameter_must_be_above_0(kind, value):
    with pytest.raises(InputError, match=r"(alpha|lambda_|beta) must be a positive number, not "):
        kind(value)


@dataclass(frozen=True)
class Own(Distance):
    """Whatever a test wants it to be."""

    power: float = 1.0

    def between(self, first, second):
        return np.sign(first - second) * np.abs(first - second) ** self.power


@dataclass(frozen=True)
class Backwards(Distance):
    def between(self, first, second):
        return second - first


@dataclass(frozen=True)
class Gains(Distance):
    def between(self, first, second):
        return 2.0**first - 2.0**second


@dataclass(frozen=True)
class Lopsided(Distance):
    def between(self, first, second):
        return (first - second) * np.where(first > second, 1.0, 2.0)


@dataclass(frozen=True)
class Flat(Distance):
    def between(self, first, second):
        return np.sign(first - second)


@dataclass(frozen=True)
class Infinite(Distance):
    def between(self, first, second):
        return np.where(first == second, 0.0, np.inf)


@dataclass(frozen=True)
class Stepwise(Linear):
    """Derives from one of the paper's, but is not directed."""

    def between(self, first, second):
        return np.ceil(super().between(first, second))


@dataclass(frozen=True)
class Tabled(Distance):
    """Has fields of any kind."""

    table: tuple[float, ...] = (0.0, 0.7, 1.0)
    name: str = "by hand"
    offset: float = 0.0

    def between(self, first, second):
        return np.take(self.table, first.astype(int)) - np.take(self.table, second.astype(int)) + self.offset


def test_the_fields_of_ones_own_may_be_anything():
    assert str(Tabled()) == "tabled((0.0, 0.7, 1.0), by hand, 0)"
    assert Tabled(table=(0.0, 1.0)).between(np.array([1.0]), np.array([0.0])).tolist() == [1.0]


def test_what_derives_from_those_of_the_paper_is_checked():
    with pytest.raises(InputError, match=r"stepwise\(0.5\) .*"):
        require_distance(Stepwise(), np.array([0.0, 1.0, 2.0]))


@pytest.mark.parametrize(
    ("distance", "sentence"),
    [
        (
            Linear(1e200),
            r"linear\(1e\+200\) is 5e\+199 between labels 0 and 0.5; it must be above 0 and at most 1e",
        ),
        (Linear(5e-324), r"linear\(5e-324\) is 0 between labels 0 and 0.5"),
        (Logarithmic(1e308), r"logarithmic\(1e\+308\) is inf between labels 0 and 3"),
    ],
    ids=str,
)
def test_a_distance_too_small_or_too_large_is_refused(distance, sentence):
    with pytest.raises(InputError, match=sentence):
        require_distance(distance, np.array([0.0, 0.5, 3.0]))


def test_ones_own_distance_may_be_directed():
    require_directed(Own(0.5), np.array([0.0, 1.0, 2.0, 4.0]))
    require_directed(Gains(), np.array([0.0, 1.0]))
    assert str(Own(0.5)) == "own(0.5)"


@pytest.mark.parametrize(
    ("distance", "labels", "sentence"),
    [
        (Backwards(), [0, 1], r"backwards is 1 from label 0 to 1; .* difference \(requirement 3\)\."),
        (Gains(), [0, 1, 2, 3], r"gains is 3 for labels 2 or more apart, but 4 for .* \(requirement 4\)\."),
        (Flat(), [0, 1, 2], r"flat is 1 for labels 2 or more apart, but 1 for some that are closer"),
        (Lopsided(), [0, 1, 2], r"lopsided from label 0 to 1 must be the negative of that from 1 to 0\."),
        (Infinite(), [0, 1], "infinite must return one finite number for every two labels"),
    ],
)
def test_a_distance_that_is_not_directed_is_refused(distance, labels, sentence):
    with pytest.raises(InputError, match=sentence):
        require_directed(distance, np.array(labels, dtype=float))


def test_distances_on_gains_are_allowed_where_requirement_4_holds():
    """Grades 0, 1, 2: the gains 1, 2, 4 are 1 or 2 apart for neighbours, and 3 for the ends. Grade 3 breaks it."""
    require_distance(OnGains(Linear(0.3)), np.array([0.0, 1, 2]))
    with pytest.raises(InputError, match=r"^linear\(0.3\) on gains is .* \(requirement 4\)\.$"):
        require_distance(OnGains(Linear(0.3)), np.array([0.0, 1, 2, 3]))
    with pytest.raises(InputError, match="OnGains takes a distance such as"):
        OnGains(0.5)

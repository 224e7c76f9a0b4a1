"""Directed distances between labels: how far apart the scores of two documents should be (Zhu et al. 2009)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.rankers.parameters.checks import Real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

LABELS_CHECKED = 300  # of more distinct labels, only this many, evenly spread, are checked
ROUNDING = 1e-9
FARTHEST = 1e150  # sums of its square are still finite
ON_GAINS = " on gains"  # how the text of such a distance ends
CLOSE_TO_ONE = (0.5, 1.5)  # range of the largest distance that counts as about 1 (condition 9)


@dataclass(frozen=True)
class Distance(ABC):
    """How strongly a document with one label should be ranked above a document with another.

    A custom distance is a frozen dataclass that derives from this class and defines `between`; MPBoost checks on
    the training labels that it is a directed distance.
    """

    @abstractmethod
    def between(self, first: Doubles, second: Doubles) -> Doubles:
        """Return the distance from the first label to the second, for arrays of labels."""

    def __str__(self) -> str:
        values = ", ".join(str(getattr(self, field.name)).removesuffix(".0") for field in fields(self))
        return type(self).__name__.lower() + (f"({values})" if values else "")


class Parametric(Distance):
    """A distance of the paper with a parameter, which must be positive."""

    def __post_init__(self) -> None:
        for field in fields(self):
            Real(above=0.0).require(field.name, getattr(self, field.name))


@dataclass(frozen=True)
class Linear(Parametric):
    """Equation 6: alpha (r_i - r_j)."""

    alpha: float = 0.5

    def between(self, first: Doubles, second: Doubles) -> Doubles:
        return np.asarray(self.alpha * (first - second))


@dataclass(frozen=True)
class Logarithmic(Parametric):
    """Equation 7: log(1 + lambda |r_i - r_j|) with the sign of r_i - r_j; for wide ranges of labels."""

    lambda_: float = 1.0

    def between(self, first: Doubles, second: Doubles) -> Doubles:
        difference = first - second
        return np.asarray(np.sign(difference) * np.log1p(self.lambda_ * np.abs(difference)))


@dataclass(frozen=True)
class Logistic(Parametric):
    """Equation 8: 1 / (1 + exp(-beta |r_i - r_j|)) with the sign of r_i - r_j; always between 1/2 and 1."""

    beta: float = 1.0

    def between(self, first: Doubles, second: Doubles) -> Doubles:
        difference = first - second
        return np.asarray(np.sign(difference) / (1.0 + np.exp(-self.beta * np.abs(difference))))


@dataclass(frozen=True)
class Binary(Distance):
    """Equation 2: the sign of r_i - r_j, which ignores the size of the difference; the paper's baseline."""

    def between(self, first: Doubles, second: Doubles) -> Doubles:
        return np.asarray(np.sign(first - second))


@dataclass(frozen=True)
class OnGains(Distance):
    """Another distance, between the gains 2^r instead of the labels r, as NDCG counts them.

    With more than three grades it may break requirement 4; MPBoost then refuses it.
    """

    distance: Distance = Linear()  # frozen

    def __post_init__(self) -> None:
        if not isinstance(self.distance, Distance):
            raise InputError(f"OnGains takes a distance such as Linear(0.5), not {self.distance!r}.")
        if isinstance(self.distance, Binary):
            raise InputError("The distance Binary() is the same on gains as on labels.")

    def between(self, first: Doubles, second: Doubles) -> Doubles:
        return self.distance.between(np.exp2(first), np.exp2(second))

    def __str__(self) -> str:
        return f"{self.distance}{ON_GAINS}"


KINDS = {kind.__name__.lower(): kind for kind in (Linear, Logarithmic, Logistic, Binary)}


def parse_distance(text: Any) -> Distance:
    """Return the distance of that name, with its parameter if there is one: `linear(0.5)`, `linear on gains`."""
    if isinstance(text, str) and text.rstrip().lower().endswith(ON_GAINS):
        return OnGains(parse_distance(text.rstrip()[: -len(ON_GAINS)]))
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", text) if isinstance(text, str) else None
    if match is None or match[1].lower() not in KINDS:
        raise InputError(f"A distance must be one of {', '.join(KINDS)}, such as linear(0.5), not {text!r}.")
    try:
        return KINDS[match[1].lower()](*map(float, filter(None, [match[2]])))
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{text!r} is not a distance: binary takes no number, the others one.") from None


def require_distance(distance: Distance, labels: Doubles) -> None:
    """Refuse a distance that is not directed on these labels, or too small or too large for sums."""
    if type(distance) not in KINDS.values():  # the paper's distances are directed; subclasses need not be
        require_directed(distance, labels)
    values = np.unique(labels)
    closest = int(np.argmin(np.diff(values)))
    better, worse = values[[closest + 1, -1]], values[[closest, 0]]
    with np.errstate(over="ignore"):
        far = distance.between(better, worse)
    for value, a, b in zip(far, worse, better, strict=True):
        if not 0.0 < value <= FARTHEST:
            raise InputError(
                f"{distance} is {value:g} between labels {a:g} and {b:g}; it must be above 0 and at most "
                f"{FARTHEST:g}."
            )


def require_directed(distance: Distance, labels: Doubles) -> None:
    """Refuse a distance that is not directed on these labels.

    Its sign must be that of the difference (requirement 3), a larger difference must have a larger distance
    (requirement 4), and swapping the two labels must change the sign alone.
    """
    values = np.unique(labels)
    if len(values) > LABELS_CHECKED:
        values = values[np.linspace(0, len(values) - 1, LABELS_CHECKED).astype(int)]
    first, second = (side.ravel() for side in np.meshgrid(values, values, indexing="ij"))
    far = np.asarray(distance.between(first, second), dtype=np.float64)
    if far.shape != first.shape or not np.isfinite(far).all():
        raise InputError(f"{distance} must return one finite number for every two labels.")
    _require_sign(distance, first, second, far)
    back = distance.between(second, first)
    wrong = ~np.isclose(back, -far, rtol=ROUNDING, atol=0.0)
    if wrong.any():
        a, b = _first(wrong, first, second)
        raise InputError(f"{distance} from label {a:g} to {b:g} must be the negative of that from {b:g} to {a:g}.")
    _require_order(distance, np.abs(first - second), np.abs(far))


def _require_sign(distance: Distance, first: Doubles, second: Doubles, far: Doubles) -> None:
    wrong = np.sign(far) != np.sign(first - second)
    if wrong.any():
        (a, b), value = _first(wrong, first, second), far[wrong][0]
        raise InputError(
            f"{distance} is {value:g} from label {a:g} to {b:g}; its sign must be that of their difference "
            "(requirement 3)."
        )


def _require_order(distance: Distance, gaps: Doubles, far: Doubles) -> None:
    """Refuse a distance that is not larger for a larger difference."""
    order = np.argsort(gaps)
    gaps, far = gaps[order], far[order]
    new = np.flatnonzero(np.diff(gaps) > ROUNDING * gaps[-1]) + 1  # first index of each distinct difference
    highest_so_far = np.maximum.accumulate(far)
    lowest_from_here = np.minimum.accumulate(far[::-1])[::-1]
    wrong = new[highest_so_far[new - 1] >= lowest_from_here[new]]
    if len(wrong):
        index = int(wrong[0])
        raise InputError(
            f"{distance} is {lowest_from_here[index]:g} for labels {gaps[index]:g} or more apart, but "
            f"{highest_so_far[index - 1]:g} for some that are closer; it must increase with the difference of the "
            "labels (requirement 4)."
        )


def _first(wrong: NDArray[np.bool_], first: Doubles, second: Doubles) -> tuple[float, float]:
    return float(first[wrong][0]), float(second[wrong][0])

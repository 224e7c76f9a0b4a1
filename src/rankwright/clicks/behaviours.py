"""User behaviours: how simulated users examine a result list and click.

A behaviour gets the attraction of each document, the probability of a click if it is examined, and draws clicks.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

import numpy as np

from rankwright.base.errors import InputError, parameter
from rankwright.base.wording import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankwright.base.arrays import Doubles

    Clicks = NDArray[np.bool_]


class UserBehaviour(Protocol):
    """How users examine a result list and click."""

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        """Return whether each document is clicked: one row per list, one column per position, from the first."""
        ...


@dataclass(frozen=True)
class NoBias:
    """Users examine all documents: the click rate is the attraction.

    Examples
    --------
    >>> rw.clicks.NoBias()
    NoBias()
    """

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        return random.random(attraction.shape) < attraction


@dataclass(frozen=True)
class PositionBias:
    """Users examine position k with probability k^-eta, whatever else happens: the position-based model.

    Examples
    --------
    >>> rw.clicks.PositionBias(eta=0.5)
    PositionBias(eta=0.5)
    """

    eta: float = 1.0

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        return random.random(attraction.shape) < examination(attraction.shape[1], self.eta) * attraction


@dataclass(frozen=True)
class TrustBias:
    """Users examine position k with probability k^-eta, and trust the order (Agarwal et al. 2019).

    An examined document that does not attract is clicked nevertheless with probability trust / k, so that
    clicks are an affine function of attraction.

    Examples
    --------
    >>> rw.clicks.TrustBias(trust=0.3)
    TrustBias(eta=1.0, trust=0.3)
    """

    eta: float = 1.0
    trust: float = 0.5

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        n_positions = attraction.shape[1]
        perceived = attraction + (1.0 - attraction) * self.trust * examination(n_positions, 1.0)
        return random.random(attraction.shape) < examination(n_positions, self.eta) * perceived


@dataclass(frozen=True)
class CascadeBrowsing:
    """Users read from the top, click the first document that attracts them, and stop (Craswell et al. 2008).

    Examples
    --------
    >>> rw.clicks.CascadeBrowsing()
    CascadeBrowsing()
    """

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        attracted = random.random(attraction.shape) < attraction
        return np.asarray(attracted & (np.cumsum(attracted, axis=1) == 1))


@dataclass(frozen=True)
class DependentClicks:
    """Users read from the top, and after a click at position k go on with probability k^-eta (Guo et al. 2009).

    Without a click they always go on.

    Examples
    --------
    >>> rw.clicks.DependentClicks(eta=0.5)
    DependentClicks(eta=0.5)
    """

    eta: float = 1.0

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        attracted = random.random(attraction.shape) < attraction
        stops = attracted & (random.random(attraction.shape) >= examination(attraction.shape[1], self.eta))
        read: Clicks = np.cumsum(stops, axis=1) - stops == 0
        return np.asarray(attracted & read)


@dataclass(frozen=True)
class BrowsingAfterClicks:
    """Users examine a document with probability d^-eta, d positions below the last click.

    Before the first click, d is the position itself: the user browsing model (Dupret & Piwowarski 2008).

    Examples
    --------
    >>> rw.clicks.BrowsingAfterClicks()
    BrowsingAfterClicks(eta=1.0)
    """

    eta: float = 1.0

    def draw(self, attraction: Doubles, random: np.random.Generator) -> Clicks:
        chances = random.random(attraction.shape)
        clicked = np.zeros(attraction.shape, dtype=bool)
        by_distance = examination(attraction.shape[1], self.eta)
        last = np.zeros(len(attraction), dtype=np.int64)
        for column in range(attraction.shape[1]):
            clicked[:, column] = chances[:, column] < by_distance[column - last] * attraction[:, column]
            last[clicked[:, column]] = column + 1
        return clicked


BEHAVIOURS: dict[str, type[UserBehaviour]] = {
    "position": PositionBias,
    "cascade": CascadeBrowsing,
    "browsing": BrowsingAfterClicks,
    "dependent": DependentClicks,
    "trust": TrustBias,
    "none": NoBias,
}


def examination(n_positions: int, eta: float) -> Doubles:
    """Return k^-eta for the positions k from 1."""
    return np.asarray(np.arange(1, n_positions + 1, dtype=np.float64) ** -eta)


def named_behaviour(name: str, **options: float | None) -> UserBehaviour:
    """Return a behaviour by name, with those options that are not None; refuse options that it does not have."""
    if name not in BEHAVIOURS:
        raise InputError(f"There is no behaviour {name!r}{nearest(name, BEHAVIOURS)}")
    kind = BEHAVIOURS[name]
    given = {option: value for option, value in options.items() if value is not None}
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for option, value in given.items():
        if option not in known:
            raise InputError(f"The behaviour {name!r} has no {parameter(option)}.")
        if not 0.0 <= value <= (1.0 if option == "trust" else 100.0):
            limit = "between 0 and 1" if option == "trust" else "between 0 and 100"
            raise InputError(f"{parameter(option)} must lie {limit}, not {value}.")
    return kind(**given)

"""Learning to rank by boosting: the classic papers' methods as a small, fast, honest tool.

What is deployed needs no training code: names are imported when they are first used, so that
`import rankwright` and `rankwright.load` stay quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.version import __version__

if TYPE_CHECKING:
    from rankwright import metrics
    from rankwright.data import QueryGroups, RankingData
    from rankwright.errors import InputError, MissingPackageError
    from rankwright.models import Scorer, load, save
    from rankwright.rankers import AdaRank

_HOMES = {
    "rankwright.data": ("QueryGroups", "RankingData"),
    "rankwright.errors": ("InputError", "MissingPackageError"),
    "rankwright.models": ("Scorer", "load", "save"),
    "rankwright.rankers": ("AdaRank",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("metrics",)

__all__ = [
    "AdaRank",
    "InputError",
    "MissingPackageError",
    "QueryGroups",
    "RankingData",
    "Scorer",
    "__version__",
    "load",
    "metrics",
    "save",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    if name in _MODULES:
        return import_module(f"rankwright.{name}")
    raise AttributeError(f"module 'rankwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

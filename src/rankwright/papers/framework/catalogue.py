"""The papers by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rankwright.base.errors import InputError
from rankwright.base.wording import closest

if TYPE_CHECKING:
    from rankwright.papers.framework.experiment import Paper

MODULES = {
    "adarank-2007": "adarank_2007",
    "direct-2008": "direct_2008",
    "calibrated-2011": "calibrated_2011",
    "lambdasmart-2010": "lambdasmart_2010",
    "mpboost-2009": "mpboost_2009",
}


def find_paper(name: str) -> Paper:
    """Return a paper by its name."""
    if name not in MODULES:
        near = closest(name.lower(), MODULES, cutoff=0.4)
        hint = f" Did you mean {near}?" if near else ""
        raise InputError(f"There is no paper {name!r}; there are {', '.join(MODULES)}.{hint}")
    paper: Paper = import_module(f"rankwright.papers.{MODULES[name]}.paper").PAPER
    return paper

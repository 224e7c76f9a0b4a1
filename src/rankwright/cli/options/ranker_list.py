"""Several rankers on the command line: `lambdamart adarank`, or by name, `deep=lambdamart flat=lambdamart`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.base.errors import InputError
from rankwright.cli.options.completion import complete_ranker
from rankwright.cli.options.shared_options import make_ranker
from rankwright.cli.options.tuning_options import read_grid
from rankwright.cli.output.console import note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.rankers.ranker import Ranker

RankersArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RANKER...",
        help="Ranking methods, such as lambdamart; `rankwright rankers` lists all. NAME=RANKER names one, so that "
        "a method can take part twice. For one of several rankers, --set and --grid take NAME.PARAMETER=VALUE.",
        autocompletion=complete_ranker,
    ),
]


def rankers_of(
    texts: Sequence[str], settings: Sequence[str], n_jobs: int | None, *, as_printed: bool = False
) -> dict[str, Ranker]:
    """Return rankers by name with their parameters set: `name=value` for all, `ranker.name=value` for one.

    With `as_printed` those of several rankers whose paper has parameters get them; the others are named in a note.
    """
    methods = _methods(texts)
    given = _by_ranker("--set", settings, methods)
    printed = _with_paper(methods) if as_printed else []
    return {
        name: make_ranker(method, given[name], n_jobs, as_printed=name in printed)
        for name, method in methods.items()
    }


def _with_paper(methods: dict[str, str]) -> list[str]:
    """Return the rankers that are to be as printed: those whose paper has parameters, if any has."""
    from rankwright.rankers.catalogue import find_ranker

    printed = [name for name, method in methods.items() if find_ranker(method).printed]
    others = [name for name in methods if name not in printed]
    if printed and others:
        note(f"--as-printed changes nothing in {', '.join(others)}: the defaults are the algorithm.")
    return printed or others


def grids_of(rankers: dict[str, Ranker], texts: Sequence[str] | None) -> dict[str, dict[str, list[Any]]] | None:
    """Return the values to try by ranker and parameter, spelled as for `rankers_of`; None without any."""
    if not texts:
        return None
    read = {name: read_grid(rankers[name], one) for name, one in _by_ranker("--grid", texts, rankers).items()}
    return {name: grid for name, grid in read.items() if grid is not None}


def _methods(texts: Sequence[str]) -> dict[str, str]:
    """Return the method of every ranker by its name; without a name, it is called as its method is."""
    from rankwright.rankers.catalogue import find_ranker

    methods: dict[str, str] = {}
    for text in texts:
        name, equals, method = (part.strip() for part in text.rpartition("="))
        if equals and not name:
            raise InputError(f"A ranker is spelled RANKER or NAME=RANKER, not {text!r}.")
        name = name or find_ranker(method).name
        if name in methods:
            raise InputError(f"Two rankers are called {name}; name them, as in one={method} other={method}.")
        methods[name] = method
    return methods


def _by_ranker(option: str, texts: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
    """Return the texts `name=value` of every ranker, those for all rankers first."""
    for_all: list[str] = []
    for_one: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        key, equals, value = text.partition("=")
        ranker, dot, parameter = (part.strip() for part in key.rpartition("."))
        if not dot:
            for_all.append(text)
        elif ranker not in for_one:
            from rankwright.base.wording import nearest

            raise InputError(f"{option} {text} is for no ranker of this command{nearest(ranker, for_one)}")
        else:
            for_one[ranker].append(f"{parameter}{equals}{value}")
    return {name: [*for_all, *own] for name, own in for_one.items()}

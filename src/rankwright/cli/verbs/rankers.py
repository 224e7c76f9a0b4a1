"""`rankwright rankers`: the ranking methods and their parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.options.completion import complete_ranker
from rankwright.cli.options.shared_options import JsonFlag
from rankwright.cli.output.console import say, show_facts, show_json
from rankwright.rankers.parameters.spelling import spelled

if TYPE_CHECKING:
    from rankwright.rankers.parameters.declaration import Parameter
    from rankwright.rankers.ranker import Ranker


def rankers(
    ranker: Annotated[
        str | None,
        typer.Argument(
            metavar="[RANKER]", help="Method whose parameters to list.", autocompletion=complete_ranker
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the ranking methods, or the parameters of one method.

    Example:

        rankwright rankers adarank
    """
    from rankwright.rankers.catalogue import find_ranker, known_rankers

    if ranker is None:
        show = show_json if json else show_facts
        show({name: _summary(kind) for name, kind in sorted(known_rankers().items())})
        return
    facts = _facts(ranker, find_ranker(ranker))
    if json:
        show_json(facts)
    else:
        _show(facts)


def _facts(name: str, kind: type[Ranker]) -> dict[str, Any]:
    from rankwright.rankers.parameters.declaration import describe

    return {
        "ranker": name,
        "summary": _summary(kind),
        "as_printed": {one: spelled(value) for one, value in kind.printed.items()},
        "parameters": {one.name: _described(one) for one in describe(kind)},
    }


def _summary(kind: type[Ranker]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def _described(one: Parameter) -> dict[str, Any]:
    default = one.default if isinstance(one.default, str | int | float | bool | None) else spelled(one.default)
    return {
        "default": default,
        "range": one.check.text_range,
        "meaning": one.meaning,
        "tune": list(one.tune),
        "search": None if one.search is None else str(one.search),
    }


def _show(facts: dict[str, Any]) -> None:
    say(f"{facts['ranker']}: {facts['summary']}")
    if facts["as_printed"]:
        printed = " ".join(f"{name}={value}" for name, value in facts["as_printed"].items())
        say(f"\n  --as-printed, or --set as_printed=true: as its paper prints it.\n      {printed}")
    for name, parameter in facts["parameters"].items():
        say(f"\n  --set {name}={spelled(parameter['default'])}")
        say(f"      {parameter['meaning']}")
        say(f"      Range: {parameter['range']}.")
        if parameter["tune"]:
            say(f"      crossval --tune tries {'; '.join(map(spelled, parameter['tune']))}.")
        if parameter["search"]:
            say(f"      tune searches {parameter['search']}.")

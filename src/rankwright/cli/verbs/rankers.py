"""`rankwright rankers`: the ranking methods and their parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from rankwright.cli.options.completion import complete_ranker
from rankwright.cli.options.option_groups import argument
from rankwright.cli.options.shared_options import JSON
from rankwright.cli.output.console import say, show
from rankwright.rankers.parameters.spelling import setting_text, spelled

if TYPE_CHECKING:
    from rankwright.rankers.parameters.declaration import Parameter
    from rankwright.rankers.ranker import Ranker


def rankers(
    *,
    ranker: str | None = argument("Method whose parameters to list.", "RANKER", autocompletion=complete_ranker),
    json: bool = JSON,
) -> None:
    """List the ranking methods, or the parameters of one method.

    Example:

        rankwright rankers adarank
    """
    from rankwright.rankers.catalogue import find_ranker, known_rankers

    if ranker is None:
        show({name: _summary(kind) for name, kind in sorted(known_rankers().items())}, json=json)
        return
    facts = _facts(ranker, find_ranker(ranker))
    if json:
        show(facts, json=True)
    else:
        _show(facts)


def _facts(name: str, kind: type[Ranker]) -> dict[str, Any]:
    from rankwright.rankers.parameters.declaration import describe

    return {
        "ranker": name,
        "summary": _summary(kind),
        "as_printed": {parameter: spelled(value) for parameter, value in kind.printed.items()},
        "parameters": {parameter.name: _described(parameter) for parameter in describe(kind)},
    }


def _summary(kind: type[Ranker]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def _described(parameter: Parameter) -> dict[str, Any]:
    default = parameter.default
    if not isinstance(default, str | int | float | bool | None):
        default = spelled(default)
    return {
        "default": default,
        "range": parameter.check.text_range,
        "meaning": parameter.meaning,
        "tune": list(parameter.tune),
        "search": None if parameter.search is None else str(parameter.search),
    }


def _show(facts: dict[str, Any]) -> None:
    say(f"{facts['ranker']}: {facts['summary']}")
    if facts["as_printed"]:
        printed = setting_text(facts["as_printed"])
        say(f"\n  --as-printed, or --set as_printed=true: as its paper prints it.\n      {printed}")
    for name, parameter in facts["parameters"].items():
        say(f"\n  --set {name}={spelled(parameter['default'])}")
        say(f"      {parameter['meaning']}")
        say(f"      Range: {parameter['range']}.")
        if parameter["tune"]:
            say(f"      crossval --tune tries {'; '.join(map(spelled, parameter['tune']))}.")
        if parameter["search"]:
            say(f"      tune searches {parameter['search']}.")

"""`rankwright rankers`: the ranking methods and their parameters."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.inputs import JsonFlag, find_ranker, known_rankers
from rankwright.cli.output import say, show_facts, show_json, spelled

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker


def rankers(
    ranker: Annotated[
        str | None, typer.Argument(metavar="[RANKER]", help="Method whose parameters to list.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """List the ranking methods, or the parameters of one method.

    Example:

        rankwright rankers adarank
    """
    if ranker is None:
        _show({name: _summary(kind) for name, kind in sorted(known_rankers().items())}, json)
        return
    kind = find_ranker(ranker)
    facts = {"ranker": ranker, "summary": _summary(kind), "parameters": _parameters(kind)}
    if json:
        show_json(facts)
    else:
        _show_parameters(facts)


def _show(facts: dict[str, Any], as_json: bool) -> None:
    (show_json if as_json else show_facts)(facts)


def _show_parameters(facts: dict[str, Any]) -> None:
    say(f"{facts['ranker']}: {facts['summary']}")
    for name, parameter in facts["parameters"].items():
        say(f"\n  --set {name}={spelled(parameter['default'])}")
        if parameter["meaning"]:
            say(f"      {parameter['meaning']}")
        if parameter["grid"]:
            say(f"      crossval --tune tries {'; '.join(map(spelled, parameter['grid']))}.")


def _summary(kind: type[Ranker]) -> str:
    return (inspect.getdoc(kind) or "").partition("\n")[0]


def _parameters(kind: type[Ranker]) -> dict[str, dict[str, Any]]:
    """Return every parameter's default, and its meaning from the one place that says it: a class's docstring."""
    meanings: dict[str, str] = {}
    for one in reversed(kind.__mro__):  # what several rankers share, their base says
        meanings |= _meanings(inspect.cleandoc(one.__doc__ or ""))
    return {
        name: {
            "default": _plain(value),
            "meaning": meanings.get(name, ""),
            "grid": list(kind.grid.get(name, ())),
        }
        for name, value in kind().get_params(deep=False).items()
    }


def _meanings(docstring: str) -> dict[str, str]:
    """Return what stands indented under each name of a numpy-style section of parameters."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", docstring, re.MULTILINE | re.DOTALL)
    entries = re.findall(
        r"^(\w[\w, ]*)[^\n]*\n((?:[ ]+[^\n]*\n?|\n)+)", section[1] if section else "", re.MULTILINE
    )
    return {name: " ".join(text.split()) for names, text in entries for name in re.split(r",\s*", names.strip())}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)

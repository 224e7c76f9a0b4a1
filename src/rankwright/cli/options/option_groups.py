"""How verbs declare options: one by one, or as groups that several verbs share and receive as one value.

A verb is a function; the default of each parameter is an `option` or an `argument`, which has the real default. A
parameter whose type is an `option_group`, or whose default is a `Signature`, stands for all options of that group.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from math import isnan
from typing import Annotated, Any, Protocol, TypeVar, dataclass_transform, get_type_hints, runtime_checkable

import typer

from rankwright.base.errors import InputError
from rankwright.base.wording import shortened
from rankwright.cli.output.help_page import verb_page

LARGEST = (1 << 63) - 1
REQUIRED = inspect.Parameter.empty
MORE = "More options"  # the heading of those that `--help` leaves to `--help-all`
WITHOUT_LABELS = {"judged=False": "`rank` or `predict`", "pass label=None": "use `rank` or `predict`"}
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Declaration:
    """An option or an argument: its default, and what typer is told of it."""

    default: Any
    make: Callable[..., Any]
    names: tuple[str, ...]
    more: dict[str, Any]

    def parameter(self, name: str, kind: Any) -> inspect.Parameter:
        """Return the parameter that typer reads; an option is called as its parameter unless it has names."""
        names = self.names or ((option_name(name),) if self.make is typer.Option else ())
        return keyword(name, Annotated[kind, self.make(*names, **self.more)], self.default)


def option(
    words: str,
    metavar: str | None = None,
    *names: str,
    default: Any = None,
    panel: str | None = None,
    **more: Any,
) -> Any:
    """Declare an option by its help and by what the help calls its value; a flag has no value."""
    return Declaration(
        default, typer.Option, names, {"help": words, "metavar": metavar, **more, "rich_help_panel": panel}
    )


def argument(words: str, metavar: str, *, default: Any = None, **more: Any) -> Any:
    """Declare an argument, which has no name on the command line."""
    return Declaration(default, typer.Argument, (), {"help": words, "metavar": metavar, **more})


@dataclass_transform(frozen_default=True)
def option_group(kind: type[Kind]) -> type[Kind]:
    """Make a class of options a dataclass of their values."""
    for name, declared in list(vars(kind).items()):
        if isinstance(declared, Declaration):
            setattr(kind, name, field(default=declared.default, metadata={"declared": declared}))
    return dataclass(frozen=True)(kind)


@runtime_checkable
class OptionGroup(Protocol):
    """Options that a verb receives as one value."""

    def parameters(self) -> list[inspect.Parameter]:
        """Return the options, each as a parameter of a function."""

    def value(self, given: dict[str, Any]) -> Any:
        """Return the value for the verb, from the values of all options by parameter."""

    def spelling(self) -> dict[str, str]:
        """Return the options by the names that messages of the library have for them."""


@dataclass(frozen=True)
class GroupOfFields:
    """The options of an `option_group`."""

    kind: type[Any]

    def parameters(self) -> list[inspect.Parameter]:
        """Return one parameter per field."""
        hints = get_type_hints(self.kind)
        return [each.metadata["declared"].parameter(each.name, hints[each.name]) for each in fields(self.kind)]

    def value(self, given: dict[str, Any]) -> Any:
        """Return the group with the values given."""
        return self.kind(**{each.name: given[each.name] for each in fields(self.kind)})

    def spelling(self) -> dict[str, str]:
        """Return the options by field."""
        return {each.name: option_name(each.name) for each in fields(self.kind)}


def keyword(name: str, annotation: Any, default: Any = REQUIRED) -> inspect.Parameter:
    """Return a parameter that is given by name."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def option_name(name: str) -> str:
    """Return the option that a parameter has by default: `--min-relevant`."""
    return f"--{name.replace('_', '-')}"


def given_option(group: Any) -> str | None:
    """Return the first option of a group that is not at its default, such as --query-format."""
    given = (each.name for each in fields(group) if getattr(group, each.name) != each.default)
    return next(map(option_name, given), None)


def with_signature(verb: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function the parameters that typer reads from it."""
    verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {each.name: each.annotation for each in parameters}
    return verb


def as_command(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb as typer takes it: groups of options one by one, each option with its name.

    Messages of the library that name a parameter name the option instead.
    """
    own = inspect.signature(verb, eval_str=True).parameters
    groups = {name: group for name, each in own.items() if (group := _group_of(each)) is not None}
    spelling = {name: option_name(name) for name in own if name not in groups}
    for group in groups.values():
        spelling |= group.spelling()

    @functools.wraps(verb)
    def run(**given: Any) -> None:
        _refuse_numbers(given)
        try:
            verb(**{name: groups[name].value(given) if name in groups else given[name] for name in own})
        except InputError as error:
            raise InputError(error.spelled(lambda name: _as_option(name, spelling))) from error

    parameters: list[inspect.Parameter] = []
    for name, each in own.items():
        parameters += groups[name].parameters() if name in groups else [_parameter(each)]
    return with_signature(run, [*parameters, HELP_ALL.parameter("help_all", bool)])


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        typer.echo(verb_page(context.command, context.command_path, everything=True))
        raise typer.Exit


HELP_ALL = option("Show all options.", default=False, is_eager=True, callback=_show_all)


def _refuse_numbers(given: dict[str, Any]) -> None:
    """Refuse NaN, which typer below 0.29 takes in any range, and integers that arrays and the core cannot hold."""
    for name, value in given.items():
        if isinstance(value, float) and isnan(value):
            raise InputError(f"{option_name(name)} must be a number, not {value}.")
        if isinstance(value, int) and not -LARGEST <= value <= LARGEST:
            raise InputError(f"{option_name(name)} must be at most {LARGEST}, not {shortened(str(value))}.")


def _as_option(parameter: str, spelling: dict[str, str]) -> str:
    """Return a parameter, or a setting such as `time_limit=60`, as the command line spells it."""
    if parameter in WITHOUT_LABELS:
        return WITHOUT_LABELS[parameter]
    name, _, value = parameter.partition("=")
    if name not in spelling:
        return parameter
    return spelling[name] if value in ("", "True") else f"{spelling[name]} {value}"


def _group_of(parameter: inspect.Parameter) -> OptionGroup | None:
    if isinstance(parameter.default, OptionGroup):
        return parameter.default
    kind = parameter.annotation
    return GroupOfFields(kind) if is_dataclass(kind) and isinstance(kind, type) else None


def _parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    if isinstance(parameter.default, Declaration):
        return parameter.default.parameter(parameter.name, parameter.annotation)
    return parameter

"""How verbs declare options: one by one, or as groups that several verbs share and receive as one value.

A verb is a function whose parameters are annotated with `option` or `argument`. A parameter annotated with a
dataclass of such fields, or with a `Signature`, stands for all options of that group.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, Protocol, get_type_hints, runtime_checkable

import typer
from typer.models import OptionInfo

from rankwright.base.errors import InputError


def option(words: str, metavar: str | None = None, *names: str, panel: str | None = None, **more: Any) -> Any:
    """Declare an option; its name is that of the parameter, with dashes, unless names are given."""
    return typer.Option(*names, metavar=metavar, help=words, rich_help_panel=panel, **more)


def argument(words: str, metavar: str, **more: Any) -> Any:
    """Declare an argument, which has no name on the command line."""
    return typer.Argument(metavar=metavar, help=words, **more)


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
class DataclassGroup:
    """The fields of a dataclass, each with a default, as options."""

    kind: type[Any]

    def parameters(self) -> list[inspect.Parameter]:
        """Return one parameter per field."""
        hints = get_type_hints(self.kind, include_extras=True)
        return [keyword(field.name, hints[field.name], field.default) for field in fields(self.kind)]

    def value(self, given: dict[str, Any]) -> Any:
        """Return the dataclass with the values given."""
        return self.kind(**{field.name: given[field.name] for field in fields(self.kind)})

    def spelling(self) -> dict[str, str]:
        """Return the options by field."""
        return {field.name: option_name(field.name) for field in fields(self.kind)}


def keyword(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter that is given by name."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def option_name(name: str) -> str:
    """Return the option that a parameter has by default: `--min-relevant`."""
    return f"--{name.replace('_', '-')}"


def given_option(group: Any) -> str | None:
    """Return the first option of a dataclass group that is not at its default, such as --query-format."""
    given = (field.name for field in fields(group) if getattr(group, field.name) != field.default)
    return next(map(option_name, given), None)


def with_signature(verb: Callable[..., None], parameters: list[inspect.Parameter]) -> Callable[..., None]:
    """Give a function the parameters that typer reads from it."""
    verb.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    verb.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return verb


def as_command(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb as typer takes it: groups of options one by one, each option with its name.

    Messages of the library that name a parameter name the option instead.
    """
    own = inspect.signature(verb, eval_str=True).parameters
    groups = {name: group for name, each in own.items() if (group := _group_of(each.annotation)) is not None}
    spelling = {name: option_name(name) for name in own if name not in groups}
    for group in groups.values():
        spelling |= group.spelling()

    @functools.wraps(verb)
    def run(**given: Any) -> None:
        try:
            values = {name: groups[name].value(given) if name in groups else given[name] for name in own}
            verb(**values)
        except InputError as error:
            raise InputError(error.spelled(lambda name: _as_option(name, spelling))) from error

    parameters: list[inspect.Parameter] = []
    for name, each in own.items():
        parameters += groups[name].parameters() if name in groups else [each]
    return with_signature(run, [_named(each) for each in parameters])


def _as_option(parameter: str, spelling: dict[str, str]) -> str:
    """Return a parameter, or a setting such as `time_limit=60`, as the command line spells it."""
    if parameter in ("judged=False", "label=None"):
        return "`rank` or `predict`"
    name, _, value = parameter.partition("=")
    if name not in spelling:
        return parameter
    return spelling[name] if value in ("", "True") else f"{spelling[name]} {value}"


def _group_of(annotation: Any) -> OptionGroup | None:
    if is_dataclass(annotation) and isinstance(annotation, type):
        return DataclassGroup(annotation)
    return next((each for each in getattr(annotation, "__metadata__", ()) if isinstance(each, OptionGroup)), None)


def _named(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter given by name, whose option has a name of its own."""
    annotation = parameter.annotation
    info = next(iter(getattr(annotation, "__metadata__", ())), None)
    if isinstance(info, OptionInfo) and info.default is ... and not info.param_decls:
        info = copy(info)
        info.param_decls = (option_name(parameter.name),)
        annotation = Annotated[annotation.__origin__, info]
    return keyword(parameter.name, annotation, parameter.default)

"""Configurations: the options of a verb in a file, by their names.

    ranker = "lambdamart"
    train = "train.txt"
    model = "model.rw"

    [set]
    rounds = 200
    metric = "ndcg@10"

Options on the command line override those of the file; each `--set` overrides one parameter.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwright.base.errors import InputError
from rankwright.cli.options.config_files import as_text, read_config, require_format
from rankwright.cli.output.console import write_text

OWN = ("config", "save-config", "help")
SETTINGS = "set"
FROM_FILE = "rankwright.settings"  # the context's entry for the file's --set


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options of the file the defaults of this command."""
    if path is not None and not context.resilient_parsing:
        known = _options_by_name(context.command)
        given = read_config(path)
        defaults = {}
        for name, value in given.items():
            key = name.replace("_", "-")
            if key not in known:
                from rankwright.base.wording import nearest

                raise InputError(
                    f"{path} has the option {name!r}, which `{context.info_name}` does not take"
                    f"{nearest(key, known)}"
                )
            if key == SETTINGS:
                context.meta[FROM_FILE] = _settings(path, value)
            else:
                defaults[known[key].name] = _default(path, name, value, several=_takes_several(known[key]))
        context.default_map = defaults
    return path


def merged_settings(context: typer.Context, given: list[str] | None) -> list[str] | None:
    """Return the `--set` of the file and then those of the command line, which win."""
    return [*context.meta.get(FROM_FILE, ()), *(given or ())] or None


def _check_output(path: Path | None) -> Path | None:
    if path is not None:
        from rankwright.cli.options.shared_options import checked_output  # which imports this module

        require_format(path)
        checked_output(path)  # before any long work
    return path


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        is_eager=True,  # the file gives the defaults of all other options
        callback=_load,
        help="File with options (.toml, .yaml or .json); those given here override it.",
    ),
]
SaveConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--save-config",
        metavar="FILE",
        callback=_check_output,
        help="File to write with the options of this run, for --config.",
    ),
]


def configurable(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options `--config` and `--save-config`."""
    own = inspect.signature(verb, eval_str=True)
    added = {"context": typer.Context, "config": ConfigOption, "save_config": SaveConfigOption}

    @functools.wraps(verb)
    def with_config(context: typer.Context, save_config: Path | None, **given: Any) -> None:
        del given["config"]  # its options are the defaults of the others by now
        verb(**given)
        if save_config is not None:
            write_text(save_config, as_text(save_config, _options_of(context)))

    parameters = [
        *own.parameters.values(),
        *(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in added.items()
        ),
    ]
    with_config.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_config.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_config


def _options_of(context: typer.Context) -> dict[str, Any]:
    """Return the options of a run by name, without those that have no value."""
    options: dict[str, Any] = {}
    for name, parameter in _options_by_name(context.command).items():
        value = context.params.get(parameter.name)
        if name != SETTINGS and value is not None and value is not False and value != ():
            options[name] = str(value) if isinstance(value, Path) else value
    settings = dict(one.split("=", 1) for one in context.params.get("settings") or ())
    if settings:
        options[SETTINGS] = {name.strip(): _value(text.strip()) for name, text in settings.items()}
    return options


def _options_by_name(command: Any) -> dict[str, Any]:
    """Return the parameters of a command as they are called on the command line, without dashes in front."""
    names = {
        max(one.opts, key=len).lstrip("-").replace("_", "-"): one
        for one in command.params
        if one.param_type_name == "option"
    }
    arguments = {one.name: one for one in command.params if one.param_type_name == "argument"}
    return {name: one for name, one in {**arguments, **names}.items() if name not in OWN}


def _default(path: Path, name: str, value: Any, *, several: bool) -> Any:
    """Return an option's value as the command line takes it: a list becomes text with commas."""
    if isinstance(value, dict):
        raise InputError(f"{path}: the option {name!r} must not be a table.")
    if several:
        return value if isinstance(value, list) else [value]
    return ",".join(map(_spelled, value)) if isinstance(value, list) else value


def _takes_several(parameter: Any) -> bool:
    """Return whether an option may be repeated, or an argument takes several values."""
    return bool(parameter.multiple) or parameter.nargs == -1


def _settings(path: Path, value: Any) -> list[str]:
    """Return the parameters of a ranker, each as `--set` takes it."""
    if not isinstance(value, dict):
        raise InputError(f"{path}: 'set' must be a table of parameters and their values.")
    return [f"{name}={_spelled(one)}" for name, one in value.items()]


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "none" if value is None else json.dumps(value, ensure_ascii=False)


def _value(text: str) -> Any:
    """Return the value of a `--set` as JSON reads it; text that is no JSON stays text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if value is None or (isinstance(value, float) and not math.isfinite(value)) else value

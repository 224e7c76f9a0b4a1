"""Configuration files of verbs: options by their names, in TOML, YAML or JSON.

    ranker = "lambdamart"
    train = "train.txt"
    model = "model.rw"

    [set]
    rounds = 200
    metric = "ndcg@10"

A verb takes part with two parameters, `config: ConfigOption` and `save_config: SaveConfigOption`, and the call
`write_config(save_config)` after its work. Options on the command line override those of the file; each `--set`
overrides one parameter.
"""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = ("config", "save-config", "help")
SETTINGS = "set"
FROM_FILE = "rankwright.settings"  # the context's entry for the file's --set


def read_config(path: Path) -> dict[str, Any]:
    """Return the options in a configuration file."""
    from rankwright.data.files import open_bytes

    with open_bytes(path) as file:
        content = file.read()
    try:
        options = _reader(path)(content.decode())
    except (ValueError, RecursionError) as error:  # also what the TOML and JSON readers raise
        raise InputError(f"{path} cannot be read as {_suffix(path)[1:].upper()}: {_first_line(error)}") from None
    if not isinstance(options, dict):
        raise InputError(f"{path} must hold options by name, such as ranker and train.")
    return {str(name): value for name, value in options.items()}


def as_text(path: Path, options: Mapping[str, Any]) -> str:
    """Return options as the text of a configuration file."""
    suffix = _suffix(path)
    if suffix == ".toml":
        return _toml(options)
    if suffix == ".json":
        return json.dumps(options, indent=2, ensure_ascii=False) + "\n"
    text: str = _yaml().safe_dump(dict(options), sort_keys=False, allow_unicode=True)
    return text


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options of the file the defaults of this command."""
    if path is not None and not context.resilient_parsing:
        known = _options_by_name(context.command)
        given = read_config(path)
        defaults = {}
        for name, value in given.items():
            key = name.replace("_", "-")
            if key not in known:
                from rankwright.metrics.parse import nearest

                raise InputError(
                    f"{path} has the option {name!r}, which `{context.info_name}` does not take"
                    f"{nearest(key, known)}"
                )
            if key == SETTINGS:
                context.meta[FROM_FILE] = _settings(path, value)
            else:
                defaults[known[key].name] = _default(path, name, value, several=known[key].multiple)
        context.default_map = defaults
    return path


def merged_settings(context: typer.Context, given: list[str] | None) -> list[str] | None:
    """Return the `--set` of the file and then those of the command line, which win."""
    return [*context.meta.get(FROM_FILE, ()), *(given or ())] or None


def _check_output(path: Path | None) -> Path | None:
    if path is not None:
        from rankwright.cli.inputs import checked_output

        _reader(path)  # refuses an unknown format before any long work
        checked_output(path)
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


def write_config(context: typer.Context, path: Path | None) -> None:
    """Write the options of this run, if a file was asked for."""
    if path is not None:
        from rankwright.data.files import write_whole

        text = as_text(path, _options_of(context))
        with write_whole(path) as file:
            file.write(text.encode())


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
    if not isinstance(value, list):
        return value
    return value if several else ",".join(map(_spelled, value))


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


def _suffix(path: Path) -> str:
    return ".yaml" if path.suffix.lower() == ".yml" else path.suffix.lower()


def _reader(path: Path) -> Any:
    if _suffix(path) == ".yaml":
        return _read_yaml
    readers = {".toml": tomllib.loads, ".json": json.loads}
    if _suffix(path) not in readers:
        raise InputError(f"{path} is no configuration file: its name must end with .toml, .yaml, .yml or .json.")
    return readers[_suffix(path)]


def _read_yaml(text: str) -> Any:
    yaml = _yaml()
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _yaml() -> Any:
    try:
        import yaml
    except ModuleNotFoundError:
        raise MissingPackageError("A YAML file needs PyYAML: pip install 'rankwright[yaml]'.") from None
    return yaml


def _first_line(error: BaseException) -> str:
    text = str(error).partition("\n")[0] or type(error).__name__
    return text if text.endswith(".") else f"{text}."


def _toml(options: Mapping[str, Any]) -> str:
    """Return options as TOML: values first, then one section for each table."""
    plain = {name: value for name, value in options.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in options.items() if isinstance(value, dict)}
    lines = [f"{_toml_key(name)} = {_toml_value(value)}" for name, value in plain.items()]
    for name, table in tables.items():
        lines += ["", f"[{_toml_key(name)}]"]
        lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml_value(name)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(str(name))} = {_toml_value(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if value is None:
        raise InputError("TOML has no null; save the configuration as .json instead.")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

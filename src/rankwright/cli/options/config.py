"""Configurations: the options of a verb in a TOML, YAML or JSON file, by their names.

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
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import typer

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.base.wording import brief_list, nearest
from rankwright.cli.options.option_groups import MORE, keyword, option, with_signature
from rankwright.cli.output.console import write_text

OWN = ("config", "save-config", "help", "help-all")
SETTINGS = "set"
FROM_FILE = "rankwright.settings"  # the context's entry for the file's --set
LARGEST = 2**16  # bytes of a file: YAML of that size is read in seconds
DEEPEST = 16  # lists in lists
MAX_DOTS = 500  # in a line of TOML, whose reader takes quadratic memory for a key of many parts


def _load(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options of the file the defaults of this command."""
    if path is not None and not context.resilient_parsing:
        known = _options_by_name(context.command)
        defaults = {}
        for name, value in read_config(path).items():
            key = name.replace("_", "-")
            if key not in known:
                raise InputError(
                    f"{path} has the option {brief_list([name])!r}, which `{context.info_name}` does not take"
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

        _reader(path)
        checked_output(path)  # before any long work
    return path


CONFIG = option(
    "File with options (.toml, .yaml or .json); those given here override it.",
    "FILE",
    is_eager=True,  # the file gives the defaults of all other options
    callback=_load,
    panel=MORE,
)
SAVE_CONFIG = option(
    "File to write with the options of this run, for --config.", "FILE", callback=_check_output, panel=MORE
)


def configurable(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options `--config` and `--save-config`."""
    own = inspect.signature(verb, eval_str=True).parameters

    @functools.wraps(verb)
    def with_config(context: typer.Context, save_config: Path | None, **given: Any) -> None:
        del given["config"]  # its options are the defaults of the others by now
        verb(**given)
        if save_config is not None:
            write_text(as_text(_options_of(context), save_config), save_config)

    return with_signature(
        with_config,
        [
            *(keyword(each.name, each.annotation, each.default) for each in own.values()),
            keyword("context", typer.Context),
            keyword("config", Path | None, CONFIG),
            keyword("save_config", Path | None, SAVE_CONFIG),
        ],
    )


def _options_of(context: typer.Context) -> dict[str, Any]:
    """Return the options of a run by name, without those that have no value."""
    options: dict[str, Any] = {}
    for name, parameter in _options_by_name(context.command).items():
        value = context.params.get(parameter.name)
        if name != SETTINGS and value is not None and value is not False and value != ():
            options[name] = str(value) if isinstance(value, Path) else value
    settings = dict(text.split("=", 1) for text in context.params.get("settings") or ())
    if settings:
        options[SETTINGS] = {name.strip(): _value(text.strip()) for name, text in settings.items()}
    return options


def _options_by_name(command: Any) -> dict[str, Any]:
    """Return the parameters of a command as they are called on the command line, without dashes in front."""
    names = {
        each.name if each.param_type_name == "argument" else max(each.opts, key=len)[2:].replace("_", "-"): each
        for each in sorted(command.params, key=lambda each: each.param_type_name)
    }
    return {name: each for name, each in names.items() if name not in OWN}


def _default(path: Path, name: str, value: Any, *, several: bool) -> Any:
    """Return an option's value as the command line takes it: a list becomes text with commas."""
    if isinstance(value, dict):
        raise InputError(f"{path}: the option {name!r} must not be a table.")
    if value is None:
        return None
    texts = [_spelled(each) for each in (value if isinstance(value, list) else [value])]
    return texts if several else ",".join(texts)


def _takes_several(parameter: Any) -> bool:
    """Return whether an option may be repeated, or an argument takes several values."""
    return bool(parameter.multiple) or parameter.nargs == -1


def _settings(path: Path, value: Any) -> list[str]:
    """Return the parameters of a ranker, each as `--set` takes it."""
    if not isinstance(value, dict):
        raise InputError(f"{path}: 'set' must be a table of parameters and their values.")
    return [f"{name}={_spelled(setting)}" for name, setting in value.items()]


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


def read_config(path: Path) -> dict[str, Any]:
    """Return the options in a configuration file."""
    from rankwright.base.files import open_bytes

    read = _reader(path)
    with open_bytes(path) as file:
        content = file.read(LARGEST + 1)  # it may be a device that never ends
    if len(content) > LARGEST:
        raise InputError(f"{path} is too large: a configuration file has at most {LARGEST // 2**10} KiB.")
    try:
        options = read(content.decode())
        _require_plain(options)
    except (ValueError, RecursionError, OverflowError) as error:  # also what the TOML and JSON readers raise
        reason = (str(error).partition("\n")[0] or type(error).__name__).removesuffix(".")
        raise InputError(f"{path} cannot be read as {_suffix(path)[1:].upper()}: {reason}.") from None
    if not isinstance(options, dict):
        raise InputError(f"{path} must hold options by name, such as ranker and train.")
    return options


def _require_plain(value: Any, depth: int = 0) -> None:
    """Refuse values that no option has."""
    if depth > DEEPEST:
        raise ValueError("it is nested too deeply")
    if isinstance(value, dict | list):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            _require_plain(each, depth + 1)
    elif isinstance(value, str):
        if b"\0" in value.encode():  # which refuses surrogates
            raise ValueError(f"a text has the character NUL: {brief_list([value])}")
    elif isinstance(value, int):
        if abs(value) >= 2**64:
            raise ValueError("a number has too many digits")
    elif not isinstance(value, float | None):
        raise ValueError(f"{value} is a {type(value).__name__}; write it in quotation marks")


def _unique(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    """Return the entries of a table by name; refuse a name that is there twice, as TOML does."""
    table = {str(name): value for name, value in pairs}
    if len(table) < len(pairs):
        (name, _), *_ = Counter(str(name) for name, _ in pairs).most_common(1)
        raise ValueError(f"{brief_list([name])} is given twice")
    return table


def as_text(options: Mapping[str, Any], path: Path) -> str:
    """Return options as the text of a configuration file of that name."""
    if _suffix(path) == ".yaml":
        text: str = _yaml().safe_dump(dict(options), sort_keys=False, allow_unicode=True)
        return text
    return _toml(options) if _suffix(path) == ".toml" else f"{json.dumps(options, indent=2, ensure_ascii=False)}\n"


def _suffix(path: Path) -> str:
    return ".yaml" if path.suffix.lower() == ".yml" else path.suffix.lower()


def _reader(path: Path) -> Callable[[str], Any]:
    readers: dict[str, Callable[[str], Any]] = {".yaml": _read_yaml, ".toml": _read_toml, ".json": _read_json}
    if _suffix(path) not in readers:
        raise InputError(f"{path} is no configuration file: its name must end with .toml, .yaml, .yml or .json.")
    return readers[_suffix(path)]


def _read_toml(text: str) -> Any:
    import tomllib

    if any(line.count(".") > MAX_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {MAX_DOTS} dots")
    return tomllib.loads(text)


def _read_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique)


def _read_yaml(text: str) -> Any:
    yaml = _yaml()

    class Loader(yaml.SafeLoader):  # type: ignore[misc, name-defined]  # yaml has no types
        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()
            if isinstance(event, yaml.AliasEvent) or event.tag is not None:
                raise ValueError("aliases (*name) and tags (!name) are not allowed")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[str, Any]:  # noqa: ARG002
            return _unique(self.construct_pairs(node, deep=True))

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _yaml() -> Any:
    try:
        import yaml
    except ModuleNotFoundError:
        raise MissingPackageError("A YAML file needs PyYAML: pip install 'rankwright[yaml]'.") from None
    return yaml


def _toml(options: Mapping[str, Any]) -> str:
    """Return options as TOML, which the standard library only reads: values first, then one section per table."""
    tables = {name: value for name, value in options.items() if isinstance(value, dict)}
    lines = _toml_lines({name: value for name, value in options.items() if name not in tables})
    for name, table in tables.items():
        lines += ["", f"[{_toml_key(name)}]", *_toml_lines(table)]
    return "\n".join(lines) + "\n"


def _toml_lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_toml_key(name)} = {_toml_value(value)}" for name, value in table.items()]


def _toml_key(name: str) -> str:
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else _toml_value(name)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(_toml_lines(value)) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if value is None:
        raise InputError("TOML has no null; save the configuration as .json instead.")
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Configuration files as text: TOML, YAML or JSON, by the end of the name."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def read_config(path: Path) -> dict[str, Any]:
    """Return the options in a configuration file."""
    from rankwright.base.files import open_bytes

    read = _reader(path)
    with open_bytes(path) as file:
        content = file.read()
    try:
        options = read(content.decode())
    except (ValueError, RecursionError) as error:  # also what the TOML and JSON readers raise
        raise InputError(f"{path} cannot be read as {_suffix(path)[1:].upper()}: {_first_line(error)}") from None
    if not isinstance(options, dict):
        raise InputError(f"{path} must hold options by name, such as ranker and train.")
    return {str(name): value for name, value in options.items()}


def require_format(path: Path) -> None:
    """Refuse a file whose name does not tell a format."""
    _reader(path)


def as_text(path: Path, options: Mapping[str, Any]) -> str:
    """Return options as the text of a configuration file."""
    suffix = _suffix(path)
    if suffix == ".toml":
        return _toml(options)
    if suffix == ".json":
        return json.dumps(options, indent=2, ensure_ascii=False) + "\n"
    text: str = _yaml().safe_dump(dict(options), sort_keys=False, allow_unicode=True)
    return text


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

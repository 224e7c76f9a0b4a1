"""How the command line spells the value of a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def spelled(value: Any) -> str:
    """Return a parameter's value as `--set` takes it."""
    if isinstance(value, list | tuple):
        return ",".join(map(spelled, value)) or "none"
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def setting_text(setting: Mapping[str, Any]) -> str:
    """Return parameters with their values as `--set` takes them: `max_leaves=8 rounds=200`."""
    return " ".join(f"{name}={spelled(value)}" for name, value in setting.items())

"""How the command line spells the value of a parameter."""

from __future__ import annotations

from typing import Any


def spelled(value: Any) -> str:
    """Return a parameter's value as `--set` takes it."""
    if isinstance(value, list | tuple):
        return ",".join(map(spelled, value)) or "none"
    return str(value).lower() if isinstance(value, bool | None) else str(value)

"""Groups of verbs."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class Group(TyperGroup):
    """A verb with verbs of its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options; a flag that is not given is False, since to convert None typer imports pydantic."""
        options: list[Any] = super().get_params(ctx)
        for option in options:
            if getattr(option, "is_flag", False) and option.default is None:
                option.default = False
        return options

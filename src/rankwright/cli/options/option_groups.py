"""Options that several verbs share, given to a verb as one value."""

from __future__ import annotations

import functools
import inspect
from dataclasses import fields
from typing import TYPE_CHECKING, Any, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable


def given_option(group: Any) -> str | None:
    """Return the first option of a group that is not at its default, such as --query-format."""
    given = (one.name for one in fields(group) if getattr(group, one.name) != one.default)
    return next((f"--{name.replace('_', '-')}" for name in given), None)


def takes_options(group: type[Any], argument: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a verb the options of a group; it receives them as one argument.

    A group is a dataclass of which each field has a default and is annotated with its `typer.Option`.
    """
    hints = get_type_hints(group, include_extras=True)
    options = [
        inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
        )
        for one in fields(group)
    ]

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(verb, eval_str=True)
        parameters = [*(one for name, one in own.parameters.items() if name != argument), *options]
        signature = own.replace(parameters=parameters)

        @functools.wraps(verb)
        def with_options(*values: Any, **given: Any) -> None:
            named = signature.bind(*values, **given).arguments
            grouped = group(**{one.name: named.pop(one.name) for one in options if one.name in named})
            verb(**named, **{argument: grouped})

        with_options.__signature__ = signature  # type: ignore[attr-defined]
        with_options.__annotations__ = {one.name: one.annotation for one in parameters}
        return with_options

    return decorate

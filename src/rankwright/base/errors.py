"""Errors that users can act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BEGIN, _END = "\ue000", "\ue001"  # private use: around the name of a parameter in a message
_PARAMETER = re.compile(f"{_BEGIN}(.*?){_END}")


def parameter(name: str) -> str:
    """Return the name of a parameter for a message; the command line spells it as its option."""
    return f"{_BEGIN}{name}{_END}"


class InputError(ValueError):
    """Input that cannot be used as given; the message says why, in one sentence.

    Names of parameters in the message, marked by `parameter`, are spelled by whoever shows it.
    """

    def __str__(self) -> str:
        return self.spelled(lambda name: name)

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with each name of a parameter spelled by this function."""
        return _PARAMETER.sub(lambda match: spell(match[1]), self.marked)

    @property
    def marked(self) -> str:
        """The message with its names of parameters marked, to be a part of another message."""
        return super().__str__()


class MissingPackageError(ImportError):
    """An optional package is needed but not installed; the message says how to install it."""

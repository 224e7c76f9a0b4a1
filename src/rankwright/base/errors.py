"""Errors that users can act on; the command line spells the parameters in them as its options."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BEGIN, _END = "\ue000", "\ue001"  # Unicode private-use characters around a parameter's name
_PARAMETER = re.compile(f"{_BEGIN}(.*?){_END}")


def parameter(name: str) -> str:
    """Mark the name of a parameter in a message, so that the command line can show its option instead."""
    return f"{_BEGIN}{name}{_END}"


class InputError(ValueError):
    """Input that cannot be used as given; the message says why, in one sentence.

    It may contain names marked by `parameter`: `str` shows them as they are, the command line shows options.

    Examples
    --------
    >>> try:
    ...     rw.make_ranker("LambdaMRT")
    ... except rw.InputError as mistake:
    ...     print(mistake)
    There is no ranker 'LambdaMRT'; did you mean 'lambdamart'?
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        return self.spelled(lambda name: name)

    def spelled(self, spell: Callable[[str], str]) -> str:
        """Return the message with `spell` applied to each parameter name."""
        return _PARAMETER.sub(lambda match: spell(match[1]), self.marked)

    @property
    def marked(self) -> str:
        """The message with its marks, for use inside another `InputError`."""
        return super().__str__()


def require_type(value: object, kind: type, expected: str) -> None:
    """Refuse a value of another type; `expected` begins the sentence, as in "write_run takes a run"."""
    if not isinstance(value, kind):
        given = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise InputError(f"{expected}, not {given}.")


class MissingPackageError(ImportError):
    """An optional package is needed but not installed; the message says how to install it.

    Examples
    --------
    >>> report = rw.evaluate([0.9, 0.1], ([[1], [2]], [1, 0], [7, 7]), metrics="mrr")
    >>> try:
    ...     means = report.frame()["mrr"].tolist()
    ... except rw.MissingPackageError:  # pandas is not installed; the message says how to install it
    ...     means = [report.mean("scores", "mrr")]
    >>> means
    [1.0]
    """


@contextmanager
def requiring(package: str) -> Iterator[None]:
    """Say in one sentence that an import failed because rankwright was installed without what it depends on.

    Scoring needs numpy alone, so `--no-deps` is a way to install a service.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != {"scikit-learn": "sklearn"}.get(package, package):
            raise
        sentence = f"This needs {package}, which is not installed: run pip install rankwright, which brings it."
        raise MissingPackageError(sentence) from None

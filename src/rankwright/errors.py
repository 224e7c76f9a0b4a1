"""Exceptions that report a user's mistake or a missing package."""


class InputError(ValueError):
    """A user's mistake; the message is one sentence: what was found, where, and what was expected."""


class MissingPackageError(ImportError):
    """An optional package is needed but not installed; the message explains how to install it."""

"""What goes wrong through no fault of the program."""


class InputError(ValueError):
    """A user's mistake, told in one sentence: what was found, where, and what was expected."""


class MissingPackageError(ImportError):
    """An optional package is needed and absent; the sentence says how to install it."""

"""How many examples a property test tries."""

from hypothesis import settings


def examples(number):
    """Try `number` examples where the profile tries 100, and in proportion under every other profile."""
    return settings(max_examples=max(5, number * settings.default.max_examples // 100))

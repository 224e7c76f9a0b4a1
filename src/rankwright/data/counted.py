"""Numbers with their nouns, for messages."""

from decimal import ROUND_CEILING, Context


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 query" or "2,000 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def rounded_up(number: float) -> str:
    """Return a number rounded up to two digits, as a limit that would do: "0.024" or "1300"."""
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(repr(float(number))).normalize():f}"

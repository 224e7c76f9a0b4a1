"""Numbers with their nouns, for messages."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, as in "1 query" or "2,000 queries"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"

"""Words without meaning of their own, by language."""

from __future__ import annotations

from rankwright.base.errors import InputError

# Apostrophes separate words, so that "don't" is "don" and "t".
_ENGLISH = """
a about above after again against all am an and any are aren as at be because been before being below between
both but by can could couldn did didn do does doesn doing don down during each few for from further had hadn has
hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll me
more most mustn my myself no nor not now of off on once only or other our ours ourselves out over own re s same
shan she should shouldn so some such t than that the their theirs them themselves then there these they this
those through to too under until up ve very was wasn we were weren what when where which while who whom why will
with won would wouldn you your yours yourself yourselves
"""

STOP_WORDS = {"english": frozenset(_ENGLISH.split())}


def stop_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    if language not in STOP_WORDS:
        known = ", ".join(sorted(STOP_WORDS))
        raise InputError(
            f"There is no list of stop words for {language!r}, only for {known}: give a list of words, or None."
        )
    return STOP_WORDS[language]

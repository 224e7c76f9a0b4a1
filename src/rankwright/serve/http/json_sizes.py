"""Lists in JSON, counted without decoding it."""

from __future__ import annotations

import re

# Up to the next list or object that is not part of a string; without a way back, so that it takes linear time.
_NEXT_LIST = re.compile(rb'(?:[^"\[{]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+[\[{]', re.DOTALL)


def has_more_lists(text: bytes, most: int) -> bool:
    """Return whether there are more than so many lists and objects in JSON."""
    if text.count(b"[") + text.count(b"{") <= most:
        return False
    place = 0
    for _ in range(most + 1):
        found = _NEXT_LIST.match(text, place)
        if found is None:
            return False
        place = found.end()
    return True

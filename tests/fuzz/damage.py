"""Bytes damaged at random: changed, cut, repeated, swapped, with numbers and signs put in."""

import struct

import numpy as np

WORDS = (
    b"0", b"-1", b"1e400", b"nan", b"inf", b"-inf", b"0x10", b"1_000", b"99999999999999999999", b"4294967296",
    b"1000000", b":", b"#", b",", b"\n", b"\r\n", b"\r", b"\t", b"\0", b'"', b"\xff", b"\xef\xbb\xbf",
    b"qid:", b"qid:a\0", b"1:1", b"2:", b":3", b" ", b"e", b".", b"+", b"{", b"[", b"\xc3\xa9", b"\x1f\x8b",
)  # fmt: skip

ODD_WORDS = tuple(struct.pack("<d", one) for one in (0.0, -0.0, 1.0, -1.0, 1e-320, 1e308, -1e308, np.nan, np.inf))
ODD_WORDS += tuple(struct.pack("<q", one) for one in (1, 2, 3, -1, 2**31, 2**63 - 1, -(2**63)))


def damaged(content, rng):
    """Return the content with up to eight pieces of damage."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        _damage(content, rng)
    return bytes(content)


def revalued(content, rng):
    """Return the content with a few bytes or 8-byte words changed and its length kept."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 4)) if len(content) >= 8 else 0):
        place = int(rng.integers(len(content) // 8)) * 8
        if rng.random() < 0.5:
            content[place + int(rng.integers(8))] ^= 1 << int(rng.integers(8))
        else:
            content[place : place + 8] = ODD_WORDS[rng.integers(len(ODD_WORDS))]
    return bytes(content)


def _damage(content, rng):
    start, stop = np.sort(rng.integers(0, len(content) + 1, size=2))
    stop = int(min(stop, start + rng.integers(1, 200)))
    start, how = int(start), rng.integers(7)
    if how == 0 and start < len(content):
        content[start] = int(rng.integers(256))
    elif how == 1 and start < len(content):
        content[start] ^= 1 << int(rng.integers(8))
    elif how == 2:
        del content[start:stop]
    elif how == 3:
        content[start:start] = content[start:stop] * int(rng.integers(1, 20))
    elif how == 4:
        del content[start:]
    elif how == 5:
        content[start:stop] = WORDS[rng.integers(len(WORDS))]
    else:
        content[start:start] = WORDS[rng.integers(len(WORDS))]

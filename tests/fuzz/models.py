"""Damaged model files: a scorer that gives finite scores, or one sentence. Nothing else, in little memory."""

import copy
import json
from functools import partial
from pathlib import Path

import numpy as np

from fuzz.campaign import ACCEPTED, REFUSED, problem_of
from fuzz.damage import damaged, revalued
from rankwright.base.errors import InputError
from rankwright.models.model_file import CHECKSUM_SIZE, HEADER_START, SIZES, decode, sealed

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    17,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**64,
    10**400,
    0.5,
    -0.0,
    1e308,
    float("nan"),
    float("inf"),
)
THINGS = (None, True, "", "x" * 5000, "a\0b", [], {}, [[]], ["float64", [3]], ["int32", [2**40]], ["float64", [0]])


def prepared():
    files = [path.read_bytes() for path in sorted(ARTEFACTS.glob("*.rw"))]
    return partial(_case, [_Parts(content) for content in files])


class _Parts:
    """A model file taken apart."""

    def __init__(self, content):
        size = SIZES.unpack_from(content, HEADER_START - SIZES.size)[1]
        self.content = content
        self.header = json.loads(content[HEADER_START : HEADER_START + size])
        self.payload = content[HEADER_START + size : -CHECKSUM_SIZE]


def _case(files, rng):
    file, donor = (files[rng.integers(len(files))] for _ in range(2))
    how = rng.integers(6)
    if how == 0:
        return _tried(damaged(file.content, rng), rng)
    if how == 1:
        return _tried(sealed(damaged(json.dumps(file.header).encode(), rng), file.payload), rng)
    header, payload = file.header, file.payload
    if how in (2, 3, 5):
        payload = revalued(payload, rng)
    if how in (4, 5):
        for _ in range(rng.integers(1, 3)):
            header = changed(header, donor.header, rng)
    return _tried(sealed(json.dumps(header).encode(), payload), rng)


def _tried(content, rng):
    """Load, score and describe; return what is wrong with the answer."""
    try:
        scorer = decode(content, "fuzzed.rw")
        X = rng.normal(size=(4, min(scorer.n_features, 10_000))).astype(np.float32)
        X[rng.random(X.shape) < 0.2] = np.nan
        scores = scorer.predict(X, [0, 0, 1, 1])
        repr(scorer)
    except InputError as error:
        return problem_of(error) or REFUSED
    return ACCEPTED if np.isfinite(scores).all() and len(scores) == 4 else f"scores {scores}"


def _places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


def _at(value, path):
    for key in path:
        value = value[key]
    return value


def changed(header, donor, rng):
    """Return a header with one part replaced, moved, repeated, nested or left out."""
    places = [path for path in _places(header) if path]
    path = places[rng.integers(len(places))] if places else ()
    if not path:
        return header
    header = copy.deepcopy(header)
    holder, key = _at(header, path[:-1]), path[-1]
    how = rng.integers(6)
    if how == 0:
        holder[key] = NUMBERS[rng.integers(len(NUMBERS))]
    elif how == 1:
        holder[key] = copy.deepcopy(THINGS[rng.integers(len(THINGS))])
    elif how == 2:
        sources = list(_places(donor))
        holder[key] = copy.deepcopy(_at(donor, sources[rng.integers(len(sources))]))
    elif how == 3:
        del holder[key]
    elif how == 4 and isinstance(holder, list):
        holder *= int(rng.integers(2, 50))
    else:
        holder[key] = _nested(holder[key], int(rng.integers(1, 40)))
    return header


def _nested(value, depth):
    for level in range(depth):
        value = [value] if level % 2 else {"scorer": value, "a": value if depth < 8 else None}
    return value

"""Wrong calls of the bindings: a result or a Python error, never a crash, a hang or a SystemError.

`calls` records what the package itself passes to the core; a case repeats one such call with a few arguments
made wrong.
"""

from functools import partial

import numpy as np

from fuzz.calls import recorded_calls
from fuzz.campaign import ACCEPTED, REFUSED

ANSWERS = (ValueError, TypeError, OverflowError, IndexError, RuntimeError, MemoryError)
INTEGERS = (0, 1, -1, 2, 3, 7, 100, 255, 256, 2**31 - 1, 2**31, 2**32, -(2**31), 2**63 - 1, 2**63, 2**64, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 1e308, float("nan"), float("inf"), -float("inf"))
OTHERS = (None, "x", b"x", [], [[]], {}, (), 1.5, True, 3, np.float64(2), np.int64(-1), object())
TYPES = ("f4", "f8", "i1", "i4", "i8", "u1", "u4", "u8", "?", "c16", ">f8", ">i8", "O", "U3", "M8[s]", "f2")


def prepared():
    return partial(_case, recorded_calls())


def _case(calls, rng):
    names = list(calls)
    name = names[rng.integers(len(names))]
    call = calls[name][rng.integers(len(calls[name]))]
    arguments = [*map(_copied, call.arguments)]
    keywords = {key: _copied(one) for key, one in call.keywords.items()}
    places = [(arguments, place) for place in range(len(arguments))] + [(keywords, key) for key in keywords]
    for place in rng.permutation(len(places))[: rng.integers(1, 4)]:
        holder, key = places[place]
        holder[key] = _wrong(holder[key], call.alike, rng)
    try:
        call.function(*arguments, **keywords)
    except ANSWERS:
        return REFUSED
    except Exception as error:  # a SystemError, say: the bindings broke Python's rules
        return f"{name} raised {type(error).__name__}: {error}"
    return ACCEPTED


def _copied(value):
    return value.copy() if isinstance(value, np.ndarray) else value


def _wrong(value, alike, rng):
    """Return something to put in an argument's place."""
    if rng.random() < 0.1:
        return OTHERS[rng.integers(len(OTHERS))]
    if isinstance(value, np.ndarray):
        return _wrong_array(value, rng)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | np.integer):
        return INTEGERS[rng.integers(len(INTEGERS))]
    if isinstance(value, float):
        return FLOATS[rng.integers(len(FLOATS))]
    if isinstance(value, list | tuple):
        return _wrong_list(value, alike, rng)
    others = alike.get(type(value), [])
    return others[rng.integers(len(others))] if others else OTHERS[rng.integers(len(OTHERS))]


def _wrong_list(value, alike, rng):
    value = [*value]
    if not value or rng.random() < 0.3:
        return [*value, *value[:1]] if rng.random() < 0.5 else value[1:]
    place = rng.integers(len(value))
    value[place] = _wrong(value[place], alike, rng)
    return value


def _wrong_array(value, rng):
    changes = (_retyped, _resized, _reshaped, _strided, _misaligned, _read_only, _revalued, _revalued, _revalued)
    return changes[rng.integers(len(changes))](value, rng)


def _retyped(value, rng):
    with np.errstate(all="ignore"):
        return value.astype(TYPES[rng.integers(len(TYPES))])


def _resized(value, rng):
    rows = len(value) if value.ndim else 0
    length = (0, 1, max(rows - 1, 0), rows + 1, 2 * rows, rows // 2)[rng.integers(6)]
    return np.resize(value, (length, *value.shape[1:])) if value.size else np.zeros(length, value.dtype)


def _reshaped(value, rng):
    forms = (
        value.reshape(-1),
        value[None],
        value[..., None],
        value.reshape(-1)[:1].sum(),
        value.T,
        value.reshape(1, 1, -1),
    )
    return forms[rng.integers(len(forms))]


def _strided(value, rng):
    if rng.random() < 0.3:
        return value[::-1]
    if rng.random() < 0.3:
        return np.asfortranarray(value)
    return np.repeat(value, 2, axis=-1)[..., ::2] if value.ndim else value


def _misaligned(value, rng):
    room = np.zeros(value.nbytes + 1, np.uint8)
    moved = room[1:].view(value.dtype).reshape(value.shape)
    moved[...] = value
    return moved


def _read_only(value, rng):
    value.flags.writeable = False
    return value


def _revalued(value, rng):
    """Put a few values in that are out of range, out of order or no numbers."""
    if not value.size or value.dtype.kind not in "iufb":
        return value
    value = value.copy()
    flat = value.reshape(-1)
    places = rng.integers(flat.size, size=rng.integers(1, 4))
    if value.dtype.kind == "f":
        odd = np.array(FLOATS)
    elif value.dtype.kind == "b":
        odd = np.array([True, False])
    else:
        limits, near = np.iinfo(value.dtype), int(flat.max())
        odd = [limits.min, limits.max, 0, 1, near - 1, near, near + 1, flat.size, flat.size + 1]
        odd = np.array([one for one in odd if limits.min <= one <= limits.max], value.dtype)
    flat[places] = rng.choice(odd, size=len(places))
    return value

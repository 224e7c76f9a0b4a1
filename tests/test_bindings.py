"""What every binding asks of its arrays, and what is left of its objects at the end of a process."""

import subprocess
import sys

import numpy as np
import pytest

from rankwright import _native


def misaligned(values) -> np.ndarray:
    """Return the same values, one byte off any boundary."""
    array = np.ascontiguousarray(values)
    memory = np.zeros(array.nbytes + 1, dtype=np.uint8)
    shifted = memory[1:].view(array.dtype).reshape(array.shape)
    shifted[...] = array
    assert not shifted.flags.aligned
    return shifted


OFFSETS, ROWS, SCORES = np.array([0, 2]), np.array([0, 1]), np.array([0.5, 1.5])
MATRIX = np.ones((2, 3), dtype=np.float32)


def finish_letor(absent, features):
    parser = _native.LetorParser(True, _native.LetorQueries.field, False, 10, 100, 10, 1)
    parser.feed(np.frombuffer(b"0 qid:1 3:1\n1 qid:1\n", dtype=np.uint8))
    return parser.finish(absent, features)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sort_within_queries", (misaligned(OFFSETS), ROWS, SCORES, None, 1)),
        ("sort_within_queries", (OFFSETS, misaligned(ROWS), SCORES, None, 1)),
        ("sort_within_queries", (OFFSETS, ROWS, misaligned(SCORES), None, 1)),
        ("hash_rows", (misaligned(MATRIX), 1)),
        ("format_letor_features", (misaligned(MATRIX), 1)),
        ("finish_letor", (0.0, misaligned(MATRIX))),
    ],
)
def test_a_misaligned_array_is_refused(name, arguments):
    call = finish_letor if name == "finish_letor" else getattr(_native, name)
    with pytest.raises(ValueError, match=r"an array is not aligned to its item size: pass a copy"):
        call(*arguments)
    copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    call(*copies)


def test_a_misaligned_optional_array_is_refused():
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _native.sort_within_queries(OFFSETS, ROWS, SCORES, misaligned(SCORES), 1)


def test_arrays_without_items_need_no_alignment():
    nothing = np.zeros(1, dtype=np.uint8)[1:].view(np.float32).reshape(0, 3)
    assert _native.hash_rows(nothing, 1).size == 0


USE = """
import ctypes
import numpy as np
import rankwright as rw
from rankwright import _native

def use():
    random = np.random.default_rng(0)
    data = rw.RankingData(random.normal(size=(80, 4)), random.integers(0, 3, 80), np.repeat(np.arange(10), 8))
    train = rw.TrainingSet(data)
    rankers = [one(rounds=2).fit(train) for one in (rw.LambdaMART, rw.McRank, rw.RankBoost, rw.ListNet)]
    return rankers, [one.predict(data) for one in rankers], rw.data.Ranking.of(data.y, data.groups).native
"""
LIVE_FOR_EVER = "ctypes.pythonapi.Py_IncRef(ctypes.py_object(_native.GrowthWorkspace()))"


def stderr_of(*lines):
    done = subprocess.run([sys.executable, "-c", "\n".join([USE, *lines])], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
    return done.stderr


@pytest.mark.slow
def test_the_core_holds_no_object_that_nobody_else_holds():
    assert stderr_of("_native.set_leak_warnings(True)", "use()", "kept = use()") == ""
    assert "leaked 1 instances" in stderr_of("_native.set_leak_warnings(True)", LIVE_FOR_EVER)


def test_an_object_that_outlives_the_interpreter_is_not_reported():
    assert stderr_of(LIVE_FOR_EVER) == ""

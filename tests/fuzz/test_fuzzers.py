"""The fuzzers themselves: a few cases of each, and that a crash, a hang and a wrong answer are all seen."""

import enum

import pytest

from fuzz import calls, campaign
from rankwright import _native


@pytest.mark.slow
@pytest.mark.parametrize("name", campaign.FUZZERS)
def test_a_few_cases_find_nothing(name):
    cases, findings = campaign.campaign(name, seed=1, seconds=600, cases=100)
    assert (cases, findings) == (100, [])


@pytest.mark.slow
def test_every_function_of_the_core_is_called():
    reached = {name.partition(".")[0] for name in calls.recorded_calls()}
    made_inside = {"BinnedMatrix", "SortedQueries"}  # which no Python code makes
    public = {name for name in dir(_native) if not name.startswith("_") and callable(getattr(_native, name))}
    enums = {name for name in public if isinstance(getattr(_native, name), type(enum.Enum))}
    assert public - enums - made_inside <= reached


FAULTS = """
import ctypes, time
def prepared():
    return case
def case(rng):
    if FAULT == "crash": ctypes.string_at(0)
    if FAULT == "hang": time.sleep(60)
    if FAULT == "error": raise KeyError("lost")
    if FAULT == "memory": bytearray(8 << 30)
    return "a wrong answer" if FAULT == "answer" else None
"""


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("crash", "ended with code -11"),
        ("hang", "no answer for 1 s"),
        ("error", "KeyError: 'lost'"),
        ("memory", "MemoryError"),
        ("answer", "a wrong answer"),
        ("none", None),
    ],
)
def test_a_fault_is_seen(fault, problem, tmp_path, monkeypatch):
    folder = tmp_path / "faulty"
    folder.mkdir()
    (folder / "faulty.py").write_text(f"FAULT = {fault!r}\n{FAULTS}")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(campaign, "CASE_SECONDS", 1.0)
    cases, findings = campaign.campaign("faulty", seed=1, seconds=60, cases=2)
    assert cases == 2
    assert [problem in finding.problem for finding in findings] == ([True] if problem else [])

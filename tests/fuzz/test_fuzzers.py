"""The fuzzers themselves: a few cases of each, and that a crash, a hang and a wrong answer are all seen."""

import pytest

from fuzz import calls, campaign, imports, stub
from rankwright import _native

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", campaign.FUZZERS)
def test_a_few_cases_find_nothing_and_many_get_past_the_checks(name):
    result = campaign.campaign(name, seed=1, seconds=600, cases=100)
    assert (result.cases, result.findings) == (100, [])
    assert 0.1 < result.accepted < 0.9


def test_a_part_of_the_imports_is_that_of_a_tool_or_a_format():
    for part in ("ranklib", "ranklib-text"):
        result = campaign.campaign(f"imports:{part}", seed=1, seconds=600, cases=20)
        assert (result.cases, result.findings) == (20, [])
    with pytest.raises(ValueError, match="there is no format weka, only catboost, lightgbm, ranklib-text"):
        imports.prepared("weka")


def test_every_function_of_the_core_has_a_call_that_succeeds():
    recorded = calls.recorded_calls()
    public = {name for name in dir(_native) if not name.startswith("_") and callable(getattr(_native, name))}
    assert public - stub.made_inside() <= {*recorded, *calls.CALLS_BACK}
    for some in recorded.values():
        for call in some:
            call.function(*call.arguments, **call.keywords)


FAULTS = """
import ctypes, time
def prepared():
    return case
def case(rng):
    if FAULT == "crash": ctypes.string_at(0)
    if FAULT == "hang": time.sleep(60)
    if FAULT == "error": raise KeyError("lost")
    if FAULT == "memory": bytearray(8 << 30)
    return "a wrong answer" if FAULT == "answer" else "accepted"
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
    result = campaign.campaign("faulty", seed=1, seconds=60, cases=2)
    assert result.cases == 2
    assert [problem in finding.problem for finding in result.findings] == ([True] if problem else [])

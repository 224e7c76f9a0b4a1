import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from judgements.simulated_judges import graded
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.readers.trec import Run
from rankwright.judgements.system_orders import MERGED, _tau
from reference.judgements import kendall_tau

VALUES = st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=2, max_size=6)


def runs_of(table, true, noises, seed=0):
    """Return systems that score documents by their true grade, with more and more noise."""
    random = np.random.default_rng(seed)
    scores = {f"system{noise}": true + noise * random.normal(size=len(true)) for noise in noises}
    return {name: Run.of(table.qid, table.document_ids, values, tag=name) for name, values in scores.items()}


@given(values=VALUES)
@examples(50)
def test_tau_is_that_of_the_slow_twin(values):
    first, second = np.array(values, float).T
    expected = kendall_tau(first, second)
    assert float(_tau(np.array([first, second]))) == pytest.approx(expected, nan_ok=True)


def test_careful_judges_agree_about_systems_and_one_against_all_does_not():
    table, true = graded(2, n_queries=60)
    runs = runs_of(table, true, (0.3, 1, 2, 4))
    result = rw.judgements.systems(table, runs)
    assert len(result.pairs) == 6 + 4
    assert all(pair.tau.value == 1.0 for pair in result.pairs)
    assert all(pair.best == ("system0.3", "system0.3") for pair in result.pairs)
    grades = np.array(table.grades)
    grades[:, 3] = 3 - grades[:, 3]
    contrary = rw.judgements.GradeTable.of(table.qid, table.document_ids, table.judges, grades)
    result = rw.judgements.systems(contrary, list(runs.values()), metric="ndcg@5")
    assert result.pairs[2].tau.value == -1.0
    assert "judge3" in result.summary
    assert result.pairs[2].tau.low <= -0.3


def test_means_are_those_of_evaluate():
    table, true = graded(2, n_queries=12, accuracy=(0.8, 0.8))
    runs = runs_of(table, true, (0.3, 2))
    result = rw.judgements.systems(table, runs, metric="map")
    alone = rw.evaluate(runs, table.judgements_of("judge1"), metrics="map")
    assert result.means["judge1"] == {name: alone.mean(name, "map") for name in runs}
    assert MERGED in result.means
    assert len(result.pairs) == 1
    json.dumps(result.to_dict(), allow_nan=False)
    assert "Mean map by each judge" in str(result)


def test_judges_are_compared_on_the_documents_of_both():
    of = rw.judgements.GradeTable.of
    nan = np.nan
    table = of(["a", "a", "b", "c"], list("wxyz"), ["ada", "bob"], [[1, 1], [0, 0], [1, nan], [nan, 1]])
    runs = {"old": Run.of(["a", "a"], ["w", "x"], [2, 1]), "new": Run.of(["a", "a"], ["x", "w"], [2, 1])}
    (pair,) = rw.judgements.systems(table, runs).pairs
    assert pair.queries == 1
    assert pair.best == ("old", "old")
    apart = of(["a", "a"], ["w", "x"], ["ada", "bob"], [[1, nan], [nan, 0]])
    with pytest.raises(InputError, match="No two judges graded the same documents"):
        rw.judgements.systems(apart, runs)


def test_what_cannot_be_compared_is_refused():
    table, true = graded(2, n_queries=2)
    with pytest.raises(InputError, match="needs at least two runs"):
        rw.judgements.systems(table, runs_of(table, true, (1,)))
    with pytest.raises(InputError, match="scores must be a run"):
        rw.judgements.systems(table, {"scores": np.zeros(20), "other": np.zeros(20)})


def test_systems_that_tie_have_no_order():
    table = rw.judgements.GradeTable.of(["q", "q"], ["x", "y"], ["ada", "bob"], [[1, 1], [0, 1]])
    runs = {name: Run.of(["q", "q"], ["x", "y"], [2, 1], tag=name) for name in ("old", "new")}
    assert "All systems have the same ndcg@10" in rw.judgements.systems(table, runs).summary

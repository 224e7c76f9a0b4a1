import json

import numpy as np
import pytest

import rankwright as rw
from judgements.simulated_judges import graded


def named(**options):
    return [rw.judgements.judges(graded(seed, **options)[0]).named for seed in range(100)]


@pytest.mark.long
@pytest.mark.parametrize("n_queries", [20, 50])
def test_a_careless_judge_among_four_is_named(n_queries):
    assert named(careless=2, n_queries=n_queries).count(("judge2",)) >= 95


@pytest.mark.long
@pytest.mark.parametrize("n_queries", [5, 20, 50])
def test_nobody_among_four_careful_judges_is_named(n_queries):
    assert named(n_queries=n_queries).count(()) >= 95


@pytest.mark.long
def test_careful_judges_may_differ():
    assert named(accuracy=(0.75, 0.8, 0.85, 0.8)).count(()) >= 95


def test_a_lenient_judge_is_named_as_such():
    for seed in range(5):
        result = rw.judgements.judges(graded(seed, lenient=1)[0])
        assert result.named == ("judge1",)
        facts = result.facts[1]
        assert "lenient" in facts.findings
        assert facts.shift.low < 0.42 < facts.shift.high
        assert all(abs(each.shift.value) < 0.15 for each in result.facts if each.judge != "judge1")


def test_a_shift_is_no_disagreement():
    table = graded(0)[0]
    grades = np.array(table.grades)
    grades[:, 3] += 2
    result = rw.judgements.judges(rw.judgements.GradeTable.of(table.qid, table.document_ids, table.judges, grades))
    assert result.facts[3].findings == ("lenient",)
    assert result.facts[3].shift.value == pytest.approx(2, abs=0.15)
    assert result.summary == "judge3 grades 2 higher than the median judge."


def test_judges_need_not_grade_the_same_documents():
    table = graded(0, careless=2)[0]
    grades = np.where(np.random.default_rng(0).random(table.grades.shape) < 0.5, table.grades, np.nan)
    kept = (~np.isnan(grades)).any(axis=1)
    some = rw.judgements.GradeTable.of(table.qid[kept], table.document_ids[kept], table.judges, grades[kept])
    result = rw.judgements.judges(some)
    assert result.named == ("judge2",)
    assert "graded by one judge only, left out." in result.notes[-1]


def test_one_who_always_gives_the_same_grade_is_named():
    table = graded(0)[0]
    grades = np.array(table.grades)
    grades[:, 0] = 1
    result = rw.judgements.judges(rw.judgements.GradeTable.of(table.qid, table.document_ids, table.judges, grades))
    assert "disagrees" in result.facts[0].findings


def test_of_two_judges_neither_is_named_for_disagreement():
    table = graded(0, accuracy=(0.9, 0.4))[0]
    result = rw.judgements.judges(table)
    assert all("disagrees" not in each.findings for each in result.facts)
    assert np.isnan(result.facts[0].disagreement.value)
    assert "With two judges" in result.notes[0]
    shifted = rw.judgements.GradeTable.of(
        table.qid,
        table.document_ids,
        ["ada", "bob"],
        np.column_stack([table.grades[:, 0], table.grades[:, 0] + 1]),
    )
    assert rw.judgements.judges(shifted).summary == "bob grades 1 higher than ada."
    json.dumps(result.to_dict(), allow_nan=False)
    assert "nan" not in str(result).split()


def test_perfect_agreement_and_one_query():
    true = np.array([0, 1, 2, 3, 0, 1])
    grades = np.column_stack([true] * 3)
    table = rw.judgements.GradeTable.of(["q"] * 6, list("abcdef"), ["x", "y", "z"], grades)
    result = rw.judgements.judges(table)
    assert result.named == ()
    assert result.summary == "None of 3 judges stands apart from the others."
    assert "fewer than 10 queries" in result.notes[0]


def test_a_judge_who_shares_no_document_changes_nothing():
    table, _ = graded(0, lenient=1)
    alone = np.full((1, len(table.judges) + 1), np.nan)
    alone[0, -1] = 3
    grades = np.vstack([np.column_stack([table.grades, np.full(len(table), np.nan)]), alone])
    rows = [*table.qid, "other"], [*table.document_ids, "other"]
    more = rw.judgements.GradeTable.of(*rows, [*table.judges, "zoe"], grades)
    result = rw.judgements.judges(more)
    assert result.facts == rw.judgements.judges(table).facts
    sentence = "No document of zoe was graded by another judge: left out."
    assert sentence in result.notes
    assert sentence in rw.judgements.agreement(more).notes

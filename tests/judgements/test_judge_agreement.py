import json

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import rankwright as rw
from judgements.simulated_judges import graded
from rankwright.base.errors import InputError


def test_all_measures_beside_other_libraries():
    table = graded(1)[0]
    grades = np.where(np.random.default_rng(0).random(table.grades.shape) < 0.7, table.grades, np.nan)
    kept = (~np.isnan(grades)).any(axis=1)
    some = rw.judgements.GradeTable.of(table.qid[kept], table.document_ids[kept], table.judges, grades[kept])
    result = rw.judgements.agreement(some)
    for level, (value, low, high) in result.alphas.items():
        theirs = krippendorff.alpha(reliability_data=grades[kept].T, level_of_measurement=level)
        assert value == pytest.approx(theirs, abs=1e-9)
        assert low < value < high
    for pair in result.pairs:
        columns = grades[:, [some.judges.index(pair.first), some.judges.index(pair.second)]]
        both = columns[~np.isnan(columns).any(axis=1)].astype(int)
        assert pair.documents == len(both)
        assert pair.same == pytest.approx((both[:, 0] == both[:, 1]).mean())
        for name, weights in (("kappa", None), ("linear kappa", "linear"), ("quadratic kappa", "quadratic")):
            theirs = cohen_kappa_score(*both.T, labels=[0, 1, 2, 3], weights=weights)
            assert pair.kappas[name].value == pytest.approx(theirs, abs=1e-9)


def test_grades_and_queries():
    grades = [[0, 0], [0, 0], [1, 1], [2, 1], [2, 0], [1, 2]]
    table = rw.judgements.GradeTable.of(["a", "a", "a", "b", "b", "b"], list("uvwxyz"), ["ada", "bob"], grades)
    result = rw.judgements.agreement(table, measure="nominal")
    assert [(each.grade, each.given) for each in result.grades] == [(0.0, 5), (1.0, 4), (2.0, 3)]
    assert [round(each.agreement.value, 3) for each in result.grades] == [0.8, 0.5, 0.0]
    assert [each.query for each in result.queries] == ["b", "a"]
    assert result.queries[1].alpha == 1.0
    mean = sum(each.alpha for each in result.queries) / 2
    assert mean == pytest.approx(result.alphas["nominal"].value)
    assert result.summary.startswith("Krippendorff's alpha (nominal) of 2 judges is ")


def test_the_result_is_rendered(tmp_path):
    table = graded(1, n_queries=12)[0]
    models = rw.judgements.GradeTable.of(
        table.qid, table.document_ids, table.judges, table.grades, language_models="judge3", notes=["Something."]
    )
    result = rw.judgements.agreement(models)
    assert "judge2, judge3 (language model)" in str(result)
    assert "Something." in str(result)
    assert len(result.frame(1)) == 6
    json.dumps(result.to_dict(), allow_nan=False)
    result.write_page(tmp_path / "page.html")
    assert 'class="chart"' in (tmp_path / "page.html").read_text()


def test_one_query_has_no_interval_and_perfect_agreement_is_1():
    table = rw.judgements.GradeTable.of(["q"] * 3, list("xyz"), ["ada", "bob"], [[0, 0], [1, 1], [2, 2]])
    result = rw.judgements.agreement(table)
    assert result.alphas["ordinal"].value == 1.0
    assert np.isnan(result.alphas["ordinal"].low)
    assert result.summary == "Krippendorff's alpha (ordinal) of 2 judges is 1.0000 on 3 documents of 1 query."


def test_what_cannot_be_compared_is_refused():
    of = rw.judgements.GradeTable.of
    with pytest.raises(InputError, match="needs at least two judges; the only one is 'ada'"):
        rw.judgements.agreement(of(["q"], ["x"], ["ada"], [[1]]))
    with pytest.raises(InputError, match="No document was graded by two judges"):
        rw.judgements.agreement(of(["q", "q"], ["x", "y"], ["ada", "bob"], [[1, np.nan], [np.nan, 1]]))
    with pytest.raises(InputError, match="measure must be 'nominal', 'ordinal' or 'interval', not 'ratio'"):
        rw.judgements.agreement(graded(0)[0], measure="ratio")


def test_one_and_the_same_grade_has_no_alpha():
    table = rw.judgements.GradeTable.of(["q", "q"], ["x", "y"], ["ada", "bob"], [[1, 1], [1, 1]])
    sentence = "2 judges gave one and the same grade to 2 documents of 1 query, so that"
    assert rw.judgements.agreement(table).summary.startswith(sentence)

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import ttest_rel

import rankwright as rw
from judgements.simulated_judges import graded
from properties import examples
from rankwright.base.errors import InputError

METHODS = ("majority", "mean", "dawid_skene")
of = rw.judgements.GradeTable.of


def test_majority_and_mean():
    grades = [[0, 0, 3], [0, 1, 3], [0, 3, np.nan], [2, np.nan, np.nan]]
    table = of(["q"] * 4, list("wxyz"), ["a", "b", "c"], grades)
    assert rw.judgements.merge(table, method="majority").labels.tolist() == [0.0, 1.0, 0.0, 2.0]
    assert rw.judgements.merge(table, method="mean").labels.tolist() == pytest.approx([1, 4 / 3, 1.5, 2])


@pytest.mark.parametrize("method", METHODS)
def test_merged_labels_are_nearer_to_the_truth_than_one_judge(method):
    table, true = graded(4)
    merged = rw.judgements.merge(table, method=method)
    error, alone = (merged.labels - true) ** 2, (table.grades[:, 0] - true) ** 2
    assert error.mean() < 0.5 * alone.mean()
    certain = merged.weights >= np.median(merged.weights)
    assert error[certain].mean() < error[~certain].mean() or certain.all()
    assert ((merged.weights > 0) & (merged.weights <= 1)).all()
    np.testing.assert_allclose(merged.probabilities.sum(axis=1), 1)


def test_dawid_skene_distrusts_a_careless_judge():
    table, true = graded(5, careless=0, accuracy=(0.7, 0.7, 0.7))
    errors = [((rw.judgements.merge(table, method=method).labels - true) ** 2).mean() for method in METHODS]
    assert errors[2] < min(errors[:2])


TABLES = st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
    lambda shape: arrays(float, shape, elements=st.sampled_from([np.nan, 0.0, 1.0, 3.0]))
)


@pytest.mark.parametrize("method", METHODS)
@given(grades=TABLES)
@examples(50)
def test_labels_are_between_grades_in_any_order_of_documents(method, grades):
    if np.isnan(grades).all():
        return
    names = [f"d{row}" for row in range(len(grades))]
    judges = [f"judge{number}" for number in range(grades.shape[1])]
    merged, reverse = (
        rw.judgements.merge(of(["q"] * len(names), names[::step], judges, grades[::step]), method=method)
        for step in (1, -1)
    )
    judged = grades[(~np.isnan(grades)).any(axis=1)]
    low, high = (
        (np.nanmin(judged), np.nanmax(judged))
        if method == "dawid_skene"
        else (np.nanmin(judged, 1), np.nanmax(judged, 1))
    )
    assert (low - 1e-9 <= merged.labels).all()
    assert (merged.labels <= high + 1e-9).all()
    assert ((merged.weights > 0) & (merged.weights <= 1)).all()
    np.testing.assert_allclose(merged.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(reverse.labels[::-1], merged.labels, atol=1e-6)


def test_documents_are_found_by_their_ids():
    table = of(["1", "1", "2"], ["x", "y", "x"], ["a", "b"], [[2, 1], [0, 0], [1, 1]])
    data = rw.Documents(np.eye(4), [2, 1, 1, 1], document_ids=["x", "y", "z", "x"])
    judged, weights = rw.judgements.merge(table).labelled(data)
    assert list(zip(judged.qid.tolist(), judged.document_ids.tolist(), judged.y.tolist(), strict=True)) == [
        (2, "x", 1.0),
        (1, "y", 0.0),
        (1, "x", 1.5),
    ]
    assert len(weights) == 3
    with pytest.raises(InputError, match="None of the documents was judged"):
        rw.judgements.merge(table).labelled(rw.Documents([[1.0]], ["q"], document_ids=["x"]))


@pytest.mark.parametrize("method", METHODS)
def test_one_judge_one_grade_and_files(method, tmp_path):
    merged = rw.judgements.merge(of(["q", "q"], ["x", "y"], ["a"], [[1], [1]]), method=method)
    assert merged.labels.tolist() == [1.0, 1.0]
    json.dumps(merged.to_dict(), allow_nan=False)
    assert "nan" not in str(merged).split()
    rw.write_judgements(merged.judgements, tmp_path / "merged.qrels")
    again = rw.read_judgements(tmp_path / "merged.qrels")
    assert again.labels.tolist() == [1.0, 1.0]


def test_an_unknown_method_is_refused():
    with pytest.raises(InputError, match="method must be 'majority', 'mean' or 'dawid_skene', not 'median'"):
        rw.judgements.merge(graded(0)[0], method="median")


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_labels_merged_from_four_judges_train_a_better_ranker(method):
    """Judges are right 60 times in 100; rankers are compared by true labels of other queries, in 20 worlds."""
    values = np.array([_trained(world, method) for world in range(20)])
    merged, alone = values.T
    assert merged.mean() > alone.mean()
    assert ttest_rel(merged, alone).pvalue < 0.05


def _trained(world, method):
    """Return the NDCG@10 of rankers that learned from four judges and from the first of them."""
    truth = rw.synthetic.RandomPolynomial.draw(world, n_features=10, n_active=5, n_terms=6)
    train, test = truth.sample(60, seed=1, n_documents=10), truth.sample(300, seed=2, n_documents=10)
    random = np.random.default_rng(world)
    slips = random.random((len(train), 4)) > 0.6
    given = train.y[:, None] + slips * random.choice([-2, -1, 1, 2], slips.shape)
    names = [f"d{row}" for row in range(len(train))]
    data = rw.Documents(train.X, train.qid, document_ids=names)
    table = of(train.qid, names, list("abcd"), np.clip(given, 0, train.y.max()))
    judged, weights = rw.judgements.merge(table, method=method).labelled(data)
    rankers = {
        "merged": rw.LambdaMART(rounds=50, max_leaves=8, n_jobs=1).fit(judged, sample_weight=weights),
        "alone": rw.LambdaMART(rounds=50, max_leaves=8, n_jobs=1).fit(data.with_labels(table.grades[:, 0])),
    }
    report = rw.evaluate(rankers, test, metrics="ndcg@10", n_jobs=1)
    return report.mean("merged", "ndcg@10"), report.mean("alone", "ndcg@10")


def test_notes_say_what_weights_cannot():
    alone = rw.judgements.GradeTable.of(["q", "q"], ["x", "y"], ["ada"], [[1], [0]])
    merged = rw.judgements.merge(alone)
    assert merged.weights.tolist() == [1.0, 1.0]
    assert "No document has two grades" in str(merged)
    opposite = rw.judgements.GradeTable.of(["q", "q"], ["x", "y"], ["ada", "bob"], [[1, 0], [0, 1]])
    assert "Judges agree no more than by chance: all weights are the lowest, 0.01." in str(
        rw.judgements.merge(opposite)
    )

"""Scores out of fold: each document is scored by a model that has not seen its query."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.evaluation.out_of_fold import out_of_fold_scores


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.RandomPolynomial.draw(0, n_features=6, n_active=3, n_terms=4).sample(
        12, seed=0, n_documents=8
    )


def test_scores_agree_with_cross_validation(data):
    rankers = {"svm": rw.RankSVM(), "trees": rw.LambdaMART(rounds=5)}
    fits = []
    scores = out_of_fold_scores(rankers, data, folds=3, random_state=4, on_fit=lambda: fits.append(1))
    assert len(fits) == 6
    for name, ranker in rankers.items():
        report = rw.evaluate({name: scores[name]}, data, metrics="ndcg@10")
        expected = rw.cross_validate(ranker, data, metrics="ndcg@10", folds=3, random_state=4)
        np.testing.assert_allclose(
            np.sort(report.per_query(name, "ndcg@10")), np.sort(expected.per_query("ndcg@10")), rtol=1e-12
        )
        assert not hasattr(ranker, "model_")


def test_folds_are_checked(data):
    with pytest.raises(rw.InputError, match="folds must be an integer of at least 2"):
        out_of_fold_scores({"svm": rw.RankSVM()}, data, folds=1)
    with pytest.raises(rw.InputError, match="13 folds need at least 13 queries"):
        out_of_fold_scores({"svm": rw.RankSVM()}, data, folds=13)

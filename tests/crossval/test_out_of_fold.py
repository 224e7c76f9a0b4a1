"""Scores out of fold: each document is scored by a model that has not seen its query."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.crossval.best_feature import best_feature, held_out_best_features
from rankwright.crossval.out_of_fold import HeldOutModels, held_out_fits, out_of_fold_scores
from rankwright.tuning.judging_queries import out_of_fold


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


def test_every_query_is_scored_by_the_model_that_has_not_seen_it(data):
    fits = []
    plan = out_of_fold(data, None)
    models = held_out_fits({"svm": rw.RankSVM()}, plan.parts, on_fit=lambda: fits.append(1))["svm"]
    assert len(models.models) == len(fits) == len(plan.parts)
    scores = models.predict(data)
    for model, part in zip(models.models, plan.parts, strict=True):
        judges = set(part.judges.data.groups.ids)
        assert not judges & set(part.train.data.groups.ids)
        rows = np.flatnonzero(np.isin(data.qid, list(judges)))
        np.testing.assert_array_equal(scores[rows], model.predict(data.take(rows)))
        fitted = rw.RankSVM().fit(part.train)
        np.testing.assert_allclose(scores[rows], fitted.predict(data.take(rows)), rtol=1e-12)
    assert (models.n_features, models.needs_queries) == (6, True)


def test_the_best_feature_of_a_fold_is_chosen_by_the_others(data):
    folds = {str(query): place % 3 for place, query in enumerate(data.groups.ids)}
    beside = HeldOutModels((rw.RankSVM().fit(data).model_,) * 3, folds)
    found = held_out_best_features(beside, data, "map")
    for fold, model in enumerate(found.models):
        others = data.take(np.array([folds[str(query)] != fold for query in data.qid]))
        assert (model.feature, model.direction) == (
            (expected := best_feature(others, "map")).feature,
            expected.direction,
        )


def test_a_query_of_no_fold_is_refused(data):
    models = HeldOutModels((rw.RankSVM().fit(data).model_,), {})
    with pytest.raises(rw.InputError, match="is in the test part of no fold"):
        models.predict(data)

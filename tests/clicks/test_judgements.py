import json
from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

DATA = rw.synthetic.polynomial_queries(100, n_documents=8, seed=4)
RANKERS = {"old": DATA.X[:, 0], "new": DATA.X[:, 1]}
TRUTH = 0.1 + 0.9 * (2**DATA.y - 1) / (2 ** DATA.y.max() - 1)


def test_labels_are_attraction_on_the_scale_of_gains():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=300)
    judged = rw.clicks.click_judgements(log, DATA)
    attraction = (2**judged.data.y - 1) / 15
    assert np.sqrt(np.mean((attraction - TRUTH[judged.rows]) ** 2)) < 0.08
    assert (DATA.X[judged.rows] == judged.data.X).all()
    assert (judged.n_unseen, judged.n_unknown) == (0, 0)


def test_labels_of_the_position_based_model_are_nearer_to_the_truth_than_click_rates():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=100)
    truth = DATA.with_labels(TRUTH)
    quality = {
        name: rw.evaluate({"x": rw.clicks.click_judgements(log, DATA, name).data.y}, truth, metrics="ndcg@5")
        for name in ("position", "document_rates")
    }
    values = {name: report.mean("x", "ndcg@5") for name, report in quality.items()}
    assert values["position"] > values["document_rates"] + 0.02


def test_documents_that_are_shown_more_weigh_more():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=20, power=1.0)
    judged = rw.clicks.click_judgements(log, DATA)
    rows = log.rows_in(DATA)
    shown = np.bincount(rows, 1 / log.position, minlength=len(DATA))[judged.rows]
    assert np.corrcoef(np.log(shown), judged.weights)[0, 1] > 0.6
    assert ((judged.weights >= 0.01) & (judged.weights <= 1)).all()


def test_propensities_with_trust_give_affine_labels():
    log = rw.clicks.simulate(DATA, RANKERS, "trust", sessions=400)
    trusted = rw.clicks.propensities(log, "trust", data=DATA)
    wrong = replace(trusted, trust=np.zeros_like(trusted.trust))
    means = [
        rw.clicks.click_judgements(log, DATA, each).model.estimates()["attraction"].values.mean()
        for each in (trusted, wrong)
    ]
    assert abs(means[0] - TRUTH.mean()) < 0.1
    assert abs(means[1] - TRUTH.mean()) > 0.15


def test_unseen_and_unknown_documents_are_counted():
    data = rw.Documents([[0.1], [0.7], [0.4]], [7, 7, 8], document_ids=["a", "b", "a"])
    log = rw.clicks.from_sessions([("7", ["a", "x"], [1, 0]), ("9", ["a"], [1]), ("7", ["x", "a"], [1, 1])])
    judged = rw.clicks.click_judgements(log, data)
    assert judged.rows.tolist() == [0]
    assert (judged.n_unseen, judged.n_unknown) == (2, 2)
    json.dumps(judged.to_dict(), allow_nan=False)
    assert str(judged).startswith("1 document of 1 query judged by the position-based model")


def test_counts_and_fitted_models_give_the_same_judgements():
    log = rw.clicks.simulate(DATA, RANKERS, sessions=20)
    model = rw.clicks.fit_click_model(log, "cascade")
    given = [rw.clicks.click_judgements(log, DATA, model), rw.clicks.click_judgements(log, DATA, "cascade")]
    given.append(rw.clicks.click_judgements(rw.clicks.ClickCounts.of(log), DATA, "cascade"))
    assert all((each.data.y == given[0].data.y).all() for each in given)


@pytest.mark.parametrize(
    ("query", "model", "sentence"),
    [
        ("other", "position", "No query and document of the log is among the documents; do their ids agree?"),
        ("1", "coec", "The clicks over expected clicks has no attraction of documents to make labels of."),
    ],
)
def test_what_cannot_be_judged_is_refused(query, model, sentence):
    log = rw.clicks.from_sessions([(query, ["doc1", "doc2"], [1, 0])])
    with pytest.raises(InputError) as refused:
        rw.clicks.click_judgements(log, DATA, model)
    assert str(refused.value) == sentence


def test_propensities_of_an_experiment_debias_the_log_of_one_ranker():
    log = rw.clicks.simulate(DATA, DATA.X[:, 0], sessions=400, shuffled=0.05)
    found = rw.clicks.propensities(log, "shuffled")
    truth = DATA.with_labels(TRUTH)
    labels = {
        "experiment": rw.clicks.click_judgements(log, DATA, found).data.y,
        "naive": rw.clicks.click_judgements(log, DATA, "document_rates").data.y,
    }
    report = rw.evaluate(labels, truth, metrics="ndcg@5")
    assert report.mean("experiment", "ndcg@5") > report.mean("naive", "ndcg@5") + 0.02
    model = rw.clicks.click_judgements(log, DATA, found).model
    assert ((model.conditional(log) >= 0) & (model.conditional(log) <= 1)).all()
    with pytest.raises(
        InputError, match="model must be the name of a click model, a fitted one or Propensities, not int"
    ):
        rw.clicks.click_judgements(log, DATA, 3)

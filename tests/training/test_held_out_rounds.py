"""The number of rounds that training queries held out in turn choose."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import rankwright as rw
from rankwright.models.model_file import encode
from rankwright.training.held_out_rounds import TOLERANCE, _nearest


def judged(n_queries=40, noise=0.0, seed=3):
    truth = rw.synthetic.RandomPolynomial.draw(seed, n_features=10, n_active=5, n_terms=8, degree=2)
    return truth.sample(n_queries, seed=seed, n_documents=10, noise=noise)


def rounds_of(data, **weights):
    return len(rw.LambdaMART(n_jobs=1).fit(data, **weights).history_)


def test_noisy_data_get_fewer_rounds_than_clean_data():
    clean, noisy = rounds_of(judged()), rounds_of(judged(noise=0.6))
    assert noisy < 200 < clean <= 750


def test_the_history_says_who_chose():
    ranker = rw.LambdaMART().fit(judged(noise=0.6))
    assert ranker.history_.best_round == len(ranker.history_) == ranker.model_.about["parameters"]["rounds"]
    assert "held out in turn" in ranker.history_.reason


def test_neither_the_order_of_rows_nor_names_of_queries_nor_threads_change_the_model():
    data = judged()
    order = np.random.default_rng(0).permutation(len(data))
    other = rw.RankingData(data.X[order], data.y[order], np.char.add("q", data.qid.astype(str))[order])
    fits = ((1, data), (2, data), (2, other))
    models = [rw.LambdaMART(n_jobs=n_jobs).fit(documents).model_ for n_jobs, documents in fits]
    assert len({encode(model) for model in models}) == 1


def test_weights_go_with_their_documents():
    data = judged()
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(data))
    order = np.random.default_rng(0).permutation(len(data))
    shuffled = rw.RankingData(data.X[order], data.y[order], data.qid[order])
    assert rounds_of(data, sample_weight=weights) == rounds_of(shuffled, sample_weight=weights[order])


@pytest.mark.parametrize("n_queries", [1, 2, 9])
def test_few_queries_get_the_usual_number(n_queries):
    history = rw.LambdaMART().fit(judged(n_queries)).history_
    assert (len(history), "the usual number" in history.reason) == (200, True)


def test_folds_without_anything_to_learn_get_the_usual_number():
    X, y = np.zeros((40, 1)), np.tile([0, 1], 20)
    X[1] = 1.0  # only one of 20 queries has a feature that varies
    assert rounds_of(rw.RankingData(X, y, np.repeat(np.arange(20), 2))) <= 200


def test_queries_without_relevant_documents_do_not_choose():
    data = judged(noise=0.6)
    empty = rw.RankingData(data.X, np.zeros(len(data)), data.qid + 1000)
    both = rw.concat(data, empty)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rounds_of(both) <= 750


def test_given_rounds_validation_and_refits_hold_out_nothing():
    data, valid = judged(), judged(seed=3, n_queries=12)
    assert len(rw.LambdaMART(rounds=7).fit(data).history_) == 7
    chosen = rw.LambdaMART().fit(data, validation=valid)
    assert "validation" in chosen.history_.reason
    again = rw.LambdaMART().fit(data, validation=valid, refit=True)
    assert again.model_.n_trees == chosen.history_.best_round


def test_a_binned_file_gets_the_usual_number(tmp_path):
    rw.write_letor(judged(), tmp_path / "judged.txt")
    binned = rw.BinnedData.create(tmp_path / "judged.txt", tmp_path / "judged.binned")
    assert rounds_of(binned) == 200


VALUES = arrays(
    np.float64, st.tuples(st.integers(1, 12), st.integers(2, 8)), elements=st.integers(0, 8).map(lambda n: n / 8)
)


@given(VALUES, st.integers(1, 12))
def test_the_nearest_number_as_good_as_the_best_is_kept(values, usual):
    best = max(range(len(values)), key=lambda index: (values[index].mean(), -index))
    good = []
    for index, of_round in enumerate(values):
        worse = np.sort(values[best] - of_round)
        if worse.mean() <= TOLERANCE * (worse.std(ddof=1) / np.sqrt(len(worse))):
            good.append(index + 1)
    kept = _nearest(values, usual).best_round
    assert abs(np.log(kept / usual)) == pytest.approx(min(abs(np.log(number / usual)) for number in good))

"""Rankers of other libraries, whose models become our scorers."""

import sys
from importlib import import_module

import numpy as np
import pytest

import rankwright as rw
from interop.foreign import judged, rows_around
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.rankers.catalogue import known_rankers
from rankwright.rankers.shared import foreign_boosters
from rankwright.rankers.shared.foreign_boosters import FOREIGN_BOOSTERS, Judged
from rankwright.training.training_set import TrainingSet
from shared_data import SHARED, needs_shared_data


@pytest.fixture(params=list(FOREIGN_BOOSTERS))
def companion(request):
    pytest.importorskip(request.param)
    return FOREIGN_BOOSTERS[request.param]


@pytest.fixture
def of_lightgbm():
    pytest.importorskip("lightgbm")
    return FOREIGN_BOOSTERS["lightgbm"]


def data_of(seed=0, missing=0.1, **options):
    X, y, sizes = judged(seed, missing=missing, **options)
    return rw.RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes))


def test_they_are_no_ordinary_rankers():
    assert not {*FOREIGN_BOOSTERS.values()} & {*known_rankers().values()}
    assert all(kind.name == name == kind.library.lower() for name, kind in FOREIGN_BOOSTERS.items())


def test_it_learns_and_is_saved_inside_a_mixture(companion, tmp_path):
    train, test = data_of(0), data_of(1)
    ranker = companion(rounds=20, n_jobs=1).fit(train)
    assert ranker.score(test) > ranker.metric(test.y, np.zeros(len(test)), test.qid) + 0.05
    assert len(ranker.history_) == ranker.model_.n_rounds == 20
    assert ranker.model_.about["library"].startswith(f"{companion.library} ")
    assert ranker.feature_importances_[[0, 2]].sum() > 0.5
    mixture = rw.mix_standardised([ranker, rw.LambdaMART(rounds=5).fit(train)])
    rw.save(mixture, tmp_path / "mixture.rw")
    np.testing.assert_array_equal(rw.load(tmp_path / "mixture.rw").predict(test), mixture.predict(test))


def test_neither_threads_nor_the_order_of_rows_matter(companion):
    train = data_of()
    order = np.random.default_rng(1).permutation(len(train))
    shuffled = rw.RankingData(train.X[order], train.y[order], 1000 - train.qid[order])
    one, other = companion(rounds=10, n_jobs=1).fit(train), companion(rounds=10, n_jobs=2).fit(shuffled)
    np.testing.assert_array_equal(one.predict(train), other.predict(train))


def test_random_state_changes_the_model(companion):
    train = data_of()
    one, other = (companion(rounds=5, n_jobs=1, random_state=seed).fit(train) for seed in (0, 1))
    assert not np.array_equal(one.predict(train), other.predict(train))


def test_validation_chooses_the_round(companion):
    train, validation = data_of(0), data_of(1)
    seen = []
    ranker = companion(rounds=15, n_jobs=1).fit(train, validation=validation, on_round=seen.append)
    assert len(ranker.history_) == len(seen) == 15
    assert ranker.model_.n_rounds == ranker.history_.best_round
    last = ranker.metric(validation.y, ranker.predict(validation), validation.qid)
    np.testing.assert_allclose(ranker.history_[ranker.history_.best_round - 1].validation, last)
    again = companion(rounds=15, n_jobs=1).fit(train, validation=validation, refit=True)
    assert again.model_.n_rounds == ranker.history_.best_round
    assert again.model_.about["documents"] == len(train) + len(validation)


def test_without_the_library_the_message_says_how_to_install_it(monkeypatch):
    for name, kind in FOREIGN_BOOSTERS.items():
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(
            MissingPackageError, match=rf"needs {kind.library}: pip install 'rankwright\[{name}\]'\.$"
        ):
            kind().fit(data_of())


@pytest.mark.parametrize(("name", "highest"), [("lightgbm", 30), ("xgboost", 31)])
@pytest.mark.parametrize("label", [-1.0, 0.5, 32.0])
def test_labels_that_the_library_does_not_take(name, highest, label):
    pytest.importorskip(name)
    train = data_of()
    y = np.where(np.arange(len(train)) == 7, label, train.y)
    with pytest.raises(InputError, match=f"takes labels that are integers from 0 to {highest}, not {label:g}"):
        FOREIGN_BOOSTERS[name](rounds=2).fit(train.X, y, train.qid)
    y[7] = highest
    assert FOREIGN_BOOSTERS[name](rounds=2).fit(train.X, y, train.qid).model_.n_rounds == 2


def test_catboost_takes_labels_that_are_no_integers():
    pytest.importorskip("catboost")
    train = data_of()
    assert FOREIGN_BOOSTERS["catboost"](rounds=2).fit(train.X, train.y + 0.5, train.qid).model_.n_rounds == 2


def test_weights_and_starts_are_refused(companion):
    train = data_of()
    with pytest.raises(InputError, match="takes no weights"):
        companion(rounds=2).fit(train, query_weight=np.arange(1, 31))
    with pytest.raises(InputError, match="takes no start"):
        companion(rounds=2).fit(train, start=np.zeros(len(train)))


def test_nothing_to_learn(companion):
    train = data_of()
    with pytest.raises(InputError, match=r"nothing to learn|All train targets are equal"):
        companion(rounds=2).fit(train.X, np.ones(len(train)), train.qid)


def test_what_the_library_refuses_is_said_in_its_name(of_lightgbm):
    X = np.arange(10_001.0)[:, None]
    with pytest.raises(InputError, match=r"^LightGBM [\d.]+ cannot learn from these data: .*10001.*\.$"):
        of_lightgbm(rounds=2).fit(X, X[:, 0] > 10, np.zeros(len(X), dtype=int))


def test_a_converted_model_that_disagrees_is_refused(of_lightgbm, monkeypatch):
    convert = foreign_boosters.scorer_from_lightgbm
    monkeypatch.setattr(foreign_boosters, "scorer_from_lightgbm", lambda text: convert(text).scaled(1.0001))
    with pytest.raises(
        InputError, match=r"^The scores of LightGBM [\d.]+ and those of its converted model differ"
    ):
        of_lightgbm(rounds=5).fit(data_of())


@needs_shared_data
@pytest.mark.parametrize("collection", ["OHSUMED", pytest.param("MQ2008", marks=pytest.mark.long)])
def test_real_documents_are_scored_as_in_the_library(companion, collection):
    train, _, test = rw.read_fold(SHARED / "letor" / collection / "Fold1")
    prepared = TrainingSet(train)
    data = Judged(train.X[prepared.canonical_rows], prepared.labels.y, prepared.labels.groups.sizes)
    trained = companion()._train(import_module(companion.name), data, 100, 1)
    rows = np.concatenate([train.X, test.X, rows_around(trained.scorer, n=5000)])
    expected, found = np.asarray(trained.predict(rows), dtype=np.float64), trained.scorer.predict(rows)
    if companion.name == "xgboost":  # which sums in 32 bits
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    else:
        np.testing.assert_array_equal(found, expected)

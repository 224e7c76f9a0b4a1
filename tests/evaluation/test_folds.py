"""Cross-validation of data without folds: a value, a file, a list of parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright import AdaRank, InputError, LambdaMART, RankingData, RankSVM, cross_validate, synthetic
from rankwright.evaluation import evaluate
from rankwright.evaluation.folds import Division, Folds
from rankwright.metrics import NDCG

TRUTH = synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4)
DATA = TRUTH.sample(23, seed=1, n_documents=6)
RANKER = LambdaMART(NDCG(k=5), rounds=6)


def folds_of(data=DATA, **options):
    return list(Folds.of(data, Division(**options)))


def queries(data):
    return set(data.qid.tolist())


@pytest.mark.parametrize("options", [{}, {"folds": 2, "repeats": 3}, {"folds": 23}, {"validation": 0.3}])
def test_every_query_is_tested_once_per_repeat(options):
    made = folds_of(**options)
    n_folds, repeats = options.get("folds", 5), options.get("repeats", 1)
    assert [(fold.name, fold.repeat) for fold in made] == [
        (f"Fold{number + 1}", repeat + 1) for repeat in range(repeats) for number in range(n_folds)
    ]
    for repeat in range(repeats):
        tested = [queries(fold.test) for fold in made if fold.repeat == repeat + 1]
        assert sum(map(len, tested)) == len(set.union(*tested)) == 23
        assert max(map(len, tested)) - min(map(len, tested)) <= 1
    for fold in made:
        parts = [fold.train, fold.test] + ([] if fold.valid is None else [fold.valid])
        assert sum(len(queries(part)) for part in parts) == 23
        assert set.union(*map(queries, parts)) == queries(DATA)
        assert (fold.valid is None) == ("validation" not in options)
        if fold.valid is not None:
            assert len(queries(fold.valid)) == round(0.3 * (23 - len(queries(fold.test))))


def test_repeats_and_seeds_divide_otherwise():
    made = [frozenset(queries(fold.test)) for fold in folds_of(folds=2, repeats=3)]
    assert len(set(made)) == 6
    assert queries(folds_of(random_state=1)[0].test) != queries(folds_of()[0].test)


def test_neither_the_order_of_rows_nor_the_names_of_queries_change_the_folds():
    rows = np.random.default_rng(0).permutation(len(DATA))
    renamed = RankingData(DATA.X[rows], DATA.y[rows], [f"q{one}" for one in DATA.qid[rows]])
    one, other = (cross_validate(RANKER, data, validation=0.2, repeats=2) for data in (DATA, renamed))
    np.testing.assert_allclose(one.mean("map"), other.mean("map"), rtol=1e-12)
    for fold, twin in zip(folds_of(validation=0.2), folds_of(renamed, validation=0.2), strict=True):
        assert {f"q{one}" for one in queries(fold.valid)} == queries(twin.valid)


def test_without_a_validation_part_every_fold_learns_all_rounds():
    found = cross_validate(RANKER, DATA, folds=3, metrics=["ndcg@5"])
    for fold, parts in zip(found.folds, folds_of(folds=3), strict=True):
        fitted = LambdaMART(NDCG(k=5), rounds=6).fit(parts.train)
        expected = evaluate({"lambdamart": fitted}, parts.test, metrics=["ndcg@5"])
        np.testing.assert_array_equal(
            fold.report.per_query("lambdamart", "ndcg@5"), expected.per_query("lambdamart", "ndcg@5")
        )
        assert fold.best_round == 6
    assert (found.chosen, found.best.get_params()) == ({}, RANKER.get_params())


def test_a_validation_part_chooses_the_round():
    found = cross_validate(RANKER, DATA, folds=3, validation=0.25)
    rounds = []
    for parts in folds_of(folds=3, validation=0.25):
        fitted = LambdaMART(NDCG(k=5), rounds=6).fit(parts.train, validation=parts.valid)
        rounds.append(fitted.history_.best_round)
    assert [fold.best_round for fold in found.folds] == rounds
    assert found.chosen == {"rounds": round(np.median(rounds))}
    assert found.best.rounds == found.chosen["rounds"]
    assert not hasattr(found.best, "model_")


def test_a_file_is_the_value_it_holds(tmp_path):
    rw.write_letor(DATA, tmp_path / "all.txt")
    header = ",".join(["qid", "label", *"abcde"])
    table = np.column_stack([DATA.qid, DATA.y, DATA.X.astype(np.float64)])
    np.savetxt(tmp_path / "all.csv", table, delimiter=",", fmt="%.17g", header=header, comments="")
    means = [cross_validate(AdaRank(), one).mean("map") for one in (DATA, rw.TrainingSet(DATA))]
    means += [cross_validate(AdaRank(), tmp_path / name).mean("map") for name in ("all.txt", "all.csv")]
    means += [cross_validate(AdaRank(), str(tmp_path / "all.txt")).mean("map")]
    assert means == [means[0]] * 5


def test_a_list_of_parts():
    train, valid, test = rw.split_queries(DATA, 10, 6, 7)
    pairs = cross_validate(RANKER, [(train, test), (test, train)])
    assert [len(fold.report.queries) for fold in pairs.folds] == [7, 10]
    assert [fold.fold for fold in pairs.folds] == ["Fold1", "Fold2"]
    triples = cross_validate(RANKER, [(train, valid, test)])
    expected = LambdaMART(NDCG(k=5), rounds=6).fit(train, validation=valid)
    assert triples.folds[0].best_round == expected.history_.best_round
    assert triples.mean("map") == evaluate({"x": expected}, test, metrics=["map"]).mean("x", "map")


def test_the_standard_error_is_over_queries_and_repeats_count_once():
    found = cross_validate(RANKER, DATA, repeats=3, metrics=["map"])
    by_query = {}
    for fold in found.folds:
        for query, value in zip(fold.report.queries, fold.report.per_query("lambdamart", "map"), strict=True):
            by_query.setdefault(query, []).append(value)
    assert {len(values) for values in by_query.values()} == {3}
    means = [np.mean(values) for values in by_query.values()]
    assert found.standard_error("map") == pytest.approx(np.std(means, ddof=1) / np.sqrt(23))
    assert sorted(found.per_query("map")) == pytest.approx(sorted(means))
    once = cross_validate(RANKER, DATA, metrics=["map"])
    assert once.standard_error("map") == pytest.approx(np.std(once.per_query("map"), ddof=1) / np.sqrt(23))
    assert np.isnan(cross_validate(RANKER, [(DATA, DATA.take_queries([0]))]).standard_error("map"))


def test_repeats_in_json():
    plain = json.loads(json.dumps(cross_validate(RANKER, DATA, folds=2, repeats=2).to_dict(), allow_nan=False))
    assert [(fold["repeat"], fold["fold"]) for fold in plain["folds"]] == [
        (1, "Fold1"),
        (1, "Fold2"),
        (2, "Fold1"),
        (2, "Fold2"),
    ]
    assert plain["repeats"] == 2
    assert set(plain["standard_error"]) == set(plain["mean"])


GRID = {"max_leaves": [2, 4], "learning_rate": [0.1, 0.3]}


@pytest.mark.parametrize(
    ("tune", "validation", "protocol"),
    [(True, 0.0, "out-of-fold"), (True, 0.25, "validation"), ("out-of-fold", 0.25, "out-of-fold")],
)
def test_tuning_of_data_without_folds(tune, validation, protocol):
    found = cross_validate(RANKER, DATA, folds=2, validation=validation, tune=tune, grid=GRID)
    assert found.protocol == protocol
    trials = list(zip(*(fold.trials for fold in found.folds), strict=True))
    values = [np.mean([trial.value for trial in of_setting]) for of_setting in trials]
    best = trials[int(np.argmax(values))]
    rounds = round(np.median([trial.rounds for trial in best]))
    assert found.chosen == {**best[0].parameters, "rounds": rounds}
    assert {name: found.best.get_params()[name] for name in found.chosen} == found.chosen


def test_a_ranker_without_rounds_is_refitted_with_its_setting():
    found = cross_validate(RankSVM(), DATA, folds=2, validation=0.25, tune=True, grid={"C": [0.1, 10.0]})
    assert set(found.chosen) == {"C"}


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (DATA, {"folds": 1}, "folds must be an integer of at least 2, not 1"),
        (DATA, {"folds": 5.0}, "folds must be an integer of at least 2, not 5.0"),
        (DATA, {"repeats": 0}, "repeats must be an integer of at least 1, not 0"),
        (DATA, {"random_state": -1}, "random_state must be an integer of at least 0, not -1"),
        (DATA, {"validation": 1.0}, "validation must be a number from 0 to below 1, not 1.0"),
        (DATA, {"folds": 24}, "24 folds need at least 24 queries, not 23"),
        (DATA, {"tune": "validation"}, "needs a validation part; 'out-of-fold' does not"),
        ("nowhere", {}, "There is no file or folder nowhere"),
        (3, {}, "not int"),
        ([], {}, "A list of folds must hold"),
        ([(DATA,)], {}, "A list of folds must hold"),
        ([(DATA, DATA), (DATA, DATA, DATA)], {}, "A list of folds must hold"),
        ([(DATA, 3)], {}, "A list of folds must hold"),
        ([(DATA, DATA)], {"folds": 3}, "A list of parts has folds of its own"),
    ],
)
def test_mistakes_are_told_before_training(monkeypatch, data, options, sentence):
    monkeypatch.setattr(LambdaMART, "fit", None)
    with pytest.raises(InputError, match=sentence):
        cross_validate(RANKER, data, **options)


# ---- rw.tune


def test_tune_chooses_on_validation_and_fits_on_the_training_part():
    train, valid = rw.split_queries(DATA, 0.7, 0.3)
    tuned = rw.tune(RANKER, train, validation=valid, grid=GRID)
    fold = cross_validate(RANKER, [(train, valid, DATA)], tune="validation", grid=GRID).folds[0]
    assert (tuned.protocol, tuned.trials, tuned.best.parameters) == ("validation", fold.trials, fold.chosen)
    assert tuned.ranker.rounds == tuned.best.rounds == fold.best_round
    assert tuned.data.data is train
    ranker = tuned.fit()
    expected = LambdaMART(NDCG(k=5), **{**tuned.best.parameters, "rounds": tuned.best.rounds}).fit(train)
    np.testing.assert_array_equal(ranker.predict(DATA), expected.predict(DATA))
    assert not hasattr(RANKER, "model_")


def test_tune_without_a_validation_part_is_out_of_fold():
    seen = []
    tuned = rw.tune(RANKER, rw.TrainingSet(DATA), grid=GRID, on_fit=lambda: seen.append(1))
    assert (tuned.protocol, len(tuned.trials), len(seen)) == ("out-of-fold", 4, 16)
    assert len(tuned.data) == len(DATA)
    train, valid = rw.split_queries(DATA, 0.7, 0.3)
    both = rw.tune(RANKER, train, validation=valid, choose="out-of-fold", grid=GRID)
    assert both.trials == tuned.trials  # the same queries
    assert len(both.data) == len(DATA)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"choose": "validation"}, "needs a validation part"),
        ({"choose": "best"}, "no tuning protocol 'best'"),
        ({"workers": 0}, "workers must be"),
        ({"grid": {"leaves": [3]}}, "did you mean 'max_leaves'"),
    ],
)
def test_mistakes_in_tune(monkeypatch, options, sentence):
    monkeypatch.setattr(LambdaMART, "fit", None)
    with pytest.raises(InputError, match=sentence):
        rw.tune(RANKER, DATA, **options)

"""Cross-validation of data without folds: a value, a file, a list of parts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright import AdaRank, InputError, LambdaMART, RankingData, RankSVM, cross_validate, synthetic
from rankwright.crossval.folds import Folds
from rankwright.crossval.splits import SplitOptions
from rankwright.evaluation.evaluate import evaluate
from rankwright.metrics import NDCG

TRUTH = synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4)
DATA = TRUTH.sample(23, seed=1, n_documents=6)
NOTHING = RankingData(DATA.X, np.zeros(len(DATA)), DATA.qid)
RANKER = LambdaMART(NDCG(k=5), rounds=6)


def folds_of(data=DATA, **options):
    return list(Folds.of(data, SplitOptions(**options)))


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


def test_a_fold_may_validate_as_in_letor():
    """Three folds train, one validates, one tests; the validating fold tests in the fold before."""
    made = folds_of(validation="fold")
    for place, fold in enumerate(made):
        assert queries(fold.valid) == queries(made[place - 1].test)
        others = [queries(one.test) for one in made if one not in (fold, made[place - 1])]
        assert queries(fold.train) == set.union(*others)
        assert len(others) == 3
    assert [queries(one.test) for one in made] == [queries(one.test) for one in folds_of()]
    assert SplitOptions(validation="fold").has_validation
    found = cross_validate(RANKER, DATA, validation="fold", tune=True, grid={"max_leaves": [4]})
    assert found.protocol == "validation"


def relevant_per_query(data):
    return data.groups.reduce(np.add, (data.y >= 1).astype(int))


@pytest.mark.parametrize("options", [{}, {"folds": 3, "repeats": 2}, {"validation": 0.3}, {"validation": "fold"}])
def test_stratified_folds_have_as_many_queries_of_every_kind(options):
    counts = np.random.default_rng(1).integers(0, 12, size=60)
    counts[7] = 300  # a stratum of its own cannot be too small
    y = np.concatenate([np.r_[np.ones(count), np.zeros(2)] for count in counts])
    qid = np.repeat(np.arange(60), counts + 2)
    data = RankingData(np.random.default_rng(2).normal(size=(len(y), 2)), y, qid)
    made = folds_of(data, stratify=True, **options)
    by_count = np.sort(counts)
    n_folds = options.get("folds", 5)
    strata = [set(range(start, start + n_folds)) for start in range(0, 60, n_folds)]
    for fold in made:
        parts = [fold.test] + ([fold.valid] if options.get("validation") == "fold" else [])
        for part in parts:
            found = np.sort(relevant_per_query(part))
            assert all(
                by_count[min(stratum)] <= one <= by_count[max(stratum)]
                for one, stratum in zip(found, strata, strict=True)
            )
        if options.get("validation") == 0.3:
            train, valid = (relevant_per_query(part) for part in (fold.train, fold.valid))
            assert len(valid) == round(0.3 * (len(train) + len(valid)))
            medians = [np.median(one) for one in (train, valid)]
            assert abs(medians[0] - medians[1]) <= 1
    tested = [query for fold in made for query in set(fold.test.qid.tolist())]
    assert sorted(tested) == sorted(list(range(60)) * options.get("repeats", 1))
    assert folds_of(data, stratify=True)[0].test.qid.tolist() != folds_of(data)[0].test.qid.tolist()


def test_stratified_folds_depend_neither_on_rows_nor_on_names():
    rows = np.random.default_rng(0).permutation(len(DATA))
    renamed = RankingData(DATA.X[rows], DATA.y[rows], [f"q{one}" for one in DATA.qid[rows]])
    for fold, twin in zip(
        folds_of(stratify=True, validation=0.2), folds_of(renamed, stratify=True, validation=0.2), strict=True
    ):
        assert {f"q{one}" for one in queries(fold.test)} == queries(twin.test)
        assert {f"q{one}" for one in queries(fold.valid)} == queries(twin.valid)


def test_made_folds_can_be_used_again():
    made = rw.make_folds(DATA, 4, validation="fold", stratify=True, random_state=3)
    assert repr(made) == "Folds(4, with validation)"
    assert len(made) == len(list(made)) == 4
    expected = cross_validate(RANKER, DATA, folds=4, validation="fold", stratify=True, random_state=3)
    assert cross_validate(RANKER, made).per_query("map").tolist() == expected.per_query("map").tolist()
    assert repr(rw.make_folds(DATA, 2, repeats=2)) == "Folds(4 in 2 repeats, without validation)"
    with pytest.raises(InputError, match="The folds are made already; min_relevant and folds, repeats"):
        cross_validate(RANKER, made, min_relevant=2)
    with pytest.raises(InputError, match="The folds are made already; folds, repeats"):
        cross_validate(RANKER, made, folds=3)
    with pytest.raises(InputError, match="make_folds takes RankingData, not str"):
        rw.make_folds("judged.txt")


FEW = RankingData(DATA.X, np.where(DATA.qid < 5, 0, DATA.y), DATA.qid)  # nothing relevant in five queries


def test_queries_with_few_relevant_documents_are_dropped_before_data_are_divided():
    counts = relevant_per_query(FEW)
    kept = rw.drop_queries(FEW, min_relevant=2)
    n_dropped = int((counts < 2).sum())
    assert 5 <= n_dropped < 20
    found = cross_validate(RANKER, FEW, folds=3, repeats=2, min_relevant=2)
    expected = cross_validate(RANKER, kept, folds=3, repeats=2)
    assert found.per_query("map").tolist() == expected.per_query("map").tolist()
    assert found.dropped == {"fewer than 2 relevant documents": n_dropped}
    assert (expected.dropped, "dropped_queries" in expected.to_dict()) == ({}, False)
    assert found.to_dict()["dropped_queries"] == found.dropped
    assert found.pooled().footnote() == (
        f"{23 - n_dropped} queries; dropped: {n_dropped} queries with fewer than 2 relevant documents"
    )
    made = rw.make_folds(FEW, 3, repeats=2, min_relevant=2)
    assert cross_validate(RANKER, made).dropped == found.dropped


def test_given_folds_lose_queries_in_every_part():
    train, valid, test = rw.split_queries(FEW, 9, 7, 7)
    found = cross_validate(RANKER, [(train, valid, test)], min_relevant=1)
    parts = [rw.drop_queries(part, min_relevant=1) for part in (train, valid, test)]
    assert found.per_query("map").tolist() == cross_validate(RANKER, [parts]).per_query("map").tolist()
    n_dropped = len(test.groups) - len(parts[2].groups)
    assert found.dropped == {"fewer than 1 relevant document": n_dropped}
    nothing = RankingData(DATA.X, np.zeros(len(DATA)), DATA.qid)
    sentence = "Fold1 cannot be used: There is nothing left: every query has fewer than 1 relevant document."
    with pytest.raises(InputError, match=sentence):
        cross_validate(RANKER, [(nothing, test)], min_relevant=1)
    with pytest.raises(InputError, match="Fold1 cannot be measured: There is nothing left"):
        cross_validate(RANKER, [(train, nothing)], min_relevant=1)


def test_queries_of_one_label_train_but_do_not_test():
    y = np.where(DATA.qid < 4, 1, DATA.y)
    data = RankingData(DATA.X, y, DATA.qid)
    whole, some = (cross_validate(RANKER, data, folds=3, drop_one_label=drop) for drop in (False, True))
    queries = whole.pooled().queries
    kept = [place for place, query in enumerate(queries) if query >= 4]
    assert some.per_query("map").tolist() == whole.per_query("map")[kept].tolist()
    assert some.dropped == {"a single label": 4}


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
        (DATA, {"repeats": 0}, "repeats must be a positive integer, not 0"),
        (DATA, {"random_state": -1}, "random_state must be a non-negative integer, not -1"),
        (DATA, {"validation": 1.0}, "validation must be a number from 0 to below 1, or 'fold', not 1.0"),
        (DATA, {"folds": 24}, "24 folds need at least 24 queries, not 23"),
        (DATA, {"folds": 24, "stratify": True}, "24 folds need at least 24 queries, not 23"),
        (DATA, {"folds": 2, "validation": "fold"}, "validation='fold' needs at least 3 folds"),
        (DATA, {"validation": "letor"}, "validation must be a number from 0 to below 1, or 'fold', not 'letor'"),
        (DATA, {"validation": 0.01}, "are too few: part 2, 0.01, would be empty"),
        (DATA, {"validation": 0.01, "stratify": True}, "are too few: part 2, 0.01, would be empty"),
        (DATA, {"stratify": 1}, "stratify must be True or False, not 1"),
        (DATA, {"min_relevant": 99}, "There is nothing left: every query has fewer than 99 relevant documents"),
        (NOTHING, {"stratify": True}, "Folds cannot be stratified: no document is relevant"),
        (NOTHING, {"min_relevant": 1}, "There is nothing left: every query has fewer than 1 relevant document"),
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


def shared_documents():
    """Return 12 queries that share 40 documents."""
    rng = np.random.default_rng(0)
    rows = [(f"q{q}", f"d{d}") for q in range(12) for d in rng.permutation(40)[:25]]
    labels = rng.integers(0, 2, len(rows))
    return rw.RankingData(
        rng.random((len(rows), 2)), labels, [q for q, _ in rows], document_ids=[d for _, d in rows]
    )


@pytest.mark.parametrize("validation", [0.0, 0.25, "fold"])
def test_new_documents_are_in_no_other_part(validation):
    data = shared_documents()
    folds = rw.make_folds(data, 4, validation=validation, new_documents=True)
    tested = []
    for fold in folds:
        parts = [fold.train, *([] if fold.valid is None else [fold.valid])]
        for part in parts:
            assert not {*part.document_ids} & {*fold.test.document_ids}
            assert not {*part.qid} & {*fold.test.qid}
        tested += [*zip(fold.test.qid.tolist(), fold.test.document_ids, strict=True)]
    assert len(tested) == len({*tested}) > 0
    assert folds.known_documents == 0.0
    assert rw.make_folds(data, 4).known_documents > 0.9


def test_the_fraction_of_known_documents():
    data = rw.RankingData(
        [[0.0]] * 5, [1, 1, 1, 0, 1], ["a", "b", "a", "b", "c"], document_ids=["x", "x", "y", "y", "z"]
    )
    from rankwright.crossval.splits import known_documents

    assert known_documents(data, np.array([0, 1, 2])) == 0.5  # x twice, of four relevant rows
    assert known_documents(data, np.array([0, 0, 1])) == 0.0
    assert np.isnan(known_documents(rw.RankingData([[0.0]], [1], ["a"]), np.array([0])))


def test_new_documents_need_ids_and_one_repeat():
    data = rw.synthetic.gaussian_queries(6)
    with pytest.raises(rw.InputError, match="needs the ids of documents"):
        rw.make_folds(data, 3, new_documents=True)
    with pytest.raises(rw.InputError, match="cannot be used with"):
        rw.make_folds(data, 3, repeats=2, new_documents=True)


def weeks(n_weeks=8, per_week=4):
    """Judged queries of several weeks; the column `week` is shown."""
    data = synthetic.gaussian_queries(n_weeks * per_week)
    number = np.unique(data.qid, return_inverse=True)[1]
    return data.with_columns(None, {"week": [str(value % n_weeks) for value in number]})


def week_of(part):
    return np.array([float(week) for week in part.shown["week"]])


@pytest.mark.parametrize("validation", [0.0, 0.3, "fold"])
def test_folds_in_time_order_learn_from_earlier_queries(validation):
    folds = list(rw.make_folds(weeks(), 3, validation=validation, time_column="week"))
    assert len(folds) == 3
    tested = []
    for fold in folds:
        earlier = week_of(fold.train)
        if fold.valid is not None:
            assert earlier.max() < week_of(fold.valid).min()
            earlier = np.append(earlier, week_of(fold.valid))
        assert earlier.max() < week_of(fold.test).min()
        assert earlier.min() == 0
        tested += [fold.period]
        assert not {*fold.train.qid} & {*fold.test.qid}
    assert tested == sorted(tested)
    assert folds[-1].period.endswith("7")


def test_the_first_half_is_only_learned_from():
    folds = list(rw.make_folds(weeks(), 4, time_column="week"))
    assert [fold.period for fold in folds] == ["4", "5", "6", "7"]
    assert [len(fold.train.groups) for fold in folds] == [16, 20, 24, 28]


@pytest.mark.parametrize(
    "option", [{"repeats": 2}, {"stratify": True}, {"new_documents": True}, {"random_state": 1}]
)
def test_options_of_random_folds_have_no_effect_in_time_order(option):
    with pytest.raises(rw.InputError, match=f"only one division: leave out {next(iter(option))}"):
        rw.make_folds(weeks(), 3, time_column="week", **option)


def test_more_folds_than_times():
    sentence = (
        r"^10 periods need at least 10 different times; column 'week' has 8 different times: ask for fewer folds"
    )
    with pytest.raises(rw.InputError, match=sentence):
        rw.make_folds(weeks(), 9, time_column="week")


def test_documents_that_were_relevant_before_are_known():
    data = weeks()
    same = rw.RankingData(data.X, data.y, data.qid, document_ids=["d"] * len(data)).with_columns(None, data.shown)
    assert rw.make_folds(same, 3, time_column="week").known_documents == 1.0
    new = rw.RankingData(data.X, data.y, data.qid, document_ids=[f"d{row}" for row in range(len(data))])
    assert rw.make_folds(new.with_columns(None, data.shown), 3, time_column="week").known_documents == 0.0

"""Analyses that fit rankers out of fold: metric transfer, learning curve, ablation."""

import numpy as np
import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.analyses.ablation import count_ablation_fits, feature_groups
from rankwright.analyses.extrapolation import Measured, extrapolate
from rankwright.analyses.learning_curve import count_learning_fits
from rankwright.base.errors import InputError
from rankwright.crossval.splits import SplitOptions

DATA, TEST = judged(), judged(seed=2)  # 30 queries each
FAST = rw.AdaRank("map", n_jobs=1)


def calls():
    done = []
    return done, lambda: done.append(1)


class TestMetricTransfer:
    def test_every_cell_is_the_value_of_its_own_fit(self):
        done, on_fit = calls()
        found = rw.analyses.metric_transfer(FAST, [(DATA, TEST)], metrics="map,ndcg@3", on_fit=on_fit)
        assert len(done) == 2
        for trained in ("map", "ndcg@3"):
            ranker = rw.AdaRank(trained, n_jobs=1).fit(DATA)
            for measured in ("map", "ndcg@3"):
                test, train = (
                    rw.evaluate(ranker, part, metrics=measured).mean("AdaRank", measured) for part in (TEST, DATA)
                )
                assert found.test[trained, measured] == test
                assert found.train[trained, measured] == train
        difference = found.against_own["ndcg@3", "map"].difference
        assert difference == pytest.approx(found.test["ndcg@3", "map"] - found.test["map", "map"])
        assert len(found.tables[0].rows) == 4
        assert found.to_dict()["values"][1]["measured"] == "ndcg@3"
        assert "trained with map" in str(found.chart().spec)

    def test_folds_are_made_and_repeated(self):
        once = rw.analyses.metric_transfer(FAST, DATA, metrics=["map", "mrr"], folds=3)
        twice = rw.analyses.metric_transfer(FAST, DATA, metrics=["map", "mrr"], folds=3, repeats=2)
        assert once.n_queries == twice.n_queries == 30
        expected = rw.cross_validate(FAST, DATA, folds=3, metrics=["map"])
        assert once.test["map", "map"] == pytest.approx(expected.per_query("map").mean())

    def test_a_ranker_to_which_the_metric_means_nothing_is_told(self):
        found = rw.analyses.metric_transfer(rw.RankSVM(n_jobs=1), [(DATA, TEST)], metrics="map,mrr")
        assert found.summary.endswith("the metric makes no difference to RankSVM.")

    @pytest.mark.parametrize("metrics", ["map", ["map", "map"]])
    def test_one_metric_is_refused(self, metrics):
        with pytest.raises(InputError, match="At least two different metrics are needed, not map"):
            rw.analyses.metric_transfer(FAST, DATA, metrics=metrics)


class TestLearningCurve:
    def test_points_are_out_of_fold_and_the_last_uses_all_training_queries(self):
        done, on_fit = calls()
        how = {"sizes": [5, 10, 24], "draws": 2, "metric": "map"}
        found = rw.analyses.learning_curve(FAST, DATA, on_fit=on_fit, **how)
        assert len(done) == count_learning_fits(DATA, SplitOptions(), [5, 10, 24], 2) == 5 * (2 + 2 + 1)
        assert [point.n_queries for point in found.points] == [5, 10, 24]
        expected = rw.cross_validate(FAST, DATA, metrics=["map"]).per_query("map").mean()
        assert found.points[-1].value.value == pytest.approx(expected)
        assert found.n_queries == 30
        assert found.gain.value == pytest.approx(found.doubled.value - found.now.value)
        assert found.gain.low < found.gain.value < found.gain.high
        assert found.curve[0][0] == pytest.approx(5)
        assert found.curve[-1][0] == pytest.approx(60)
        assert [row[0] for row in found.tables[0].rows] == [5, 10, 24, 30, 60]
        assert "twice" in found.summary
        assert found.to_dict()["points"][0]["train_queries"] == 5
        assert "fitted" in str(found.chart().spec)
        again = rw.analyses.learning_curve(FAST, DATA, **how, workers=2)
        assert again.to_dict() == found.to_dict()

    def test_default_sizes_are_halves(self):
        found = rw.analyses.learning_curve(FAST, DATA, draws=2)
        assert [point.n_queries for point in found.points] == [6, 12, 24]

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"sizes": [5, 10, 25]}, "A subset of 25 queries cannot be drawn: a fold has 24 training queries."),
            ({"sizes": [5, 10]}, r"sizes must be at least 3 ascending numbers of queries, .* not \[5, 10\]"),
            ({"sizes": [10, 5, 20]}, "sizes must be at least 3 ascending"),
            ({"sizes": [0.001, 0.5, 1.0]}, "fractions that give at least one, not 0.001"),
            ({"sizes": [5, 10, 1.5]}, "fractions that give at least one, not 1.5"),
            ({"draws": 1}, "draws must be an integer of at least 2, not 1"),
            ({"folds": 31}, "31 folds need at least 31 queries, not 30"),
        ],
    )
    def test_sizes_that_cannot_be_drawn_are_refused(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.learning_curve(FAST, DATA, **options)

    def test_few_queries_are_refused(self):
        few = DATA.take_queries(np.arange(15))
        with pytest.raises(InputError, match="needs at least 20 training queries per fold, not 12"):
            rw.analyses.learning_curve(FAST, few)


def simulated(curve, n_queries, random, *, folds=5, draws=3):
    """Values whose mean follows the curve, with noise of test queries, of training queries and of both."""
    fold = random.permutation(n_queries) % folds
    hard, good = random.normal(size=n_queries) * 0.2, random.normal(size=n_queries) * 0.14
    n_train = n_queries - n_queries // folds
    sizes = [n_train // 2**power for power in range(3, -1, -1)]
    values = [np.empty((draws if size < n_train else 1, n_queries)) for size in sizes]
    for number in range(folds):
        judges, train = fold == number, np.flatnonzero(fold != number)
        for draw in range(draws):
            drawn = random.permutation(train)
            for size, rows in zip(sizes, values, strict=True):
                if draw < len(rows):
                    own = random.normal(size=judges.sum()) * 0.1
                    rows[draw, judges] = curve(size) + hard[judges] + good[drawn[:size]].mean() + own
    return Measured(np.array(sizes, dtype=float), values, fold, n_train)


class TestExtrapolation:
    def test_a_curve_without_noise_is_found(self):
        sizes = np.array([10.0, 20.0, 40.0, 80.0])
        values = [np.full((2, 100), 0.8 - 0.6 * size**-0.5) for size in sizes]
        measured = Measured(sizes, values, np.arange(100) % 5, 80)
        found = extrapolate(measured, np.array([100.0, 200.0]))
        assert found.best == pytest.approx([0.8 - 0.06, 0.8 - 0.6 * 200**-0.5], abs=1e-4)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "curve",
        [lambda n: 0.8 - 0.6 * n**-0.5, lambda n: 0.5 + 0.05 * np.log(n), lambda n: 0.7 + 0.0 * n],
        ids=["power", "log", "flat"],
    )
    @pytest.mark.long
    def test_intervals_cover_what_twice_the_queries_give(self, curve):
        hits = np.zeros(2)
        for seed in range(40):
            measured = simulated(curve, 100, np.random.default_rng(seed))
            found = extrapolate(measured, np.array([100.0, 200.0]))
            (_, low, high), (_, gain_low, gain_high) = found.estimates()[1], found.difference(1, 0)
            gain = curve(200) - curve(100)
            hits += [low <= curve(200) <= high, gain_low <= gain <= gain_high]
        assert (hits >= 35).all()


class TestAblation:
    def test_each_row_is_a_fit_without_the_feature(self):
        done, on_fit = calls()
        found = rw.analyses.ablation(FAST, [(DATA, TEST)], metric="map", on_fit=on_fit)
        assert len(done) == count_ablation_fits([(DATA, TEST)], SplitOptions(), None) == 1 + DATA.n_features
        assert sorted(row.name for row in found.rows) == [str(number + 1) for number in range(DATA.n_features)]
        row = found.rows[0]
        X, X_test = DATA.X.copy(), TEST.X.copy()
        X[:, row.features], X_test[:, row.features] = 0.0, 0.0
        ranker = rw.AdaRank("map", n_jobs=1).fit(X, DATA.y, DATA.qid)
        expected = rw.evaluate(ranker, (X_test, TEST.y, TEST.qid), metrics="map").mean("AdaRank", "map")
        assert row.value == expected
        assert row.against_all.difference == pytest.approx(expected - found.whole)
        assert [one.against_all.difference for one in found.rows] == sorted(
            one.against_all.difference for one in found.rows
        )
        assert found.tables[0].rows[0][0] == "all features"
        assert found.to_dict()["rows"][0]["name"] == row.name
        assert "minus map with all features" in str(found.chart().spec)

    def test_a_group_alone(self):
        named = DATA.with_features(DATA.X, tuple(f"bm25_{n}" for n in range(DATA.n_features)), ())
        found = rw.analyses.ablation(
            FAST,
            named,
            features={"one": ["bm25_0"], "rest": [1, "bm25_[2-9]*"]},
            how="only",
            folds=2,
            metric="map",
        )
        assert {row.name: row.features for row in found.rows} == {
            "one": (0,),
            "rest": tuple(range(1, DATA.n_features)),
        }
        assert found.rows[0].value >= found.rows[1].value

    def test_the_columns_of_a_category_go_together(self):
        import pandas as pd

        frame = pd.DataFrame(
            {"label": [0, 1] * 4, "qid": [1, 1, 2, 2] * 2, "colour": [*"abcabcab"], "size": range(8)}
        )
        data = rw.from_pandas(frame, categorical=["colour"])
        groups = feature_groups(data, None)
        assert {name: len(columns) for name, columns in groups.items()} == {"colour": 3, "size": 1}
        assert feature_groups(data, ["colour", 3]) == {"colour": groups["colour"], data.feature_names[3]: (3,)}

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"features": ["x"]}, r"There is no feature 'x' in the data; there are 1, 2"),
            ({"features": [99]}, "There is no feature 99; features are numbered from 0 to"),
            ({"features": {"g": []}}, "The group 'g' has no features."),
            ({"features": []}, "features must be a list of features, or lists of features by name."),
            ({"features": {"all features": [0]}}, "A group cannot be called 'all features'."),
            ({"how": "add"}, "how must be 'drop' or 'only', not 'add'."),
        ],
    )
    def test_unknown_features_are_refused(self, options, sentence):
        with pytest.raises(InputError, match=sentence):
            rw.analyses.ablation(FAST, DATA, **options)

    def test_a_misspelled_name_is_corrected(self):
        named = DATA.with_features(DATA.X, tuple(f"bm25_{n}" for n in range(DATA.n_features)), ())
        with pytest.raises(InputError, match=r"There is no feature 'bm2_1' in the data; did you mean 'bm25_1'\?"):
            rw.analyses.ablation(FAST, named, features=["bm2_1"])


def test_a_notebook_gets_the_chart_and_the_table():
    found = rw.analyses.pair_errors(DATA.X[:, 0], DATA)
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == str(found)
    assert "<svg" in shown["text/html"]

"""Ablation: each row is a fit without the feature."""

import pytest

import rankwright as rw
from rankers.test_lambdamart import judged
from rankwright.analyses.ablation import count_ablation_fits, feature_groups
from rankwright.base.errors import InputError
from rankwright.crossval.splits import SplitOptions

DATA, TEST = judged(), judged(seed=2)  # 30 queries each
FAST = rw.AdaRank("map", n_jobs=1)


def calls():
    done = []
    return done, lambda: done.append(1)


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

"""Names are used, not only checked: by fits, starts, models, importances."""

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.alignment import aligned
from rankwright.data.categories import Category
from rankwright.data.dataset import Documents, RankingData
from rankwright.tuning.judging_queries import out_of_fold

NAMES = ("a", "b", "c")


def judged(seed=1, names=NAMES):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3)).astype(np.float32)
    y = np.clip(np.round(2 * X[:, 0] - X[:, 1]), 0, 4)
    return RankingData(X, y, np.repeat(np.arange(12), 10), feature_names=names)


def reordered(data, *names):
    columns = [data.feature_names.index(name) for name in names]
    return RankingData(data.X[:, columns], data.y, data.qid, feature_names=names)


def test_the_same_features_are_the_same_object():
    data = judged()
    assert aligned(data, judged(2)) is data
    assert aligned(data, judged(names=None)) is data


def test_without_names_the_number_must_match():
    nameless = Documents(np.zeros((2, 4)), [1, 1])
    for model in (judged(), judged(names=None)):
        with pytest.raises(InputError, match=r"^The model has 3 features, the data 4\.$"):
            aligned(nameless, model)


def test_another_order_is_put_in_order():
    data = judged()
    back = aligned(reordered(data, "c", "a", "b"), data)
    assert type(back) is RankingData
    assert back.feature_names == NAMES
    np.testing.assert_array_equal(back.X, data.X)
    assert not back.X.flags.writeable


def test_extra_features_are_ignored_with_a_word_and_missing_ones_named():
    data = judged()
    wide = Documents(np.hstack([data.X, data.X]), data.qid, feature_names=[*"abc", *"xyz"])
    with pytest.warns(UserWarning, match=r"^The model does not use x, y, z\.$"):
        np.testing.assert_array_equal(aligned(wide, data).X, data.X)
    with pytest.raises(
        InputError, match=r"^The model needs 'b', which the data do not have; did you mean 'bb'\?$"
    ):
        aligned(Documents(data.X, data.qid, feature_names=["a", "bb", "c"]), data)


def test_numbers_are_not_categories():
    category = Category("c", ("x",), one_hot=False)
    plain = Documents([[1.0]], [1], feature_names=["c"])
    encoded = Documents([[0.0]], [1], feature_names=["c"], categories=[category])
    with pytest.raises(
        InputError, match=r"'c' holds categories in the model, but numbers in the data; name it in"
    ):
        aligned(plain, encoded)
    with pytest.raises(InputError, match=r"'c' holds numbers in the model, but categories in the data\."):
        aligned(encoded, plain)


def test_validation_in_another_order():
    train, valid = judged(), judged(2)
    expected = rw.LambdaMART(rounds=8).fit(train, validation=valid)
    found = rw.LambdaMART(rounds=8).fit(train, validation=reordered(valid, "b", "c", "a"))
    assert found.history_.validation.tolist() == expected.history_.validation.tolist()
    with pytest.raises(InputError, match=r"^In the validation part: The model needs 'c'"):
        rw.LambdaMART().fit(train, validation=reordered(valid, "b", "a"))


def test_a_start_with_another_order():
    train, test = judged(), judged(3)
    start = rw.LambdaMART(rounds=5).fit(reordered(judged(2), "c", "b", "a"))
    ranker = rw.LambdaMART(rounds=5).fit(train, start=start)
    assert ranker.model_.feature_names == ("c", "b", "a")
    from_start = rw.LambdaMART(rounds=5).fit(reordered(train, "c", "b", "a"), start=start)
    assert ranker.predict(test).tolist() == from_start.predict(test).tolist()
    first = start.predict(test)
    assert np.abs(ranker.model_.first(5).predict(test) - first).max() == 0


def test_importances_of_data_in_another_order():
    data = judged()
    ranker = rw.LambdaMART(rounds=5).fit(data)
    expected = rw.permutation_importance(ranker, data, metric="ndcg@5")
    found = rw.permutation_importance(ranker, reordered(data, "c", "a", "b"), metric="ndcg@5")
    assert found.drops.tolist() == expected.drops.tolist()


def test_evaluation_and_blends_of_data_in_another_order():
    data, other = judged(), reordered(judged(), "c", "a", "b")
    one, two = rw.LambdaMART(rounds=3).fit(data), rw.MART(rounds=3).fit(data)
    means = [rw.evaluate({"one": one}, each).mean("one", "map") for each in (data, other)]
    assert means[0] == means[1]
    assert rw.blend(one, two, on=other, metric="map").value == rw.blend(one, two, on=data, metric="map").value


FRAME = pd.DataFrame(
    {
        "qid": np.repeat(np.arange(20), 6),
        "colour": np.tile(["red", "blue", "green", "red", "blue", None], 20),
        "brand": [f"b{number % 17}" for number in range(120)],
        "x": np.random.default_rng(0).normal(size=120).round(3),
        "label": np.tile([2, 0, 1, 2, 0, 0], 20),
    }
)


@pytest.mark.parametrize("kind", [rw.LambdaMART, rw.AdaRank, rw.RankSVM])
def test_categories_travel_with_the_model(kind, tmp_path):
    settings = {"rounds": 5, "scaling": "global"}
    ranker = kind(**{name: settings[name] for name in settings.keys() & kind().get_params()})
    train = rw.from_pandas(FRAME, categorical=["colour", "brand"])
    ranker.fit(train, validation=rw.from_pandas(FRAME[::-1], categorical=["brand", "colour"]))
    rw.save(ranker, tmp_path / "model.rw")
    model = rw.load(tmp_path / "model.rw")
    assert model.categories == train.categories
    expected = ranker.predict(train).tolist()
    assert model.predict(FRAME).tolist() == expected
    assert model.predict(FRAME[["x", "brand", "colour"]]).tolist() == expected
    # A part of the table has other values, in another order of frequency, and an unknown one.
    part = FRAME[40:60].assign(colour=["green"] * 19 + ["violet"])
    read = rw.from_pandas(part, categorical=["colour", "brand"], label=None)
    assert read.categories != train.categories
    new = "^The model was not trained on these values of 'colour', which count as missing: violet\\.$"
    with pytest.warns(UserWarning, match=new):
        encoded = model.predict(read)
    with pytest.warns(UserWarning, match=new):
        assert encoded.tolist() == model.predict(part).tolist()
    with pytest.raises(InputError, match=r"^The model needs 'colour', which the data do not have"):
        model.predict(FRAME[["x", "brand"]])


def test_tuning_joins_parts_with_different_categories():
    train = rw.from_pandas(FRAME[:60], categorical=["colour", "brand"])
    valid = rw.from_pandas(FRAME[60:][::-1], categorical=["brand", "colour"])
    joined = out_of_fold(train, valid).final.data
    assert joined.categories == train.categories
    np.testing.assert_array_equal(joined.X[60:], aligned(valid, train).X)

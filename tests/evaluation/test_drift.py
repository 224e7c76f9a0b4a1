"""Documents beside those that a model was trained on."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

NAN = np.nan


def shop(**changes):
    frame = pd.DataFrame(
        {
            "qid": np.repeat(range(20), 5),
            "colour": ["red", "blue", "red", None, "blue"] * 20,
            "size": np.arange(100.0) / 2,
            "label": [1, 0, 1, 0, 0] * 20,
        }
    )
    return frame.assign(**changes)


@pytest.fixture(scope="module")
def model():
    data = rw.from_pandas(shop(), categorical=["colour"])
    return rw.LambdaMART(rounds=3, max_leaves=4, min_documents=2).fit(data).model_


TODAY = {
    "colour": ["red", "green", None, None, "mauve"] * 10 + ["green", "red"] * 25,
    "size": [NAN] * 10 + [40.0] * 70 + [-3.0] * 15 + [1000.0] * 5,
}


@pytest.mark.parametrize("form", ["frame", "documents"])
def test_each_feature_is_compared_with_training(model, form):
    frame = shop(**TODAY)
    given = frame if form == "frame" else rw.from_pandas(frame, categorical=["colour"])
    colour, size = rw.drift(model, given).features
    assert (colour.feature, colour.trained, colour.given) == ("colour", None, None)
    assert (colour.missing_in_training, colour.missing, colour.outside) == pytest.approx((0.2, 0.2, 0.45))
    assert dict(colour.unseen) == {"green": 35, "mauve": 10}
    assert (size.trained, size.given, size.unseen) == ((0.0, 49.5), (-3.0, 1000.0), {})
    assert (size.missing_in_training, size.missing, size.outside) == pytest.approx((0.0, 0.1, 0.2))


def test_the_result_says_which_feature_differs_most(model):
    result = rw.drift(model, shop(**TODAY))
    assert result.summary == (
        "2 of 2 features have values that training did not have, most of all colour in 45 % of 100 documents."
    )
    assert "green, mauve" in str(result)
    assert result.frame()["outside"].tolist() == [0.45, 0.2]
    same = rw.drift(model, shop())
    assert same.summary == "All values of 100 documents are as in training."
    third = rw.drift(model, shop().head(3).assign(size=[1.0, 2.0, 900.0])).summary
    assert "size in 33 % of 3 documents" in third, "two digits"


def test_features_without_names_are_compared_by_position():
    data = rw.synthetic.gaussian_queries(5, seed=1)
    result = rw.drift(rw.AdaRank().fit(data), np.full((4, 2), [NAN, 99.0]))
    assert [(each.feature, each.missing, each.outside) for each in result.features] == [("2", 0, 1), ("1", 1, 0)]


def test_a_model_without_ranges_says_so(model, tmp_path):
    (tmp_path / "ranklib.txt").write_text("## AdaRank\n1:0.5 2:-2.0\n")
    with pytest.raises(InputError, match="does not hold the ranges of its training features"):
        rw.drift(rw.load(tmp_path / "ranklib.txt"), [[1.0, 2.0]])
    with pytest.raises(InputError, match="drift takes a scorer or a fitted ranker, not this int"):
        rw.drift(3, shop())
    with pytest.raises(InputError, match="The model needs 'size', which the data do not have"):
        rw.drift(model, shop().drop(columns="size"))
    for rowless in (shop()[:0], pl.LazyFrame(shop()), 3.0):
        with pytest.raises(InputError, match="drift needs documents, a data frame or a matrix with rows"):
            rw.drift(model, rowless)


def test_the_command_line_compares_a_file(model, tmp_path, capsys, monkeypatch):
    from rankwright.cli.app import main

    rw.save(model, tmp_path / "model.rw")
    shop(**TODAY).to_parquet(tmp_path / "today.parquet")
    words = ["drift", tmp_path / "model.rw", "--data", tmp_path / "today.parquet"]
    monkeypatch.setattr("sys.argv", ["rankwright", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert capsys.readouterr().out.startswith("2 of 2 features have values that training did not have")

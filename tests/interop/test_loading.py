"""One function loads model files of every tool, recognised by their content."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from interop.foreign import judged, rows_around, used_or_refused
from interop.importers import test_catboost, test_lightgbm, test_ranklib, test_xgboost
from interop.importers.test_ubjson import written
from properties import examples
from rankwright.interop.importers.lightgbm import scorer_from_lightgbm
from rankwright.interop.importers.xgboost import scorer_from_xgboost
from rankwright.models import FeatureScorer

FILES = {
    "LightGBM": test_lightgbm.text_of(test_lightgbm.STUMP).encode(),
    "XGBoost": json.dumps(test_xgboost.MODEL).encode(),
    "XGBoost binary": written(test_xgboost.MODEL),
    "CatBoost": json.dumps(test_catboost.MODEL).encode(),
    "RankLib MART": test_ranklib.text_of([(test_ranklib.STUMP, "0.1")], method="MART").encode(),
    "RankLib RankBoost": b"## RankBoost\r\n## Iteration = 2\r\n1:0.5:2.0 2:-1.0:0.25\r\n",
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "with a byte order mark"])
def test_every_format_is_recognised_by_content(tmp_path, kind, mark):
    if mark and kind == "XGBoost binary":
        pytest.skip("only text has such a mark")
    path = tmp_path / "model"
    path.write_bytes(mark + FILES[kind])
    scorer = rw.load(path)
    assert scorer.about["ranker"] == kind.removesuffix(" binary")
    rw.save(scorer, tmp_path / "model.rw")
    rows = rows_around(scorer)
    np.testing.assert_array_equal(rw.load_model(tmp_path / "model.rw").predict(rows), scorer.predict(rows))


def test_ubjson_and_json_are_the_same_model():
    one, other = (scorer_from_xgboost(FILES[kind]) for kind in ("XGBoost", "XGBoost binary"))
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.leaf_value, other.leaf_value)


def test_xgboosts_own_ubjson_is_read(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    X, y, sizes = judged(missing=0.1)
    data = xgboost.DMatrix(X, y, qid=np.repeat(np.arange(len(sizes)), sizes), nthread=1)
    booster = xgboost.train({"objective": "rank:ndcg", "nthread": 1, "booster": "dart"}, data, 5)
    booster.save_model(tmp_path / "model.ubj")
    booster.save_model(tmp_path / "model.json")
    one, other = (rw.load(tmp_path / f"model.{end}") for end in ("ubj", "json"))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"qid,score\n", "is not a model; models are files of rankwright"),
        (b"## a comment of a data file\n1 qid:1 1:2\n", "is not a model; models are files of rankwright"),
        (b"CBM1....", "is a CatBoost model in its binary format"),
        (b"\x80\x04\x95", "is a pickle, which could execute anything"),
        (b"binf....", "is an XGBoost model in its old binary format"),
        (b'[ { "nodeid": 0, "leaf": 1 } ]', "is a dump of XGBoost's trees"),
        (b'{"name": "tree", "tree_info": []}', "is a dump of LightGBM's trees"),
        (b'{"class": "org.apache.solr.ltr.model.LinearModel"}', "is a model of a search engine"),
        (b'{"a": 1}', "neither XGBoost's nor CatBoost's"),
        (b'{"a": ', "it is not JSON"),
        (b'{"a":' * 100_000, "it is not JSON"),
        (b"tree\nfeature_names=\xff", "it is not text in UTF-8 from byte 19 on"),
        (b"tree\nversion=v4\n", "This LightGBM model cannot be used: it has no line 'end of trees'"),
    ],
)
def test_other_files_are_refused_with_what_to_do(tmp_path, content, sentence):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(rw.InputError, match=sentence) as raised:
        rw.load(path)
    assert str(raised.value).startswith(str(path))


def test_the_number_of_features_must_be_the_models(tmp_path):
    (tmp_path / "model").write_bytes(FILES["LightGBM"])
    assert rw.load(tmp_path / "model", n_features=3).n_features == 3
    with pytest.raises(rw.InputError, match="says that the data have 3 features, not 4"):
        rw.load(tmp_path / "model", n_features=4)
    with pytest.raises(rw.InputError, match="n_features must be from 1"):
        rw.load(tmp_path / "model", n_features=0)


@given(st.sampled_from(sorted(FILES)), st.data())
@examples(300)
def test_damaged_files_are_refused_or_score(kind, data):
    content = bytearray(FILES[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=3))
    with TemporaryDirectory() as folder:
        path = Path(folder, "model")
        path.write_bytes(bytes(content))
        used_or_refused(rw.load, path)


@pytest.fixture(scope="module")
def imported():
    lightgbm = pytest.importorskip("lightgbm")
    X, y, sizes = judged()
    options = {"objective": "lambdarank", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3}
    model = lightgbm.train(options, lightgbm.Dataset(X, y, group=sizes), 10)
    data = rw.RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes))
    return scorer_from_lightgbm(model.model_to_string()), data


def test_an_imported_scorer_is_used_like_any_other(imported):
    scorer, data = imported
    other = FeatureScorer(1, n_features=data.n_features, missing=0.0)
    report = rw.evaluate({"imported": scorer, "other": other}, data, metrics=["ndcg@5"])
    assert report.mean("imported", "ndcg@5") > report.mean("other", "ndcg@5")
    assert rw.blend(scorer.first(1), other, on=data, metric="ndcg@5").value > report.mean("other", "ndcg@5")
    assert scorer.first(3).n_trees == 3
    np.testing.assert_allclose(scorer.contributions(data).sum(axis=1), scorer.predict(data))
    further = rw.LambdaMART(rounds=2, random_state=0).fit(data, start=scorer)
    assert further.model_.n_trees == scorer.n_trees + 2

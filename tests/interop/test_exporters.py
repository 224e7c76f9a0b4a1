"""Models written for other tools, and read back by the tool itself where it is installed."""

import ctypes
import json
import math
import os
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from interop.foreign import N_FEATURES, judged, rows_around, small_trees
from interop.importers.test_ranklib import JAR, needs_ranklib
from properties import examples
from rankwright.data.categories import Category
from rankwright.data.query_features import QueryFeature
from rankwright.interop.exporters.engines import before_slack
from rankwright.interop.exporters.export import TARGETS
from rankwright.interop.importers.foreign_trees import ForeignTree, ensemble
from rankwright.models import (
    ClassLink,
    ClassTrees,
    Combination,
    ExpectedRelevance,
    FeatureScorer,
    LinearScorer,
    NetworkScorer,
    QueryFeatureScorer,
    StandardisedScorer,
    TreeEnsemble,
)
from reference import trees as reference

TINY = 1.1e-35  # values nearer to 0 are 0 to LightGBM
NEAR_ZERO = (0.0, 1e-35, -1e-35, 5e-36, 1e-20, -1e-13, 1e-6, -1e-6, 1e-3)
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")


def forest_of(trees, sides):
    """Return an ensemble of drawn trees; leaf `i` of tree `t` has the value t + 0.1 * 3^i."""
    foreign = [
        ForeignTree(
            np.array(features, dtype=np.int64),
            np.array(thresholds, dtype=np.float64),
            np.array(sides[: len(features)], dtype=np.int64),
            np.array(left, dtype=np.int64),
            np.array(right, dtype=np.int64),
            np.ones(len(features)),
            number + 0.1 * 3.0 ** np.arange(len(features) + 1),
            np.full(len(features) + 1, 10.0),
        )
        for number, (features, thresholds, left, right) in enumerate(trees)
    ]
    return ensemble(foreign, N_FEATURES)


FORESTS = st.builds(
    forest_of,
    st.lists(small_trees(), min_size=1, max_size=3),
    st.lists(st.integers(0, 1), min_size=5, max_size=5),
)


def written(model, **options):
    """Return the text of an exported file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.txt")
        rw.export(model, path, **options)
        return path.read_text()


def loaded(model, **options):
    """Return the scorer that we read back from an exported file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.txt")
        rw.export(model, path, **options)
        return rw.load(path, n_features=model.n_features)


@given(FORESTS)
@examples(150)
def test_lightgbm_scores_as_we_do(forest):
    lightgbm = pytest.importorskip("lightgbm")
    rows = rows_around(forest, infinite=True)
    rows[np.abs(rows) < TINY] = 0.0
    booster = lightgbm.Booster(model_str=written(forest, format="lightgbm"))
    np.testing.assert_array_equal(booster.predict(rows, raw_score=True, num_threads=1), forest.predict(rows))
    np.testing.assert_array_equal(loaded(forest, format="lightgbm").predict(rows), forest.predict(rows))


@given(FORESTS)
@examples(150)
def test_xgboost_scores_as_we_do(forest):
    xgboost = pytest.importorskip("xgboost")
    rows = rows_around(forest)
    booster = xgboost.Booster({"nthread": 1}, model_file=bytearray(written(forest, format="xgboost").encode()))
    scores = booster.predict(xgboost.DMatrix(rows, nthread=1), output_margin=True)
    np.testing.assert_allclose(scores, forest.predict(rows), rtol=1e-6, atol=1e-5)


@given(FORESTS)
@examples(100)
def test_what_we_read_back_is_what_we_wrote(forest):
    rows = rows_around(forest)
    np.testing.assert_allclose(loaded(forest, format="xgboost").predict(rows), forest.predict(rows), rtol=1e-6)
    filled = np.where(np.isnan(rows), np.float32(1.0), rows)
    exported = loaded(forest, format="ranklib", missing=False)
    np.testing.assert_allclose(exported.predict(filled), forest.predict(filled), rtol=1e-6)


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, 0.5])
def test_infinite_values_keep_their_side_in_ranklib(threshold):
    forest = forest_of([([0], [threshold], [-1], [-2])], [int(threshold >= 0.0)])
    rows = np.array([[value, 0.0, 0.0] for value in (np.inf, -np.inf, 3e38, -3e38, 0.0)])
    exported = loaded(forest, format="ranklib")
    np.testing.assert_allclose(exported.predict(rows), forest.predict(rows), rtol=1e-6)


ROW_CODE = "double score(const float *x) { return model_score(x); }"
QUERY_CODE = """
void score(const float *x, float *work, double *scores, int n) { model_score_query(x, n, work, scores); }
int work(int n) { return (int)model_WORK(n); }
"""
MIXTURE_CODE = """
#include <stdlib.h>
void score(const float *x, double *scores, int n) {
  float *work = malloc(model_WORK(n) * sizeof(float));
  double *terms = malloc(model_TERMS(n) * sizeof(double));
  model_score_query(x, n, GIVEN terms, scores);
  free(work);
  free(terms);
}
"""


def built(text, code, folder):
    """Return a library of a C header and some code that uses it."""
    Path(folder, "model.h").write_text(text)
    Path(folder, "model.c").write_text(f'#include "model.h"\n{code}\n')
    strict = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command = ["gcc", *strict, "-shared", "-fPIC", "-o", "model.so", "model.c", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(Path(folder, "model.so")))


def compiled(text, folder):
    """Return the function of a C header as one of Python."""
    function = built(text, ROW_CODE, folder).score
    function.restype, function.argtypes = ctypes.c_double, [ctypes.POINTER(ctypes.c_float)]
    return lambda row: function(row.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))


@needs_gcc
@given(FORESTS)
@examples(15)
def test_the_c_header_scores_as_we_do(forest):
    rows = rows_around(forest, n=100, infinite=True)
    with TemporaryDirectory() as folder:
        score = compiled(written(forest, format="c"), folder)
        np.testing.assert_array_equal([score(row) for row in rows], forest.predict(rows))


@needs_gcc
def test_the_c_header_holds_trees_and_weights_together(tmp_path):
    forest = forest_of([([0], [0.5], [-1], [-2])], [1])
    linear = LinearScorer([0.5, 0.0, -2.0], [1.0, 0.0, 3.0], 0.25)
    mix = Combination((forest, linear), [2.0, 0.5]).described(feature_names=["a", "b */ c", "d"])
    rows = rows_around(forest, n=50)
    rows[np.abs(rows) > 1e30] = 1e30
    score = compiled(written(mix, format="c"), tmp_path)
    np.testing.assert_allclose([score(row) for row in rows], mix.predict(rows), rtol=1e-12)


BRANDS = [
    'say "hi"',
    "back\\slash",
    "??/",
    "*/",
    "Müller",
    "a,b",
    "new\nline",
    "%d",
    "LEVELS",
    "NAME_COLUMNS",
    "",
    *map(str, range(20)),
]
SET_CODE = """
int set(float *x, const char *column, const char *level) { return my_shop_set_level(x, column, level); }
double score(const float *x) { return my_shop_score(x); }
"""


def shop_frame(seed, n=400):
    """Return documents of a shop with a one-hot category, one with codes, and a number, some values missing."""
    random = np.random.default_rng(seed)
    levels = {"category": ["jackets", "trousers"], "brand": BRANDS}
    columns = {name: random.choice(np.array(own, dtype=object), n) for name, own in levels.items()}
    frame = pd.DataFrame({"price": random.normal(size=n).round(2), **columns})
    return frame.mask(random.random(frame.shape) < 0.1)


@pytest.fixture(scope="module")
def shop():
    """Return a ranker that was trained on categories."""
    frame = shop_frame(0)
    frame["label"] = (frame["category"] == "jackets").astype(int) + frame["brand"].isin(BRANDS[:11])
    frame["qid"] = np.arange(len(frame)) // 20
    data = rw.from_pandas(frame, categorical=["category", "brand"])
    return rw.LambdaMART(rounds=10, random_state=0).fit(data)


@needs_gcc
def test_the_c_header_sets_levels_by_name(shop, tmp_path):
    frame, text = shop_frame(1), written(shop, format="c", name="my_shop")
    assert " * 2 category=jackets\n" in text
    library = built(text, SET_CODE, tmp_path)
    library.score.restype, row = ctypes.c_double, np.full(len(shop.model_.feature_names), 7.0, np.float32)
    pointer, scores = row.ctypes.data_as(ctypes.c_void_p), []
    for document in frame.to_dict("records"):
        row[shop.model_.feature_names.index("price")] = document["price"]
        for column in ("category", "brand"):
            level = document[column] if isinstance(document[column], str) else None
            assert library.set(pointer, column.encode(), level and level.encode()) == (level is not None)
        scores.append(library.score(pointer))
    np.testing.assert_array_equal(scores, shop.predict(frame))
    assert not library.set(pointer, b"category", b"unknown")
    assert row[1:3].tolist() == [0.0, 0.0]
    assert not library.set(pointer, b"brand", b"unknown")
    assert np.isnan(row[3])
    assert not library.set(pointer, b"no column", b"jackets")


@pytest.mark.parametrize("target", TARGETS)
def test_the_map_of_levels_is_beside_every_export(target, shop, tmp_path):
    renamed = ["attribute(price)", "attribute(trousers)", "attribute(jackets)", "attribute(brand)"]
    names = renamed if target == "vespa" else None
    version = "3.8" if target == "opensearch-ltr" else None
    made = rw.export(
        shop, tmp_path / "m.x", format=target, version=version, missing=False, feature_names=names, name="m"
    )
    assert made.categories == str(tmp_path / "m.x.categories.json")
    assert f"Wrote {tmp_path / 'm.x'} and {made.categories}." == made.summary
    expected = (
        "These columns hold categories: category, brand. The features of each level are in m.x.categories.json"
    )
    assert any(remark.startswith(expected) for remark in made.remarks)
    content = json.loads(Path(made.categories).read_text())
    names = content["features"]
    assert names == (renamed if target == "vespa" else list(shop.model_.feature_names))
    frame = shop_frame(2)
    frame.loc[0, "brand"] = "unknown"
    rows = [dict.fromkeys(names, price) for price in frame["price"]]
    for column, encoding in content["columns"].items():
        for row, level in zip(rows, frame[column], strict=True):
            row |= encoding["otherwise"] | encoding["levels"].get(level, {})
    X = np.array([[row[name] for name in names] for row in rows], dtype=np.float32)
    with pytest.warns(UserWarning, match="which count as missing: unknown"):
        np.testing.assert_array_equal(shop.predict(X, qid=frame.index), shop.predict(frame))


def test_neither_file_is_written_without_the_other(shop, tmp_path):
    (tmp_path / "m.txt.categories.json").mkdir()
    with pytest.raises(rw.InputError, match="exists and is not a file"):
        rw.export(shop, tmp_path / "m.txt", format="lightgbm")
    assert [path.name for path in tmp_path.iterdir()] == ["m.txt.categories.json"]


def test_levels_that_c_cannot_hold_are_refused(tmp_path):
    levels = Category("b", ("x\0y",), one_hot=False)
    with pytest.raises(rw.InputError, match=r"'x\\x00y' has a zero character, which ends texts in C; rename it"):
        rw.export(
            STUMP.described(feature_names=["a", "b", "c"], categories=[levels]), tmp_path / "m.h", format="c"
        )


def onnx_scores(model, rows):
    """Return the scores of ONNX Runtime."""
    onnxruntime = pytest.importorskip("onnxruntime")
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        rw.export(model, path, format="onnx")
        session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": rows})[0][:, 0]


@given(FORESTS)
@examples(100)
def test_onnx_runtime_scores_as_we_do(forest):
    rows = rows_around(forest, infinite=True)
    np.testing.assert_allclose(onnx_scores(forest, rows), forest.predict(rows), rtol=1e-6)


def test_onnx_runtime_adds_trees_and_weights():
    linear = LinearScorer([0.5, 0.0, -2.0], [1.0, 7.0, 3.0], 0.25)
    rows = np.array([[1.0, np.nan, 3.0], [np.nan, 0.5, -1.0], [0.0, 0.0, np.nan]], dtype=np.float32)
    np.testing.assert_allclose(onnx_scores(linear, rows), linear.predict(rows), rtol=1e-14)
    mix = Combination((STUMP, linear), [2.0, 0.5])
    np.testing.assert_allclose(onnx_scores(mix, rows), mix.predict(rows), rtol=1e-6)


def within_query(seed, kinds, raw, members):
    """Return a model of columns within the query, alone or with others, with thresholds that its columns have."""
    rng = np.random.default_rng(seed)
    width = N_FEATURES * (raw + len(kinds))
    values = np.array([0.0, 0.5, 1.0, 0.25, -0.5, 1.0 / 3.0], dtype=np.float32)
    trees = reference.random_ensemble(rng, [4, 1, 7], values, n_features=width)
    model = QueryFeatureScorer(trees, kinds, raw)
    if members < 2:
        return model
    weights = LinearScorer(rng.normal(size=N_FEATURES * 2), rng.normal(size=N_FEATURES * 2), 0.25)
    other = QueryFeatureScorer(weights, (QueryFeature.ZSCORE,))
    return Combination((model, other, STUMP), [1.0, 0.5, 2.0])


QUERIES = st.builds(
    lambda seed, n, missing: odd_query(np.random.default_rng(seed), n, missing),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3, 10, 300]),
    st.sampled_from([0.0, 0.3, 1.0]),
)
QUERY_MODELS = st.builds(
    within_query,
    st.integers(0, 2**32 - 1),
    st.permutations(list(QueryFeature)).flatmap(lambda all_: st.integers(1, 3).map(lambda n: tuple(all_[:n]))),
    st.booleans(),
    st.integers(1, 2),
)


def odd_query(rng, n, missing):
    """Return documents of one query: ties, zeros of both signs, a constant, missing values."""
    rows = rng.choice(np.array([0.0, -0.0, 1.0, 0.5, -3.0, 0.1, 7.25, 1e-3], dtype=np.float32), (n, N_FEATURES))
    rows[:, 1] = rng.normal(size=n)
    rows[:, 2] = rows[0, 2]
    rows[rng.random(rows.shape) < missing] = np.nan
    return rows


@given(QUERY_MODELS, QUERIES)
@examples(60)
def test_onnx_runtime_computes_columns_within_the_query(model, rows):
    expected = model.predict(rows, qid=np.zeros(len(rows)))
    np.testing.assert_allclose(onnx_scores(model, rows), expected, rtol=1e-6, atol=1e-6)


@needs_gcc
@given(QUERY_MODELS, QUERIES)
@examples(15)
def test_c_computes_columns_within_the_query(model, rows):
    with TemporaryDirectory() as folder:
        library = built(written(model, format="c"), QUERY_CODE, folder)
        scores, work = np.empty(len(rows)), np.empty(library.work(len(rows)), dtype=np.float32)
        library.score(*(one.ctypes.data_as(ctypes.c_void_p) for one in (rows, work, scores)), len(rows))
    expected = model.predict(rows, qid=np.zeros(len(rows)))
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def network_of(rng, n_inputs, hidden):
    """Return a network with random weights."""
    widths = [n_inputs, *hidden, 1]
    n_parameters = sum((inputs + 1) * units for inputs, units in pairwise(widths))
    return NetworkScorer(widths, rng.normal(size=n_parameters), rng.normal(size=n_inputs))


def expected_of(rng, trees, link):
    """Return an expected relevance over three levels with random scores of classes."""
    levels = np.array([0.0, 1.0, 3.0])
    values = rng.normal(size=(len(trees.leaf_value), link.n_classes(len(levels))))
    return ExpectedRelevance(ClassTrees(trees, values, values.shape[1]), levels, link)


def mixture(seed, kinds, depth):
    """Return a mixture as AutoRanker makes them: standardised trees, weights and networks, some of columns."""
    rng = np.random.default_rng(seed)
    width = N_FEATURES * (1 + len(kinds))
    trees = reference.random_ensemble(rng, [4, 7], np.array([0.0, 0.5, 1.0], np.float32), n_features=width)
    parts = [trees, LinearScorer(rng.normal(size=width), rng.normal(size=width), 0.25)]
    parts += [network_of(rng, width, hidden) for hidden in ((3,), (4, 2))]
    members = [StandardisedScorer(parts[0]), StandardisedScorer(parts[2]), *parts[1:]]
    members += [expected_of(rng, trees, link) for link in ClassLink]
    members += [StandardisedScorer(members[-1])]
    inner = Combination(tuple(members), rng.random(len(members)) + 0.1)
    for _ in range(depth):
        inner = Combination((StandardisedScorer(inner), parts[1]), [0.5, 2.0])
    return QueryFeatureScorer(inner, kinds) if kinds else inner


MIXTURES = st.builds(
    mixture,
    st.integers(0, 2**32 - 1),
    st.sampled_from([(), (QueryFeature.ZSCORE,), (QueryFeature.RANK, QueryFeature.ZSCORE)]),
    st.integers(0, 2),
)


@given(MIXTURES, QUERIES)
@examples(60)
def test_onnx_runtime_computes_mixtures(model, rows):
    expected = model.predict(rows, qid=np.zeros(len(rows)))
    np.testing.assert_allclose(onnx_scores(model, rows), expected, rtol=1e-5, atol=1e-5)


@needs_gcc
@given(MIXTURES, QUERIES)
@examples(15)
def test_c_computes_mixtures(model, rows):
    code = MIXTURE_CODE.replace("GIVEN", "work," if isinstance(model, QueryFeatureScorer) else "")
    with TemporaryDirectory() as folder:
        library = built(written(model, format="c"), code, folder)
        scores = np.empty(len(rows))
        library.score(*(one.ctypes.data_as(ctypes.c_void_p) for one in (rows, scores)), len(rows))
    expected = model.predict(rows, qid=np.zeros(len(rows)))
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["network", *ClassLink])
def test_networks_and_classes_are_exported(kind, tmp_path):
    rng = np.random.default_rng(2)
    rows = odd_query(rng, 20, 0.3)
    model = network_of(rng, N_FEATURES, (5, 3)) if kind == "network" else expected_of(rng, STUMP, kind)
    np.testing.assert_allclose(
        onnx_scores(model, rows), model.predict(rows), rtol=1e-12 if kind == "network" else 1e-6
    )
    if shutil.which("gcc") is not None:
        score = compiled(written(model, format="c"), tmp_path)
        np.testing.assert_allclose([score(row) for row in rows], model.predict(rows), rtol=1e-12)


@given(MIXTURES, st.integers(2, 70), st.integers(0, 2**32 - 1))
@examples(60)
def test_equal_documents_are_equal_in_onnx_runtime(model, n, seed):
    """It computes tanh, softmax and logistic functions of equal numbers with other last bits."""
    rows = np.repeat(odd_query(np.random.default_rng(seed), 1, 0.3), n, axis=0)
    expected = model.predict(rows, qid=np.zeros(n))
    np.testing.assert_allclose(onnx_scores(model, rows), expected, rtol=1e-5, atol=1e-5)


def test_scores_that_are_equal_stay_equal(tmp_path):
    """Trees of whole numbers sum to equal scores by different leaves."""
    rng = np.random.default_rng(3)
    trees = reference.random_ensemble(rng, [4, 7, 5], np.array([0.0, 0.5, 1.0], np.float32), n_features=N_FEATURES)
    whole = replace(trees, leaf_value=rng.integers(0, 3, len(trees.leaf_value)).astype(float))
    model = Combination((StandardisedScorer(whole), StandardisedScorer(whole)), [1.0, 0.5])
    for _ in range(30):
        rows = odd_query(rng, 5, 0.1)
        found, expected = onnx_scores(model, rows), model.predict(rows, qid=np.zeros(5))
        np.testing.assert_array_equal(np.argsort(-found, kind="stable"), np.argsort(-expected, kind="stable"))


@needs_gcc
@pytest.mark.parametrize("name", ["MY_MODEL", "MODEL_2", "NAME_x", "FEATURES_1"])
def test_any_name_of_a_c_function(name, tmp_path):
    model = mixture(1, (QueryFeature.RANK,), 1).described(feature_names=["NAME_a", "MODEL_b", "FEATURES"])
    text = written(model, format="c", name=name)
    assert f" {name}_score_query(" in text
    assert all(one in text for one in ("0 NAME_a", "1 MODEL_b", "2 FEATURES"))
    built(text, "int nothing(void) { return 0; }", tmp_path)


def test_what_auto_ranker_learned_is_exported():
    X, y, sizes = judged(missing=0.1)
    data = rw.RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes))
    trees = [one(rounds=20, query_features=["zscore", "rank"]) for one in (rw.MART, rw.McRank)]
    ranker = rw.AutoRanker(portfolio=[*trees, rw.RankSVM(), rw.RankNet(hidden=(4,))], n_jobs=1).fit(data)
    for number in range(5):
        rows = data.X[data.qid == number]
        expected = ranker.predict(rows, qid=number)
        found = onnx_scores(ranker, rows)
        np.testing.assert_allclose(found, expected, atol=1e-6)
        np.testing.assert_array_equal(np.argsort(-found, kind="stable"), np.argsort(-expected, kind="stable"))


def test_the_onnx_file_is_valid():
    onnx = pytest.importorskip("onnx")
    with TemporaryDirectory() as folder:
        rw.export(STUMP, Path(folder, "model.onnx"), format="onnx")
        onnx.checker.check_model(onnx.load(str(Path(folder, "model.onnx"))), full_check=True)


def plugin_score(node, row):
    """Return what the plugins' loop finds in a dumped tree, in 32 bits."""
    while "leaf" not in node:
        value, yes, no = row[node["split"]], *node["children"]
        assert (node["yes"], node["no"]) == (yes["nodeid"], no["nodeid"])
        if np.isnan(value):
            node = yes if node["missing"] == node["yes"] else no
        else:
            node = yes if np.float32(node["split_condition"]) > value else no
    return np.float32(node["leaf"])


@given(FORESTS)
@examples(50)
def test_the_plugins_loop_scores_as_we_do(forest):
    model = json.loads(written(forest, format="elasticsearch-ltr", feature_names=["a", "b", "c"], name="best"))[
        "model"
    ]
    assert (model["name"], model["model"]["type"]) == ("best", "model/xgboost+json")
    trees = json.loads(model["model"]["definition"])
    rows = rows_around(forest, n=50)
    scores = [sum(plugin_score(tree, dict(zip("abc", row, strict=True))) for tree in trees) for row in rows]
    np.testing.assert_allclose(scores, forest.predict(rows), rtol=1e-6)


def solr_row(model, row):
    """Return a document's features by name, as the normalisers of a model for Solr make them in 32 bits."""
    values = {}
    for feature, value in zip(model["features"], row, strict=True):
        limits = feature.get("norm", {"params": {"min": "0.0", "max": "1.0"}})["params"]
        low, high = np.float32(limits["min"]), np.float32(limits["max"])
        with np.errstate(over="ignore"):
            values[feature["name"]] = (value - low) / (high - low)
    return values


def solr_score(node, row):
    """Return what Solr's loop finds: it adds 1e-6 to thresholds in 32 bits."""
    while "value" not in node:
        value = row[node["feature"]]
        if np.isnan(value):
            node = node[node["missing"]]
        else:
            node = node["left" if value <= np.float32(node["threshold"]) + np.float32(1e-6) else "right"]
    return np.float32(node["value"])


def test_solrs_loop_scores_as_we_do():
    X, y, sizes = judged(missing=0.1)
    data = rw.RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes), feature_names=list("abcdef"))
    forest = rw.LambdaMART(rounds=5, random_state=0).fit(data).model_
    model = json.loads(written(forest, format="solr"))
    assert model["class"] == "org.apache.solr.ltr.model.MultipleAdditiveTreesModel"
    assert model["params"]["isNullSameAsZero"] == "false"
    rows = rows_around(forest, n=100)
    scores = [
        sum(solr_score(tree["root"], dict(zip("abcdef", row, strict=True))) for tree in model["params"]["trees"])
        for row in rows
    ]
    np.testing.assert_allclose(scores, forest.predict(rows), rtol=1e-5, atol=1e-6)


@given(st.lists(st.one_of(st.sampled_from(NEAR_ZERO), st.floats(-1e5, 1e5, width=32)), min_size=1, max_size=8))
@examples(100)
def test_small_thresholds_are_multiplied_for_solr(thresholds):
    thresholds = [one if abs(one) > 1e-36 else 0.0 for one in thresholds]
    forest = forest_of([([0], [one], [-1], [-2]) for one in thresholds], [1] * len(thresholds))
    model = json.loads(written(forest, format="solr", feature_names=["a", "b", "c"]))
    rows = rows_around(forest, n=100)[:, : len(model["features"])]
    trees = [tree["root"] for tree in model["params"]["trees"]]
    scores = [sum(solr_score(tree, solr_row(model, row)) for tree in trees) for row in rows]
    everything = np.pad(rows, ((0, 0), (0, N_FEATURES - rows.shape[1])))
    np.testing.assert_allclose(scores, forest.predict(everything), rtol=1e-5)


def test_thresholds_survive_solrs_slack_or_are_refused():
    good = np.array([0.0, 0.5, -0.5, 1e-6, 1e10, -3.7, 0.1, 2.0**-19], dtype=np.float32)
    numbers, power = before_slack(good)
    assert power == 0
    np.testing.assert_array_equal(numbers + np.float32(1e-6), good)
    numbers, power = before_slack(np.array([1e-35, 30_000.0], dtype=np.float32))
    np.testing.assert_array_equal(
        np.ldexp(numbers + np.float32(1e-6), -power), np.array([1e-35, 30_000.0], dtype=np.float32)
    )
    with pytest.raises(rw.InputError, match=r"no number becomes 1\.0+\d+e-35 by that; the feature has"):
        before_slack(np.array([1e-35, 1e20], dtype=np.float32))


def vespa_score(text, row):
    """Return the value of a ranking expression as Vespa defines it: comparisons with NaN are false."""
    text = re.sub(r"\bif \(", "choose(", text).replace("\n", " ")
    text = re.sub(r"!\((\w+) >= ([^)]*)\)", r"not (\1 >= \2)", text)
    own = {"choose": lambda condition, yes, no: yes if condition else no, "isNan": math.isnan}
    return eval(text, {"__builtins__": {}}, own | {name: float(value) for name, value in row.items()})


@given(FORESTS)
@examples(50)
def test_vespas_expression_scores_as_we_do(forest):
    mix = Combination((forest, LinearScorer([0.5, 0.0, -2.0], [1.0, 0.0, 3.0], -0.25)), [1.0, 1.0])
    text = written(mix, format="vespa", feature_names=["a", "b", "c"])
    rows = rows_around(forest, n=50)
    rows[np.abs(rows) > 1e30] = 1e30
    scores = [vespa_score(text, dict(zip("abc", row, strict=True))) for row in rows]
    np.testing.assert_allclose(scores, mix.predict(rows), rtol=1e-12)


STUMP = forest_of([([0], [0.5], [-1], [-2])], [1])  # 0 goes left, and so does a missing value
RIGHT = forest_of([([0], [0.5], [-1], [-2])], [0])
LINEAR = LinearScorer([0.5, 0.0, -2.0], np.zeros(3), 0.25)
RANKS = (QueryFeature.RANK,)
NESTED = QueryFeatureScorer(QueryFeatureScorer(STUMP, RANKS, raw=False), RANKS, raw=False)


@pytest.mark.parametrize(
    ("model", "options", "refused"),
    [
        (STUMP, {"format": "ranklib"}, None),
        (RIGHT, {"format": "ranklib"}, "RankLib counts a missing value as 0, and 1 of the model's 1 splits"),
        (RIGHT, {"format": "ranklib", "missing": False}, None),
        (STUMP, {"format": "opensearch-ltr"}, "give version"),
        (STUMP, {"format": "opensearch-ltr", "version": "2.19"}, None),
        (RIGHT, {"format": "opensearch-ltr", "version": "2.19"}, "counts a missing value as 0"),
        (STUMP, {"format": "opensearch-ltr", "version": "3.4"}, "sends a missing value right at every split"),
        (RIGHT, {"format": "opensearch-ltr", "version": "3.4.1"}, None),
        (STUMP, {"format": "opensearch-ltr", "version": "3.8"}, None),
        (STUMP, {"format": "opensearch-ltr", "version": "1.0"}, "How OpenSearch 1.0 treats missing values is not"),
        (
            STUMP,
            {"format": "opensearch-ltr", "version": "new"},
            "version must be numbers with dots between them, such as 3.8, not 'new'",
        ),
        (RIGHT, {"format": "solr", "version": "8.11"}, "Solr counts a missing value as 0"),
        (RIGHT, {"format": "solr", "version": "9.2"}, None),
        (RIGHT, {"format": "solr", "version": "4.0"}, "Solr 4.0 is not known"),
        (STUMP, {"format": "lightgbm", "version": "4.0"}, "version matters for opensearch-ltr and solr"),
        (STUMP, {"format": "pmml"}, "format must be one of lightgbm, xgboost, ranklib"),
        (LINEAR, {"format": "lightgbm"}, "The model has weights of features, and LightGBM holds only trees"),
        (LINEAR, {"format": "solr", "non_negative": True}, "Only scores of trees alone can be made non-negative"),
        (LinearScorer([1.0], [2.0]), {"format": "solr"}, "1 of the model's 1 features replace it by another"),
        (LinearScorer([1.0], [2.0]), {"format": "solr", "missing": False}, None),
        (Combination((STUMP, LINEAR), [1.0, 1.0]), {"format": "solr"}, "adds trees and weighted features"),
        (StandardisedScorer(STUMP), {"format": "c"}, None),
        (
            StandardisedScorer(STUMP),
            {"format": "solr"},
            "standardises scores within the query, which Solr does not: export it to onnx or c",
        ),
        (StandardisedScorer(STUMP), {"format": "c", "non_negative": True}, "Only scores of trees alone can"),
        (QueryFeatureScorer(STUMP, (QueryFeature.RANK,), raw=False), {"format": "c"}, None),
        (
            QueryFeatureScorer(STUMP, (QueryFeature.RANK,), raw=False),
            {"format": "solr"},
            "computed within the query, which Solr does not compute: export it to onnx or c",
        ),
        (NESTED, {"format": "onnx"}, "columns within the query from such columns"),
        (NetworkScorer([2, 1, 1], np.zeros(5), np.zeros(2)), {"format": "c"}, None),
        (
            NetworkScorer([2, 1, 1], np.zeros(5), np.zeros(2)),
            {"format": "vespa"},
            "a network with hidden layers, which Vespa does not hold: export it to onnx or c",
        ),
        (STUMP, {"format": "vespa", "feature_names": ["a b", "c", "d"]}, "'a b' is no rank feature of Vespa"),
        (STUMP, {"format": "vespa", "feature_names": ["attribute(a)", "bm25(b)", "fieldMatch(c).x"]}, None),
        (STUMP, {"format": "c", "name": "a-b"}, "'a-b' is no name of a C function"),
        (
            STUMP,
            {"format": "lightgbm", "feature_names": ["a b", "c", "d"]},
            "separates names of features by spaces",
        ),
        (STUMP, {"format": "solr", "feature_names": ["a"]}, "There are 3 features but 1 feature names"),
        (STUMP.scaled(1e300), {"format": "xgboost"}, "XGBoost has 32-bit numbers"),
        ("model.rw", {"format": "c"}, "export takes a scorer or a fitted ranker, not this str"),
    ],
)
def test_what_a_target_cannot_hold_is_refused(model, options, refused, tmp_path):
    if refused is None:
        rw.export(model, tmp_path / "model", **options)
        return
    with pytest.raises(rw.InputError, match=refused):
        rw.export(model, tmp_path / "model", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", TARGETS)
def test_names_that_no_file_can_hold_are_refused(target, tmp_path):
    options = {"format": target, "version": "3.8" if target == "opensearch-ltr" else None}
    broken = STUMP.described(feature_names=["a", "b\ud800", "c"])
    with pytest.raises(rw.InputError, match=r"'b\\ud800' cannot be written as UTF-8; rename it") as refused:
        rw.export(broken, tmp_path / "model", **options)
    assert "\n" not in str(refused.value)
    with pytest.raises(rw.InputError, match="cannot be written as UTF-8"):
        rw.export(STUMP, tmp_path / "model", name="\udfff", **options)
    levels = Category("b", ("x", "y\ud800"), one_hot=False)
    coded = STUMP.described(feature_names=["a", "b", "c"], categories=[levels])
    with pytest.raises(rw.InputError, match=r"'y\\ud800' cannot be written as UTF-8"):
        rw.export(coded, tmp_path / "model", **options)
    assert list(tmp_path.iterdir()) == []


def test_members_that_replace_missing_values_differently_are_no_sum(tmp_path):
    one, other = LinearScorer([1.0], [0.0]), LinearScorer([1.0], [2.0])
    with pytest.raises(rw.InputError, match="replace missing values differently"):
        rw.export(Combination((one, other), [1.0, 1.0]), tmp_path / "model", format="solr", missing=False)


def test_combinations_become_one_sum():
    mix = Combination((STUMP, Combination((RIGHT, STUMP), [0.5, -1.0])), [2.0, 3.0])
    rows = rows_around(STUMP)
    np.testing.assert_allclose(loaded(mix, format="lightgbm").predict(rows), mix.predict(rows), rtol=1e-12)
    features = Combination((FeatureScorer(1, -1, n_features=3, missing=0.0), LINEAR), [2.0, 3.0])
    few = np.array([[1.0, 2.0, 3.0], [np.nan, 0.5, -1.0]])
    np.testing.assert_allclose(loaded(features, format="ranklib").predict(few), features.predict(few))


def test_a_model_without_trees_scores_0():
    for name in ("lightgbm", "xgboost", "ranklib"):
        np.testing.assert_array_equal(
            loaded(TreeEnsemble.empty(3), format=name).predict(np.ones((2, 3))), [0.0, 0.0]
        )


def test_linear_models_of_engines():
    model = json.loads(written(LINEAR, format="elasticsearch-ltr"))["model"]["model"]
    assert model["type"] == "model/linear"
    assert json.loads(model["definition"]) == {"feature1": 0.5, "feature3": -2.0}
    params = json.loads(written(LINEAR, format="solr", feature_names=["a", "b", "c"]))["params"]
    assert params == {"weights": {"a": 0.5, "c": -2.0}}


def test_remarks_say_what_differs(tmp_path):
    path = tmp_path / "my-model.json"
    assert rw.export(STUMP.scaled(-1.0), path, format="elasticsearch-ltr", non_negative=True).remarks == (
        "The model has no names of features; they are called feature1 to feature3.",
        f"Scores are higher by {0.1 * 3.0!r}, so that none is negative.",
    )
    assert json.loads(path.read_text())["model"]["name"] == "my_model"
    named = LINEAR.described(feature_names=["a", "b", "c"])
    assert rw.export(named, path, format="solr").remarks == (
        "Scores are lower by the intercept, 0.25; the order is the same.",
    )
    assert rw.export(STUMP.described(feature_names=["a", "b", "c"]), path, format="solr").remarks == (
        'Features that may be missing need "defaultValue": "NaN" in the feature store.',
    )


def test_scores_can_be_made_non_negative():
    forest = STUMP.scaled(-1.0)
    raised = loaded(forest, format="lightgbm", non_negative=True)
    rows = rows_around(STUMP)
    assert raised.predict(rows).min() == 0.0
    np.testing.assert_allclose(raised.predict(rows) - forest.predict(rows), 0.3)


def test_deep_trees_are_refused_where_they_are_nested(tmp_path):
    n = 300
    chain = ([0] * n, list(range(n)), [*range(1, n), -1], [-2 - place for place in range(n)])
    with pytest.raises(rw.InputError, match="300 levels deep; at most 200"):
        rw.export(forest_of([chain], [1] * n).scaled(0.0), tmp_path / "model", format="solr")


@needs_ranklib
def test_ranklib_itself_scores_as_we_do(tmp_path):
    X, y, sizes = judged()
    data = rw.RankingData(X, y, np.repeat(np.arange(len(sizes)), sizes))
    forest = rw.LambdaMART(rounds=10, random_state=0).fit(data).model_
    rw.export(forest, tmp_path / "model.txt", format="ranklib", missing=False)
    rw.write_letor(data, tmp_path / "data.txt")
    words = ["-load", "model.txt", "-rank", "data.txt", "-score", "s.txt", "-thread", "1"]
    subprocess.run(["java", "-jar", JAR, *words], cwd=tmp_path, check=True, capture_output=True, env=os.environ)
    scores = [float(line.split()[-1]) for line in (tmp_path / "s.txt").read_text().splitlines()]
    np.testing.assert_allclose(scores, forest.predict(data), rtol=1e-6, atol=1e-6)

"""Models of RankLib as scorers."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from interop.foreign import N_FEATURES, THRESHOLDS, rows_around, small_trees, used_or_refused
from properties import examples
from rankwright.base.errors import InputError
from rankwright.interop.importers.ranklib import scorer_from_ranklib
from shared_data import SHARED, needs_shared_data

MODELS = SHARED / "models" / "ranklib-o19s"
JAR = os.environ.get("RANKLIB_JAR", "")
needs_ranklib = pytest.mark.skipif(not Path(JAR).is_file(), reason="RANKLIB_JAR does not name RankLib's jar")


def xml_of(tree, node=0, pos=None):
    """Return a node and all below it; leaf number i puts out i + 0.1."""
    features, thresholds, left, right = tree
    node = node if features else -1
    if node < 0:
        inner = f"<output> {-1 - node + 0.1} </output>"
    else:
        inner = f"<feature> {features[node] + 1} </feature><threshold> {thresholds[node]!r} </threshold>"
        inner += xml_of(tree, left[node], "left") + xml_of(tree, right[node], "right")
    return f"<split{f' pos={chr(34)}{pos}{chr(34)}' if pos else ''}>{inner}</split>\n"


def text_of(*ensembles, method="LambdaMART"):
    """Return a model file; an ensemble is trees with their weights."""
    lines = [f"## {method}", "## No. of trees = 2", ""]
    for trees in ensembles:
        inner = "".join(
            f'<tree id="{n}" weight="{w}">\n{xml_of(tree)}</tree>\n' for n, (tree, w) in enumerate(trees)
        )
        lines.append(f"<ensemble>\n{inner}</ensemble>\n")
    return "\n".join(lines)


def score_of(tree, row):
    """Return what RankLib's own loop finds: missing values are 0, all numbers 32-bit floats."""
    features, thresholds, left, right = tree
    node = 0 if features else -1
    while node >= 0:
        value = np.float32(0.0) if np.isnan(row[features[node]]) else row[features[node]]
        with np.errstate(over="ignore"):
            node = left[node] if value <= np.float32(thresholds[node]) else right[node]
    return float(np.float32(-1 - node + 0.1))


STUMP = ([0], [0.5], [-1], [-2])
WEIGHTS = st.sampled_from(["0.1", "1.0", "-2.5", "1.0E-4"])


@given(st.lists(st.lists(st.tuples(small_trees(), WEIGHTS), min_size=1, max_size=2), min_size=1, max_size=2))
@examples(100)
def test_every_split_decides_as_ranklib(ensembles):
    scorer = scorer_from_ranklib(text_of(*ensembles), N_FEATURES)
    rows = rows_around(scorer, n=60)
    expected = [
        np.mean([sum(score_of(tree, row) * float(np.float32(w)) for tree, w in one) for one in ensembles])
        for row in rows
    ]
    np.testing.assert_allclose(scorer.predict(rows), expected, rtol=1e-12, atol=1e-12)


@given(st.lists(st.tuples(st.integers(1, N_FEATURES), THRESHOLDS, st.floats(-2, 2)), min_size=1, max_size=5))
@examples(100)
def test_rank_boost_adds_a_weight_above_each_threshold(rules):
    line = " ".join(f"{feature}:{threshold!r}:{weight!r}" for feature, threshold, weight in rules)
    scorer = scorer_from_ranklib(f"## RankBoost\n## Iteration = 3\n{line}\n", N_FEATURES)
    rows = rows_around(scorer, n=60)
    values = np.where(np.isnan(rows), 0.0, rows.astype(np.float64))
    expected = sum(weight * (values[:, feature - 1] > threshold) for feature, threshold, weight in rules)
    np.testing.assert_allclose(scorer.predict(rows), expected, rtol=1e-12, atol=1e-12)
    assert scorer.n_rounds == len(rules)


@pytest.mark.parametrize("method", ["AdaRank", "Coordinate Ascent", "Linear Regression"])
def test_linear_models_are_sums_of_features(method):
    constant = "0:7.5 " if method == "Linear Regression" else ""
    scorer = scorer_from_ranklib(f"## {method}\n\n{constant}3:0.5 1:-2.0 3:0.25 # a comment\nmore\n")
    assert scorer.n_features == 3
    assert scorer.about == {"ranker": f"RankLib {method}"}
    scores = scorer.predict(np.array([[1.0, 9.0, 4.0], [np.nan, 9.0, np.nan]]))
    np.testing.assert_array_equal(scores, np.array([1.0, 0.0]) + (7.5 if constant else 0.0))


def test_the_number_of_features_can_be_given():
    assert scorer_from_ranklib(text_of([(STUMP, "1")])).n_features == 1
    assert scorer_from_ranklib(text_of([(STUMP, "1")]), 46).n_features == 46
    assert scorer_from_ranklib("## AdaRank\n2:1.0", 5).n_features == 5
    with pytest.raises(InputError, match="it uses feature 2, and there are only 1 features"):
        scorer_from_ranklib("## AdaRank\n2:1.0", 1)


@needs_shared_data
@pytest.mark.parametrize(
    ("name", "trees"), [("lambdaMART", 1000), ("mart", 1000), ("randomForest", 300), ("coord_ascent", 0)]
)
def test_files_that_ranklib_wrote_are_read(name, trees):
    scorer = rw.load(MODELS / f"{name}.txt")
    assert scorer.n_trees == trees
    assert np.isfinite(scorer.predict(np.array([[3.0, 14.0], [np.nan, 0.0]]))).all()


LEAF = "<split><output> 1 </output></split>"
ENSEMBLE = '## MART\n<ensemble><tree id="1" weight="1">{}</tree></ensemble>'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"## MART", "it must be text, not bytes"),
        ("", "its first line does not name the method"),
        ("1:2", "its first line does not name the method"),
        ("## RankNet\n1 2 3", "its method is 'RankNet'; only LambdaMART"),
        ("## MART\n", "it has no ensemble"),
        ("## MART\n<ensemble></ensemble>", "it has no trees"),
        ("## MART\n<ensemble>", "its XML is damaged"),
        ('## MART\n<!DOCTYPE x [<!ENTITY a "b">]><ensemble>&a;</ensemble>', "declares what a model does not need"),
        ("## MART\n<forest></forest>", "<forest> stands where <ensemble> should"),
        ("## MART\n<ensemble><tree/></ensemble>", "a tree has not one root"),
        (ENSEMBLE.format(LEAF).replace('weight="1"', ""), "weight must be numbers"),
        (ENSEMBLE.format(LEAF).replace("1 </output>", "NaN</output>"), "output must be numbers, not NaN"),
        (ENSEMBLE.format(LEAF).replace("1 </output>", "1e99</output>"), "must be finite"),
        (ENSEMBLE.format("<split><feature>1</feature></split>"), "a split must have a feature, a threshold"),
        (ENSEMBLE.format(xml_of(STUMP)).replace("left", "right"), "a split at the left says that it is at the"),
        (ENSEMBLE.format(xml_of(([-1], *STUMP[1:]))), "features must be numbered from 1"),
        (ENSEMBLE.format(xml_of(([2**24], *STUMP[1:]))), "features must be numbered from 1"),
        (ENSEMBLE.format(xml_of(([0], ["x"], *STUMP[2:]))), "threshold must be numbers"),
        ("## AdaRank\n", "it has no line of entries with 2 parts, such as 1:2"),
        ("## AdaRank\n1:2:3", "it has no line of entries with 2 parts"),
        ("## AdaRank\n1:x", "weight must be numbers"),
        ("## AdaRank\n1:1_000", "weight must be numbers"),
        ("## AdaRank\n1_0:1", "feature must be integers"),
        ("## AdaRank\n1:\u0661", "weight must be numbers"),
        ("## AdaRank\n99999999:1", "features must be numbered from 1 to 1,048,576"),
        ("## Linear Regression\n0:1 0:2 1:1", "it has two constants"),
        ("## RankBoost\n1:2", "it has no line of entries with 3 parts"),
        ("## RankBoost\n1:nan:1", "threshold must be numbers, not NaN"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(InputError, match=f"^This RankLib model cannot be used: .*{sentence}"):
        scorer_from_ranklib(text)


VALID = [text_of([(STUMP, "0.1")]), "## AdaRank\n1:2 2:-0.5", "## RankBoost\n1:0.5:2 2:-1:0.25"]


@given(st.sampled_from(VALID), st.data())
@examples(500)
def test_damaged_files_are_refused_or_score(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        junk = data.draw(st.sampled_from(["", "<", ">", "9", "-", ":", "\n", "é", "&", "e", "."]))
        text = text[:place] + junk + text[place + data.draw(st.integers(0, 4)) :]
    used_or_refused(scorer_from_ranklib, text)


@needs_ranklib
@needs_shared_data
@pytest.mark.parametrize(
    "options",
    ["0 -tree 10 -leaf 5", "2 -round 20", "3 -round 20", "4 -r 1 -i 3", "6 -tree 10", "8 -bag 5 -leaf 8", "9"],
)
def test_scores_are_those_of_ranklib_itself(options, tmp_path):
    lines = (SHARED / "letor" / "MQ2008" / "Fold1" / "vali.txt").read_text().splitlines(keepends=True)
    (tmp_path / "data.txt").write_text("".join(lines[:700]))
    for words in (
        f"-train data.txt -ranker {options} -save model.txt",
        "-load model.txt -rank data.txt -score s.txt",
    ):
        command = ["java", "-jar", JAR, *words.split(), "-thread", "1"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    documents = rw.read_letor(tmp_path / "data.txt")
    expected = [float(line.split()[-1]) for line in (tmp_path / "s.txt").read_text().splitlines()]
    scorer = rw.load(tmp_path / "model.txt", n_features=documents.n_features)
    np.testing.assert_allclose(scorer.predict(documents), expected, rtol=1e-6, atol=1e-6)

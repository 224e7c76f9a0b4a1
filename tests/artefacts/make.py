"""Make the saved models in this folder, one of each kind, and the scores they must give for ever.

Run after adding a kind or a format version: `python tests/artefacts/make.py`. Files that are there are never made
again.
"""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from rankwright.data.categories import Category
from rankwright.data.feature_ranges import FeatureRanges
from rankwright.data.query_features import QueryFeature
from rankwright.models import (
    Calibrated,
    ClassLink,
    ClassTrees,
    Combination,
    ExpectedRelevance,
    FeatureScorer,
    HiddenLayer,
    LinearScorer,
    LogisticCalibration,
    NetworkScorer,
    Polynomial,
    QueryFeatureScorer,
    RadialBasis,
    Rescaled,
    ResidualModel,
    RetrievalScorer,
    Scorer,
    SigmoidCalibration,
    StandardCalibration,
    StandardisedScorer,
    TreeEnsemble,
    save,
)
from rankwright.models.level_sets import ABOVE_MINUS_ONE, FROM_ZERO
from rankwright.models.model_file import MAGIC, VERSION, encode
from rankwright.text import Analyser, FeatureSet, Index, TextDocument

FOLDER = Path(__file__).parent
NAMES = ("bm25", "length", "pagerank")
START = [0.1, -2.0, 1 / 3, 0.0, 7.0]  # for a residual model
CATEGORIES = [
    Category("brand", ("é", "b c", ""), one_hot=False),
    Category("colour", ("red", "blue"), one_hot=True),
]
QUERY = "ship of state"
TEXTS = [
    {"title": "the ship", "body": "a ship leaves the harbour"},
    {"title": "ship of state", "body": ""},
    {"title": "", "body": "state of the sea, state of the ship"},
    {"title": "sea", "body": "sea"},
]
FRAME = {"brand": ["b c", "", None, "new"], "colour": ["blue", "red", None, "green"]}
X = [[1.0, 2.0, 3.0], [None, 0.1, -7.0], [4.0, None, None], [0.0, 0.0, 0.0], [1e30, -1e-30, 12345.678]]


def models() -> dict[str, Scorer]:
    """Return a model of each kind."""
    feature = FeatureScorer(1, -1, n_features=3, missing=-3.5)
    linear = LinearScorer([0.1, 0.0, -2.3], [0.0, 1.0, -1.7], intercept=0.3)
    inner = Combination([linear, feature], [1.1, 0.7])
    combination = Combination([inner, feature], [2.0, -1 / 3])
    trees = TreeEnsemble(
        splits=[0, 3, 3, 4],
        feature=[1, 2, 0, 2],
        threshold=[0.1, -7.0, 2.5, 0.0],
        missing_left=[1, 0, 1, 1],
        left=[2, -3, -1, -1],
        right=[1, -2, -4, -2],
        leaf_value=[0.1, -1 / 3, 2e-9, 7.5, 0.7, -0.3, 1e5],
        gain=[4.0, 0.5, 0.25, 1.0],
        cover=[3, 9, 2, 1, 15, 8, 7],
        n_features=3,
    )
    values = [[0.5, -1.0], [0.25, 1 / 3], [-2.0, 0.0], [1.5, 0.125], [0.0, 1e-3], [-0.75, 2.0], [3.0, -4.0]]
    expected = ExpectedRelevance(ClassTrees(trees, values, 2), [0.0, 1.0, 3.0], ClassLink.ORDINAL)
    wide = LinearScorer(np.arange(-4, 5) / 3, np.arange(9) / 7, intercept=-0.1)
    votes = np.array([[0.1, -0.3, 0.2], [-0.1, 0.3, 0.1], [0.7, -0.7, 0.4], [0.0, 0.5, -0.9]] * 2)[:7]
    calibrated = Calibrated(ClassTrees(trees, votes, 3), calibrations())
    made = {
        "feature": feature,
        "linear": linear,
        "combination": combination,
        "trees": trees,
        "expected_relevance": expected,
        "correction": ResidualModel(trees),
        "network": NetworkScorer([3, 2, 2, 1], np.sin(np.arange(17)) / 3, [0.5, -1.0, 2.0]),
        "query_features": QueryFeatureScorer(wide, (QueryFeature.RANK, QueryFeature.ZSCORE)),
        "query_features_alone": QueryFeatureScorer(linear, (QueryFeature.MINMAX,), raw=False),
        "calibrated": calibrated,
        "standardised": StandardisedScorer(combination),
    }
    named = {name: one.described(feature_names=NAMES, about={"made_as": one.kind}) for name, one in made.items()}
    columns = ("colour=red", "colour=blue", "brand")
    categories = named["trees"].described(feature_names=columns, categories=CATEGORIES)
    ranges = FeatureRanges(np.float32([0, -1, 0.5]), np.float32([1, -1, 7]), np.array([0, 1 / 3, 0.5]))
    sets = replace(
        categories,
        threshold=[0.1, ABOVE_MINUS_ONE, 2.5, FROM_ZERO],
        set_size=[0, 1, 0, 1],
        set_words=[0b101, 0b010],
    )
    return named | {"categories": categories, "ranges": categories.described(ranges=ranges), "sets": sets}


def calibrations() -> Scorer:
    """Return every kind of calibration of three classes, mixed."""
    gains, centre, scale = [0.0, 1 / 3, 1.0], [0.1, -0.2, 0.0], [0.5, 1.5, 1.0]
    weights = [[0.5, -0.5, 0.1], [0.0, 1.0, -1.0], [-0.7, 0.2, 0.9]]
    regressions = [
        Polynomial([[0, 0, 0], [1, 0, 0], [0, 2, 1]], [0.4, -0.2, 0.1]),
        HiddenLayer(np.transpose(weights)[:, :2], [0.1, -0.4], [0.6, -0.8], 0.3),
        RadialBasis([[0.0, 1.0, 0.0], [0.5, -0.5, 1.0]], [0.4, -0.6], 0.8, 0.2),
    ]
    members = [
        StandardCalibration(gains, 2.5),
        SigmoidCalibration(gains, 3.0, -0.1),
        LogisticCalibration(gains, weights, [0.0, -0.1, 0.2]),
        *(Rescaled(one, centre, scale, -1.0, 1.5) for one in regressions),
    ]
    return Combination(members, [0.3, 0.2, 0.1, 0.2, 0.1, 0.1])


def texts() -> dict[str, Scorer]:
    """Return models that score text."""
    weights = {"title": 2.0, "body": 1 / 3}
    bm25 = RetrievalScorer("bm25", {"k1": 0.9, "b": 0.4, "method": "atire"}, weights, n_features=1)
    discounting = RetrievalScorer("absolute_discounting", {"delta": 0.6}, weights, n_features=1)
    combination = Combination([bm25, discounting], [1.5, 0.25])
    return {name: one.described(about={"made_as": one.kind}) for name, one in [("retrieval", combination)]}


def text_scores(model: Scorer) -> list[float]:
    """Return the scores of the texts for the query."""
    with TemporaryDirectory() as folder:
        documents = [TextDocument(str(number), fields) for number, fields in enumerate(TEXTS)]
        index = Index.build(documents, Path(folder) / "index", analyser=Analyser(stemmer=None))
        ids = [one.id for one in documents]
        found = FeatureSet(["query"]).documents(index, {"q": QUERY}, {"q": ids})
        return model.predict(found).tolist()


def make_text(name: str, model: Scorer) -> None:
    """Write a model of text and, beside it, what it must say."""
    path = _path(name, model)
    if path.exists():
        return
    save(model, path)
    expected = {"about": model.about, "query": QUERY, "texts": TEXTS, "scores": text_scores(model)}
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def make(name: str, model: Scorer) -> None:
    """Write a model and, beside it, what it must say; floats in JSON come back bit for bit."""
    path = _path(name, model)
    if path.exists():
        return
    save(model, path)
    given = {"init_score": START} if model.needs_init_score else {}
    scores = model.predict(np.array(X, dtype=np.float32), qid=1, **given).tolist()
    expected = {"feature_names": model.feature_names, "about": model.about, "X": X, "scores": scores, **given}
    if model.categories:
        expected |= {"frame": FRAME, "frame_scores": model.predict(pd.DataFrame(FRAME), qid=1).tolist()}
    path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


def _path(name: str, model: Scorer) -> Path:
    version = VERSION.unpack_from(encode(model), len(MAGIC))[0]
    return FOLDER / f"{name}-{version}.rw"


if __name__ == "__main__":
    for name, model in models().items():
        make(name, model)
    for name, model in texts().items():
        make_text(name, model)

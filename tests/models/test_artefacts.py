"""A model that was saved once loads for ever."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from artefacts import make
from rankwright.models import load

TEXTS = ("retrieval",)  # models of text
ARTEFACTS = sorted((Path(__file__).parents[1] / "artefacts").glob("*.rw"))
FEATURES = [path for path in ARTEFACTS if not path.stem.startswith(TEXTS)]


def test_every_kind_has_an_artefact():
    names = ("feature", "linear", "combination", "trees", "query_features", "query_features_alone", "network")
    names += ("expected_relevance", "correction", "calibrated", *TEXTS)
    assert {f"{name}-1" for name in names} | {"categories-2", "ranges-3", "sets-4"} <= {
        path.stem for path in ARTEFACTS
    }


@pytest.mark.filterwarnings("ignore:The model was not trained on these values")
@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_an_old_model_loads_and_scores_as_it_did(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    scorer = load(path)
    assert scorer.kind == expected["about"]["made_as"]
    assert list(scorer.feature_names) == expected["feature_names"]
    assert scorer.about == expected["about"]
    X = np.array(expected["X"], dtype=np.float32)
    given = {name: expected[name] for name in ("init_score",) if name in expected}
    if "start" in expected:  # its name in the artefact of the first version
        given = {"init_score": expected["start"]}
    scores = scorer.predict(X, qid=1, **given).tolist()
    # Exponentials may come out a bit different on another processor.
    assert scores == (
        pytest.approx(expected["scores"], rel=1e-12) if scorer.kind == "calibrated" else expected["scores"]
    )
    assert (scorer.ranges is None) == (path.stem != "ranges-3")
    if "frame" in expected:  # columns of categories as text
        assert scorer.predict(pd.DataFrame(expected["frame"])).tolist() == expected["frame_scores"]


@pytest.mark.parametrize("path", [path for path in ARTEFACTS if path not in FEATURES], ids=lambda path: path.stem)
def test_an_old_model_of_text_loads_and_scores_as_it_did(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    assert (expected["query"], expected["texts"]) == (make.QUERY, make.TEXTS)
    assert make.text_scores(load(path)) == pytest.approx(expected["scores"], rel=1e-12)

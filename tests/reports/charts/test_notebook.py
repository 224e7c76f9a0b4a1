"""What notebooks show of each result, with the packages for charts and without."""

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import rankwright as rw
from evaluation.examples import small_report
from rankwright.ensembling.metric_curve import MetricCurve
from rankwright.models import FeatureScorer
from rankwright.rankers.shared.importances import by_name
from rankwright.reports.charts.notebook import MIME_TYPE
from rankwright.training.history import History, Round

HOSTILE = "<script>alert(1)</script>"


def small_data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return rw.RankingData(
        X, (X[:, 0] > 0.5).astype(int), np.repeat(np.arange(6), 10), feature_names=["a", "b", "<c>"]
    )


def history(*values):
    return History(tuple(Round(place, 1.0, one, one / 2) for place, one in enumerate(values, start=1)), 1)


CHARTS = {
    "permutation importance": lambda: rw.permutation_importance(
        FeatureScorer(0, n_features=3, missing=0.0), small_data(), repeats=1
    ),
    "reliability": lambda: rw.reliability(np.linspace(0, 1, 50), np.arange(50) % 2),
    "rounds": lambda: rw.evaluate_rounds(rw.LambdaMART(rounds=2).fit(small_data()), small_data(), [1]),
    "chart": lambda: history(0.5, 0.6).chart(),
}
TABLES = {
    "history": lambda: history(0.5, 0.6),
    "curve": lambda: MetricCurve(np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.4])),
    "importances": lambda: by_name(np.array([0.25, 0.75]), ["a.b", HOSTILE]),
    "blend": lambda: rw.blend(
        *(FeatureScorer(place, n_features=3, missing=0.0) for place in (0, 1)), on=small_data()
    ),
    "report": lambda: small_report(**{HOSTILE: [1.0, 0.5, 0.75], "other": [0.25, 0.5, 0.25]}),
    "scorer": lambda: FeatureScorer(0, n_features=1, missing=0.0, feature_names=[HOSTILE], about={"a": HOSTILE}),
    "ranker": lambda: rw.AdaRank(rounds=2).fit(small_data()),
    "ranker before its fit": rw.AdaRank,
}


@pytest.mark.parametrize("kind", CHARTS)
def test_a_live_chart_and_a_picture(kind):
    shown = CHARTS[kind]()._repr_mimebundle_(include=None, exclude=None)
    assert set(shown) == {"text/plain", MIME_TYPE, "image/svg+xml"}
    assert shown[MIME_TYPE]["config"]
    assert ET.fromstring(shown["image/svg+xml"]).get("aria-label") == shown[MIME_TYPE]["description"]


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
@pytest.mark.parametrize("kind", CHARTS)
def test_text_where_a_package_is_missing(kind, package, monkeypatch):
    result = CHARTS[kind]()
    monkeypatch.setitem(sys.modules, package, None)
    expected = {"text/plain"} | ({MIME_TYPE} if package == "vl_convert" or kind == "chart" else set())
    shown = result._repr_mimebundle_()
    assert set(shown) - {"image/svg+xml"} == expected
    assert shown["text/plain"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_or_a_card(kind, monkeypatch):
    html = TABLES[kind]()._repr_mimebundle_()["text/html"]
    assert HOSTILE not in html
    assert ("<svg" in html) == (kind not in ("scorer", "ranker before its fit"))
    monkeypatch.setitem(sys.modules, "altair", None)
    assert "<svg" not in TABLES[kind]()._repr_mimebundle_()["text/html"]


def test_the_card_of_a_scorer():
    html = rw.LambdaMART(rounds=2).fit(small_data()).model_._repr_mimebundle_()["text/html"]
    for expected in ("TreeEnsemble", "3: a, b, &lt;c&gt;", "LambdaMART", "rounds", "<td>2</td>"):
        assert expected in html
    long = FeatureScorer(0, n_features=1, missing=0.0, about={"claim": "x" * 100_000})
    assert len(long._repr_mimebundle_()["text/html"]) < 1_000


def test_a_result_without_anything_to_draw_is_text():
    assert "svg" not in History((), 0)._repr_mimebundle_()["text/html"]
    assert "svg" not in small_report(one=[np.nan])._repr_mimebundle_()["text/html"]
    data = small_data()
    three = rw.blend(*(FeatureScorer(place, n_features=3, missing=0.0) for place in range(3)), on=data)
    assert "svg" not in three._repr_mimebundle_()["text/html"]


def test_importances_are_a_dict():
    found = by_name(np.array([0.25, 0.75]), ["a", "b"])
    assert found == {"b": 0.75, "a": 0.25}
    assert repr(found) == "{'b': 0.75, 'a': 0.25}"

"""What notebooks show of each result, with the packages for charts and without."""

import pickle
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import rankwright as rw
from evaluation.examples import small_report
from rankwright.ensembling.metric_curve import MetricCurve
from rankwright.models import FeatureScorer
from rankwright.rankers.shared.importances import by_name
from rankwright.reports.charts.chart import MIME_TYPE
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


DRAWN = {
    "history": lambda: history(0.5, 0.6, 0.7),
    "curve": lambda: MetricCurve(np.array([0.0, 0.5, 1.0]), np.array([0.3, 0.4])),
    "importances": lambda: by_name(np.array([0.25, 0.75]), ["a.b", HOSTILE]),
    "permutation importance": lambda: rw.permutation_importance(
        FeatureScorer(0, n_features=3, missing=0.0), small_data(), repeats=1
    ),
    "reliability": lambda: rw.reliability(np.linspace(0, 1, 50), np.arange(50) % 2),
    "blend": lambda: rw.blend(
        *(FeatureScorer(number, n_features=3, missing=0.0) for number in (0, 1)), on=small_data()
    ),
    "rounds": lambda: rw.evaluate_rounds(rw.LambdaMART(rounds=2).fit(small_data()), small_data(), [1]),
    "report": lambda: small_report(**{HOSTILE: [1.0, 0.5, 0.75], "other": [0.25, 0.5, 0.25]}),
    "ranker": lambda: rw.LambdaMART(rounds=3).fit(small_data()),
}
CARDS = {
    "scorer": lambda: FeatureScorer(0, n_features=1, missing=0.0, feature_names=[HOSTILE], about={"a": HOSTILE}),
    "ranker before its fit": rw.AdaRank,
}


def test_a_chart_is_live_and_a_picture():
    shown = history(0.5, 0.6).chart()._repr_mimebundle_(include=None, exclude=None)
    assert set(shown) == {"text/plain", MIME_TYPE, "image/svg+xml"}
    assert shown[MIME_TYPE]["config"]
    assert ET.fromstring(shown["image/svg+xml"]).get("aria-label") == shown[MIME_TYPE]["description"]


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_chart_where_a_package_is_missing(package, monkeypatch):
    chart = history(0.5, 0.6).chart()
    monkeypatch.setitem(sys.modules, package, None)
    assert set(chart._repr_mimebundle_()) - {"image/svg+xml"} == {"text/plain", MIME_TYPE}


@pytest.mark.parametrize("kind", DRAWN)
def test_a_result_has_a_picture(kind):
    shown = DRAWN[kind]()._repr_mimebundle_(include=None, exclude=None)
    assert shown["text/plain"]
    assert "<svg" in shown["text/html"]
    assert HOSTILE not in shown["text/html"]


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
@pytest.mark.parametrize("kind", DRAWN)
def test_no_picture_where_a_package_is_missing(kind, package, monkeypatch):
    result = DRAWN[kind]()
    monkeypatch.setitem(sys.modules, package, None)
    shown = result._repr_mimebundle_()
    assert shown["text/plain"]
    assert "<svg" not in shown["text/html"]


@pytest.mark.parametrize("kind", CARDS)
def test_a_card(kind):
    html = CARDS[kind]()._repr_mimebundle_()["text/html"]
    assert HOSTILE not in html
    assert "<svg" not in html


def test_the_card_of_a_scorer():
    html = rw.LambdaMART(rounds=2).fit(small_data()).model_._repr_mimebundle_()["text/html"]
    for expected in ("TreeEnsemble", "3: a, b, &lt;c&gt;", "LambdaMART", "rounds", "<td>2</td>"):
        assert expected in html
    long = FeatureScorer(0, n_features=1, missing=0.0, about={"claim": "x" * 100_000})
    assert len(long._repr_mimebundle_()["text/html"]) < 1_000


def test_a_result_without_anything_to_draw_has_no_picture():
    scorers = [FeatureScorer(number, n_features=3, missing=0.0) for number in range(3)]
    for result in (History((), 0), small_report(one=[np.nan]), rw.blend(*scorers, on=small_data())):
        shown = result._repr_mimebundle_()
        assert "svg" not in shown.get("text/html", "")
        assert "image/svg+xml" not in shown


def test_importances_are_a_dict():
    found = by_name(np.array([0.25, 0.75]), ["a", "b"])
    assert found == {"b": 0.75, "a": 0.25}
    assert repr(found) == "{'b': 0.75, 'a': 0.25}"


def test_the_card_of_a_fitted_ranker_has_no_json():
    html = rw.LambdaMART(rounds=2).fit(small_data())._repr_mimebundle_()["text/html"]
    assert "learning_rate 0.05; " in html
    assert "{&quot;" not in html


def test_a_fitted_auto_ranker_shows_its_estimate_and_its_members():
    ranker = rw.AutoRanker(portfolio=["RankSVM", "AdaRank"], n_jobs=1).fit(small_data())
    html = ranker._repr_mimebundle_()["text/html"]
    assert "On new queries, expect" in html
    assert "best single feature (a)" in html
    assert ranker.standings_._repr_mimebundle_()["text/html"] in html
    assert ranker.standings_.frame()["member"].tolist() == [member.name for member in ranker.standings_]
    assert ranker.standings_.to_dict()["rows"][0]["name"] == ranker.standings_[0].name
    assert pickle.loads(pickle.dumps(ranker.standings_)).summary == ranker.standings_.summary


def test_a_comparison_is_a_sentence_and_a_table():
    report = small_report(new=[1.0, 0.5, 0.75], old=[0.25, 0.5, 0.25])
    pair = report.compare("new", "old")
    assert (
        repr(pair)
        == "<Comparison: The difference is +0.4167, p = 0.500; of 3 queries, 2 better, 1 equal, 0 worse.>"
    )
    assert "<td" in pair._repr_mimebundle_()["text/html"]
    assert pair.frame()["better"].tolist() == [2]
    named = rw.compare({"new": [1.0, 0.0], "old": [0.0, 1.0]}, ([[0.0], [1.0]], [1, 0], [1, 1])).pair("new", "old")
    assert named.summary.startswith("new against old: the difference is +")
    assert "not tested" in named.summary

"""The model, its members and other systems on judged queries."""

import json

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data, small_ranker
from html_page import read_page

NAMES = ["a", "b", "c", "d"]
WHOLE = small_data(40, feature_names=NAMES)
TRAIN, TEST = rw.split_queries(WHOLE, 0.6, 0.4)


@pytest.fixture(scope="module")
def ranker():
    return small_ranker(TRAIN, baseline_column="-a")


def test_members_feature_order_and_given_systems(ranker):
    board = ranker.leaderboard(TEST, {"mine": TEST.X[:, 0] + TEST.X[:, 1]})
    kinds = {place.system: place.kind for place in board.places}
    assert kinds["this model"] == "this model"
    assert {name for name, kind in kinds.items() if kind == "member"} == {"RankSVM", "AdaRank", "LambdaMART"}
    assert kinds["-a"] == "order today"
    assert kinds["mine"] == "given"
    assert list(kinds.values()).count("best feature") == 1
    values = [place.value.value for place in board.places]
    assert values == sorted(values, reverse=True)
    assert board.learned == 0


def test_values_are_those_of_evaluate_and_compare(ranker):
    board = ranker.leaderboard(TEST, {"mine": TEST.X[:, 0]}, metrics="map,ndcg@5", level=0.9)
    expected = rw.evaluate({"m": ranker, "mine": TEST.X[:, 0]}, TEST, metrics="map")
    places = {place.system: place for place in board.places}
    assert places["this model"].value.value == pytest.approx(expected.mean("m", "map"))
    assert places["mine"].value.value == pytest.approx(expected.mean("mine", "map"))
    assert places["mine"].ahead.value == pytest.approx(expected.mean("m", "map") - expected.mean("mine", "map"))
    assert board.comparison.metrics == ("map", "ndcg@5")
    assert board.comparison.level == 0.9


def test_members_are_the_parts_of_the_mixture(ranker):
    """The weighted sum of the members' standardised scores ranks as the model does."""
    from rankwright.auto.leaderboard import _members
    from rankwright.data.query_features import standardised

    members = _members(ranker.run_, ranker.model_)
    weights = {row.name: row.weight for row in ranker.standings_}
    total = sum(weights[name] * standardised(each.predict(TEST), TEST.groups) for name, each in members.items())
    np.testing.assert_allclose(total, ranker.predict(TEST), rtol=1e-9, atol=1e-9)


def test_columns_in_another_order(ranker):
    other = rw.RankingData(TEST.X[:, ::-1], TEST.y, TEST.qid, feature_names=NAMES[::-1])
    first, second = (ranker.leaderboard(data) for data in (TEST, other))
    assert [place.value for place in first.places] == [place.value for place in second.places]


def test_queries_that_were_learned_from_are_counted(ranker):
    board = ranker.leaderboard(rw.concat(TEST, TRAIN.take_queries([0, 1])))
    assert board.learned == 2
    assert "learned from 2 of these 18 queries: its value and those of its members are too high" in str(board)


def test_a_single_member_is_the_model():
    board = small_ranker(TRAIN, portfolio=[rw.RankSVM()]).leaderboard(TEST)
    assert [place.kind for place in board.places].count("member") == 0


def test_a_name_that_is_taken(ranker):
    with pytest.raises(rw.InputError, match=r"^Two systems of the leaderboard are called 'RankSVM'; rename"):
        ranker.leaderboard(TEST, {"RankSVM": TEST.y})


def test_it_is_rendered_everywhere(ranker, tmp_path):
    board = ranker.leaderboard(TEST)
    assert board.summary.startswith("On 16 queries, this model is number ")
    facts = json.loads(json.dumps(board.to_dict()))
    assert [place["system"] for place in facts["places"]] == [place.system for place in board.places]
    assert facts["comparison"]["baseline"] == "this model"
    ranker.report(tmp_path / "page.html", leaderboard=board)
    assert "Leaderboard" in read_page(tmp_path / "page.html").text


def test_a_ranker_that_is_not_fitted():
    with pytest.raises(Exception, match=r"^This AutoRanker is not fitted yet; call fit first\.$"):
        rw.AutoRanker().leaderboard(TEST)

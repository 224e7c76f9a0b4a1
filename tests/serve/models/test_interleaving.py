"""Models beside the one that answers: shadows, and interleaved rankings with their credits."""

import asyncio
import json
import threading
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from serve.asking import NPY, X, client, matrix, small_model

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.base.errors import InputError
from rankwright.data.categories import Category
from rankwright.serve.http.request_bodies import matrix_of
from rankwright.serve.models.interleaving import FIRST, SECOND, Impressions, team_draft
from rankwright.serve.models.loaded_models import for_other_model
from rankwright.serve.protocols.rank import sign_test
from rankwright.serve.settings import Pair, Settings

ROWS = X.astype(float).tolist()


def slow_draft(first, second, coins):
    """Team draft as its paper prints it: two teams of documents, filled in turn."""
    teams, order = ([], []), []
    coins = iter(coins)
    while len(order) < len(first):
        if len(teams[0]) < len(teams[1]):
            team = FIRST
        elif len(teams[0]) > len(teams[1]):
            team = SECOND
        else:
            team = next(coins)
        best = next(row for row in (first, second)[team] if row not in order)
        teams[team].append(best)
        order.append(best)
    return order, teams


@given(
    st.integers(0, 9).flatmap(lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))), st.data()
)
@examples(100)
def test_team_draft_is_that_of_the_paper(rankings, data):
    first, second = rankings
    coins = data.draw(st.lists(st.integers(0, 1), min_size=10, max_size=10))
    draft = team_draft(first, second, iter(coins).__next__)
    order, teams = slow_draft(first, second, coins)
    assert draft.order == order
    assert [row for row, team in zip(*draft, strict=True) if team == SECOND] == teams[1]
    assert sorted(draft.order) == sorted(first)


def test_equal_rankings_are_credited_to_both_alike():
    random = np.random.default_rng(0)
    shares = [team_draft(range(4), range(4), lambda: int(random.integers(2))).teams[0] for _ in range(400)]
    assert 140 < sum(shares) < 260


@pytest.fixture
def interleaving(folder):
    pair = (Pair("ranker", "other"),)
    return client(folder / "ranker.rw", folder / "other.rw", interleaved=pair)


def test_interleaved_lists_come_from_both_models(interleaving, folder):
    models = [rw.load(folder / name) for name in ("ranker.rw", "other.rw")]
    best = [int(model.predict(X).argmax()) for model in models]
    assert best[0] != best[1]
    firsts = Counter()
    for _ in range(40):
        answer = interleaving.post("/rank", {"features": ROWS, "ids": [*"abcdefg"]}).json
        rows = [one["row"] for one in answer["ranking"]]
        assert sorted(rows) == [*range(7)]
        assert set(rows[:2]) == set(best)
        assert all("score" not in one for one in answer["ranking"])
        firsts[rows[0]] += 1
    assert set(firsts) == set(best)


def test_clicks_are_credited_to_the_model_that_placed_the_document(interleaving, folder):
    best = int(rw.load(folder / "other.rw").predict(X).argmax())
    before = interleaving.get("/interleaving").json["pairs"]
    before = next(one for one in before if one["second"] == "other@1")
    for _ in range(6):
        answer = interleaving.post("/rank", {"features": ROWS, "top": 2}).json
        rank = [one["row"] for one in answer["ranking"]].index(best) + 1
        clicked = interleaving.post("/clicks", {"impression": answer["impression"], "ranks": [rank, rank]}).json
        assert clicked == {"clicks": {"ranker@1": 0, "other@1": 1}, "winner": "other@1", "counted": True}
    answer = interleaving.post("/rank", {"features": ROWS, "top": 2}).json
    interleaving.post("/clicks", {"impression": answer["impression"], "ranks": []})
    after = next(one for one in interleaving.get("/interleaving").json["pairs"] if one["second"] == "other@1")
    gained = {name: after[name] - before[name] for name in after if isinstance(after[name], int)}
    assert gained == {
        "impressions": 7, "reported": 7, "wins_first": 0, "wins_second": 6, "ties": 1, "clicks_first": 0,
        "clicks_second": 6,
    }  # fmt: skip
    assert after["p_value"] == sign_test(after["wins_first"], after["wins_second"])


def test_a_repeated_report_is_answered_and_not_counted(interleaving):
    def standings():
        pairs = interleaving.get("/interleaving").json["pairs"]
        return next(one for one in pairs if one["second"] == "other@1")

    report = {"impression": interleaving.post("/rank", {"features": ROWS}).json["impression"], "ranks": [1]}
    wrong = interleaving.post("/clicks", report | {"ranks": [99]})
    first, after_first = interleaving.post("/clicks", report).json, standings()
    again = interleaving.post("/clicks", report).json
    assert (wrong.status, first["counted"], again) == (422, True, first | {"counted": False})
    assert standings() == after_first


def test_reports_are_remembered_for_a_number_of_impressions():
    impressions = Impressions(remembered=64)
    shown = [impressions.read(impressions.written("a@1", "b@1", [0, 1])) for _ in range(100)]
    for late in shown[:36]:
        with pytest.raises(InputError, match="too old: 64 followed"):
            impressions.report(late)
    assert [impressions.report(one) for one in shown[36:] * 2] == [True] * 64 + [False] * 64
    new = impressions.read(impressions.written("a@1", "b@1", []))
    assert [impressions.report(new), impressions.report(new)] == [True, False]


def test_only_impressions_of_the_service_are_counted(interleaving):
    text = interleaving.post("/rank", {"features": ROWS, "top": 2}).json["impression"]
    for forged in ("x", text[:-4], text[:30] + ("A" if text[30] != "A" else "B") + text[31:], "é" * 40, "A" * 40):
        answer = interleaving.post("/clicks", {"impression": forged, "ranks": [1]})
        assert (answer.status, "not signed by this service" in answer.error) == (422, True)
    answer = interleaving.post("/clicks", {"impression": text, "ranks": [3]})
    assert answer.error == "The list of this impression had 2 ranks, and none is 3."


@given(st.lists(st.integers(0, 1), max_size=30), st.data())
@examples(50)
def test_an_impression_counts_what_was_picked(teams, data):
    impressions = Impressions()
    ranks = data.draw(st.lists(st.integers(1, max(len(teams), 1)), max_size=5 if teams else 0))
    found = impressions.read(impressions.written("a@1", "b@1", teams)).clicks(ranks)
    assert found == tuple(sum(teams[rank - 1] == team for rank in set(ranks)) for team in (FIRST, SECOND))
    with pytest.raises(InputError, match="not signed by this service"):
        Impressions().read(impressions.written("a@1", "b@1", teams))


@given(st.integers(0, 400), st.integers(0, 400))
@examples(50)
def test_the_sign_test_is_that_of_scipy(first, second):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(first, first + second).pvalue if first + second else 1.0
    assert sign_test(first, second) == pytest.approx(expected, abs=1e-9)


def test_the_sign_test_of_many_wins_is_close_to_the_exact_one():
    stats = pytest.importorskip("scipy.stats")
    assert sign_test(1040, 960) == pytest.approx(stats.binomtest(1040, 2000).pvalue, rel=5e-3)


def test_a_shadow_is_scored_and_logged_and_not_seen(folder, capsys):
    asked = client(folder / "ranker.rw", folder / "other.rw", shadows=(Pair("ranker", "other"),))
    answer = asked.post("/rank", {"features": ROWS}).json
    assert answer["ranking"] == client(folder / "ranker.rw").post("/rank", {"features": ROWS}).json["ranking"]
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [line for line in lines if line["event"] == "shadow"]
    live, other = (rw.load(folder / name).predict(X) for name in ("ranker.rw", "other.rw"))
    assert (line["live"], line["shadow"], line["documents"]) == ("ranker@1", "other@1", 7)
    assert line["same_best"] is False
    assert line["overlap"] == 1.0
    assert line["largest_difference"] == pytest.approx(np.abs(live - other).max())
    assert (
        'rankwright_shadow_requests_total{live="ranker@1",outcome="other best"'
        in asked.get("/metrics").body.decode()
    )


def test_a_shadow_that_fails_fails_alone(folder, capsys, monkeypatch):
    asked = client(folder / "ranker.rw", folder / "other.rw", shadows=(Pair("ranker", "other"),))

    def failing(X, model, other):
        raise RuntimeError("a secret document")

    monkeypatch.setattr("rankwright.serve.http.request_bodies.for_other_model", failing)
    assert asked.post("/score", {"features": ROWS}).status == 200
    log = capsys.readouterr().err
    assert '"problem":"RuntimeError"' in log
    assert "secret" not in log


def test_a_comparison_that_waits_keeps_the_matrix_and_not_the_body(folder, monkeypatch):
    from rankwright.serve.protocols import rank as ranking

    kept = []
    monkeypatch.setattr(ranking, "compare_with_shadow", lambda *parts: kept.append(parts[1]))
    asked = client(folder / "ranker.rw", folder / "other.rw", shadows=(Pair("ranker", "other"),))
    assert asked.post("/score", {"features": ROWS}).status == 200
    assert (kept[0].request, kept[0].documents is kept[0].X) == (None, True)


def test_requests_do_not_wait_for_a_shadow_that_is_slow(folder, monkeypatch):
    from rankwright.serve import service
    from rankwright.serve.protocols import rank as ranking

    asked = client(folder / "ranker.rw", folder / "other.rw", shadows=(Pair("ranker", "other"),))
    go_on, compared = threading.Event(), []

    def waiting(*parts):
        go_on.wait(30)
        compared.append(parts)

    monkeypatch.setattr(ranking, "compare_with_shadow", waiting)
    body = json.dumps({"features": ROWS}).encode()
    left_out = 'outcome="left out",shadow="other@1"} '

    async def ask_many():
        asking = [asyncio.create_task(asked.asked("POST", "/score", [body], {})) for _ in range(30)]
        ended, _ = await asyncio.wait(asking, timeout=1)
        go_on.set()
        await asyncio.gather(*asking)
        return len(ended)

    assert asyncio.run(ask_many()) == 30 - service.MAX_WAITING
    assert len(compared) == service.MAX_WAITING
    assert left_out in asked.get("/metrics").body.decode()


def of_shops(n_shops, seed):
    """A model in whose eyes the value of a shop is its number; codes of shops go by how frequent they are."""
    random = np.random.default_rng(seed)
    shops = random.integers(0, n_shops, 600)
    category = Category.of("shop", [f"shop {one}" for one in shops])
    columns = category.encoded(category.codes([f"shop {one}" for one in shops]))
    data = rw.RankingData(
        np.hstack([random.normal(size=(600, 1)), columns]),
        np.minimum(shops // 4, 4),
        np.repeat(np.arange(30), 20),
        feature_names=("age", *category.columns),
        categories=(category,),
    )
    return rw.LambdaMART(rounds=8, max_leaves=16, min_documents=5).fit(data).model_


@pytest.mark.parametrize("n_shops", [5, 20])
def test_categories_are_translated_for_the_model_beside(tmp_path, n_shops):
    rw.save(of_shops(n_shops, 0), tmp_path / "live.rw")
    rw.save(of_shops(n_shops + 2, 1), tmp_path / "new.rw")
    asked = client(tmp_path / "live.rw", tmp_path / "new.rw", shadows=(Pair("live", "new"),))
    rows = [{"age": 0.5, "shop": f"shop {one}"} for one in range(n_shops)]
    models = [asked.service.models.get(name) for name in ("live", "new")]
    X = matrix_of(rows, None, models[0])
    expected = asked.post("/score", {"features": rows, "model": "new"}).json["scores"]
    assert models[1].scores(for_other_model(X, *models)).tolist() == expected


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([Pair("ranker", "ranker@1")], "needs a model other than ranker@1"),
        (
            [Pair("ranker", "other"), Pair("ranker@1", "unnamed")],
            "ranker@1 two other models, other@1 and unnamed@1",
        ),
        ([Pair("ranker", "linear")], "linear@1 cannot score the requests to ranker@1: .* 2 features"),
        ([Pair("unnamed", "linear")], "linear@1 cannot score the requests to unnamed@1: .* 2 features"),
    ],
)
@pytest.mark.parametrize("option", ["shadows", "interleaved"])
def test_models_that_cannot_stand_beside_others_are_refused(folder, tmp_path, option, pairs, words):
    (tmp_path / "linear.txt").write_text("## AdaRank\n1:0.5 2:-2.0\n")
    models = [folder / f"{name}.rw" for name in ("ranker", "other", "unnamed")]
    with pytest.raises(InputError, match=words):
        client(*models, tmp_path / "linear.txt", **{option: tuple(pairs)})


NEW_NAMES = ("bm25", "clicks", "age", "stock")  # as many as the live model has, one of them new


@pytest.fixture
def new_model(tmp_path):
    rw.save(small_model(1, names=NEW_NAMES), tmp_path / "new.rw")
    return tmp_path / "new.rw"


def test_a_model_with_new_features_is_not_interleaved(folder, new_model):
    with pytest.raises(InputError, match=r"new@1 cannot score the requests to ranker@1: .* needs 'stock'"):
        client(folder / "ranker.rw", new_model, interleaved=(Pair("ranker", "new"),))


@pytest.mark.parametrize("form", ["objects", "names"])
def test_a_shadow_with_new_features_scores_requests_that_have_them(folder, new_model, capsys, form):
    asked = client(folder / "ranker.rw", new_model, shadows=(Pair("ranker", "new"),))
    assert '"scores_only_requests_with":["stock"]' in capsys.readouterr().err
    stock = np.arange(7.0)
    rows = np.column_stack([X, stock]).astype(float).tolist()
    names = ["bm25", "clicks", "age", "price", "stock"]
    request = {"features": [dict(zip(names, row, strict=True)) for row in rows]}
    answer = asked.post("/score", request if form == "objects" else {"features": rows, "feature_names": names})
    assert answer.json["scores"] == rw.load(folder / "ranker.rw").predict(X).tolist()
    (line,) = [json.loads(line) for line in capsys.readouterr().err.splitlines() if '"shadow"' in line]
    other = rw.load(new_model).predict(np.column_stack([X[:, :3], stock]).astype(np.float32))
    assert line["largest_difference"] == pytest.approx(np.abs(answer.json["scores"] - other).max())


@pytest.mark.parametrize("form", ["objects", "lists", "matrix"])
def test_a_shadow_is_skipped_and_counted_where_requests_lack_its_features(folder, new_model, capsys, form):
    asked = client(folder / "ranker.rw", new_model, shadows=(Pair("ranker", "new"),))
    outcome = 'rankwright_shadow_requests_total{live="ranker@1",outcome="skipped",shadow="new@1"}'

    def n_skipped():
        lines = asked.get("/metrics").body.decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith(outcome))

    before = n_skipped()
    records = [dict(zip(("bm25", "clicks", "age", "price"), row, strict=True)) for row in ROWS]
    if form == "matrix":
        answer = asked.post("/score", body=matrix(X), headers={"content-type": NPY})
    else:
        answer = asked.post("/score", {"features": records if form == "objects" else ROWS})
    assert answer.json["scores"] == rw.load(folder / "ranker.rw").predict(X).tolist()
    assert n_skipped() == before + 1
    assert "The model new@1 needs 'stock', which the request does not have." in capsys.readouterr().err


def test_a_request_can_opt_out_of_interleaving(interleaving, folder):
    own = client(folder / "ranker.rw").post("/rank", {"features": ROWS}).json
    assert interleaving.post("/rank", {"features": ROWS, "interleave": False}).json == own
    assert interleaving.post("/rank?interleave=false", {"features": ROWS}).json == own
    rows = interleaving.post(
        "/rank?interleave=false", body=matrix(X), headers={"content-type": NPY, "accept": NPY}
    )
    assert rows.array.tolist() == [document["row"] for document in own["ranking"]]
    assert "impression" in interleaving.post("/rank", {"features": ROWS, "interleave": True}).json


def test_a_fraction_of_the_requests_is_interleaved(folder):
    def n_interleaved(fraction):
        models = (folder / "ranker.rw", folder / "other.rw")
        asked = client(*models, interleaved=(Pair("ranker", "other"),), interleave_fraction=fraction)
        return sum("impression" in asked.post("/rank", {"features": ROWS}).json for _ in range(100))

    assert n_interleaved(0.0) == 0
    assert 5 < n_interleaved(0.3) < 70
    assert n_interleaved(1.0) == 100


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "Give at least one model"),
        ({"index": "a", "searcher": "b"}, "not both"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        Settings(**settings)


@pytest.mark.parametrize("text", ["=b", "a=", "a b", "a=b=c", "../x"])
def test_a_pair_must_be_names(text):
    with pytest.raises(InputError, match="--shadow must be NAME"):
        Pair.parse(text, "--shadow", "first")

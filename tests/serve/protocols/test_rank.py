"""Rank, score and explain: answers equal the library's."""

import json

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from serve.asking import NAMES, NPY, X, client, matrix

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
LONG_BODY = 1 << 20  # as in serve/http/request_bodies.py, which needs msgspec
ROWS = X.astype(float).tolist()
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def test_scores_are_those_of_the_model(asked, ranker):
    answer = asked.post("/score", {"features": ROWS})
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json["scores"] == ranker.predict(X).tolist()
    assert (answer.json["model"], answer.json["version"]) == ("ranker", "1")


def test_documents_are_ranked_best_first_with_their_ids(asked, ranker):
    ids = [f"d{row}" for row in range(len(X))]
    answer = asked.post("/rank", {"features": ROWS, "ids": ids, "top": 3}).json["ranking"]
    scores = ranker.predict(X)
    order = np.argsort(-scores, kind="stable")[:3].tolist()
    assert answer == [
        {"rank": rank, "row": row, "id": ids[row], "score": scores[row]} for rank, row in enumerate(order, start=1)
    ]


def test_a_long_request_is_read_beside_others(asked, ranker):
    body = json.dumps({"features": ROWS * 1400}, indent=8).encode()
    assert len(body) > LONG_BODY
    assert asked.post("/score", body=body).json["scores"] == ranker.predict(X).tolist() * 1400
    wrong = asked.post("/score", body=body.replace(b"[", b"[[", 1))
    assert (wrong.status, wrong.error[:17]) == (400, "The body is not J")


@pytest.mark.parametrize("form", ["records", "shuffled names", "more names"])
def test_features_are_taken_by_name(asked, ranker, form):
    order = [2, 0, 3, 1]
    request = {
        "records": {"features": [dict(reversed(record.items())) for record in RECORDS]},
        "shuffled names": {"features": X[:, order].tolist(), "feature_names": [NAMES[one] for one in order]},
        "more names": {"features": [{**record, "unused": "text"} for record in RECORDS]},
    }[form]
    assert asked.post("/score", request).json["scores"] == ranker.predict(X).tolist()


def test_null_and_absent_values_are_missing(asked, ranker):
    holes = X.copy()
    holes[1, 2] = holes[4, 0] = np.nan
    expected = ranker.predict(holes).tolist()
    lists = [[None if np.isnan(value) else value for value in row] for row in holes.astype(float).tolist()]
    records = [{name: value for name, value in zip(NAMES, row, strict=True) if value is not None} for row in lists]
    assert asked.post("/score", {"features": lists}).json["scores"] == expected
    assert asked.post("/score", {"features": records}).json["scores"] == expected


def test_categories_are_given_as_text(tmp_path):
    frame = pd.DataFrame({"qid": np.repeat(range(20), 5), "colour": ["red", "blue", "red", "green", "blue"] * 20})
    frame["size"] = np.random.default_rng(0).normal(size=100)
    frame["label"] = (frame["colour"] == "red").astype(int)
    data = rw.from_pandas(frame, categorical=["colour"])
    model = rw.LambdaMART(rounds=3, max_leaves=4, min_documents=2).fit(data).model_
    rw.save(model, tmp_path / "shop.rw")
    documents = [{"colour": "red", "size": 0.1}, {"colour": "blue", "size": 0.1}, {"colour": "new", "size": None}]
    scores = client(tmp_path / "shop.rw").post("/score", {"features": documents}).json["scores"]
    assert scores[0] > scores[1]
    assert scores[:2] == model.predict(pd.DataFrame(documents[:2])).tolist()


@pytest.mark.parametrize("form", ["lists", "records", "named lists"])
def test_true_and_false_are_1_and_0(asked, form):
    flags = [[True, 2.0, False, None], [False, 2.0, True, 1.0]]
    numbers = [[None if value is None else float(value) for value in row] for row in flags]

    def request(rows):
        if form == "records":
            return {"features": [dict(zip(NAMES, row, strict=True)) for row in rows]}
        return {"features": rows, **({"feature_names": NAMES} if form == "named lists" else {})}

    answer = asked.post("/rank", request(flags))
    assert (answer.status, answer.json) == (200, asked.post("/rank", request(numbers)).json)


@pytest.mark.parametrize("texts", [("True", "False"), ("true", "false")], ids=["of a frame", "of a file"])
def test_a_category_of_booleans_takes_true_and_false(tmp_path, texts):
    frame = pd.DataFrame({"qid": np.repeat(range(20), 5), "stocked": [texts[row % 3 == 0] for row in range(100)]})
    frame["label"] = (frame["stocked"] == texts[0]).astype(int)
    data = rw.from_pandas(frame, categorical=["stocked"])
    rw.save(rw.LambdaMART(rounds=3, max_leaves=2, min_documents=2).fit(data).model_, tmp_path / "shop.rw")
    asked = client(tmp_path / "shop.rw")
    scores, expected = (
        asked.post("/score", {"features": [{"stocked": value} for value in values]}).json["scores"]
        for values in ((True, False), texts)
    )
    assert scores == expected
    assert scores[0] > scores[1]


def test_integers_are_ids_too_and_scores_have_them(asked):
    ids = [10, "b", 2**62, -4, 5, 6, 7]
    ranking = asked.post("/rank", {"features": ROWS, "ids": ids}).json["ranking"]
    assert [document["id"] for document in ranking] == [ids[document["row"]] for document in ranking]
    assert asked.post("/score", {"features": ROWS, "ids": ids}).json["ids"] == ids
    assert "ids" not in asked.post("/score", {"features": ROWS}).json
    assert [
        part["id"] for part in asked.post("/explain", {"features": ROWS, "ids": ids}).json["explanations"]
    ] == ids
    assert asked.post("/score", {"features": ROWS, "ids": [1]}).error == "There are 7 documents but 1 ids."


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_in_numpys_format_gives_the_same(asked, ranker, kind, order):
    values = np.asarray(X * 10, dtype=kind, order=order)
    answer = asked.post("/score", body=matrix(values), headers={"content-type": NPY, "accept": NPY})
    assert answer.headers["content-type"] == NPY
    assert answer.headers["x-model"].startswith("ranker@1 ")
    assert answer.array.tolist() == ranker.predict(values.astype(np.float32)).tolist()


def test_a_matrix_can_be_ranked_and_explained(asked, ranker):
    headers = {"content-type": NPY}
    ranking = asked.post("/rank?top=2", body=matrix(X), headers=headers).json["ranking"]
    order = np.argsort(-ranker.predict(X), kind="stable")
    assert [one["row"] for one in ranking] == order[:2].tolist()
    rows = asked.post("/rank", body=matrix(X), headers=headers | {"accept": NPY}).array
    assert rows.tolist() == order.tolist()
    assert len(asked.post("/explain?top=1", body=matrix(X), headers=headers).json["explanations"]) == len(X)


def test_trees_take_infinite_values_from_a_matrix(asked, ranker):
    values, headers = X.copy(), {"content-type": NPY}
    values[:, 0], values[1:3, 1] = np.inf, -np.inf
    assert (
        asked.post("/score", body=matrix(values), headers=headers).json["scores"]
        == ranker.predict(values).tolist()
    )
    for one in asked.post("/explain?top=4", body=matrix(values), headers=headers).json["explanations"]:
        for part in one["contributions"]:
            value = values[one["row"], NAMES.index(part["feature"])]
            assert part["value"] == {np.inf: "Infinity", -np.inf: "-Infinity"}.get(value, value)


def test_an_explanation_adds_up_to_the_score(asked, ranker):
    answer = asked.post("/explain", {"features": ROWS, "top": 2}).json["explanations"]
    parts = ranker.contributions(X)
    for row, one in enumerate(answer):
        shown = [part["contribution"] for part in one["contributions"]]
        assert one["score"] == pytest.approx(one["base"] + sum(shown) + one["rest"])
        assert one["score"] == pytest.approx(ranker.predict(X)[row])
        best = int(np.abs(parts[row, :-1]).argmax())
        assert one["contributions"][0] == {
            "feature": NAMES[best],
            "value": pytest.approx(X[row, best]),
            "contribution": parts[row, best],
        }
        assert len(shown) <= 2


def test_features_without_names_are_numbered(folder):
    answer = client(folder / "unnamed.rw").post("/explain", {"features": ROWS, "top": 1})
    assert answer.json["explanations"][0]["contributions"][0]["feature"] in {"1", "2", "3", "4"}


def test_a_model_that_compares_documents_sees_those_of_the_request(folder):
    model = rw.load(folder / "relative.rw")
    assert model.needs_queries
    scores = client(folder / "relative.rw").post("/score", {"features": ROWS}).json["scores"]
    assert scores == model.predict(X, qid=1).tolist()


def test_models_and_versions_are_chosen_by_name(folder):
    asked = client(f"a={folder}/ranker.rw", f"b@1={folder}/ranker.rw", f"b@next={folder}/other.rw")
    first, second = (rw.load(folder / name).predict(X).tolist() for name in ("ranker.rw", "other.rw"))
    for choice, expected in [
        ({}, first),
        ({"model": "b"}, second),
        ({"model": "b", "version": "1"}, first),
        ({"model": "b@1"}, first),
    ]:
        assert asked.post("/score", {"features": ROWS, **choice}).json["scores"] == expected
    after = asked.post("/score?model=b&version=1", {"features": ROWS}).json
    assert (after["model"], after["version"], after["scores"]) == ("b", "1", first)
    facts = asked.get("/models").json["models"]
    assert [(one["name"], one["version"]) for one in facts] == [("a", "1"), ("b", "1"), ("b", "next")]
    assert facts[0]["feature_names"] == list(NAMES)


def test_other_tools_models_are_served_too(tmp_path):
    (tmp_path / "adarank.txt").write_text("## AdaRank\n## Iteration = 500\n1:0.5 3:-2.0\n")
    assert client(tmp_path / "adarank.txt").post("/score", {"features": [[2, 0, 1]]}).json["scores"] == [-1.0]


def test_many_documents_are_scored_in_a_thread(folder, monkeypatch):
    monkeypatch.setattr("rankwright.serve.service.INLINE", 1)
    asked = client(folder / "ranker.rw")
    assert (
        asked.post("/score", {"features": ROWS}).json["scores"]
        == rw.load(folder / "ranker.rw").predict(X).tolist()
    )


def test_request_ids_are_kept_or_made(asked):
    assert asked.get("/health/live", headers={"x-request-id": "abc-1"}).headers["x-request-id"] == "abc-1"
    made = asked.get("/health/live", headers={"x-request-id": "bad id\t"}).headers["x-request-id"]
    assert len(made) == 16

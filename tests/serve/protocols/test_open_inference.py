"""The Open Inference Protocol and MLflow's protocol."""

import json

import numpy as np
import pytest

from serve.asking import NAMES, X, client

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
ROWS = X.astype(float).tolist()
SHAPE = list(X.shape)
INFER = "/v2/models/ranker/infer"


def tensor(**parts):
    return {"name": "features", "shape": SHAPE, "datatype": "FP32", "data": ROWS, **parts}


def infer(asked, *tensors, path=INFER, **parts):
    return asked.post(path, {"inputs": list(tensors), **parts})


def test_the_service_and_its_models_are_described(folder):
    asked = client(f"ranker@1={folder}/ranker.rw", f"ranker@2={folder}/other.rw")
    assert asked.get("/v2").json["name"] == "rankwright"
    assert asked.get("/v2/health/live").json == {"live": True}
    assert asked.get("/v2/health/ready").json == {"ready": True}
    for path in ("/v2/models/ranker", "/v2/models/ranker/versions/1", "/v2/models/ranker@1"):
        facts = asked.get(path).json
        assert facts["versions"] == ["1", "2"]
        assert facts["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 4]}]
        assert asked.get(f"{path}/ready").json == {"name": "ranker", "ready": True}
    assert asked.get("/v2/models/ranker/versions/3/ready").status == 404


def test_a_version_is_chosen_by_address(folder, ranker):
    asked = client(f"ranker@1={folder}/ranker.rw", f"ranker@2={folder}/other.rw")
    answer = infer(asked, tensor(), path="/v2/models/ranker/versions/1/infer", id="mine").json
    assert (answer["model_name"], answer["model_version"], answer["id"]) == ("ranker", "1", "mine")
    assert answer["outputs"][0]["data"] == ranker.predict(X).tolist()
    assert infer(asked, tensor()).json["model_version"] == "2"


@pytest.mark.parametrize("data", [ROWS, X.ravel().astype(float).tolist()], ids=["nested", "flat"])
def test_tensors_are_nested_or_flat(asked, ranker, data):
    outputs = infer(asked, tensor(data=data)).json["outputs"]
    assert outputs == [{"name": "scores", "shape": [7], "datatype": "FP64", "data": ranker.predict(X).tolist()}]


def test_features_may_be_inputs_of_their_own(asked, ranker):
    columns = [tensor(name=name, shape=[7], data=X[:, place].tolist()) for place, name in enumerate(NAMES)]
    wide = [{**column, "shape": [7, 1]} for column in columns]
    for given in (columns, wide, columns[::-1]):
        assert infer(asked, *given).json["outputs"][0]["data"] == ranker.predict(X).tolist()


def test_ranks_are_an_output(asked, ranker):
    outputs = infer(asked, tensor(), outputs=[{"name": "ranks"}, {"name": "scores"}]).json["outputs"]
    assert outputs[0]["data"] == ranker.rank(X, qid=1).tolist()
    assert outputs[1]["data"] == ranker.predict(X).tolist()


@pytest.mark.parametrize("kind", ["FP32", "FP64"])
def test_tensors_may_follow_as_bytes(asked, ranker, kind):
    raw = X.astype({"FP32": "<f4", "FP64": "<f8"}[kind]).tobytes()
    described = tensor(datatype=kind, parameters={"binary_data_size": len(raw)})
    del described["data"]
    head = json.dumps({"inputs": [described]}).encode()
    headers = {"inference-header-content-length": str(len(head)), "content-type": "application/octet-stream"}
    answer = asked.post(INFER, body=head + raw, headers=headers)
    assert answer.json["outputs"][0]["data"] == ranker.predict(X).tolist()
    assert asked.post(INFER, body=head + raw + b"x", headers=headers).error == "Bytes follow the last tensor."
    assert asked.post(INFER, body=head + raw[:-1], headers=headers).status == 422
    if kind == "FP64":
        large = np.append(X.ravel()[:-1], 1e39).astype("<f8").tobytes()
        assert "is too large for a 32-bit float" in asked.post(INFER, body=head + large, headers=headers).error
    for size in ("1000000", "9" * 5000, "-1", ""):
        refused = asked.post(INFER, body=head + raw, headers=headers | {"inference-header-content-length": size})
        assert (refused.status, "Inference-Header-Content-Length must be" in refused.error) == (422, True)


@pytest.mark.parametrize(
    ("tensors", "status", "words"),
    [
        ([], 400, "length >= 1"),
        ([tensor(datatype="BYTES")], 400, "Invalid enum value"),
        ([tensor(shape=[7])], 422, "do not have the shape"),
        ([tensor(shape=[28])], 422, "do not have the shape"),
        ([tensor(shape=[2, 2])], 422, "do not have the shape"),
        ([tensor(shape=[1, 2, 3])], 400, "length <= 2"),
        ([tensor(shape=[7, 0])], 400, ">= 1"),
        ([tensor(shape=[10_001, 4])], 413, "10,001 documents"),
        ([tensor(data=None)], 422, "must have data"),
        ([tensor(data=[])], 422, "do not have the shape"),
        ([tensor(data=[ROWS[0], 1, None])], 422, "no list"),
        ([tensor(data=[1, ROWS[0]])], 422, "must be a number, not a list"),
        ([tensor(), tensor()], 422, "one value per document"),
        ([tensor(shape=[7, 2], data=X[:, :2].tolist())], 422, "has 4 features"),
        ([tensor(name=name, shape=[7], data=[1] * 7) for name in ("a", "b", "c", "d")], 422, "needs 'bm25'"),
    ],
)
def test_bad_tensors_are_refused(asked, tensors, status, words):
    answer = infer(asked, *tensors)
    assert (answer.status, words in answer.error) == (status, True), answer.error


def test_an_unknown_output_is_refused(asked):
    assert "There is no output 'labels'" in infer(asked, tensor(), outputs=[{"name": "labels"}]).error


@pytest.mark.parametrize(
    "form",
    [
        {"inputs": ROWS},
        {"instances": ROWS},
        {"inputs": {name: X[:, place].tolist() for place, name in enumerate(NAMES)}},
        {"dataframe_records": [dict(zip(NAMES, row, strict=True)) for row in ROWS]},
        {"dataframe_split": {"columns": NAMES, "index": [*range(7)], "data": ROWS}},
        {"dataframe_split": {"columns": NAMES[::-1], "data": [row[::-1] for row in ROWS]}},
        {"dataframe_split": {"columns": [0, 1, 2, 3], "data": ROWS}},
        {"dataframe_split": {"columns": [7, *NAMES[::-1]], "data": [[0, *row[::-1]] for row in ROWS]}},
        {"dataframe_split": {"columns": [*NAMES, "url"], "data": [[*row, "text"] for row in ROWS]}},
        {"inputs": ROWS, "params": {"temperature": 1}},
    ],
)
def test_invocations_take_all_forms_of_mlflow(asked, ranker, form):
    answer = asked.post("/invocations", form)
    assert answer.json == {"predictions": ranker.predict(X).tolist()}


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Give one of"),
        ({"inputs": ROWS, "instances": ROWS}, "Give one of"),
        ({"inputs": []}, "no documents"),
        ({"inputs": {}}, "no documents"),
        ({"inputs": {"bm25": [1], "age": [1, 2]}}, "the same number of values"),
        ({"dataframe_split": {"columns": NAMES, "data": [[1, 2, "x"]]}}, "Row 0 has 3 values"),
        ({"dataframe_split": {"columns": [0, 1, 2, 3], "data": [[1, 2, 3, "x"]]}}, "Feature 'price' of"),
        ({"dataframe_split": {"columns": ["a", "b", "c", "d"], "data": ROWS}}, "needs 'bm25'"),
    ],
)
def test_bad_invocations_are_refused(asked, form, words):
    answer = asked.post("/invocations", form)
    assert (answer.status, words in answer.error) == (422, True), answer.error


def test_ping_says_that_the_service_is_ready(asked):
    assert asked.get("/ping").status == 200
    assert asked.ask("HEAD", "/ping").status == 200


def test_numpy_integers_are_numbers_too(asked, ranker):
    whole = np.rint(X * 3)
    answer = infer(asked, tensor(datatype="INT32", data=whole.astype(int).tolist()))
    assert answer.json["outputs"][0]["data"] == ranker.predict(whole).tolist()

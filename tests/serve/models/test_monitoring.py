"""What the service counts of the values of requests."""

import json

import numpy as np
import pytest

from serve.asking import NPY, client, matrix
from serve.http_client import ask, written
from serve.service_process import serving

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from prometheus_client.parser import text_string_to_metric_families

from rankwright.serve.models import monitoring

DOCUMENTS = [
    {"colour": "red", "size": 5},
    {"colour": "mauve", "size": 5000},
    {"colour": "green", "size": -1},
    {"colour": None, "size": None},
]


def values(metrics):
    """The counts of values by feature and kind."""
    families = {each.name: each for each in text_string_to_metric_families(metrics)}
    samples = families["rankwright_feature_values"].samples
    of_shop = [sample for sample in samples if sample.labels["model"] == "shop" and sample.name.endswith("_total")]
    return {(sample.labels["feature"], sample.labels["kind"]): sample.value for sample in of_shop}


def test_a_service_counts_missing_outside_and_unseen_values(shop, tmp_path):
    request = written("POST", "/rank", json.dumps({"features": DOCUMENTS}).encode())
    with serving(tmp_path / "log", shop, "--grace", 0) as service:
        for _ in range(3):
            assert ask(service.port, request).status == 200
        explained = written("POST", "/explain", json.dumps({"features": DOCUMENTS}).encode())
        assert ask(service.port, explained).status == 200, "not scored, so not counted"
        refused = json.dumps({"features": [*DOCUMENTS, {"colour": "mauve", "size": "large"}]}).encode()
        assert ask(service.port, written("POST", "/rank", refused)).status == 422
        metrics = ask(service.port, written("GET", "/metrics")).body.decode()
        lines = service.events("unseen levels")
    assert values(metrics) == {
        ("colour", "unseen"): 6,
        ("colour", "missing"): 3,
        ("size", "outside"): 6,
        ("size", "missing"): 3,
    }
    assert 'rankwright_feature_training_missing{feature="colour",model="shop",version="1"} 0.2' in metrics
    assert [(line["level"], line["model"], line["feature"], line["documents"]) for line in lines] == [
        ("warning", "shop@1", "colour", 2)  # once per minute
    ]
    assert "mauve" not in str(lines)


def test_a_matrix_is_counted_too_and_its_one_hot_columns_are_not(shop):
    asked = client(shop)
    before = values(asked.get("/metrics").body.decode())
    X = np.array([[0, 0, 700], [2, 9, np.nan]], np.float32)
    assert asked.post("/score", body=matrix(X), headers={"content-type": NPY}).status == 200
    after = values(asked.get("/metrics").body.decode())
    gained = {key: after[key] - before.get(key, 0) for key in after}
    assert {key: count for key, count in gained.items() if count} == {
        ("size", "outside"): 1,
        ("size", "missing"): 1,
    }


def test_a_model_of_very_many_features_is_not_counted(shop, monkeypatch):
    monkeypatch.setattr(monitoring, "MAX_FEATURES", 2)
    asked = client(shop)
    before = values(asked.get("/metrics").body.decode())
    asked.post("/score", body=matrix(np.full((1, 3), np.nan, np.float32)), headers={"content-type": NPY})
    assert values(asked.get("/metrics").body.decode()) == before

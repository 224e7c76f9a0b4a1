"""The OpenAPI document: its examples are answered, random requests get what it says, and its page is one file."""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from properties import examples
from serve.asking import X, client
from serve.http_client import ask, written
from serve.service_process import serving

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.serve.http.routes import ROUTES
from rankwright.serve.settings import Pair

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
jsonschema = pytest.importorskip("jsonschema")


@pytest.fixture(scope="module")
def asked(folder):
    models = (f"ranker@1={folder}/ranker.rw", f"ranker@2={folder}/other.rw")
    return client(*models, allow_hosts=("testserver",))


@pytest.fixture(scope="module")
def document(asked):
    return asked.get("/openapi.json").json


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_every_route_is_described(document):
    described = {(method, path) for method, path, _ in operations(document)}
    assert described == {(one.method, one.path) for one in ROUTES if one.path != "/search"}
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(names)) == len(names)


def test_examples_are_answered_as_described(asked, document):
    tried = 0
    for method, path, operation in operations(document):
        for parameter in operation["parameters"]:
            path = path.replace(f"{{{parameter['name']}}}", parameter.get("example", ""))
        body = b""
        if "requestBody" in operation:
            body = json.dumps(operation["requestBody"]["content"]["application/json"]["example"]).encode()
        answer = asked.ask(method, path, body, {"content-type": "application/json"})
        content = operation["responses"]["200"]["content"]
        assert (answer.status, answer.headers["content-type"]) == (200, next(iter(content)))
        if "application/json" in content:
            schema = {**content["application/json"]["schema"], "components": document["components"]}
            jsonschema.validate(answer.json, schema)
        tried += 1
    assert tried == len(ROUTES) - 2  # all but the two of search


def test_examples_of_the_page_have_names_and_categories_and_can_be_sent(shop, folder, tmp_path):
    with serving(tmp_path / "log", shop, "--grace", 0) as service:
        page = ask(service.port, written("GET", "/")).body.decode()
        described = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        examples = {
            path: methods["post"]["requestBody"]["content"]["application/json"]["example"]
            for path, methods in described["paths"].items()
            if "post" in methods
        }
        replies = {
            path: ask(
                service.port, written("POST", path.format(model="shop", version="1"), json.dumps(body).encode())
            )
            for path, body in examples.items()
        }
        metrics = ask(service.port, written("GET", "/metrics")).body.decode()
    assert {path: reply.status for path, reply in replies.items()} == dict.fromkeys(examples, 200)
    colours = ["blue", "red", "blue"]
    assert [document["colour"] for document in examples["/rank"]["features"]] == colours
    assert examples["/invocations"]["dataframe_records"] == examples["/score"]["features"]
    assert all(0 < document["size"] < 49.5 for document in examples["/score"]["features"])
    tensor = examples["/v2/models/{model}/infer"]["inputs"][0]["data"]
    assert all(len(str(value)) < 10 for row in tensor for value in row), "float32 shows no digits that it has not"
    assert 'rankwright_feature_values_total{feature="' not in metrics  # all are as in training
    scores = replies["/score"].json["scores"]
    assert replies["/v2/models/{model}/infer"].json["outputs"][0]["data"] == scores
    assert replies["/invocations"].json["predictions"] == scores
    assert scores[1] > max(scores[0], scores[2])


def test_the_example_of_clicks_is_answered_and_not_counted(folder):
    models = (folder / "ranker.rw", folder / "other.rw")
    asked = client(*models, interleaved=(Pair("ranker", "other"),))
    operation = asked.get("/openapi.json").json["paths"]["/clicks"]["post"]
    before = asked.get("/interleaving").json
    answer = asked.post("/clicks", operation["requestBody"]["content"]["application/json"]["example"])
    assert answer.json == {"clicks": {"ranker@1": 2, "other@1": 0}, "winner": "ranker@1", "counted": False}
    assert asked.get("/interleaving").json == before


@pytest.mark.slow
def test_schemathesis_finds_nothing(asked):
    """What is sent at random is answered or refused as the document says; `st run` tries many more."""
    schema = schemathesis.openapi.from_asgi("/openapi.json", asked.application)
    checks = [
        schemathesis.checks.not_a_server_error,
        *(schemathesis.checks.CHECKS.get_by_names(["status_code_conformance", "content_type_conformance",
          "response_schema_conformance", "response_headers_conformance"])),
    ]  # fmt: skip

    for result in schema.get_all_operations():
        operation = result.ok()

        @given(case=operation.as_strategy())
        @settings(examples(10), suppress_health_check=list(HealthCheck))
        def try_one(case):
            case.call_and_validate(checks=checks)

        try_one()


@pytest.mark.parametrize(
    "path", ["/rank", "/score", "/explain", "/v2/models/ranker/infer", "/invocations", "/clicks"]
)
@given(
    body=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda one: (
            st.lists(one)
            | st.dictionaries(
                st.sampled_from(
                    ["features", "inputs", "ids", "top", "model", "name", "shape", "data", "datatype", "a"]
                ),
                one,
            )
        ),
    )
)
@settings(examples(50), suppress_health_check=list(HealthCheck))
def test_no_json_makes_the_service_fail(asked, path, body):
    assert asked.post(path, body).status in {200, 400, 422}


def test_the_page_is_one_file_and_no_text_becomes_html(asked):
    answer = asked.get("/")
    page = answer.body.decode()
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert re.findall(r"""(?:src|href)=["'](?!openapi\.json|#|data:,)""", page) == []
    assert "innerHTML" not in page
    assert "/* style */" not in page
    assert page.count("</script>") == 2


def test_hostile_names_stay_text(tmp_path):
    import rankwright as rw
    from serve.asking import small_model

    names = ("</script><script>alert(1)</script>", "&amp;", '"', "'")
    rw.save(small_model(names=names), tmp_path / "model.rw")
    page = client(tmp_path / "model.rw").get("/").body.decode()
    assert "<script>alert" not in page
    assert page.count("</script>") == 2


def test_metrics_can_be_read_by_prometheus(asked):
    parser = pytest.importorskip("prometheus_client.parser")
    asked.post("/score", {"features": X.tolist()})
    answer = asked.get("/metrics")
    families = {one.name: one for one in parser.text_string_to_metric_families(answer.body.decode())}
    assert {"rankwright_requests", "rankwright_request_seconds", "rankwright_documents"} <= set(families)
    samples = families["rankwright_documents"].samples
    assert any(one.labels == {"model": "ranker", "version": "2"} and one.value >= 7 for one in samples)

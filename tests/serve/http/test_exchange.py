"""What is refused, with which status and sentence; and what no request can do."""

import asyncio
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from serve.asking import NPY, X, client, matrix

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.serve.service import has_more_lists

ROWS = X.astype(float).tolist()
DEEP = b'{"features": ' + b"[" * 20_000


def resized(shape):
    """A matrix whose header says another shape."""
    body = matrix(X)
    return body[:10] + body[10:128].replace(b"(7, 4)", shape.encode()).strip().ljust(118) + body[128:]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b'{"features": [[1, NaN, 2, 3]]}', 400, "a missing value is null, not NaN"),
        (b'{"features": [[1, Infinity, 2, 3]]}', 400, "not JSON"),
        (b'{"features": [["\xff"]]}', 400, "not JSON|invalid"),
        (DEEP, 400, "not JSON|invalid"),
        (b"[]", 400, "Expected `object`"),
        (b"{}", 400, "missing required field `features`"),
        (b'{"features": [[1, 2, 3, "4"]]}', 422, "Feature 'price' of document 0 must be a number, not text"),
        (b'{"features": [[1, 2, [3], 4]]}', 422, "Feature 'age' of document 0 must be a number, not a list"),
        (b'{"features": [[1, 2, 3, 1%s]]}' % (b"0" * 400), 400, "Number out of range"),
        (
            b'{"features": [[1, 2, 3, 4]], "tpo": 1}',
            400,
            "unknown field `tpo`; it may have features, ids, feature_names, model",
        ),
        (b'{"features": [[1, 2, 3, 4]], "top": 0}', 400, "`>= 1|>= 1"),
        (b'{"features": []}', 422, "There are no documents"),
        (b'{"features": [[]]}', 422, "has 4 features, the documents of the request have 0"),
        (
            b'{"features": [[1, 2, 3]]}',
            422,
            "The model ranker@1 has 4 features, the documents of the request have 3",
        ),
        (b'{"features": [[1, 2, 3, 4], [1, 2]]}', 422, "Row 1 of features has 2 numbers, and the first row 4"),
        (b'{"features": [[1, 2, 3, 4], {"age": 1}]}', 422, "Row 1 of features is no list"),
        (b'{"features": [{"age": 1}, [1, 2, 3, 4]]}', 422, "Row 1 of features is no object"),
        (b'{"features": [[1, 2, 3, 1e39]]}', 422, "Feature 3 of row 0 is too large"),
        (
            b'{"features": [{"age": 1, "clicks": 2, "price": 1}]}',
            422,
            "ranker@1 needs 'bm25', which the request does",
        ),
        (b'{"features": [{"age": 1, "clicks": 2, "price": 1, "bm26": 3}]}', 422, "did you mean 'bm26'"),
        (
            b'{"features": [{"age": 1, "clicks": 2, "price": 1, "bm25": "x"}]}',
            422,
            "Feature 'bm25' of document 0 must be a number, not text",
        ),
        (
            b'{"features": [{"age": 1, "clicks": 2, "price": 1, "bm25": {}}]}',
            422,
            "Feature 'bm25' of document 0 must be a number, not an object",
        ),
        (b'{"features": [[1, 2, 3, 4]], "feature_names": ["a", "b", "c", "d"]}', 422, "needs 'bm25', 'clicks'"),
        (b'{"features": [[1, 2, 3, 4]], "feature_names": ["a", "b"]}', 422, "There are 2 feature_names"),
        (b'{"features": [[1, 2, 3, 4]], "feature_names": ["a", "a", "b", "c"]}', 422, "twice"),
        (b'{"features": [[1, 2, 3, 4]], "ids": ["a", "b"]}', 422, "There are 1 documents but 2 ids"),
        (
            b'{"features": [[1, 2, 3, 4]], "model": "nobody"}',
            404,
            "There is no such model here; there are ranker@1",
        ),
    ],
)
def test_a_bad_body_is_refused_in_one_sentence(asked, body, status, words):
    answer = asked.post("/rank", body=body)
    assert answer.status == status
    assert re.search(words, answer.error), answer.error
    assert "\n" not in answer.error


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not an array that numpy.save wrote"),
        (matrix(X)[:-4], "cut short"),
        (matrix(X) + b"more", "cut short, or something follows"),
        (matrix(X[0]), "one row per document"),
        (matrix(X[:0]), "one row per document"),
        (matrix(X[:, :3]), "has 4 features"),
        (matrix(X.astype(complex)), "floats or integers"),
        (matrix(X.astype(np.longdouble)), "at most 64 bits"),
        (matrix(X.astype("S4")), "floats or integers"),
        (matrix(np.full((1, 4), 1e39)), "Feature 0 of row 0 is too large"),
        (matrix(X).replace(b"'<f4'", b"'|O'"), "floats or integers|cannot be read"),
        (matrix(X).replace(b"(7, 4)", b"(7,-4)"), "one row per document"),
        (matrix(X).replace(b"{'descr'", b"{'descr("), "cannot be read"),
        (matrix(X)[:8] + b"\xff\xff" + matrix(X)[10:], "longer than that of a matrix"),
        *(
            (resized(shape), "one row per document")
            for shape in ("(-7, -4)", f"({10**30}, 0)", "(True, 4)", "(0, 4)")
        ),
        (b"\x93NUMPY\x02\x00" + matrix(X)[8:], "version 1"),
    ],
)
def test_a_bad_matrix_is_refused(asked, body, words):
    answer = asked.post("/score", body=body, headers={"content-type": NPY})
    assert answer.status == 422
    assert re.search(words, answer.error), answer.error


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "words"),
    [
        ("GET", "/nothing", {}, 404, "nothing at this address"),
        ("GET", "/rank", {}, 405, "takes POST"),
        ("DELETE", "/models", {}, 405, "takes GET, HEAD"),
        (
            "POST",
            "/rank",
            {"content-type": "text/csv"},
            415,
            "must be application/json or application/x-npy, not text/csv",
        ),
        ("POST", "/rank", {"content-type": "application/x-www-form-urlencoded"}, 415, "--json instead of -d"),
        ("POST", "/rank", {"content-type": ""}, 415, "and Content-Type must say so"),
        ("POST", "/rank", {"content-encoding": "gzip"}, 415, "Compressed"),
        ("POST", "/rank?x=1", {}, 400, "no parameter 'x'"),
        ("POST", "/rank?top=1&top=2", {}, 400, "twice"),
        ("POST", "/rank?top=many", {"content-type": NPY}, 400, "Expected `float`|invalid"),
        ("GET", "/models?a=%FF", {}, 400, "cannot be read"),
        ("GET", "/models?verbose=1", {}, 400, "no parameter"),
    ],
)
def test_a_bad_address_or_header_is_refused(asked, method, path, headers, status, words):
    answer = asked.ask(method, path, b"{}", headers)
    assert answer.status == status
    assert re.search(words, answer.error), answer.error
    if status == 405:
        assert answer.headers["allow"]


@pytest.mark.parametrize(
    ("settings", "hosts", "statuses"),
    [
        ({"host": "0.0.0.0"}, ["anything"], [200]),
        ({"host": "0.0.0.0", "allow_hosts": ("Shop.example",)}, ["shop.example:80", "localhost"], [200, 421]),
        ({"allow_hosts": ("shop.example",)}, ["shop.example", "localhost", "other"], [200, 200, 421]),
        ({"host": "::1"}, ["[::1]:8000", "localhost", "other"], [200, 200, 421]),
        ({"host": "127.0.0.7"}, ["127.0.0.7", "localhost", "127.0.0.8"], [200, 200, 421]),
    ],
)
def test_hosts_can_be_allowed(folder, settings, hosts, statuses):
    asked = client(folder / "ranker.rw", **settings)
    assert [asked.get("/models", headers={"host": host}).status for host in hosts] == statuses


def test_with_tokens_any_host_is_answered(folder, tmp_path):
    (tmp_path / "tokens").write_text("a-token-of-this-test\n")
    headers = {"host": "shop.example", "authorization": "Bearer a-token-of-this-test"}
    asked = client(folder / "ranker.rw", tokens=tmp_path / "tokens")
    assert asked.get("/models", headers=headers).status == 200


def test_top_is_given_once(asked):
    answer = asked.post("/rank?top=1", {"features": ROWS, "top": 2})
    assert (answer.status, answer.error) == (422, "top is given in the body and after ?; give it once.")


def test_too_many_documents_are_refused_by_the_limit(asked):
    body = b'{"features": [' + b"[1]," * 999_999 + b"[1]]}"
    answer = asked.post("/rank", body=body)
    assert answer.status == 413
    assert answer.error == "The request has more than 10,000 documents, the limit of this service."
    answer = asked.post("/rank", {"features": [[1]] * 10_001})
    assert answer.status == 413
    assert answer.error == "The request has 10,001 documents; this service takes 10,000 at a time."


@pytest.mark.parametrize(
    ("path", "before"),
    [
        ("/score", b'{"features": ['),
        ("/explain", b'{"features": ['),
        ("/invocations", b'{"inputs": ['),
        ("/v2/models/ranker/infer", b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": ['),
    ],
)
def test_far_too_many_documents_are_not_decoded(asked, path, before):
    answer = asked.post(path, body=before + b"[]," * 100_000)
    assert (answer.status, answer.error) == (
        413,
        "The request has more than 10,000 documents, the limit of this service.",
    )


def test_brackets_in_ids_are_not_documents(asked):
    ids = ['{[["[{[\\' * 5000] * 7
    assert [one["id"] for one in asked.post("/rank", {"features": ROWS, "ids": ids}).json["ranking"]] == ids


@given(
    st.recursive(
        st.none() | st.floats(0, 1) | st.text('[]{}"\\,x'),
        lambda one: st.lists(one) | st.dictionaries(st.text('[{"\\'), one),
    )
)
@examples(100)
def test_lists_are_counted_without_decoding(value):
    def count(one):
        if isinstance(one, dict):
            return 1 + sum(map(count, one.values()))
        return 1 + sum(map(count, one)) if isinstance(one, list) else 0

    text = json.dumps([value]).encode()
    assert [has_more_lists(text, 1 + count(value) + change) for change in (-1, 0)] == [True, False]


@pytest.mark.parametrize("text", [b'"' + b"[" * 200_000, b'"[[[[" "' + b"x" * 2_000_000, b'"\\"[' * 300_000])
def test_lists_of_what_is_no_json_are_counted_in_no_time(text):
    assert not has_more_lists(text, 3)


@pytest.mark.parametrize("declared", [True, False])
def test_a_long_body_is_refused_and_not_kept(folder, declared):
    asked = client(folder / "ranker.rw", max_body=1000)
    headers = {"content-length": "1000000"} if declared else {}
    answer = asyncio.run(asked.asked("POST", "/rank", [b"x" * 400] * 50, headers))
    assert (answer.status, answer.error) == (
        413,
        "The body is longer than 1,000 bytes, the limit of this service.",
    )
    assert "connection" not in answer.headers


def test_a_client_that_waits_is_told_before_it_sends(folder):
    asked = client(folder / "ranker.rw", max_body=1000)
    headers = {"content-length": "1000000", "expect": "100-continue"}
    answer = asyncio.run(asked.asked("POST", "/rank", [], headers))  # to receive would fail
    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_a_body_that_arrives_in_parts_is_read(asked):
    body = json.dumps({"features": ROWS}).encode()
    parts = [body[start : start + 50] for start in range(0, len(body), 50)]
    assert asyncio.run(asked.asked("POST", "/score", parts, {})).status == 200


def test_a_client_that_goes_gets_nothing(asked):
    assert asyncio.run(asked.asked("POST", "/score", [b'{"features"', None], {})).status == 0


def test_slow_bodies_and_slow_answers_have_an_end(folder, monkeypatch):
    asked = client(folder / "ranker.rw", timeout=0.05)

    async def never():
        await asyncio.sleep(10)

    async def slow():
        sent = []

        async def send(message):
            sent.append(message)

        headers = [(b"content-type", b"application/json"), (b"transfer-encoding", b"chunked")]
        scope = {"type": "http", "method": "POST", "path": "/score", "query_string": b"", "headers": headers}
        await asked.application(scope, never, send)
        return sent[0]

    answer = asyncio.run(slow())
    assert answer["status"] == 408
    assert (b"connection", b"close") in answer["headers"]
    monkeypatch.setattr(asked.service, "scores", lambda *_: asyncio.sleep(10))
    late = asked.post("/score", {"features": ROWS})
    assert (late.status, late.error) == (503, "The answer was not ready within 0.05 seconds.")


def test_our_own_mistake_is_500_and_logged_without_contents(folder, monkeypatch, capsys):
    asked = client(folder / "ranker.rw")

    def fail(*_):
        raise RuntimeError("secret 0.12345")

    monkeypatch.setattr(asked.service, "scores", fail)
    answer = asked.post("/score", {"features": ROWS})
    assert (answer.status, answer.error) == (500, "The service failed; its log says where.")
    lines = capsys.readouterr().err
    assert '"error":"RuntimeError at ' in lines
    assert "secret" not in lines


@pytest.mark.parametrize(
    "path",
    ["/../etc/passwd", "/v2/models/..", "/v2/models/../../etc/passwd", "/v2/models/%2e%2e/ready", "//etc/passwd",
     "/v2/models//ready", "/v2/models/ranker.rw/ready", "/v2/models/a/b/c/ready", "/models/", "/\x00"],
)  # fmt: skip
def test_paths_cannot_be_escaped(asked, path):
    assert asked.get(path).status == 404


@pytest.mark.parametrize(
    "name", ["ranker.rw", "../ranker", "/etc/passwd", "{folder}/other.rw", "other", "ranker@", "@"]
)
def test_a_request_cannot_load_a_file(asked, folder, name, monkeypatch):
    def fail(*_args, **_named):
        raise AssertionError("a request opened a file")

    monkeypatch.setattr("rankwright.serve.models.loaded_models.load", fail)
    monkeypatch.setattr("builtins.open", fail)
    monkeypatch.setattr("pathlib.Path.open", fail)
    named = name.format(folder=folder)
    answers = [
        asked.post("/score", {"features": ROWS, "model": named}),
        asked.post("/score", {"features": ROWS, "model": "ranker", "version": named}),
        asked.get(f"/v2/models/{named}/ready"),
    ]
    monkeypatch.undo()
    assert [answer.status for answer in answers] == [404] * 3
    assert all(str(folder) not in answer.body.decode() for answer in answers)


def test_the_log_has_no_contents(asked, capsys):
    asked.post("/rank", {"features": [[0.123456, 2, 3, 4]], "ids": ["document of somebody"]})
    asked.post("/rank", {"features": [[0.123456, 2, 3]], "ids": ["document of somebody"]})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["status"] for line in lines] == [200, 422]
    known = {"time", "level", "event", "request", "route", "status", "ms", "bytes", "model", "documents"}
    assert set(lines[0]) == known
    assert (lines[0]["route"], lines[0]["model"], lines[0]["documents"]) == ("POST /rank", "ranker@1", 1)
    assert "somebody" not in str(lines)
    assert "0.123" not in str(lines)

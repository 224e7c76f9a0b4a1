import http.client
import json

import pytest

import rankwright as rw
from judgements.judging.judging_process import TOKEN, judging

pytestmark = pytest.mark.slow


def asked(server, method, path, body=None, token=TOKEN):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with judging(tmp_path_factory.mktemp("judging"), 3, "--depth", "4") as server:
        yield server


def test_the_page_is_public_and_holds_no_data_and_the_rest_needs_the_token(server):
    assert server.address == f"http://127.0.0.1:{server.port}/#token={TOKEN}"
    status, page = asked(server, "GET", "/", token=None)
    assert status == 200
    assert TOKEN.encode() not in page
    assert asked(server, "GET", "/task?judge=ada", token=None)[0] == 401
    assert asked(server, "POST", "/judgements", {}, token="wrong")[0] == 401
    assert asked(server, "GET", "/task?judge=ada")[0] == 200


def test_judging_over_http(server):
    status, content = asked(server, "GET", "/task?judge=ada")
    task = json.loads(content)
    assert task["progress"] == {"graded": 0, "skipped": 0, "total": 12, "queries": 3}
    document = task["document"]
    body = {"judge": "ada", "query": document["query"], "document": document["document"], "grade": 2}
    status, content = asked(server, "POST", "/judgements", body)
    assert status == 200
    assert server.lines()[-1]["grade"] == 2
    following = json.loads(content)["document"]
    assert (following["query"], following["document"]) != (body["query"], body["document"])
    status, content = asked(server, "POST", "/undo", {"judge": "ada"})
    assert json.loads(content)["document"]["document"] == body["document"]
    assert server.lines()[-1]["grade"] is None
    asked(server, "POST", "/judgements", body)
    assert len(rw.judgements.read_grades(server.out)) == 1


@pytest.mark.parametrize(
    ("change", "status", "sentence"),
    [
        ({"judge": " "}, 422, "A judge must have a name."),
        ({"grade": 9}, 422, "The grade 9 is outside the scale 0, 1, 2, 3."),
        ({"query": "none"}, 422, "There is no query 'none' to judge."),
        ({"document": "none"}, 422, "is not to be judged."),
        ({"grade": "two"}, 400, "The body is invalid"),
        ({"other": 1}, 400, "unknown field"),
    ],
)
def test_bad_requests_are_refused_with_a_sentence_and_not_saved(server, change, status, sentence):
    document = json.loads(asked(server, "GET", "/task?judge=eve")[1])["document"]
    before = server.lines()
    body = {"judge": "eve", "query": document["query"], "document": document["document"], "grade": 1} | change
    answer, content = asked(server, "POST", "/judgements", body)
    assert answer == status
    assert sentence in json.loads(content)["error"]
    assert server.lines() == before


def test_a_line_that_was_cut_short_is_said(tmp_path):
    (tmp_path / "judgements.jsonl").write_text('{"query": "q", "docu')
    with judging(tmp_path, 1) as server:
        assert "it is removed." in server.log.read_text()
        assert server.lines() == []


def test_a_second_server_does_not_write_to_the_same_file(server, tmp_path):
    searcher = rw.text.Searcher(rw.text.Index.open(server.folder / "index"))
    queries = rw.text.read_queries(server.folder / "queries.jsonl")
    with pytest.raises(rw.InputError, match="Another process writes to"):
        rw.judgements.judge(searcher, queries, server.out, port=0)
    with pytest.raises(rw.InputError, match="Another program listens at port"):
        rw.judgements.judge(searcher, queries, tmp_path / "other.jsonl", port=server.port)

"""Features that search engines logged, from responses as their documentation shows them."""

import json
import math

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.readers.trec import Judgements
from rankwright.text import CoverageWarning, read_ltr_log, read_solr_features


def hit(document, *features, log="log_entry1", **more):
    return {"_id": document, "_score": 1.0, "fields": {"_ltrlog": [{log: list(features), **more}]}}


def feature(name, *value):
    return {"name": name, **({"value": value[0]} if value else {})}


def response(*hits):
    return {"took": 5, "timed_out": False, "hits": {"total": {"value": len(hits)}, "hits": list(hits)}}


RAMBO = response(
    hit("7555", feature("title_query", 9.5), feature("body_query", 10.75)),
    hit("1370", feature("title_query"), feature("body_query", 2)),
)
ROCKY = response(hit("4241", feature("body_query", None), feature("title_query", 0.5)))
JUDGED = Judgements.of(["rambo", "rambo", "rocky"], ["7555", "1370", "4241"], [4, 3, 4])


def solr(*documents):
    return {"responseHeader": {"status": 0}, "response": {"numFound": 2, "start": 0, "docs": list(documents)}}


def test_the_log_of_elasticsearch():
    documents = read_ltr_log({"rambo": RAMBO, "rocky": ROCKY})
    assert type(documents) is rw.Documents
    assert documents.feature_names == ("title_query", "body_query")
    assert documents.qid.tolist() == ["rambo", "rambo", "rocky"]
    assert documents.document_ids.tolist() == ["7555", "1370", "4241"]
    np.testing.assert_array_equal(documents.X, np.float32([[9.5, 10.75], [math.nan, 2], [0.5, math.nan]]))


def test_labels_are_joined():
    data = read_ltr_log({"rambo": RAMBO, "rocky": ROCKY}, JUDGED)
    assert isinstance(data, rw.RankingData)
    assert data.y.tolist() == [4, 3, 4]


def test_what_does_not_match_is_counted():
    judged = Judgements.of(["rambo", "rambo", "alien"], ["7555", "9", "1"], [4, 3, 4])
    sentence = (
        "2 documents of 3 without a judgement, kept with the label of unjudged=; 2 judgements of 3 for documents "
        "that are in no response, with those of 1 query without a response"
    )
    with pytest.warns(CoverageWarning, match=sentence):
        assert read_ltr_log({"rambo": RAMBO, "rocky": ROCKY}, judged).y.tolist() == [4, 0, 0]
    with pytest.warns(CoverageWarning, match="without a judgement, left out"):
        kept = read_ltr_log({"rambo": RAMBO, "rocky": ROCKY}, judged, unjudged=None)
    assert kept.document_ids.tolist() == ["7555"]
    other = Judgements.of(["x"], ["y"], [1])
    with pytest.warns(CoverageWarning), pytest.raises(rw.InputError, match=r"do the ids .* match"):
        read_ltr_log({"rambo": RAMBO}, other, unjudged=None)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ({"rambo": RAMBO, "rocky": ROCKY}, {}),
        ([RAMBO, ROCKY], {"qid": ["rambo", "rocky"]}),
        ({"took": 3, "responses": [RAMBO, ROCKY]}, {"qid": ["rambo", "rocky"]}),
        ([{"qid": "rambo", "response": RAMBO}, {"qid": "rocky", "response": ROCKY}], {}),
    ],
)
def test_ways_to_give_responses(tmp_path, content, options):
    path = tmp_path / "responses.json"
    path.write_text(json.dumps(content, indent=1))
    for given in (content, path, str(path)):
        data = read_ltr_log(given, JUDGED, **options)
        assert data.qid.tolist() == ["rambo", "rambo", "rocky"]


def test_json_lines_and_a_single_response(tmp_path):
    path = tmp_path / "responses.jsonl"
    pairs = {"rambo": RAMBO, "rocky": ROCKY}
    lines = [json.dumps({"qid": query, "response": one}) + "\n" for query, one in pairs.items()]
    path.write_text("".join(lines))
    assert len(read_ltr_log(path)) == 3
    path.write_text(lines[0])
    assert read_ltr_log(path).qid.tolist() == ["rambo", "rambo"]
    assert read_ltr_log(ROCKY, qid=[7]).qid.tolist() == ["7"]


def test_several_log_entries_and_extra_logging():
    extra = {"name": "extra_logging", "value": {"extra_string": "more"}}
    one = response(hit("a", feature("x", 1), extra, log="first", second=[feature("y", 2)]))
    with pytest.raises(rw.InputError, match="has several log entries: choose one with log='first' or 'second'"):
        read_ltr_log({"q": one})
    assert read_ltr_log({"q": one}, log="first").feature_names == ("x",)
    assert read_ltr_log({"q": one}, log="second").X.tolist() == [[2]]
    with pytest.raises(rw.InputError, match="no log entry 'third' among 'first', 'second'"):
        read_ltr_log({"q": one}, log="third")


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        (
            {"q": response({"_id": "a"})},
            "Query 'q', document 'a': no fields._ltrlog; does the request have ext.ltr_log",
        ),
        ({"q": response({"fields": {}})}, "A hit of query 'q' has no _id"),
        ({"q": response(hit("a", feature("x", "high")))}, "the feature 'x' must be a number, not 'high'"),
        ({"q": response(hit("a", feature("x", [1])))}, "the feature 'x' must be a number"),
        ({"q": response(hit("a", {"value": 1}))}, "a logged feature has no name"),
        ({"q": response(hit("a", feature("x", 1)), hit("a", feature("x", 1)))}, "'a' occurs twice in query 'q'"),
        ({"q": {"error": {"type": "parsing_exception"}, "status": 400}}, "The response to query 'q' is an error"),
        ({"q": {"took": 1}}, "The response to query 'q' has no list hits.hits"),
        ({"q": [1]}, "The response to query 'q' must be a JSON object, not list"),
        ({"q": response()}, "No features were logged"),
        ([RAMBO], "A list of 1 responses needs as many query ids in qid=; none is given"),
        (
            [{"qid": 1, "response": RAMBO}, {"qid": "1", "response": RAMBO}],
            "There are two responses for query '1'",
        ),
        (5, "Responses must be a mapping by query id, a list or a file, not int"),
    ],
)
def test_broken_logs(responses, message):
    with pytest.raises(rw.InputError, match=message):
        read_ltr_log(responses)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"q": {', "line 1: broken JSON at column 8"),
        (b'{"q": {}}\n{"q": \n', "line 2: broken JSON"),
        (b'{"q":\n "\xff"}', "line 2: not valid UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_broken_files_of_responses(tmp_path, content, message):
    (tmp_path / "responses.json").write_bytes(content)
    with pytest.raises(rw.InputError, match=f"responses.json.*{message}"):
        read_ltr_log(tmp_path / "responses.json")


def test_dense_features_of_solr():
    one = solr(
        {"id": "GB18030TEST", "score": 1.0, "[features]": "documentRecency=0.02,isBook=1.0,original=NaN"},
        {"id": 7, "[features]": "documentRecency=0.5,isBook=0.0,original=1.5E-3"},
    )
    judged = Judgements.of(["1", "1"], ["GB18030TEST", "7"], [2, 0])
    data = read_solr_features({"1": one}, judged)
    assert data.feature_names == ("documentRecency", "isBook", "original")
    assert data.y.tolist() == [2, 0]
    np.testing.assert_array_equal(data.X, np.float32([[0.02, 1, math.nan], [0.5, 0, 0.0015]]))


def test_sparse_features_of_solr():
    one = solr({"key": "a", "f": "x:0.5 y:2.0"}, {"key": "b", "f": ""}, {"key": "c", "f": "z:1.0"})
    options = {"id": "key", "field": "f", "separators": (":", " ")}
    assert read_solr_features({"1": one}, **options).X.tolist() == [[0.5, 2, 0], [0, 0, 0], [0, 0, 1]]
    other = read_solr_features({"1": one}, missing={"y": math.nan}, **options)
    np.testing.assert_array_equal(other.X[:, 1], [2, math.nan, math.nan])


@pytest.mark.parametrize(
    ("responses", "options", "message"),
    [
        ({"q": solr({"id": "a"})}, {}, r"no text in the field '\[features\]'; does fl have"),
        ({"q": solr({"[features]": "x=1"})}, {}, "A document of query 'q' has no id in 'id': add it to fl"),
        ({"q": solr({"id": "a", "[features]": "x:1"})}, {}, "expected name=value, found 'x:1'; pass separators="),
        ({"q": solr({"id": "a", "[features]": "x=one"})}, {}, "the feature 'x' must be a number, not 'one'"),
        ({"q": {"response": {}}}, {}, "has no list response.docs"),
        ({"q": solr()}, {"separators": ("=", "=")}, "separators must be two different texts"),
        ({"q": solr()}, {}, "No features were logged"),
    ],
)
def test_broken_responses_of_solr(responses, options, message):
    with pytest.raises(rw.InputError, match=message):
        read_solr_features(responses, **options)

import json

import pandas as pd
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.readers.log_builder import ClickLogWarning


def query(number, hits, text="hats"):
    return {"query_id": f"q{number}", "user_query": text, "query_response_hit_ids": hits}


def event(number, document, ordinal=None, action="click"):
    attributes = {"object": {"object_id": document}}
    if ordinal is not None:
        attributes["position"] = {"ordinal": ordinal}
    return {"query_id": number and f"q{number}", "action_name": action, "event_attributes": attributes}


def read(tmp_path, queries, events, **options):
    for name, records in (("queries", queries), ("events", events)):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    return rw.clicks.read_ubi(tmp_path / "queries", tmp_path / "events", **options)


def rows(log):
    columns = log.columns()
    names = ("session", "query", "document", "position", "clicked")
    return list(zip(*(columns[name].tolist() for name in names), strict=True))


def test_hits_are_impressions_and_events_are_clicks(tmp_path):
    queries = [query(1, ["a", "b"]), query(2, ["b", "a", "c"], "shoes")]
    events = [event(1, "b", 1), event(2, "c", 2), event(2, "c", 2, "purchase")]
    log = read(tmp_path, queries, events, actions={"click": 1, "purchase": 2})
    assert rows(log) == [
        ("q1", "hats", "a", 1, 0),
        ("q1", "hats", "b", 2, 1),
        ("q2", "shoes", "b", 1, 0),
        ("q2", "shoes", "a", 2, 0),
        ("q2", "shoes", "c", 3, 2),
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_impression_events_give_positions_from_0_or_1(tmp_path, first):
    shown = [event(1, name, place, "impression") for place, name in enumerate("ab", start=first)]
    log = read(tmp_path, [query(1, None)], [*shown, event(1, "b", first + 1), event(1, "c", first + 2)])
    assert [row[2:] for row in rows(log)] == [("a", 1, 0), ("b", 2, 1), ("c", 3, 1)]


def test_what_cannot_be_joined_is_counted_by_reason(tmp_path):
    queries = [query(1, ["a"]), query(1, ["a"]), {"query_id": "q9"}, query(3, [])]
    events = [
        event(7, "a"),
        event(None, "a"),
        event(1, "z"),
        event(1, None),
        event(1, "a", action="hover"),
        event(3, "a"),
        event(1, "a", 5),
    ]
    with pytest.warns(ClickLogWarning):
        log = read(tmp_path, queries, events)
    assert rows(log) == [("q1", "hats", "a", 1, 1)]
    assert sorted(log.notes) == sorted(
        [
            "1 UBI record (queries) with a query_id seen before left out.",
            "1 UBI record (queries) without a query_id or user_query left out.",
            "1 UBI record (events) with an unknown query_id left out.",
            "1 UBI record (events) without a query_id left out.",
            "1 UBI record (events) about a document that was not shown left out.",
            "1 UBI record (events) without an object_id left out.",
            "1 UBI record (events) with action 'hover' left out.",
            "1 UBI record (events) about a document without a position left out.",
            "1 event with another ordinal than the document has among the hits.",
            "1 UBI query without a document that was shown left out.",
        ]
    )


def test_bulk_requests_sources_and_parquet(tmp_path):
    plain = read(tmp_path, [query(1, ["a", "b"])], [event(1, "b", 1)])
    bulk = read(
        tmp_path,
        [{"index": {"_index": "ubi_queries"}}, query(1, ["a", "b"])],
        [{"_index": "ubi_events", "_source": event(1, "b", 1)}],
    )
    pd.DataFrame([query(1, ["a", "b"])]).to_parquet(tmp_path / "queries.parquet")
    pd.DataFrame([event(1, "b", 1)]).to_parquet(tmp_path / "events.parquet")
    parquet = rw.clicks.read_ubi(tmp_path / "queries.parquet", tmp_path / "events.parquet")
    assert rows(plain) == rows(bulk) == rows(parquet)


@pytest.mark.parametrize("line", ["{", "[1]", "nothing"])
def test_a_broken_line_is_refused(tmp_path, line):
    (tmp_path / "queries").write_text(f"\n{line}\n")
    (tmp_path / "events").write_text("")
    with pytest.raises(InputError, match="queries, line 2: expected one JSON object per line"):
        rw.clicks.read_ubi(tmp_path / "queries", tmp_path / "events")


@pytest.mark.parametrize(
    ("attributes", "sentence"),
    [
        ("not JSON", "1 UBI record (events) without an object_id left out."),
        ({"object": "b"}, "1 UBI record (events) without an object_id left out."),
        ([1], "1 UBI record (events) without an object_id left out."),
    ],
)
def test_events_of_another_form_are_counted(tmp_path, attributes, sentence):
    with pytest.warns(ClickLogWarning):
        log = read(tmp_path, [query(1, ["a", "b"])], [event(1, "b") | {"event_attributes": attributes}])
    assert log.notes == (sentence,)
    assert log.n_clicks == 0


def test_attributes_may_be_json_in_a_text(tmp_path):
    texts = [each | {"event_attributes": json.dumps(each["event_attributes"])} for each in [event(1, "b", 1)]]
    assert rows(read(tmp_path, [query(1, ["a", "b"])], texts))[1] == ("q1", "hats", "b", 2, 1)


@pytest.mark.parametrize("ordinal", ["top", -1, 0.5, float("nan")])
def test_an_ordinal_that_is_no_position_is_said(tmp_path, ordinal):
    queries = [query(1, ["a"]), query(2, None)]
    with pytest.warns(ClickLogWarning):
        log = read(tmp_path, queries, [event(1, "a", ordinal), event(2, "a", ordinal, "impression")])
    assert rows(log) == [("q1", "hats", "a", 1, 1)]
    assert log.notes == (
        "1 UBI record (events) about a document without a position left out.",
        "1 event with another ordinal than the document has among the hits.",
        "1 UBI query without a document that was shown left out.",
    )


def test_hits_that_are_no_list_and_repeated_hits_are_counted(tmp_path):
    with pytest.warns(ClickLogWarning):
        log = read(tmp_path, [query(1, "a,b"), query(2, ["a", "b", "a"])], [])
    assert [row[2:4] for row in rows(log)] == [("a", 1), ("b", 2)]
    assert log.notes == (
        "1 UBI record (queries) whose query_response_hit_ids are not a list left out.",
        "1 UBI record (hits) that repeat a document of their list left out.",
    )

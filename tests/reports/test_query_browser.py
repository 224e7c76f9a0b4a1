import json

from rankwright.reports.query_browser import MAX_BYTES
from reports.test_page import browser, query


def test_queries_beyond_the_room_are_left_out():
    many = browser(*(query(f"q{number}", "d" * 1000) for number in range(2_000)))
    assert 100 < len(many.kept) < 2_000
    assert len(json.dumps(many.plain(), separators=(",", ":"))) < MAX_BYTES + 1_000
    assert [kept["id"] for kept in many.kept[:2]] == ["q0", "q1"]

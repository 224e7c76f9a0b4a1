import json

import numpy as np
import pytest

from evaluation.examples import small_report
from rankwright.base.errors import InputError
from rankwright.metrics import AP, NDCG
from rankwright.statistics.paired_tests import compare_values


def test_means_pass_over_queries_left_out():
    report = small_report(one=[0.5, np.nan, 1.0], none=[np.nan] * 3)
    assert report.mean("one", "map") == 0.75
    assert np.isnan(report.mean("none", "map"))
    assert np.isnan(report.interval("none", "map")).all()


def test_intervals_hold_their_mean():
    report = small_report(one=np.linspace(0, 1, 50), same=[0.5] * 50)
    low, high = report.interval("one", "map")
    assert 0.3 < low < report.mean("one", "map") < high < 0.7
    assert report.interval("one", "map") == (low, high)
    assert report.interval("same", "map") == (0.5, 0.5)


def test_comparisons_are_those_of_the_values():
    report = small_report(one=[0.5, 0.25, 1.0], other=[0.25, 0.5, 0.5])
    expected = compare_values(report.per_query("one", "map"), report.per_query("other", "map"))
    assert report.compare("one", "other", "map") == report.compare("one", "other") == expected


def test_what_it_has_not_is_named():
    with pytest.raises(InputError, match="The report has no ndcg of one; it has map of one, other"):
        small_report(one=[1], other=[0]).per_query("one", "ndcg")


def test_a_metric_is_named_in_any_form():
    report = small_report(one=[0.5, 0.25, 1.0])
    assert report.mean("one", AP()) == report.mean("one", "map")
    with pytest.raises(InputError, match=r"The report has no ndcg@3 of one"):
        report.mean("one", NDCG(k=3))


def test_plain_json():
    found = json.loads(json.dumps(small_report(one=[0.5, 1.0], none=[np.nan] * 2).to_dict(), allow_nan=False))
    assert found == {
        "convention": "standard",
        "queries": 2,
        "empty_queries": {"map": 0},
        "systems": {"one": {"map": 0.75}, "none": {"map": None}},
    }


def test_printed():
    assert str(small_report(one=[0.5, 1.0], longer=[1, 1])).splitlines() == [
        "longer has the highest mean map over 2 queries, 1.0000.",
        "",
        "system     map",
        "one     0.7500",
        "longer  1.0000",
        "2 queries.",
    ]


@pytest.mark.parametrize(
    ("empty", "words"),
    [
        ({"map": 0, "p@1": 0}, "3 queries"),
        ({"map": 1, "p@1": 1}, "3 queries, 1 of them empty (all rankings are equally good)"),
        ({"map": 1, "p@1": 0}, "3 queries, 1 (map) of them empty (all rankings are equally good)"),
    ],
)
def test_the_footnote_owns_up_to_empty_queries(empty, words):
    report = small_report(one=[0, 1, 1])
    object.__setattr__(report, "empty", empty)
    assert report.footnote() == words


def test_repr_is_short():
    report = small_report(one=[0, 1, 1], other=[1, 1, 1])
    assert repr(report) == "<Report: other has the highest mean map over 3 queries, 1.0000.>"

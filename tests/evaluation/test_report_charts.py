import numpy as np
import pytest

from evaluation.examples import small_report
from rankwright.base.errors import InputError
from rankwright.metrics import AP
from reports.charts.pictures import texts

REPORT = small_report(poor=[0.25, 0.5, 0.25, 0.75], good=[1.0, 0.5, 0.75, 0.5], unknown=[np.nan] * 4)


def test_means_with_intervals_the_best_first():
    chart = REPORT.chart()
    rows = chart.spec["datasets"]["intervals"]
    assert [one["name"] for one in rows] == ["good", "poor"]
    low, high = REPORT.interval("good", "map")
    assert rows[0] == {"name": "good", "value": REPORT.mean("good", "map"), "low": low, "high": high}
    assert chart.description.startswith("Mean map with its 95 % interval over 4 queries: good 0.6875 (")
    assert chart.description.endswith("1 value is left out: not finite.")


def test_many_systems_are_not_all_told():
    chart = small_report(**{f"system {number}": [number / 200] * 3 for number in range(200)}).chart()
    assert "system 199 " in chart.description
    assert "and 190 more" in chart.description
    assert len(chart.spec["datasets"]["values"]) == 50


def test_differences_per_query():
    chart = REPORT.difference_chart("good", "poor", AP())
    bars = [(one["query"], one["difference"]) for one in chart.spec["datasets"]["queries"]]
    assert bars == [("0", 0.75), ("2", 0.5), ("1", 0.0), ("3", -0.25)]
    expected = "Difference in map per query: good is better on 2, equal on 1, worse on 1, beside poor."
    assert chart.description == expected
    assert "difference in map: good \N{MINUS SIGN} poor" in texts(chart)


def test_a_system_or_metric_that_the_report_does_not_have():
    with pytest.raises(InputError, match="The report has no map of nobody"):
        REPORT.difference_chart("good", "nobody")
    with pytest.raises(InputError, match="The report has no mrr of poor"):
        REPORT.chart("mrr")

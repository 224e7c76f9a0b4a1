"""What a paper's page says first."""

import numpy as np
import pytest

from rankwright.papers.framework.claims import better, no_significant_difference
from rankwright.papers.framework.experiment import Claim, Experiment
from rankwright.papers.framework.groups import Groups
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.rows import (
    NO_DATA,
    NOT_SHOWN,
    OPPOSITE,
    OTHER_DATA,
    REACHED,
    Row,
    rows_of,
    spelled_metrics,
)


def row(what, state, **more):
    return Row(**{"experiment": "e", "data": "here", "where": "Table 1", "what": what, "state": state, **more})


def test_the_verdict_says_what_holds_what_does_not_and_what_was_not_tried():
    rows = [
        row("number", REACHED, published=0.5),
        row("a is better", REACHED),
        row("b is better in x", REACHED, part_of="b is better"),
        row("b is better in y", NOT_SHOWN, part_of="b is better"),
        row("c is better", REACHED),
        row("c is better", OPPOSITE, data="there", p_value=0.012),
        row("d is better", NOT_SHOWN),
        row("d is best", OPPOSITE, p_value=0.02, against_published=NOT_SHOWN),
        row("e is better", OTHER_DATA, on_these_data=REACHED),
        row("f is better", OTHER_DATA, on_these_data=NOT_SHOWN),
        row("a variant of a is better", OPPOSITE, variant=True),
        row("g is better", NO_DATA, data="TD2003"),
    ]
    assert Groups.of(rows).verdict() == [
        "Shown: a is better; c is better, on here.",
        "Shown in part: b is better (1 of 2: in x).",
        "Not shown: d is better.",
        "The opposite is shown of: c is better, on there (p = 0.012); "
        "d is best (p = 0.020; not shown against published baselines).",
        "Of 1 published number, 1 is reached.",
        "On data that stand in for the paper's, shown: e is better.",
        "On data that stand in for the paper's, not shown: 1 claim.",
        "1 row could not be tried, for want of TD2003.",
    ]


def test_variants_have_a_table_of_their_own():
    groups = Groups.of([row("a", REACHED), row("a, changed", REACHED, variant=True)])
    assert len(groups.claims) == len(groups.variants) == 1
    assert [bool(table.folded) for table in groups.tables().values()] == [False, True]


@pytest.mark.parametrize(
    "claimed",
    [lambda name: better(name, ("base",), "map"), lambda name: no_significant_difference((name, "base"), "map")],
)
def test_rows_of_one_claim_share_the_correction(claimed):
    random = np.random.default_rng(0)
    base = random.random(60)
    values = {"base": base} | {f"model {n}": base + random.normal(0.05, 0.16, 60) for n in range(6)}
    results = Measurements(("1",), {(model, "map", "1"): each for model, each in values.items()})

    def rows(part_of):
        claims = [Claim("", name, claimed(name), part_of=part_of) for name in values if name != "base"]
        return rows_of(Experiment("e", "", Source(), {}, (), claims=claims), results)

    alone, together = rows(""), rows("all are better")
    assert all(one.p_value <= other.p_value for one, other in zip(alone, together, strict=True))
    lost = [other for one, other in zip(alone, together, strict=True) if one.p_value < 0.05 <= other.p_value]
    assert lost, "the draw has a p-value that the correction decides on"
    for each in lost:
        assert each.state == NOT_SHOWN
        assert "before the correction" in each.measured


class Source:
    title = "here"


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("x in map(threshold=2)", "x in MAP"),
        ("SVMmap in map", "SVMmap in MAP"),
        ("ndcg@10(discount=letor) and mean_ndcg", "NDCG@10 and mean NDCG"),
    ],
)
def test_metrics_are_spelled_as_the_field_does(text, spelled):
    assert spelled_metrics(text) == spelled

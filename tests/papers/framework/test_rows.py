"""What a paper's page says first."""

from rankwright.papers.framework.rows import NO_DATA, NOT_SHOWN, OPPOSITE, OTHER_DATA, REACHED, Groups, Row


def row(where, state, **more):
    number = more.pop("published", None)
    facts = {"data": "here", "what": f"claim of {where}", "p_value": None} | more
    return Row("experiment", facts["data"], where, facts["what"], number, 0.5, 0.4, 0.6, facts["p_value"], state)


def test_the_verdict_says_what_holds_what_does_not_and_what_was_not_tried():
    other = Row("e", "here", "Figure 5", "other", None, 0, None, None, None, OTHER_DATA, on_these_data=REACHED)
    rows = [
        row("Table 1", REACHED, published=0.5),
        row("Abstract, Figure 2", REACHED),
        row("Figure 3", REACHED),
        row("Figure 3", NOT_SHOWN),
        row("Figure 4", OPPOSITE, p_value=0.012),
        other,
        row("Figure 6", NO_DATA, data="TD2003"),
    ]
    assert Groups.of(rows).verdict() == (
        "Of 1 published number, 1 is reached. Of 4 claims, 2 are reached, 1 is not shown and 1 is opposite. All "
        "claims hold: Abstract, Figure 2. Some claims hold: Figure 3 (1 of 2). The data show the opposite of: "
        "Figure 4, claim of Figure 4 (p = 0.012). Of 1 claim tried on data that stand in for the paper's, these "
        "data show 1, and the opposite of 0. 1 row could not be tried, for want of TD2003."
    )

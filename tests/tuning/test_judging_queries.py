"""Which queries judge settings."""

import pytest

import rankwright as rw
from rankwright.tuning.judging_queries import find_protocol


def test_out_of_fold_in_time_order():
    data = rw.synthetic.gaussian_queries(20)
    timed = data.with_columns(None, {"day": [str(int(query) % 10) for query in data.qid]})
    plan = find_protocol("out-of-fold").plan(timed, None, "day")
    assert len(plan.final.data.groups) == 20
    for part in plan.parts:
        assert max(part.train.data.shown["day"]) < min(part.judges.data.shown["day"])
    tuned = rw.tune("ranksvm", timed, grid={"C": [0.1, 1.0]}, time_column="day")
    assert tuned.time_column == "day"
    with pytest.raises(
        rw.InputError, match=r"^time_column divides queries out of fold; a validation part is given"
    ):
        rw.tune("ranksvm", timed, validation=timed, grid={"C": [1.0]}, time_column="day")

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

of = rw.judgements.GradeTable.of


def test_a_table_is_checked_once():
    table = of(["q", "q"], ["x", "y"], ["ada", "bob"], [[1, np.nan], [3, 0]])
    assert table.scale == (0.0, 1.0, 3.0)
    assert table.codes.tolist() == [[1, -1], [2, 0]]
    assert table.n_judges.tolist() == [1, 2]
    assert list(table.take([1]).pairs()) == [("q", "y")]
    with pytest.raises(ValueError, match="read-only"):
        table.grades[0, 0] = 2


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((["q"], ["x"], ["ada", "ada"], [[1, 2]]), "Two judges are called 'ada'."),
        ((["q"], ["x"], [" "], [[1]]), "A judge must have a name, not ' '."),
        ((["q"], ["x"], [], [[]]), "There are no judges."),
        ((["q"], ["x"], ["ada"], [[1, 2]]), r"grades must have one column per judge, 1, not shape \(1, 2\)."),
        ((["q"], ["x"], ["ada"], [[np.nan]]), "There are no grades."),
        ((["q", "q"], ["x", "x"], ["ada"], [[1], [1]]), "Document 'x' occurs twice in query 'q'."),
        ((["q"], ["x"], ["ada"], [[np.inf]]), "which is outside the scale 0, 1, 2."),
    ],
)
def test_bad_tables_are_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        of(*arguments, scale=[0, 1, 2])

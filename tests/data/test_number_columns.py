import numpy as np
import pytest

from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.data.input_arrays import checked_numbers
from rankwright.data.ranking import Ranking
from rankwright.evaluation.evaluate import evaluate

MASKED = np.ma.array([1, 2, 3], mask=[False, False, True])


def test_a_contiguous_column_of_doubles_is_passed_on():
    column = np.arange(3.0)
    assert checked_numbers(column, "scores") is column


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (["high"], "Labels must be numbers."),
        ([[1], [1, 2]], "Labels must be numbers."),
        (np.array([1, {}], dtype=object), "Labels must be numbers."),
        ([1 + 2j], "Labels must be real numbers, not complex128."),
        (np.array([1j, 2], dtype=object), "Labels must be numbers."),
        (np.array(["2020-01-01"], dtype="M8[D]"), r"Labels must be real numbers, not datetime64\[D\]."),
        ([0, 10**400], "Labels must be numbers that a 64-bit float can hold, up to about 1.8e308."),
        (MASKED, "Labels must not be masked, but row 2 is; fill in or remove masked values."),
    ],
)
def test_other_values_are_refused(values, sentence):
    with pytest.raises(InputError, match=f"^{sentence}$"):
        checked_numbers(values, "Labels")


def test_a_masked_array_that_masks_nothing_is_an_array():
    assert checked_numbers(np.ma.array([1, 2]), "Labels").tolist() == [1, 2]


def test_masked_labels_query_ids_and_scores_are_refused():
    X, y, qid = np.eye(3), [0, 1, 2], [1, 1, 1]
    with pytest.raises(InputError, match="Labels must not be masked, but row 2 is"):
        RankingData(X, MASKED, qid)
    with pytest.raises(InputError, match="qid must not be masked, but row 2 is"):
        RankingData(X, y, MASKED)
    with pytest.raises(InputError, match="scores must not be masked, but row 2 is"):
        Ranking.of(MASKED, QueryGroups.of(qid))
    with pytest.raises(InputError, match="scores must not be masked, but row 2 is"):
        evaluate({"system": MASKED}, RankingData(X, y, qid))

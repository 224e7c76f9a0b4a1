"""A metric by number of pairs: pairs are counted as if one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base.errors import InputError
from reference.label_pairs import count_label_pairs

documents = st.lists(
    st.tuples(
        st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.sampled_from([-np.inf, -1.0, 0.0, 1.5]), st.integers(0, 3)
    ),
    min_size=1,
    max_size=25,
)


def data_of(y, qid):
    return rw.RankingData(np.zeros((len(y), 1)), y, qid)


@examples(100)
@given(documents)
def test_pairs_per_query_equal_those_counted_one_by_one(rows):
    y, scores, qid = map(np.array, zip(*rows, strict=True))
    counts = Counter()
    for (query, _, _), count in count_label_pairs(y, scores, qid)[0].items():
        counts[query] += count
    data = data_of(y, qid)
    assert data.groups.count_pairs(data.y).tolist() == [counts[query] for query in data.groups.ids.tolist()]


# Numbers of pairs: a 3, b 1, c 0, d 2.
QUERIES = data_of([2, 1, 0, 1, 0, 1, 1, 1, 0, 0], [*"aaabbccddd"])
RIGHT, WRONG = QUERIES.y, -QUERIES.y


def test_groups_by_hand():
    found = rw.analyses.by_pairs({"right": RIGHT, "wrong": WRONG}, QUERIES, metric="pair_accuracy", groups=[1, 3])
    assert [(group.low, group.high, group.n_queries) for group in found.groups] == [(1, 2, 2), (3, 3, 1)]
    assert [group.means["right"].value for group in found.groups] == [1.0, 1.0]
    assert [group.differences["wrong"].value for group in found.groups] == [-1.0, -1.0]
    assert found.without_pairs == 1
    assert [row[0] for row in found.tables[0].rows] == ["1 to 2", "3"]
    assert found.summary == (
        "From queries with 1 to 2 pairs to those with 3, the mean pair_accuracy goes from 1.0000 to 1.0000 for "
        "right and 0.0000 to 0.0000 for wrong."
    )
    assert "1 query without pairs left out." in str(found)
    assert found.to_dict()["groups"][0]["systems"]["wrong"]["value"] == 0.0
    assert "3 (1 query)" in str(found.chart().spec)


@examples(100)
@given(documents, st.integers(1, 6))
def test_every_query_with_pairs_is_in_one_group(rows, groups):
    y, scores, qid = map(np.array, zip(*rows, strict=True))
    data = data_of(y, qid)
    pairs = data.groups.count_pairs(data.y)
    if not pairs.any():
        with pytest.raises(InputError, match="No query has documents of different labels"):
            rw.analyses.by_pairs(scores, data, groups=groups, metric="pair_accuracy")
        return
    found = rw.analyses.by_pairs(scores, data, groups=groups, metric="pair_accuracy")
    assert sum(group.n_queries for group in found.groups) + found.without_pairs == len(pairs)
    assert len(found.groups) <= groups
    borders = [end for group in found.groups for end in (group.low, group.high)]
    assert borders == sorted(borders)
    assert all(one.high < other.low for one, other in zip(found.groups, found.groups[1:], strict=False))


@pytest.mark.parametrize("groups", [0, True, [], [3, 1], [1.5], "ab"])
def test_groups_that_are_none_are_refused(groups):
    with pytest.raises(InputError, match="groups must be a positive integer or"):
        rw.analyses.by_pairs(RIGHT, QUERIES, groups=groups)

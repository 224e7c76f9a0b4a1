from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright import Documents, InputError, RankingData, concat, sample_queries, split_queries
from rankwright.data.dataset import canonical_rows


def collection(n_queries=20, *, judged=True):
    rng = np.random.default_rng(1)
    qid = rng.permutation(np.repeat(np.arange(n_queries), 3))
    X = rng.normal(size=(len(qid), 2))
    names = {"document_ids": [f"D{row}" for row in range(len(qid))], "feature_names": ["a", "b"]}
    return RankingData(X, rng.integers(0, 3, len(qid)), qid, **names) if judged else Documents(X, qid, **names)


def rows_of(data):
    return data.document_ids.tolist()


@pytest.mark.parametrize("judged", [True, False])
@pytest.mark.parametrize("sizes", [(0.6, 0.2, 0.2), (12, 4, 4), (0.5, 0.5), (1.0,), (20,)])
def test_each_query_is_in_one_part(judged, sizes):
    data = collection(judged=judged)
    parts = split_queries(data, *sizes)
    expected = [size if isinstance(size, int) else round(20 * size) for size in sizes]
    assert [len(part.groups) for part in parts] == expected
    assert sorted(row for part in parts for row in rows_of(part)) == sorted(rows_of(data))
    assert len(set().union(*(part.qid.tolist() for part in parts))) == 20
    for part in parts:
        assert type(part) is type(data)
        assert part.feature_names == ("a", "b")
        kept = set(rows_of(part))
        assert rows_of(part) == [one for one in rows_of(data) if one in kept]  # in the old order


@pytest.mark.parametrize("judged", [True, False])
def test_neither_the_order_of_rows_nor_the_names_of_queries_change_a_split(judged):
    data = collection(judged=judged)
    order = np.random.default_rng(5).permutation(len(data))
    shuffled = data.take(order)
    renamed = [f"q{one}" for one in shuffled.qid]
    other = Documents(shuffled.X, renamed, document_ids=shuffled.document_ids)
    other = other.with_labels(shuffled.y) if judged else other
    for one, twin in zip(split_queries(data, 0.5, 0.5), split_queries(other, 0.5, 0.5), strict=True):
        assert set(rows_of(one)) == set(rows_of(twin))
    assert set(rows_of(sample_queries(data, 7))) == set(rows_of(sample_queries(other, 7)))


def test_the_seed_changes_the_split():
    data = collection()
    splits = {frozenset(rows_of(split_queries(data, 0.5, 0.5, random_state=seed)[0])) for seed in (0, 0, 1, 2)}
    assert len(splits) == 3


@given(st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_fractions_give_the_nearest_whole_numbers(n_queries, weights):
    fractions = (np.array(weights) / sum(weights)).tolist()
    data = Documents(np.arange(n_queries)[:, None], np.arange(n_queries))
    if min(fractions) * n_queries <= 1:
        return  # a part may be empty, which is refused
    sizes = [len(part.groups) for part in split_queries(data, *fractions)]
    assert sum(sizes) == n_queries
    assert all(abs(size - fraction * n_queries) <= 1 for size, fraction in zip(sizes, fractions, strict=True))


@pytest.mark.parametrize(
    ("sizes", "sentence"),
    [
        ((), "fractions that sum to 1, such as 0.6, 0.2, 0.2, or numbers of queries, not nothing"),
        ((0.6, 0.2), "not 0.6, 0.2"),
        ((0.5, 10), "not 0.5, 10"),
        ((1.5, -0.5), "not 1.5, -0.5"),
        ((True,), "not True"),
        ((12, 4), "sum to 20, the number of queries, not 12 + 4 = 16; `sample_queries` draws fewer"),
        ((21, -1), "positive"),
        ((0.99, 0.01), "20 queries are too few: part 2, 0.01, would be empty"),
    ],
)
def test_sizes_that_cannot_be(sizes, sentence):
    with pytest.raises(InputError) as caught:
        split_queries(collection(), *sizes)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("seed", [-1, 1.5, None, True])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(InputError, match="random_state must be a non-negative integer"):
        split_queries(collection(), 0.5, 0.5, random_state=seed)


def test_parts_are_joined_one_by_one():
    with pytest.raises(InputError, match=r"concat takes the parts one by one, as in concat\(first, second\)"):
        concat([collection(), collection()])


def test_only_documents_are_split():
    with pytest.raises(InputError, match="Expected RankingData or Documents, not list"):
        split_queries([1, 2], 0.5, 0.5)


@pytest.mark.parametrize(("size", "expected"), [(0.25, 5), (7, 7), (1.0, 20), (1, 1), (20, 20)])
def test_samples_are_whole_queries(size, expected):
    data = collection()
    sample = sample_queries(data, size)
    assert len(sample.groups) == expected
    assert len(sample) == 3 * expected
    assert set(rows_of(sample)) <= set(rows_of(sample_queries(data, 1.0)))


def test_a_smaller_sample_is_part_of_a_larger_one():
    data = collection()
    assert set(rows_of(sample_queries(data, 3))) < set(rows_of(sample_queries(data, 0.5)))


@pytest.mark.parametrize("size", [0, 21, 0.0, 1.5, 0.001, "half", True])
def test_samples_that_cannot_be(size):
    with pytest.raises(InputError, match="at least one query, or an integer from 1 to 20"):
        sample_queries(collection(), size)


@pytest.mark.parametrize("judged", [True, False])
def test_concat_undoes_a_split(judged):
    data = collection(judged=judged)
    joined = concat(*split_queries(data, 0.6, 0.2, 0.2))
    assert type(joined) is type(data)
    assert joined.feature_names == data.feature_names
    order, twin = canonical_rows(data), canonical_rows(joined)
    for name in ("X", "qid", "document_ids", *(["y"] if judged else [])):
        assert getattr(data, name)[order].tolist() == getattr(joined, name)[twin].tolist()


def test_equal_query_ids_are_refused_unless_their_meaning_is_said():
    one, other = RankingData([[1], [2]], [0, 1], ["a", "b"]), RankingData([[3], [4]], [2, 3], ["b", "c"])
    with pytest.raises(InputError) as caught:
        concat(one, other)
    assert str(caught.value) == (
        "Parts 1 and 2 both have query 'b': pass shared_queries='merge' if that is the same query, 'separate' if "
        "these are different queries."
    )
    assert concat(one, other, shared_queries="merge").qid.tolist() == ["a", "b", "b", "c"]
    assert concat(one, other, shared_queries="separate").qid.tolist() == [0, 1, 2, 3]


def test_names_and_ids_that_only_some_parts_have():
    named = Documents([[1]], [1], feature_names=["a"], document_ids=["A"])
    joined = concat(Documents([[2]], [2]), named)
    assert (joined.feature_names, joined.document_ids.tolist()) == (("a",), ["", "A"])
    assert concat(Documents([[2]], [2])).document_ids is None


def test_features_are_joined_by_name_and_categories_travel():
    one = Documents([[1, 2]], [1], feature_names=["a", "b"])
    other = Documents([[3, 4]], [2], feature_names=["b", "a"])
    joined = concat(one, other)
    assert (joined.X.tolist(), joined.feature_names) == ([[1, 2], [4, 3]], ("a", "b"))
    frame = pd.DataFrame(
        {"qid": [1, 1, 2, 2], "colour": ["red", "blue", "blue", "red"], "a": [1.0, 2.0, 3.0, 4.0]}
    )
    data = rw.from_pandas(frame, label=None, categorical=["colour"])
    joined = concat(*split_queries(data, 1, 1))
    assert joined.categories == data.categories != ()


def test_integers_of_any_type_are_joined():
    joined = concat(Documents([[1]], np.array([3], np.uint64)), Documents([[1]], np.array([-2], np.int8)))
    assert (joined.qid.tolist(), joined.qid.dtype) == ([3, -2], np.int64)
    with pytest.raises(InputError, match="cannot be joined"):
        concat(Documents([[1]], np.array([2**64 - 1], np.uint64)), Documents([[1]], [1]))


ONE = Documents([[1]], [1])


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ((), "no documents to join"),
        ((ONE, Documents([[1, 2]], [2])), "Part 1 has 1 feature, part 2 has 2"),
        ((ONE, ONE.with_labels([1])), "Some parts have labels and part 1 has none"),
        ((ONE.with_labels([1]), ONE), "Some parts have labels and part 2 has none"),
        ((ONE, Documents([[1]], ["x"])), "integers in one part and strings in another"),
        ((ONE, [1]), "not list"),
        (
            (ONE, Documents([[1]], [2], feature_names=["a"]), Documents([[1]], [3], feature_names=["b"])),
            "Parts 2 and 3 have different feature names",
        ),
        (
            tuple(
                rw.from_pandas(
                    pd.DataFrame({"qid": [qid], "colour": [colour]}), label=None, categorical=["colour"]
                )
                for qid, colour in ((1, "red"), (2, "blue"))
            ),
            "Parts 1 and 2",
        ),
    ],
)
def test_parts_that_do_not_go_together(parts, sentence):
    with pytest.raises(InputError, match=sentence):
        concat(*parts)


def test_shared_queries_are_one_of_three():
    with pytest.raises(InputError, match="shared_queries must be one of refuse, merge, separate, not 'keep'"):
        concat(ONE, shared_queries="keep")


def test_models_of_joined_parts_are_those_of_the_whole():
    data = collection()
    joined = concat(*split_queries(data, 0.5, 0.5))
    one, other = (rw.LambdaMART(rounds=3).fit(part) for part in (data, joined))
    np.testing.assert_array_equal(one.predict(data), other.predict(data))


def test_queries_are_split_in_time_order():
    judged = rw.synthetic.gaussian_queries(20)
    data = judged.with_columns(None, {"day": [f"2026-01-{1 + int(query) % 10:02}" for query in judged.qid]})
    train, test = split_queries(data, 0.7, 0.3, time_column="day")
    assert (len(train.groups), len(test.groups)) == (14, 6)
    assert max(train.shown["day"]) < min(test.shown["day"])

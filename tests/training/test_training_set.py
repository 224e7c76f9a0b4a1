import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from properties import examples
from rankwright.base.errors import InputError
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.query_features import QueryFeature, with_query_features
from rankwright.training.fit_task import as_training_set
from rankwright.training.training_set import TrainingSet
from reference import binning as slow

ZSCORE, RANK = QueryFeature.ZSCORE, QueryFeature.RANK


def judged(n_rows=30, *, seed=1):
    rng = np.random.default_rng(seed)
    return RankingData(rng.normal(size=(n_rows, 2)), rng.integers(2, size=n_rows), rng.integers(4, size=n_rows))


# Few features and labels, so that documents and whole queries come up twice.
FEW = st.tuples(st.sampled_from([0.0, 1.0, np.nan]), st.integers(0, 1), st.integers(0, 4))


@examples(300)
@given(st.lists(FEW, min_size=1, max_size=14), st.data())
def test_canonical_order_depends_on_what_the_rows_hold_alone(documents, data):
    values, labels, queries = (np.array(part) for part in zip(*documents, strict=True))
    rows = np.array(data.draw(st.permutations(range(len(documents)))))
    names = data.draw(st.permutations("abcde"))
    one = TrainingSet(RankingData(values[:, None], labels, queries))
    other = TrainingSet(
        RankingData(values[rows][:, None], labels[rows], [names[query] for query in queries[rows]])
    )
    assert sorted(one.canonical_rows) == list(range(len(documents)))
    np.testing.assert_array_equal(one.data.X[one.canonical_rows], other.data.X[other.canonical_rows])
    np.testing.assert_array_equal(one.labels.y, other.labels.y)
    np.testing.assert_array_equal(one.labels.groups.offsets, other.labels.groups.offsets)


def test_canonical_queries_come_in_the_order_of_their_rows():
    train = TrainingSet(judged())
    of_row = train.data.groups.query_of_row[train.canonical_rows]
    assert train.canonical_queries.tolist() == list(dict.fromkeys(of_row.tolist()))


def test_queries_with_their_labels_exchanged_are_told_apart():
    X, y = [[1.0], [2.0], [1.0], [2.0]], np.array([0, 1, 1, 0])
    one, other = (TrainingSet(RankingData(X, labels, [1, 1, 2, 2])) for labels in (y, y[::-1]))
    assert one.labels.y.tolist() == other.labels.y.tolist()
    assert one.data.X[one.canonical_rows].tolist() == other.data.X[other.canonical_rows].tolist()


def test_data_are_binned_once_for_all_fits():
    train = TrainingSet(judged())
    assert train.binned(255) is train.binned(255, n_jobs=2)
    assert train.binned(7) is not train.binned(255)
    assert train.binned(7) is not train.binned(7, coarse=True)
    codes, edges = train.binned(7).matrix.codes(), train.binned(7).matrix.edges
    np.testing.assert_array_equal(codes, slow.encode(train.data.X[train.canonical_rows], edges))


def test_columns_within_the_query_are_made_once_for_all_fits():
    train = TrainingSet(judged())
    wide = train.with_query_features((ZSCORE, RANK))
    assert wide is train.with_query_features((ZSCORE, RANK))
    assert wide is not train.with_query_features((ZSCORE, RANK), raw=False)
    expected = with_query_features(train.data.X, train.data.groups, (ZSCORE, RANK))
    assert wide.data.X.tobytes() == expected.tobytes()
    assert train.with_query_features(()) is train


def test_threads_that_ask_at_once_get_what_was_made_once():
    train, ready = TrainingSet(judged(20_000)), Barrier(8)

    def ask(_):
        ready.wait()
        return train.binned(31, 1), train.with_query_features((RANK,)), train.labels

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    assert all(one is other for answer in answers for one, other in zip(answer, answers[0], strict=True))


@pytest.mark.parametrize("copied", [lambda train: pickle.loads(pickle.dumps(train)), copy.deepcopy, copy.copy])
def test_a_training_set_in_use_can_be_copied(copied):
    train = TrainingSet(judged())
    train.binned(255)
    train.with_query_features((ZSCORE,)).binned(7)
    twin = copied(train)
    assert twin.canonical_rows.tolist() == train.canonical_rows.tolist()
    assert twin.binned(255).matrix.codes().tobytes() == train.binned(255).matrix.codes().tobytes()
    assert repr(twin) == repr(train) == "TrainingSet(RankingData(30 documents, 4 queries, 2 features))"


def test_data_can_be_pickled_after_a_fit():
    data = judged(60)
    model = rw.LambdaMART(rounds=2, query_features=("rank",)).fit(data).model_
    twin = pickle.loads(pickle.dumps(data))
    assert rw.LambdaMART(rounds=2, query_features=("rank",)).fit(twin).model_.predict(data).tolist() == (
        model.predict(data).tolist()
    )


def test_fits_share_a_training_set_and_its_bins():
    train, valid = TrainingSet(judged(60)), TrainingSet(judged(40, seed=2))
    for ranker in (rw.LambdaMART(rounds=3, query_features=("rank",)), rw.RankSVM(), rw.AdaRank(rounds=2)):
        shared = ranker.fit(train, validation=valid).predict(valid.data)
        assert shared.tobytes() == ranker.fit(train.data, validation=valid.data).predict(valid.data).tobytes()
    wide = train.with_query_features((RANK,))
    before = wide.binned(255)
    rw.LambdaMART(rounds=3, query_features=("rank",), max_leaves=4).fit(train, validation=valid)
    assert wide.binned(255) is before


@pytest.mark.parametrize("data", [Documents([[1.0]], [1]), [[1.0]], None])
def test_a_training_set_is_made_from_judged_data(data):
    with pytest.raises(InputError, match="A training set is made from RankingData, not"):
        TrainingSet(data)


def test_labels_do_not_go_beside_a_training_set():
    train = TrainingSet(judged())
    with pytest.raises(InputError, match="fit takes RankingData alone, without y and qid"):
        rw.LambdaMART().fit(train, train.data.y, train.data.qid)


def test_a_fit_makes_no_copy_of_its_arrays():
    X, y, qid = np.ones((2, 1), dtype=np.float32), np.array([1.0, 0.0]), np.array([1, 1])
    assert np.shares_memory(as_training_set(X, y, qid, "fit").data.X, X)

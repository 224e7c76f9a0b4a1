"""The best single feature."""

from auto.small_run import small_data
from rankwright.crossval.best_feature import best_feature
from rankwright.metrics import NDCG


def test_best_feature_is_the_best_of_all():
    data = small_data()
    found = best_feature(data)
    value = NDCG(k=10)(data.y, found.predict(data), data.qid)
    assert value == max(
        NDCG(k=10)(data.y, sign * data.X[:, one], data.qid) for one in range(4) for sign in (1, -1)
    )

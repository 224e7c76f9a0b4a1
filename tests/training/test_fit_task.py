import numpy as np
import pytest

import rankwright as rw
from rankwright.training.fit_task import Heartbeat

DATA = rw.synthetic.gaussian_queries(8)


@pytest.mark.parametrize("ranker", [rw.RankBoost(rounds=5), rw.MPBoost(rounds=5), rw.AdaRank(), rw.MART(rounds=5)])
def test_a_heartbeat_hears_every_round_and_nothing_is_measured_that_it_does_not_read(ranker):
    heard = []
    silent = ranker.unfitted().fit(DATA, validation=DATA, on_round=Heartbeat(heard.append))
    read = ranker.unfitted().fit(DATA, validation=DATA, on_round=lambda _: None)
    assert [ended.number for ended in heard] == [ended.number for ended in read.history_]
    assert all(ended.train is None and not ended.diagnostics for ended in heard)
    assert all(ended.train is not None for ended in read.history_)
    assert [ended.validation for ended in heard] == [ended.validation for ended in read.history_]
    np.testing.assert_array_equal(silent.predict(DATA), read.predict(DATA))

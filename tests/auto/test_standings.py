"""What a run reports as it goes."""

from __future__ import annotations

import signal
import time
import warnings
from threading import Event, main_thread

import pytest

from rankwright import AdaRank, AutoRanker, RankSVM
from rankwright.base.errors import InputError
from rankwright.data import synthetic

JUDGED = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4).sample(12, seed=0, n_documents=8)


class Failing(RankSVM):
    """Fails in its third fit."""

    name = "failing"
    fits = 0

    def _fit(self, task):
        Failing.fits += 1
        if Failing.fits == 3:
            raise InputError("Two are enough.")
        return super()._fit(task)


def test_an_entry_that_failed_is_no_longer_under_way():
    Failing.fits, seen = 0, []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        AutoRanker(portfolio=[Failing(), AdaRank()], n_jobs=1).fit(JUDGED, on_progress=seen.append)
    assert [str(one.message) for one in told] == ["Failing is left out of the pool: Two are enough."]
    n_fits = seen[0].total // 2
    assert [one.ended for one in seen[:3]] == [{"Failing": 1}, {"Failing": 2}, {}]
    assert seen[2].total == 2 + n_fits
    assert (seen[-1].fits, seen[-1].ended) == (2 + n_fits, {})
    assert [one.name for one in seen[-1].standings] == ["AdaRank"]


ENDED = Event()


class Endless(RankSVM):
    """Its first fit waits for those of others, presses Ctrl-C, and then takes its time."""

    name = "endless"
    fits = 0

    def _fit(self, task):
        Endless.fits += 1
        if Endless.fits > 1:
            return super()._fit(task)
        ENDED.wait(10)
        time.sleep(0.5)
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
        for number in range(2000):
            time.sleep(0.005)
            task.on_round(number)
        raise AssertionError("This fit should have ended.")


class Last(AdaRank):
    """Tells when all its fits have ended."""

    name = "last"
    fits = 0

    def _fit(self, task):
        Last.fits += 1
        found = super()._fit(task)
        if Last.fits == 21:
            ENDED.set()
        return found


@pytest.mark.filterwarnings("default:Interrupted")
def test_members_that_ended_before_ctrl_c_join_after_it():
    seen = []
    ranker = AutoRanker(portfolio=[Endless(), Last()], n_jobs=2).fit(JUDGED, on_progress=seen.append)
    assert ranker.history_.interrupted
    assert [one.name for one in ranker.standings_] == ["Last"]
    assert [one.validation for one in ranker.history_] == [seen[-1].value]

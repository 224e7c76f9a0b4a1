"""What a run reports as it goes."""

import signal
import time
import warnings
from threading import Event, main_thread

import numpy as np
import pytest

import rankwright as rw
from auto.examples import judge, judged, made_entry, plan_of, rankers
from rankwright import AdaRank, AutoRanker, RankSVM
from rankwright.auto.mixing import Mix, mix
from rankwright.base.errors import InputError
from rankwright.data import synthetic
from rankwright.ensembling.mixtures import best_alone, plausible_weights, prune_weights
from rankwright.models import Combination
from rankwright.models.model_file import encode
from reference import auto as slow

PLAN = plan_of(judged())
N_JUDGEMENTS = len(PLAN.held_out.query)


@pytest.fixture(scope="module")
def members():
    return judge(rankers(), PLAN)


def test_weights_are_those_of_the_values_by_query(members):
    found = mix(members, plausible_weights)
    values = [one.values[place] for one, place in zip(members, found.round_indices, strict=True)]
    query = PLAN.held_out.query.tolist()
    expected = slow.plausible_weights([slow.by_query(query, one.tolist()) for one in values])
    np.testing.assert_allclose(found.weights, prune_weights(np.array(expected)), rtol=1e-9)
    assert found.round_indices == tuple(one.best_index() for one in members)


def test_the_scores_out_of_fold_are_the_weighted_sum_of_z_scores(members):
    found = mix(members, plausible_weights)
    columns = [one.scores[place] for one, place in zip(members, found.round_indices, strict=True)]
    np.testing.assert_allclose(found.scores, np.dot(found.weights, columns), atol=1e-12)
    assert len(found.scores) == len(PLAN.held_out.labels.y)


def test_the_scorer_is_the_weighted_sum_of_z_scores_of_new_documents(members):
    found, test = mix(members, plausible_weights), judged(seed=2)
    scorer = found.scorer()
    assert isinstance(scorer, Combination)
    expected = np.zeros(len(test))
    for one, place, weight in zip(members, found.round_indices, found.weights, strict=True):
        expected += weight * slow.z_scores(one.cut(place).predict(test), test.qid.tolist())
    np.testing.assert_allclose(scorer.predict(test), expected, atol=1e-12)


def test_rounds_and_weights_are_chosen_by_the_given_judgements_alone(members):
    some = np.isin(PLAN.held_out.query, [1, 2, 5, 8, 9])
    chosen = mix(members, plausible_weights, some)
    hidden = [
        made_entry(one.name, PLAN, *(np.where(some, v, 99.0) for v in one.values), rounds=one.rounds)
        for one in members
    ]
    again = mix(hidden, plausible_weights, some)
    assert chosen.round_indices == again.round_indices
    assert chosen.weights.tolist() == again.weights.tolist()


def test_negligible_members_are_left_out():
    rng = np.random.default_rng(0)
    good, bad = rng.uniform(0.7, 0.9, N_JUDGEMENTS), rng.uniform(0.0, 0.1, N_JUDGEMENTS)
    entries = [made_entry(name, PLAN, values) for name, values in (("a", good), ("bb", bad), ("ccc", good))]
    found = mix(entries, plausible_weights)
    assert found.kept == [0, 2]
    assert found.weights.tolist() == [0.5, 0.0, 0.5]
    assert len(found.scorer().members) == 2
    np.testing.assert_allclose(found.scores, (entries[0].scores[0] + entries[2].scores[0]) / 2)


def test_a_single_member_stays_as_it_is(members):
    found = mix(members, best_alone)
    (kept,) = found.kept
    assert found.scorer() is members[kept].cut(found.round_indices[kept])
    alone = mix(members[1:2], plausible_weights)
    assert encode(alone.scorer()) == encode(members[1].cut(alone.round_indices[0]))


def test_a_member_that_is_cut_is_mixed_as_it_was_cut(members):
    trees, test = members[1], judged(seed=2)
    chosen = Mix((members[0], trees), (0, 0), np.array([0.25, 0.75]))
    svm, first = (slow.z_scores(one.cut(0).predict(test), test.qid.tolist()) for one in (members[0], trees))
    np.testing.assert_allclose(chosen.scorer().predict(test), 0.25 * svm + 0.75 * first, atol=1e-12)
    assert chosen.scorer().n_rounds == 1


def test_no_judgements_give_equal_weights_and_all_rounds(members):
    found = mix(members, plausible_weights, np.zeros(N_JUDGEMENTS, dtype=bool))
    assert found.weights.tolist() == pytest.approx([1 / 3] * 3)
    assert found.round_indices == (0, 11, 0)


def test_columns_within_the_query_are_made_once():
    columns = {"rounds": 6, "min_documents": 2, "query_features": ("zscore", "rank")}
    entries = judge([rw.LambdaMART(**columns), rw.MART(**columns)], PLAN)
    scorer, test = Mix(tuple(entries), (1, 1), np.array([0.5, 0.5])).scorer(), judged(seed=2)
    assert len(scorer.members) == 1
    expected = sum(slow.z_scores(one.cut(1).predict(test), test.qid.tolist()) for one in entries) / 2
    np.testing.assert_allclose(scorer.predict(test), expected, atol=1e-12)


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

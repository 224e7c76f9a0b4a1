import signal
import time
from functools import partial
from threading import Event, main_thread

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.data.dataset import RankingData
from rankwright.ensembling.mixtures import exponential_mixture, uniform_mixture, within_query
from rankwright.ensembling.pool import Candidate, Judge, Member, Pool, fitted_scorer, ranker_candidate
from rankwright.metrics import NDCG
from rankwright.models import Combination, FeatureScorer
from rankwright.models.model_file import encode


def judged(seed=1, n_queries=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 8, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X)), [0.3, 1.3])
    return RankingData(X, y, np.repeat(np.arange(n_queries), 8))


TRAIN, HELD_OUT, TEST = judged(1), judged(2), judged(3)
JUDGE = Judge(HELD_OUT, NDCG(k=10), 1)
RANKERS = {"svm": rw.RankSVM(), "trees": rw.LambdaMART(rounds=5), "features": rw.AdaRank(rounds=4)}


def scorer_candidate(name, scorer, *, seconds=0.0):
    def fit(n_threads, on_round):
        time.sleep(seconds)
        return [Member.judged(name, within_query(scorer), JUDGE)]

    return Candidate.single(name, fit)


def candidates(delays=(0.0, 0.0)):
    """Three rankers between two scorers, whose fits take so many seconds."""
    first, last = (
        scorer_candidate(f"feature {place}", FeatureScorer(place, n_features=4, missing=0.0), seconds=seconds)
        for place, seconds in enumerate(delays)
    )
    rankers = [
        ranker_candidate(one, TRAIN, name=name, judge=JUDGE, scale=within_query) for name, one in RANKERS.items()
    ]
    return [first, *rankers, last]


def filled(n_threads=1, delays=(0.0, 0.0)):
    pool = Pool()
    pool.fill(candidates(delays), n_jobs=n_threads)
    return pool


def test_any_ranker_and_any_scorer_can_join():
    pool = filled()
    assert [one.name for one in pool] == ["feature 0", "svm", "trees", "features", "feature 1"]
    for member in pool:
        np.testing.assert_array_equal(member.scores, member.scorer.predict(HELD_OUT))
        assert member.value == NDCG(k=10)(HELD_OUT.y, member.scores, HELD_OUT.qid)
    alone = rw.RankSVM().fit(TRAIN)
    np.testing.assert_allclose(pool.members[1].scores, within_query(alone.model_).predict(HELD_OUT), rtol=1e-12)


def test_a_mixture_is_one_scorer():
    mixture = exponential_mixture(filled().members, JUDGE)
    model = mixture.scorer()
    assert isinstance(model, Combination)
    expected = sum(w * one.scorer.predict(TEST) for w, one in zip(mixture.weights, mixture.members, strict=True))
    np.testing.assert_allclose(model.predict(TEST), expected, atol=1e-12)
    assert mixture.value == pytest.approx(NDCG(k=10)(HELD_OUT.y, model.predict(HELD_OUT), HELD_OUT.qid))


def test_uniform_and_pruned_mixtures():
    members = filled().members
    uniform = uniform_mixture(members, JUDGE)
    assert uniform.weights.tolist() == [0.2] * 5
    assert uniform.value == JUDGE(uniform.scorer().predict(HELD_OUT))
    assert uniform_mixture(members).value is None
    sharp = exponential_mixture(members, JUDGE, exponents=[100.0]).pruned(0.8)
    kept = np.flatnonzero(sharp.weights)
    assert 0 < len(kept) < 5
    assert len(sharp.scorer().members) == len(kept)
    assert sharp.weights.sum() == pytest.approx(1.0)


def test_standings_list_all_members_by_weight():
    mixture = exponential_mixture(filled().members, JUDGE, exponents=[50.0])
    rows = mixture.standings()
    assert {row.name for row in rows} == {one.name for one in mixture.members}
    assert [row.weight for row in rows] == sorted(mixture.weights, reverse=True)
    assert [row.value for row in rows] == sorted((row.value for row in rows), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("delays", [(0.0, 0.0), (0.4, 0.0), (0.0, 0.1)], ids=["none", "first last", "last last"])
def test_the_model_depends_neither_on_threads_nor_on_the_order_in_which_fits_end(n_threads, delays):
    expected, found = (exponential_mixture(pool.members, JUDGE) for pool in (filled(), filled(n_threads, delays)))
    assert encode(found.scorer()) == encode(expected.scorer())
    assert found.standings() == expected.standings()


@pytest.mark.slow
def test_members_join_in_order_whichever_is_fitted_first():
    pool, seen = Pool(), []
    pool.fill(candidates((0.3, 0.0)), n_jobs=5, on_joined=lambda: seen.append(len(pool)))
    assert seen == [1, 2, 3, 4, 5]
    assert pool.members[0].name == "feature 0"


def test_a_pool_can_be_filled_again_and_hold_given_members():
    first, *rest = candidates()
    pool = Pool(filled().members[:1])
    pool.fill(rest[:2], n_jobs=2)
    pool.fill(rest[2:], n_jobs=2)
    assert [one.name for one in pool] == [one.name for one in (first, *rest)]


def test_the_ranker_that_joins_stays_as_it_was():
    ranker = rw.LambdaMART(rounds=2, n_jobs=1)
    pool = Pool()
    pool.fill([ranker_candidate(ranker, TRAIN)], n_jobs=2)
    assert not hasattr(ranker, "model_")
    assert [one.name for one in pool] == ["LambdaMART"]
    assert np.isnan(pool.members[0].value)
    with pytest.raises(InputError, match="LambdaMART has no finite value"):
        exponential_mixture(pool.members, JUDGE)


# Members that are fitted out of fold, as a stacked pool needs them


def out_of_fold(ranker, data, n_folds=4):
    """A candidate judged on queries that its models were not trained on; its scorer is trained on all."""

    def fit(n_threads, on_round):
        fold_of_query = np.arange(len(data.groups)) % n_folds
        scores = np.empty(len(data))
        for fold in range(n_folds):
            rest = data.take_queries(np.flatnonzero(fold_of_query != fold))
            rows = np.flatnonzero(fold_of_query[data.groups.query_of_row] == fold)
            model = within_query(clone(ranker).fit(rest, on_round=on_round).model_)
            scores[rows] = model.predict(data)[rows]
        scorer = within_query(clone(ranker).fit(data, on_round=on_round).model_)
        judge = Judge(data, NDCG(k=10), n_threads)
        return [Member(name=type(ranker).__name__, scorer=scorer, scores=scores, value=judge(scores))]

    return Candidate.single(type(ranker).__name__, fit)


def test_fits_of_a_pool_end_their_rounds_but_measure_no_training_documents(monkeypatch):
    rounds, measured = [], []
    monkeypatch.setattr(NDCG, "native_measure", lambda *_: measured.append(True))
    fitted_scorer(rw.LambdaMART(rounds=5), TRAIN, 1, rounds.append)
    assert ([ended.train for ended in rounds], measured) == ([None] * 5, [])


def test_members_fitted_out_of_fold_can_join():
    pool = Pool()
    pool.fill([out_of_fold(one, TRAIN) for one in RANKERS.values()], n_jobs=2)
    judge = Judge(TRAIN, NDCG(k=10), 1)
    mixture = exponential_mixture(pool.members, judge)
    for member in pool:
        assert member.value == judge(member.scores) < judge(member.scorer.predict(TRAIN))
    assert mixture.value < judge(mixture.scorer().predict(TRAIN))  # the members have seen these queries
    assert NDCG(k=10)(TEST.y, mixture.scorer().predict(TEST), TEST.qid) > 0.7


# Candidates of several fits


def several(name, results, delays=()):
    """A candidate of one fit per result; fits take so many seconds."""

    def fit(result, seconds):
        def run(n_threads, on_round):
            time.sleep(seconds)
            if isinstance(result, Exception):
                raise result
            return result

        return run

    delays = delays or [0.0] * len(results)
    fits = [fit(*one) for one in zip(results, delays, strict=True)]
    return Candidate(name, fits, lambda found: [f"{name}: {found}"])


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_members_are_made_from_the_results_of_all_fits_in_order(n_threads):
    pool, events = Pool(), []
    pool.fill(
        [several("one", [1, 2, 3], [0.06, 0.02, 0.0]), several("two", [4]), several("three", [5, 6], [0.03, 0.0])],
        n_jobs=n_threads,
        on_fit=events.append,
        on_joined=lambda: events.append(len(pool)),
    )
    assert list(pool) == ["one: [1, 2, 3]", "two: [4]", "three: [5, 6]"]
    assert events == ["one", "one", "one", 1, "two", 2, "three", "three", 3]


def test_threads_are_shared_among_the_fits():
    seen = []

    def fit(n_threads, on_round):
        seen.append(n_threads)

    for n_jobs, n_fits in ((5, 2), (2, 5)):
        Pool().fill([Candidate("one", [fit] * n_fits, lambda _: [])], n_jobs=n_jobs)
    assert seen == [2, 2, 1, 1, 1, 1, 1]


def test_a_fit_that_fails_ends_the_other_fits_of_its_candidate():
    begun = []

    def fit(number, error=None):
        def run(n_threads, on_round):
            begun.append(number)
            if error is not None:
                raise error

        return run

    broken = Candidate("broken", [fit(1), fit(2, InputError("no")), *map(fit, range(3, 40))], lambda _: ["never"])
    pool = Pool()
    with pytest.warns(UserWarning, match="broken is left out of the pool: no"):
        pool.fill([broken, several("fine", [1])], n_jobs=1, skip_failures=True)
    assert begun == [1, 2]
    assert list(pool) == ["fine: [1]"]
    assert [name for name, _ in pool.failures] == ["broken"]


def test_a_candidate_with_the_name_of_one_that_failed_before_is_fitted():
    pool = Pool()
    with pytest.warns(UserWarning, match="one is left out"):
        pool.fill([several("one", [InputError("no")]), several("two", [2])], n_jobs=1, skip_failures=True)
    pool.fill([several("one", [1])], n_jobs=1, skip_failures=True)
    assert list(pool) == ["two: [2]", "one: [1]"]


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_in_on_fit_reaches_the_caller(n_threads):
    def on_fit(name):
        raise ZeroDivisionError(name)

    with pytest.raises(ZeroDivisionError, match="one"):
        Pool().fill([several("one", [1, 2]), several("two", [3])], n_jobs=n_threads, on_fit=on_fit)


def test_ctrl_c_between_the_last_fit_and_its_candidate_keeps_the_candidate():
    pool, seen = Pool(), []

    def on_fit(name):
        seen.append(name)
        if len(seen) == 3:
            raise KeyboardInterrupt

    pool.fill([several("one", [1, 2, 3]), several("two", [4], [0.3])], n_jobs=1, on_fit=on_fit)
    assert pool.interrupted
    assert list(pool) == ["one: [1, 2, 3]"]


# Failures


class BrokenError(Exception):
    pass


def failing(name, error):
    def fit(n_threads, on_round):
        raise error

    return Candidate.single(name, fit)


def test_a_candidate_that_cannot_be_fitted_is_named():
    wrong = ranker_candidate(rw.RankSVM(C=-1.0), TRAIN, name="svm with C=-1")
    with pytest.raises(InputError, match=r"^svm with C=-1: C must be"):
        Pool().fill([*candidates(), wrong], n_jobs=2)


def test_an_error_of_another_kind_keeps_its_type_and_gets_the_name():
    with pytest.raises(BrokenError) as caught:
        Pool().fill([failing("odd one", BrokenError("no"))], n_jobs=1)
    assert caught.value.__notes__ == ["This happened while odd one was fitted for a pool."]


def test_failures_can_be_left_out_with_a_warning_that_names_them():
    pool, error = Pool(), BrokenError("out of luck")
    with pytest.warns(UserWarning, match="odd one is left out of the pool: out of luck"):
        pool.fill([failing("odd one", error), *candidates()], n_jobs=2, skip_failures=True)
    assert len(pool) == 5
    assert pool.failures == [("odd one", error)]


@pytest.mark.filterwarnings("ignore:.*left out of the pool")
def test_a_pool_of_failures_says_why():
    broken = [failing(name, InputError(f"{name} is odd.")) for name in ("one", "two")]
    with pytest.raises(InputError, match=r"No candidate of the pool could be fitted. one: one is odd.; two: two"):
        Pool().fill(broken, n_jobs=2, skip_failures=True)


def test_a_failure_ends_the_fits_under_way_at_their_next_round():
    rounds = []

    def endless(n_threads, on_round):
        for number in range(2000):
            time.sleep(0.005)
            rounds.append(number)
            on_round(number)
        return []

    with pytest.raises(InputError, match="broken: no"):
        Pool().fill([failing("broken", InputError("no")), Candidate.single("endless", endless)], n_jobs=2)
    assert len(rounds) < 1000


# Ctrl-C


def interrupted_after(number, pool):
    if len(pool) == number:
        raise KeyboardInterrupt


@pytest.mark.parametrize("n_threads", [1, 3])
def test_ctrl_c_keeps_the_members_so_far(n_threads):
    pool = Pool()
    pool.fill(candidates(), n_jobs=n_threads, on_joined=partial(interrupted_after, 2, pool))
    assert pool.interrupted
    names = [one.name for one in candidates()]
    assert [one.name for one in pool] == [name for name in names if name in {one.name for one in pool}]
    assert [one.name for one in pool][:2] == ["feature 0", "svm"]  # others may have ended too
    assert np.isfinite(exponential_mixture(pool.members, JUDGE).scorer().predict(TEST)).all()


def test_ctrl_c_before_the_first_member_is_raised():
    pool = Pool()
    with pytest.raises(KeyboardInterrupt):
        pool.fill([failing("slow", KeyboardInterrupt())], n_jobs=2)
    assert not len(pool)


def test_ctrl_c_while_fits_run_ends_them():
    pool, joined = Pool(), Event()

    def endless(n_threads, on_round):
        joined.wait(10)
        signal.pthread_kill(main_thread().ident, signal.SIGINT)
        for number in range(2000):
            time.sleep(0.005)
            on_round(number)
        raise AssertionError("This fit should have ended.")

    started = time.perf_counter()
    pool.fill([candidates()[0], Candidate.single("endless", endless)], n_jobs=2, on_joined=joined.set)
    assert pool.interrupted
    assert [one.name for one in pool] == ["feature 0"]
    assert time.perf_counter() - started < 5


def test_a_second_ctrl_c_is_raised():
    pool, joined = Pool(), Event()

    def stubborn(n_threads, on_round):
        joined.wait(10)
        for _ in range(2):
            signal.pthread_kill(main_thread().ident, signal.SIGINT)
            time.sleep(0.5)
        return []

    with pytest.raises(KeyboardInterrupt):
        pool.fill([candidates()[0], Candidate.single("stubborn", stubborn)], n_jobs=2, on_joined=joined.set)


def test_no_candidates_are_no_members():
    pool = Pool()
    pool.fill([], n_jobs=2)
    assert not len(pool)
    assert not pool.interrupted

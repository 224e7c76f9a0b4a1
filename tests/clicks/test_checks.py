import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.clicks.checks import NOTHING_MOVED

DATA = rw.synthetic.polynomial_queries(30, n_documents=6, n_features=4, n_active=2, n_terms=3)


def simulated(**options):
    rankers = {"a": DATA.X[:, 0], "b": DATA.X[:, 1]}
    return rw.clicks.simulate(DATA, rankers, sessions=40, **options)


def with_bot(log, n_lists):
    """Return the log with one more session that clicks everything."""
    columns = log.columns()
    del columns["policy"]
    size = 6 * n_lists
    bot = {
        "session": np.full(size, 10**6),
        "query": np.repeat(log.query_ids[:n_lists], 6),
        "document": np.tile(log.document_ids[:6], n_lists),
        "position": np.tile(np.arange(1, 7), n_lists),
        "clicked": np.ones(size),
    }
    return rw.clicks.ClickLog(**{name: np.concatenate([column, bot[name]]) for name, column in columns.items()})


def test_a_sound_log_has_no_problem():
    result = rw.clicks.check(simulated())
    assert result.problems == ()
    assert result.facts["policies"] == 2
    assert sum(result.impressions) == result.facts["impressions"] == 7200
    assert sum(result.clicks) == result.facts["clicks"]
    assert result.summary.endswith("no problem seen.")


def test_a_bot_is_suspected_and_others_are_not():
    result = rw.clicks.check(with_bot(simulated(), 5))
    assert result.suspects == (10**6,)
    assert any("1 session may be bots" in problem for problem in result.problems)


@pytest.mark.parametrize("seed", range(5))
def test_simulated_users_are_not_suspected(seed):
    assert rw.clicks.check(simulated(random_state=seed)).suspects == ()


def test_one_policy_times_and_a_single_position():
    log = rw.clicks.ClickLog([1, 2, 2], [1, 1, 2], [5, 5, 5], [1, 1, 1], [0, 1, 1], time=[3, 2, 1])
    assert rw.clicks.check(log).problems == (
        "All impressions are at position 1.",
        NOTHING_MOVED,
        "1 impression earlier than the one before in the same session.",
    )
    log = rw.clicks.ClickLog([1, 1, 2, 2], [1] * 4, [5, 6, 6, 5], [1, 2, 1, 2], [0, 1, 1, 0], policy=["a"] * 4)
    (problem,) = rw.clicks.check(log).problems
    assert (
        problem == "One policy ordered all lists; 100 % of the documents of queries were at two or more positions."
    )


def test_an_empty_log_is_refused():
    with pytest.raises(InputError, match="The log has no impressions"):
        rw.clicks.check(rw.clicks.ClickLog([], [], [], [], []))


def test_the_result_is_rendered():
    result = rw.clicks.check(simulated())
    json.dumps(result.to_dict(), allow_nan=False)
    assert len(result.frame()) == 6
    assert str(result).startswith(result.summary)
    assert len(result.charts) == 1


def test_a_log_of_which_all_was_left_out_says_why():
    log = rw.clicks.ClickLog([], [], [], [], [], notes=["2 impressions without a position left out."])
    with pytest.raises(InputError, match=r"no impressions\. 2 impressions without a position left out\."):
        rw.clicks.check(log)

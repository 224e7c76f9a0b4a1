"""off_policy: the truth in simulations, equal to loops over impressions, refusals."""

from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError

DATA = rw.synthetic.polynomial_queries(60, n_documents=5, seed=3)
OLD, NEW, THIRD = DATA.X[:, 0], DATA.X[:, 1], DATA.X[:, 2]
LOG = rw.clicks.simulate(DATA, {"old": OLD, "new": NEW}, sessions=200)


def true_clicks(scores, behaviour="position"):
    """Compute the expected clicks per list of simulated users."""
    gains = np.exp2(DATA.y) - 1
    total = 0.0
    for rows in (np.flatnonzero(DATA.qid == query) for query in np.unique(DATA.qid)):
        attraction = (0.1 + 0.9 * gains / gains.max())[rows[np.argsort(-scores[rows], kind="stable")]]
        if behaviour == "cascade":
            total += 1 - np.prod(1 - attraction)
        else:
            total += float((attraction / np.arange(1, 6)).sum())
    return total / len(np.unique(DATA.qid))


@pytest.mark.parametrize("estimator", ["ips", "self_normalised", "doubly_robust"])
def test_what_a_new_ranker_would_have_had(estimator):
    result = rw.clicks.off_policy(LOG, {"third": THIRD, "ideal": DATA.y}, DATA)
    for name, scores in {"third": THIRD, "ideal": DATA.y}.items():
        estimate = result.estimate(name, estimator)
        assert estimate.low <= true_clicks(scores) <= estimate.high
        assert estimate.high - estimate.low < 0.2 * estimate.value


@pytest.mark.parametrize("assume", ["item_position", "list"])
@pytest.mark.parametrize("behaviour", ["position", "cascade"])
def test_rankers_of_the_log(assume, behaviour):
    log = rw.clicks.simulate(DATA, {"old": OLD, "new": NEW}, behaviour, sessions=200)
    result = rw.clicks.off_policy(log, {"old": OLD}, DATA, assume=assume)
    own = log.take_lists(log.policy[log.offsets[:-1]] == 0)
    assert result.estimate("old").value == pytest.approx(own.n_clicks / own.n_lists, abs=0.03)
    assert result.estimate("old").low <= true_clicks(OLD, behaviour=behaviour) <= result.estimate("old").high


def test_the_first_position():
    result = rw.clicks.off_policy(LOG, {"old": OLD}, DATA, assume="first", model=None)
    first = LOG.take_lists(LOG.policy[LOG.offsets[:-1]] == 0)
    rate = float(first.clicked[first.position == 1].mean())
    assert result.estimate("old").value == pytest.approx(rate, abs=0.02)
    assert result.logged == pytest.approx(float(LOG.clicked[LOG.position == 1].mean()))


def in_loops(log, ranks, examination, reward):
    """Compute IPS of the position-based model impression by impression."""
    names = {
        (str(query), name): row
        for row, (query, name) in enumerate(zip(DATA.qid, DATA.document_names, strict=True))
    }
    keys = [
        (str(log.query_ids[query]), log.document_ids[document])
        for query, document in zip(log.query, log.document, strict=True)
    ]
    lists = {query: 0 for query, _ in keys}
    for begin in log.offsets[:-1]:
        lists[keys[begin][0]] += 1
    shown = dict.fromkeys(keys, 0.0)
    for key, position in zip(keys, log.position, strict=True):
        shown[key] += examination[position] / lists[key[0]]
    total = 0.0
    for key, clicked in zip(keys, log.clicked, strict=True):
        rank = ranks[names[key]]
        gain = examination[rank] if reward == "clicks" else 1 / np.log2(1 + rank)
        total += clicked * gain / shown[key]
    return total / log.n_lists


@pytest.mark.parametrize("reward", ["clicks", "dcg"])
def test_equal_to_loops(reward):
    examination = rw.clicks.propensities(LOG)
    result = rw.clicks.off_policy(LOG, {"third": THIRD}, DATA, reward=reward, examination=examination, model=None)
    ranks = np.empty(len(DATA), dtype=int)
    for rows in (np.flatnonzero(DATA.qid == query) for query in np.unique(DATA.qid)):
        ranks[rows[np.argsort(-THIRD[rows], kind="stable")]] = np.arange(1, len(rows) + 1)
    expected = in_loops(LOG, ranks, examination.by_position(5), reward)
    assert result.estimate("third", "ips").value == pytest.approx(expected, rel=1e-12)


def test_known_propensities():
    shuffled = rw.clicks.simulate(DATA, OLD, sessions=300, shuffled=1.0, random_state=1)
    columns = shuffled.columns()
    log = rw.clicks.ClickLog(
        **{name: columns[name] for name in ("session", "query", "document", "position", "clicked")},
        propensity=np.full(len(shuffled), 1 / 5),
    )
    result = rw.clicks.off_policy(log, {"ideal": DATA.y}, DATA, assume="item_position")
    for estimator in ("ips", "self_normalised", "doubly_robust"):
        estimate = result.estimate("ideal", estimator)
        assert estimate.low <= true_clicks(DATA.y) <= estimate.high


def test_missing_support_is_refused():
    result = rw.clicks.off_policy(LOG, {"third": THIRD, "old": OLD}, DATA, assume="item_position", model=None)
    assert "Nothing is estimated for third: the log has shown" in str(result)
    assert result.summary.startswith("old would have had")
    with pytest.raises(InputError, match="at least 90 % is needed"):
        result.estimate("third")
    assert result.to_dict()["systems"]["third"]["estimates"] == {}
    alone = rw.clicks.off_policy(LOG, {"third": THIRD}, DATA, assume="list", model=None)
    assert alone.summary == f"Nothing can be estimated from {LOG.n_lists:,} lists: the log lacks support."


def test_wrong_propensities_are_refused():
    columns = LOG.columns()
    log = rw.clicks.ClickLog(
        **{name: columns[name] for name in ("session", "query", "document", "position", "clicked")},
        propensity=np.ones(len(LOG)),  # but two rankers take turns
    )
    result = rw.clicks.off_policy(log, {"old": OLD}, DATA, assume="item_position", model=None)
    assert not result.systems["old"].estimates


def test_what_is_unknown_is_counted():
    few = rw.clicks.ClickLog(["s"] * 2, ["unknown"] * 2, ["a", "b"], [1, 2], [0, 1])
    with pytest.raises(InputError, match=r"^No query of the log is among the documents\.$"):
        rw.clicks.off_policy(few, {"old": OLD}, DATA, assume="item_position")


def test_graded_actions_and_weights():
    columns = LOG.columns()
    graded = rw.clicks.ClickLog(
        **{name: columns[name] for name in ("session", "query", "document", "position")},
        clicked=2 * LOG.clicked,
        weight=np.ones(len(LOG)),
    )
    once, twice = (rw.clicks.off_policy(log, {"new": NEW}, DATA, model=None) for log in (LOG, graded))
    assert twice.estimate("new", "ips").value == pytest.approx(2 * once.estimate("new", "ips").value)
    assert "Weights of the log are not used." in twice.notes


def test_as_a_metric():
    clicks = rw.clicks.OffPolicyClicks(LOG, DATA)
    report = rw.evaluate({"third": THIRD, "ideal": DATA.y}, DATA, metrics=["ndcg@5", clicks])
    result = rw.clicks.off_policy(LOG, {"third": THIRD}, DATA, model=None)
    assert report.mean("third", "clicks") == pytest.approx(result.estimate("third", "ips").value, rel=1e-3)
    with pytest.raises(InputError, match="clicks cannot be estimated"):
        rw.evaluate({"third": THIRD}, DATA, metrics=[rw.clicks.OffPolicyClicks(LOG, DATA, assume="list")])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"assume": "nothing"}, "assume must be 'position', 'item_position', 'list' or 'first', not 'nothing'."),
        ({"reward": "money"}, "reward must be 'clicks' or 'dcg', not 'money'."),
        (
            {"examination": "featurs"},
            "examination must be 'model', 'pivot', 'shuffled' or 'features', not 'featurs'.",
        ),
        ({"clip": -1.0}, "clip must be a positive number, not -1.0."),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(InputError) as error:
        rw.clicks.off_policy(LOG, {"old": OLD}, DATA, **options)
    assert str(error.value) == sentence


def test_trust_is_refused_and_the_error_of_examination_is_in_the_interval():
    known = rw.clicks.propensities(LOG)
    trusted = replace(known, trust=np.full(len(known.values), 0.2))
    with pytest.raises(InputError, match="examination takes no propensities with trust"):
        rw.clicks.off_policy(LOG, {"old": OLD}, DATA, examination=trusted)
    exact = replace(known, low=known.values, high=known.values)
    wide, narrow = (
        rw.clicks.off_policy(LOG, {"third": THIRD}, DATA, examination=each).estimate("third")
        for each in (known, exact)
    )
    assert wide.value == narrow.value
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_metric_checks_its_options():
    with pytest.raises(InputError, match="assume must be 'position', 'item_position'"):
        rw.clicks.OffPolicyClicks(LOG, DATA, assume="positions")
    with pytest.raises(InputError, match="reward must be 'clicks' or 'dcg'"):
        rw.clicks.OffPolicyClicks(LOG, DATA, reward="click")


def test_the_level_what_the_reader_left_out_and_what_is_not_used_are_said():
    log = rw.clicks.ClickLog(**LOG.columns(), propensity=np.full(len(LOG), 0.5), notes=["2 rows left out."])
    result = rw.clicks.off_policy(log, {"one": DATA.X[:, 0]}, DATA, level=0.8)
    assert result.notes == (
        "2 rows left out.",
        "Propensities of the log are not used with the assumption 'position'.",
    )
    assert result.tables[0].caption == "Estimated clicks per list, with 80 % intervals"

"""Error rates by pair of labels: counted as if pair by pair."""

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


@examples(200)
@given(documents)
def test_rates_equal_those_of_pairs_counted_one_by_one(rows):
    y, scores, qid = map(np.array, zip(*rows, strict=True))
    pairs, wrong = count_label_pairs(y, scores, qid)
    by_labels, errors = Counter(), Counter()
    for (_, high, low), count in pairs.items():
        by_labels[high, low] += count
    for (_, high, low), count in wrong.items():
        errors[high, low] += count
    if not pairs:
        with pytest.raises(InputError, match=r"no pairs to order|at least two different labels"):
            rw.analyses.pair_errors(scores, data_of(y, qid))
        return
    found = rw.analyses.pair_errors({"a": scores}, data_of(y, qid), n_jobs=1)
    assert {name: count for name, count in found.pairs.items() if name != "all"} == {
        f"{high:g} > {low:g}": count for (high, low), count in by_labels.items()
    }
    for (high, low), count in by_labels.items():
        assert found.rate("a", f"{high:g} > {low:g}") == pytest.approx(errors[high, low] / count)
    assert found.rate("a") == pytest.approx(sum(errors.values()) / sum(by_labels.values()))
    assert found.pairs["all"] == sum(by_labels.values())
    assert found.n_queries == len({query for query, _, _ in pairs})
    assert all(not rate.low > rate.value and not rate.high < rate.value for rate in found.rates.values())


# Query a: 2 below 0 (wrong), 2 above 1, 1 tied with 0. Query b: 1 above 0.
SMALL = data_of([2, 1, 0, 1, 0], ["a", "a", "a", "b", "b"])
SCORES = np.array([2.0, 1.0, 1.0, 5.0, 4.0])


def test_a_case_by_hand():
    found = rw.analyses.pair_errors({"one": SCORES, "reversed": -SCORES}, SMALL, names={2: "d", 1: "p", 0: "n"})
    assert dict(found.pairs) == {"d > n": 1, "d > p": 1, "p > n": 2, "all": 4}
    assert [found.rate("one", pair) for pair in found.pairs] == [0.0, 0.0, 0.25, 0.125]
    assert [found.rate("reversed", pair) for pair in found.pairs] == [1.0, 1.0, 0.75, 0.875]
    assert str(found).splitlines()[2].split() == ["labels", "pairs", "one", "reversed"]
    assert found.summary == "one misorders 12 % of the 4 pairs of 2 queries and reversed 88 %."
    assert "equal scores count one half" in str(found)
    assert found.to_dict()["systems"]["one"]["p > n"]["value"] == 0.25
    assert "p > n" in str(found.chart().spec)
    with pytest.raises(InputError, match="no error rate of two for 'all'; pairs are d > n"):
        found.rate("two")


def test_a_large_query_is_counted_without_its_pairs():
    random = np.random.default_rng(0)
    y, scores = random.integers(0, 5, 200_000), random.normal(size=200_000)
    found = rw.analyses.pair_errors(scores, data_of(y, np.zeros(200_000, int)))
    assert found.pairs["all"] > 10**10
    assert found.rate("scores") == pytest.approx(0.5, abs=0.01)
    assert np.isnan(found.rates["scores", "all"].low)  # one query has no interval


def test_the_interval_of_the_rate_covers_it():
    """Queries differ in their pairs and in how hard they are; 95 % of intervals hold the true rate."""
    random, hits = np.random.default_rng(1), 0
    for _ in range(200):
        sizes = random.integers(2, 9, 60)
        qid = np.repeat(np.arange(60), sizes)
        y = np.arange(len(qid)) % 2
        scores = y * np.repeat(random.choice([0.0, 2.0], 60), sizes) + random.normal(size=len(qid))
        rate = rw.analyses.pair_errors({"a": scores}, data_of(y, qid), n_jobs=1).rates["a", "all"]
        hits += rate.low <= 0.2892 <= rate.high  # (1/2 + Phi(-2 / sqrt 2)) / 2
    assert 180 <= hits <= 200


@pytest.mark.parametrize(
    ("y", "names", "sentence"),
    [
        ([1, 1, 1, 1, 1], None, "All documents have the label 1; pairs need at least two different labels."),
        ([1, 1, 1, 0, 0], None, "No query has documents of different labels"),
        ([2, 1, 0, 1, 0], {2: "x", 1: "x"}, "Two labels have the same name: 0, x, x."),
    ],
)
def test_labels_that_form_no_pairs_are_refused(y, names, sentence):
    with pytest.raises(InputError, match=sentence):
        rw.analyses.pair_errors(SCORES, data_of(y, SMALL.qid), names=names)


def test_too_many_labels_are_refused():
    with pytest.raises(InputError, match="There are 150 different labels; error rates are for up to 100 grades"):
        rw.analyses.pair_errors(np.zeros(150), data_of(np.arange(150), np.zeros(150, int)))


def test_a_notebook_gets_the_chart_and_the_table():
    found = rw.analyses.pair_errors(SCORES, SMALL)
    shown = found._repr_mimebundle_()
    assert shown["text/plain"] == str(found)
    assert "<svg" in shown["text/html"]

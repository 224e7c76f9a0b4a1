import numpy as np
import pytest

import rankwright as rw
from auto.examples import METRIC, judge, judged, plan_of, rankers
from rankwright.auto.portfolio import Entry
from rankwright.metrics.base import mean_over_queries
from rankwright.models.model_file import encode
from rankwright.training.monitor import middle_round
from reference import auto as slow

PLAN = plan_of(judged())


@pytest.fixture(scope="module")
def members():
    return judge(rankers(), PLAN)


def literal_scores(ranker, plan, rounds=None):
    """Fit on every part and score its judging documents, in the order of the parts."""
    scores = []
    for part in plan.parts:
        fitted = ranker.unfitted().set_params(**({} if rounds is None else {"rounds": rounds}))
        scores.append(fitted.fit(*part.train.data).predict(part.judges.data))
    return np.concatenate(scores)


def literal_z_scores(ranker, plan, rounds=None):
    groups = plan.held_out.labels.groups
    return slow.z_scores(literal_scores(ranker, plan, rounds), groups.query_of_row.tolist())


@pytest.mark.parametrize("place", [0, 2], ids=["RankSVM", "AdaRank"])
def test_scores_are_those_of_fits_on_the_other_queries(members, place):
    (found,), (values,) = members[place].scores, members[place].values
    np.testing.assert_allclose(found, literal_z_scores(rankers()[place], PLAN), atol=1e-12)
    np.testing.assert_array_equal(
        values, PLAN.held_out.values(METRIC, literal_scores(rankers()[place], PLAN), n_threads=1)
    )
    assert members[place].curve == [mean_over_queries(values)]


def test_every_number_of_rounds_is_judged_as_if_it_had_been_fitted_alone(members):
    trees = members[1]
    assert trees.rounds == tuple(range(1, 13))
    for n_rounds in (3, 5, 12):
        scores, values = trees.scores[n_rounds - 1], trees.values[n_rounds - 1]
        literal = literal_scores(rankers()[1], PLAN, n_rounds)
        np.testing.assert_allclose(scores, literal_z_scores(rankers()[1], PLAN, n_rounds), atol=1e-12)
        np.testing.assert_array_equal(values, PLAN.held_out.values(METRIC, literal, n_threads=1))


def test_the_scorer_is_fitted_on_all_queries(members):
    for member, ranker in zip(members, rankers(), strict=True):
        assert encode(member.scorer.bare()) == encode(ranker.fit(*PLAN.whole.data).model_.bare())


def test_a_scorer_is_cut_to_the_chosen_number_of_rounds(members):
    trees, test = members[1], judged(seed=2)
    for place, n_rounds in ((0, 1), (4, 5), (11, 12)):
        cut = rankers()[1].set_params(rounds=n_rounds).fit(*PLAN.whole.data)
        np.testing.assert_array_equal(trees.cut(place).predict(test), cut.predict(test))


def test_what_has_no_rounds_is_not_cut(members):
    for member in (members[0], members[2]):
        assert member.rounds == (0,)
        assert member.cut(0) is member.scorer
        assert member.best_index() == 0


@pytest.mark.parametrize(
    ("most", "rounds"),
    [(1, (1,)), (3, (1, 2, 3)), (12, tuple(range(1, 13))), (300, tuple(range(25, 301, 25)))],
)
def test_numbers_of_rounds_to_compare_are_evenly_spaced_up_to_the_rankers_own(most, rounds):
    assert Entry("trees", rw.LambdaMART(rounds=most)).rounds == rounds


def test_a_ranker_without_rounds_has_none_to_compare():
    assert Entry("svm", rw.RankSVM()).rounds == ()


def test_rounds_are_chosen_as_validation_data_would_choose_them(members):
    trees = members[1]
    some = np.isin(PLAN.held_out.query, [0, 3, 4, 7])
    for judgements in (None, some, ~some):
        kept = PLAN.held_out.query if judgements is None else PLAN.held_out.query[judgements]
        own = [one if judgements is None else one[judgements] for one in trees.values]
        values = [np.array(slow.by_query(kept.tolist(), one.tolist())) for one in own]
        chosen = middle_round([mean_over_queries(one) for one in values], values).best_round
        assert trees.best_index(judgements) == chosen - 1


def test_the_last_rounds_can_be_left_out(members):
    shorter = members[1].up_to(1)
    assert shorter.rounds == (1, 2)
    assert len(shorter.scores) == len(shorter.values) == len(shorter.curve) == 2
    assert shorter.best_index() <= 1
    assert shorter.cut(1).n_rounds == 2


class Hasty(rw.LambdaMART):
    """Ends after 6 rounds on some parts."""

    def _fit(self, task):
        model, history = super()._fit(task)
        return (model.first(min(6, self.rounds)) if task.train.data.y[0] else model), history


def test_a_fit_that_ends_early_is_judged_as_it_is_for_larger_numbers_of_rounds():
    ranker = Hasty(rounds=12, min_documents=2)
    (member,) = judge([ranker], PLAN)
    assert {ranker.fit(*one.train.data).model_.n_rounds for one in PLAN.parts} == {6, 12}
    np.testing.assert_allclose(member.scores[11], literal_z_scores(ranker, PLAN), atol=1e-12)
    np.testing.assert_allclose(member.scores[4], literal_z_scores(ranker, PLAN, 5), atol=1e-12)
    assert member.cut(9).n_rounds == min(10, member.scorer.n_rounds)


# Weights


def seen_weights(monkeypatch):
    """The weight of every document in each fit of RankSVM, by the value of its first feature."""
    seen, fit = [], rw.RankSVM.fit

    def spied(self, train, **options):
        seen.append(dict(zip(train.data.X[:, 0].tolist(), options["sample_weight"].tolist(), strict=True)))
        return fit(self, train, **options)

    monkeypatch.setattr(rw.RankSVM, "fit", spied)
    return seen


@pytest.mark.parametrize("by", ["sample_weight", "query_weight"])
def test_weights_reach_the_fits_in_the_right_rows(monkeypatch, by):
    data = judged()
    seen = seen_weights(monkeypatch)
    n_weights = len(data) if by == "sample_weight" else len(data.groups)
    given = np.random.default_rng(3).uniform(0.5, 2.0, n_weights)
    rw.AutoRanker(portfolio=[rw.RankSVM()], n_jobs=1).fit(data, **{by: given})
    of_row = given if by == "sample_weight" else given[data.groups.query_of_row]
    expected = dict(zip(data.X[:, 0].tolist(), of_row.tolist(), strict=True))
    assert len(seen) == 2 * 10 + 1
    for one in seen:
        assert one.items() <= expected.items()
    assert len(seen[-1]) == len(data)


def test_weights_change_the_scores():
    weights = np.random.default_rng(3).uniform(0.1, 10.0, len(PLAN.whole))
    (plain,), (weighted,) = (judge([rw.RankSVM()], PLAN, weights=one) for one in (None, weights))
    first = PLAN.parts[0]
    scorer = rw.RankSVM().fit(*first.train.data, sample_weight=weights[first.rows]).model_
    found = weighted.scores[0][: len(first.judges)]
    queries = first.judges.data.groups.query_of_row.tolist()
    np.testing.assert_allclose(found, slow.z_scores(scorer.predict(first.judges.data), queries), atol=1e-12)
    assert not np.allclose(plain.scores[0], weighted.scores[0])

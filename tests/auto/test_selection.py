from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from auto.examples import METRIC, judge, judged, made_entry, plan_of, rankers
from rankwright.auto.mixing import mix
from rankwright.auto.selection import BAGS, best_choice, remembered, select
from rankwright.ensembling.mixtures import best_alone, plausible_weights
from reference import auto as slow

PLAN = plan_of(judged())


@pytest.fixture(scope="module")
def members():
    return judge(rankers(), PLAN)


@pytest.mark.parametrize("part", [0, 1, None])
def test_weights_are_the_mean_of_literal_greedy_selections(members, part):
    judgements = np.ones(len(PLAN.held_out.query), dtype=bool) if part is None else PLAN.held_out.part != part
    chosen = select(members, METRIC, 1, judgements)
    indices = [entry.best_index(judgements) for entry in members]
    columns = [entry.scores[index].tolist() for entry, index in zip(members, indices, strict=True)]

    def values(scores):
        return PLAN.held_out.by_query(PLAN.held_out.values(METRIC, np.array(scores), 1), judgements).tolist()

    n_queries = len(np.unique(PLAN.held_out.query[judgements]))
    random = np.random.default_rng(0)
    bags = [random.choice(np.arange(n_queries), n_queries).tolist() for _ in range(BAGS)]
    np.testing.assert_allclose(chosen.weights, slow.greedy_selection(columns, values, bags), rtol=1e-12)
    assert chosen.round_indices == tuple(indices)


def test_a_member_that_nothing_improves_is_alone():
    scores = np.arange(PLAN.held_out.labels.groups.n_rows, dtype=float)
    perfect = PLAN.held_out.labels.y + 0.0
    entries = [with_scores("perfect", perfect), with_scores("useless", scores)]
    assert select(entries, METRIC, 1, PLAN.held_out.everyone).weights.tolist() == [1.0, 0.0]


def test_queries_that_do_not_count_choose_nobody():
    nothing = np.full(len(PLAN.held_out.query), np.nan)
    entries = [made_entry(name, PLAN, nothing) for name in "ab"]
    assert select(entries, METRIC, 1, PLAN.held_out.everyone).weights.tolist() == [0.5, 0.5]


def test_the_better_way_for_other_queries_is_taken_and_the_first_of_equals(members):
    alone, mixed = partial(mix, members, best_alone), partial(mix, members, plausible_weights)
    found = best_choice([alone, mixed], PLAN.held_out, METRIC, 1)
    values = {}
    for name, choose in (("alone", alone), ("mixed", mixed)):
        judged_values = np.full(len(PLAN.held_out.query), np.nan)
        for part in range(PLAN.held_out.part.max() + 1):
            judging = PLAN.held_out.part == part
            own = PLAN.held_out.query[judging]
            scores = choose(~np.isin(PLAN.held_out.query, own)).scores
            judged_values[judging] = PLAN.held_out.values(METRIC, scores, 1)[judging]
        values[name] = PLAN.held_out.by_query(judged_values).mean()
    better = mixed if values["mixed"] > values["alone"] else alone
    everyone = PLAN.held_out.everyone
    np.testing.assert_array_equal(found(everyone).weights, better(everyone).weights)
    first, second = remembered(mixed), remembered(partial(mix, members, plausible_weights))
    assert best_choice([first, second], PLAN.held_out, METRIC, 1)(everyone) is first(everyone)


def test_queries_that_judge_take_no_part_in_the_choice_of_the_way():
    held_out = PLAN.held_out
    part = held_out.part[held_out.labels.groups.query_of_row]
    of_part_1 = np.flatnonzero(part == 1)
    first_of_part_1 = held_out.labels.groups.query_of_row == held_out.labels.groups.query_of_row[of_part_1[0]]
    good_in_part_0 = SimpleNamespace(scores=np.where(part == 0, held_out.labels.y, -held_out.labels.y))
    better_elsewhere = SimpleNamespace(scores=np.where(first_of_part_1, 1.0, -1.0) * held_out.labels.y)
    choose = best_choice([lambda _: good_in_part_0, lambda _: better_elsewhere], held_out, METRIC, 1)
    assert choose(held_out.everyone) is good_in_part_0
    assert choose(held_out.part != 0) is better_elsewhere


def test_no_choice_is_made_twice(members):
    made = []

    def choose(judgements):
        made.append(judgements)
        return mix(members, plausible_weights, judgements)

    known = remembered(choose)
    assert known(PLAN.held_out.everyone) is known(PLAN.held_out.everyone)
    assert len(made) == 1


def with_scores(name, scores):
    entry = made_entry(name, PLAN, PLAN.held_out.values(METRIC, scores, 1))
    return type(entry)(**{**vars(entry), "scores": [scores]})

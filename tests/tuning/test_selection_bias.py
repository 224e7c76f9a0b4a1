from __future__ import annotations

import numpy as np
import pytest

from rankwright.tuning.selection_bias import corrected, out_of_bag
from rankwright.tuning.trials import Trial


def trials_of(table):
    return [Trial({"a": row}, 1, float(np.nanmean(one)), one, number=row) for row, one in enumerate(table)]


def correction(table, baseline=0):
    trials = trials_of(table)
    best = max(trials, key=lambda one: one.value)
    return corrected("ndcg@10", trials, best, trials[baseline])


def plainly(table, resamples, seed):
    """Bootstrap bias correction as its paper says it, one resample after the other."""
    random = np.random.default_rng(seed)
    queries = np.arange(table.shape[1])
    values = {query: [] for query in queries}
    for _ in range(resamples):
        drawn = random.integers(0, len(queries), len(queries))
        chosen = table[:, drawn].mean(axis=1).argmax()
        for query in set(queries) - set(drawn):
            values[query].append(table[chosen, query])
    return np.array([np.mean(values[query]) for query in queries])


def test_out_of_bag_values_are_those_of_the_plain_procedure():
    table = np.random.default_rng(0).random((6, 12))
    np.testing.assert_allclose(out_of_bag(table, resamples=20_000), plainly(table, 20_000, 5), atol=0.02)


def test_one_setting_has_no_bias():
    table = np.random.default_rng(0).random((1, 30))
    found = correction(table)
    assert (found.selection_bias, found.value) == (0.0, table.mean())
    assert found.default.ahead == 0.0


def test_equal_settings_have_no_bias():
    table = np.repeat(np.random.default_rng(0).random((1, 30)), 5, axis=0)
    assert correction(table).selection_bias == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_the_correction_is_honest_where_all_settings_are_equal():
    """Settings that differ by noise alone: the winner's value is too high, the corrected one is not."""
    random, winners, values, inside, beats = np.random.default_rng(1), [], [], [], []
    for _ in range(100):
        table = 0.5 + 0.2 * random.standard_normal((1, 60)) + 0.1 * random.standard_normal((40, 60))
        found = correction(table)
        winners.append(found.chosen - 0.5)
        values.append(found.value - 0.5)
        inside.append(found.interval[0] <= 0.5 <= found.interval[1])
        beats.append(found.default.p_value < 0.05 and found.default.ahead > 0)
    assert np.mean(winners) > 0.02
    assert abs(np.mean(values)) < 0.01
    assert np.mean(inside) >= 0.9
    assert np.mean(beats) < 0.1


def test_a_better_setting_beats_the_default():
    random = np.random.default_rng(1)
    table = random.random((1, 60)) + 0.01 * random.standard_normal((3, 60))
    table[2] += 0.2
    found = correction(table)
    assert found.default.ahead == pytest.approx(0.2, abs=0.01)
    assert found.default.p_value < 0.01
    assert found.selection_bias == pytest.approx(0.0, abs=0.005)


def test_a_correction_in_words():
    random = np.random.default_rng(1)
    table = random.random((1, 60)) + 0.01 * random.standard_normal((3, 60))
    table[2] += 0.2
    found = correction(table)
    expected, compared = str(found).replace("\n\n", "\0").replace("\n", " ").split("\0")
    assert expected.startswith(f"On new queries, expect a mean ndcg@10 of {found.value:.4f} (95 % interval ")
    assert expected.endswith("is selection bias, from choosing among 3 complete trials on 60 queries.")
    assert compared.startswith("The search beats the ranker's own setting, ")
    assert str(correction(table[::-1])).endswith(
        f"No setting is better than the ranker's own, {found.chosen:.4f}."
    )


def test_the_key_in_json_is_the_old_word():
    found = correction(np.random.default_rng(0).random((3, 20)))
    assert found.to_dict()["luck"] == found.selection_bias
    assert "selection_bias" not in found.to_dict()


def test_queries_without_a_value_take_no_part():
    table = np.random.default_rng(0).random((3, 20))
    table[:, [3, 7]] = np.nan
    found = correction(table)
    assert found.queries == 18
    assert np.isfinite(found.value)


def test_a_single_query_tells_nothing():
    found = correction(np.array([[0.5], [0.7]]))
    assert np.isnan(found.value)
    assert found.to_dict()["value"] is None

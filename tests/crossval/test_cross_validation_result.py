"""The result of a cross-validation as text, tables and JSON."""

import json

import numpy as np
import pytest

import rankwright as rw
from auto.small_run import small_data


@pytest.fixture(scope="module")
def result():
    grid = {"C": [0.1, 1.0]}
    return rw.cross_validate(
        rw.RankSVM(), small_data(), folds=3, metrics="ndcg@10,map", tune="out-of-fold", grid=grid
    )


def test_tables_hold_the_means_of_folds_and_all_trials(result):
    folds, means, trials = result.tables
    assert [row[1:3] for row in folds.rows] == [
        [fold.report.mean("ranksvm", metric) for metric in result.metrics] for fold in result.folds
    ]
    assert [row[0] for row in means.rows] == ["ndcg@10", "map"]
    for name, mean, error in means.rows:
        assert (mean, error) == (result.mean(name), result.standard_error(name))
    assert [row[-1] for row in trials.rows] == [trial.value for fold in result.folds for trial in fold.trials]


def test_text_says_what_was_chosen_and_how(result):
    text = str(result)
    assert text.startswith(result.summary)
    for words in ("mean over folds", "standard error", "tuned out of fold", "For a model of all queries: C ="):
        assert words in text
    assert "24 queries, 1 of them empty (all rankings are equally good); parameters and rounds are tuned" in text


def test_ties_averaged_are_a_column_where_they_differ():
    data = small_data()
    best_first = data.take(np.lexsort((-data.y, data.qid)))
    tied = rw.RankingData(best_first.X.round(), best_first.y, best_first.qid)
    result = rw.cross_validate(rw.AdaRank(rounds=1), tied, folds=2, metrics="map", convention="letor3")
    means = result.tables[1]
    assert means.columns[-1].title == "ties averaged"
    assert means.rows[0][-1] == result.mean("map", averaged_ties=True) != result.mean("map")


def test_unknown_values_are_null_in_json():
    alone = rw.cross_validate(rw.RankSVM(), [(small_data(), small_data(1))], metrics="map")
    plain = json.loads(json.dumps(alone.to_dict(), allow_nan=False))
    assert plain["standard_error"] == {"map": None}
    assert "standard error" not in alone.summary

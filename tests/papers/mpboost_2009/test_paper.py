"""MPBoost 2009: its generated data, the choice of distance and rounds, and that every experiment runs."""

import numpy as np
import pytest

import rankwright as rw
from papers.small_collections import write_collection
from rankwright.metrics import as_metric
from rankwright.papers.framework.experiment import Paper, Setup
from rankwright.papers.framework.generated import VALUES, GeneratedWeb
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.reproduce import reproduce
from rankwright.papers.framework.rows import NO_DATA, NOT_SHOWN, OPPOSITE, REACHED, STATES
from rankwright.papers.framework.sources import InternetMathematics, letor
from rankwright.papers.mpboost_2009.paper import (
    ALL_ROUNDS,
    BINARY,
    CHOSEN_BY,
    LDD,
    LOGDD,
    LOGITDD,
    PRESERVING,
    BestRounds,
    _ohsumed,
    _overfits_less,
    _web,
    experiments,
)
from rankwright.rankers.shared.distances import Linear

TINY = GeneratedWeb("tiny", 30, 8, 12, n_folds=2)


def test_generated_folds_have_three_parts_to_learn_from_one_to_validate_and_one_to_test():
    folds = [GeneratedWeb("tiny", 30, 8, 12).trial(f"Fold{number}") for number in range(1, 6)]
    for fold in folds:
        queries = [set(part.groups.ids.tolist()) for part in (fold.train, fold.valid, fold.test)]
        assert [len(part) for part in queries] == [18, 6, 6]
        assert len(set.union(*queries)) == 30
    tests = [one for fold in folds for one in fold.test.groups.ids.tolist()]
    assert sorted(tests) == list(range(30))
    again = GeneratedWeb("tiny", 30, 8, 12).trial("Fold1")
    np.testing.assert_array_equal(again.train.X, folds[0].train.X)
    np.testing.assert_array_equal(again.train.y, folds[0].train.y)


@pytest.mark.parametrize("graded", [True, False])
def test_generated_labels_lie_between_0_and_4_and_features_between_0_and_1(graded):
    data = GeneratedWeb("tiny", 100, 20, 12, graded=graded).trial("Fold1").train
    assert 0 <= data.y.min() <= 0.1
    assert 3.8 <= data.y.max() <= 4
    assert (len(np.unique(data.y)) == 5) == graded
    assert (data.X.min(), data.X.max()) == (0, 1)
    assert max(len(np.unique(column)) for column in data.X.T) <= VALUES


def test_distance_and_rounds_are_those_that_are_best_on_the_validation_part():
    trial, distances = TINY.trial("Fold1"), (Linear(0.25), Linear(0.2))
    settings = tuple(
        rw.MPBoost(CHOSEN_BY, distance=distance, rounds=30, learning_rate=1.0) for distance in distances
    )
    found = BestRounds("x", settings)(trial, 1)
    metric, valid = as_metric(CHOSEN_BY), trial.valid
    values = {}
    for distance in distances:
        model = rw.MPBoost(CHOSEN_BY, distance=distance, rounds=30, learning_rate=1.0, n_jobs=1).fit(trial.train)
        for rounds in (10, 20, 30):
            scores = model.model_.first(rounds).predict(valid)
            values[distance, rounds] = metric(valid.y, scores, valid.qid)
    assert metric(valid.y, found["x"].predict(valid), valid.qid) == max(values.values())
    best = max(values, key=values.get)
    assert found["x"].n_rounds == best[1]
    assert found["x" + ALL_ROUNDS].distance == best[0]


@pytest.mark.parametrize(("kept", "state"), [(0.5, REACHED), (0.2, OPPOSITE), (0.41, NOT_SHOWN)])
def test_who_overfits_more(kept, state):
    rng = np.random.default_rng(1)
    lost = kept + (rng.normal(0, 0.1, 40) if state == NOT_SHOWN else np.zeros(40))
    values = {BINARY: (np.full(40, 0.5), np.full(40, 0.4)), LDD: (np.full(40, 0.5), lost)}
    arrays = {
        (model + ending, CHOSEN_BY, "Fold1"): array
        for model, arrays in values.items()
        for ending, array in zip(("", ALL_ROUNDS), arrays, strict=True)
    }
    assert _overfits_less(LDD)(Measurements(("Fold1",), arrays)).state == state


def test_every_experiment_runs(tmp_path):
    write_collection(tmp_path, "OHSUMED")
    paper = Paper(
        "mpboost-2009",
        "title",
        "authors",
        lambda setup: (
            _ohsumed(letor(setup, "OHSUMED"), 20),
            _web("Figure 4", "tiny", TINY, "Tiny.", 20, {LDD: -0.0024, LOGDD: 0.0016, LOGITDD: 0.0013}),
        ),
    )
    found = reproduce(paper, tmp_path, work=tmp_path / "work", quick=True)
    assert {row.state for row in found.rows} <= {*STATES} - {NO_DATA}
    assert [row.state for row in found.rows if "Theorem 1" in row.where] == [REACHED, REACHED]
    for done in found.done:
        for picture in done.experiment.figures:
            assert picture.draw(done.results).description
    leads = [row.what for row in found.rows if row.where == "Figure 4"]
    assert leads[0].startswith(f"{BINARY} is ahead of {LDD}")
    assert len(leads) == len(PRESERVING)


def test_the_generated_collections_need_no_data():
    ohsumed, imat, *web = experiments(Setup({}, quick=False))
    assert not ohsumed.source.trials()
    assert not imat.source.trials()
    assert [len(one.source.trials()) for one in web] == [3, 3]
    full = experiments(Setup({}, quick=False, full=True))
    assert [(one.source.n_queries, one.source.n_features) for one in full[2:]] == [(9124, 245), (467, 1779)]


def test_the_data_of_yandex_are_divided_by_query(tmp_path):
    lines = [f"{query % 5 / 2} 1:0.5 245:{document} # {query}" for query in range(20) for document in range(3)]
    (tmp_path / "imat2009_learning.txt").write_text("\n".join(lines) + "\n")
    source = InternetMathematics(tmp_path)
    folds = [source.trial(name) for name in source.trials()]
    assert len(folds) == 5
    for fold in folds:
        queries = [set(part.groups.ids.tolist()) for part in (fold.train, fold.valid, fold.test)]
        assert [len(part) for part in queries] == [12, 4, 4]
        assert len(set.union(*queries)) == 20
        assert fold.test.n_features == 245
    assert sorted(query for fold in folds for query in fold.test.groups.ids.tolist()) == list(range(20))

"""The reproduction of Wu et al. (2010): its data, systems and tests of claims, at tiny sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import rankwright as rw
from rankwright.metrics import as_metric
from rankwright.models import FeatureScorer
from rankwright.papers.framework.catalogue import find_paper
from rankwright.papers.framework.experiment import DataTrial, Setup
from rankwright.papers.framework.figures import by_size
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.reproduce import reproduce
from rankwright.papers.framework.rows import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.papers.framework.systems import BestFeatureSystem
from rankwright.papers.lambdasmart_2010 import adaptation
from rankwright.papers.lambdasmart_2010.generated_data import (
    Adaptation,
    CubicData,
    PolynomialData,
    Sizes,
    WebMarket,
    WebSearch,
)
from rankwright.papers.lambdasmart_2010.paper import LABELS
from rankwright.papers.lambdasmart_2010.systems import (
    TREES,
    ByTrees,
    as_accurate,
    by_trees,
    faster_and_as_accurate,
    fewer_trees,
    mcrank,
    more_accurate,
)

if TYPE_CHECKING:
    from pathlib import Path

TINY = Sizes(12, 6, 8)
SMALL = WebMarket(n_features=20, n_factors=5, n_documents=10)


@pytest.fixture(scope="module")
def adapted() -> tuple[DataTrial, dict]:
    others = tuple((name, SMALL.shifted(0.5, seed), 12) for seed, name in enumerate(adaptation.LANGUAGES))
    trial = Adaptation("tiny", TINY, SMALL, others).trial("1")
    trees = rw.LambdaMART(rounds=3, max_leaves=4)
    network = rw.LambdaRank(rounds=2, hidden=(3,))
    return trial, adaptation.Adapted(network, network, trees, "ndcg@10")(trial, 1)


@pytest.mark.parametrize(
    "source",
    [CubicData(TINY, n_documents=10), PolynomialData(TINY, n_documents=10), WebSearch(TINY, SMALL)],
)
def test_generated_parts_are_the_same_every_time_and_share_no_documents(source) -> None:
    first, again = source.trial("1"), source.trial("1")
    parts = (first.train, first.valid, first.test)
    for one, other, size in zip(parts, (again.train, again.valid, again.test), TINY, strict=True):
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.y, other.y)
        assert len(one.groups) == size
        assert set(np.unique(one.y)) <= {0, 1, 2, 3, 4}
    rows = [{row.tobytes() for row in np.asarray(part.X)} for part in parts]
    assert len(rows[0] | rows[1] | rows[2]) == sum(len(part) for part in rows)


def test_a_market_has_queries_of_about_26_documents_and_labels_of_web_search() -> None:
    data = WebMarket().sample(600, seed=9)
    assert data.n_features == 100
    assert abs(data.groups.sizes.mean() - 26) < 1
    shares = np.bincount(data.y.astype(int)) / len(data.y)
    np.testing.assert_allclose(shares, rw.synthetic.WEB_LABEL_SHARES, atol=0.04)


def test_markets_differ_more_the_more_they_are_shifted() -> None:
    common = np.concatenate(SMALL._weights)
    cosines = [common @ np.concatenate(SMALL.shifted(one)._weights) for one in (0.0, 0.3, 0.6, 0.9)]
    assert cosines[0] == pytest.approx(1.0)
    assert cosines == sorted(cosines, reverse=True)
    assert cosines[-1] < 0.95


def test_bm25_of_a_market_is_better_than_chance_and_worse_than_its_utility() -> None:
    data = WebMarket(noise=0.0).sample(300, seed=5)
    metric = as_metric("ndcg@10")
    bm25 = metric(data.y, data.X[:, 0].astype(float), data.qid)
    chance = metric(data.y, np.random.default_rng(0).random(len(data)), data.qid)
    assert chance + 0.05 < bm25 < 0.9


def test_the_best_single_feature_may_be_turned_round() -> None:
    trial = PolynomialData(TINY, n_documents=10).trial("1")
    turned = trial._replace(train=rw.RankingData(-np.asarray(trial.train.X), trial.train.y, trial.train.qid))
    one, other = (BestFeatureSystem("ndcg@10")(each, 1) for each in (trial, turned))
    assert (one.feature, one.direction) == (other.feature, -other.direction)


def test_every_published_number_has_its_system_and_measure(adapted) -> None:
    names = set(adapted[1])
    for experiment in find_paper("lambdasmart-2010").experiments(Setup({}, quick=True)):
        metrics = {metric for one in experiment.measures for metric in getattr(one, "metrics", ())}
        found = set(experiment.systems)
        if adaptation.ADAPTED in found:
            background = {name for name, _, _ in experiment.source.others}
            found = background | {adaptation.IN_DOMAIN, adaptation.INTERPOLATED}
            found |= {adaptation.adapted_from(name) for name in background}
        for number in experiment.published:
            assert number.system in found
            assert number.measured in metrics
            assert not number.comparable
    assert set(adaptation.TABLE_4) == names


def test_full_has_the_sizes_of_the_paper() -> None:
    usual, full = (find_paper("lambdasmart-2010").experiments(Setup({}, False, each)) for each in (False, True))
    assert [one.name for one in usual] == [one.name for one in full]
    sizes = {one.name: one.source.sizes for one in full}
    assert sizes.pop("Adaptation to Korean") == (3724, 334, 372)
    assert sizes.pop("Adaptation to names") == (5725, 158, 318)
    assert sizes.pop("Adaptation to long queries") == (6255, 176, 356)
    assert set(sizes.values()) == {(10_000, 5000, 10_000)}
    assert [{name: size for name, _, size in one.source.others} for one in full if "Korean" in one.name] == [
        {"English": 6167, "Japanese": 45_012, "Chinese": 32_827}
    ]


def test_all_numbers_of_the_tables_are_declared() -> None:
    experiments = find_paper("lambdasmart-2010").experiments(Setup({}, quick=False))
    counted = {}
    for number in (one for experiment in experiments for one in experiment.published):
        counted[number.where] = counted.get(number.where, 0) + 1
    assert counted == {"Table 1": 27, "Table 2": 12, "Table 3": 12, "Table 4": 24}


def test_adapted_rankers_start_from_their_background(adapted) -> None:
    trial, models = adapted
    for name in adaptation.LANGUAGES:
        start, grown = models[name], models[adaptation.adapted_from(name)]
        assert grown.model_.about["start"] == "LambdaRank"
        changed = grown.predict(trial.test) - start.predict(trial.test)
        assert len(np.unique(np.round(changed, 6))) <= 4**3


def test_interpolation_by_powell_is_at_least_as_good_on_validation_data_as_equal_weights(adapted) -> None:
    trial, models = adapted
    metric, valid = as_metric("ndcg@10"), trial.valid
    columns = [models[name].predict(valid) for name in (*adaptation.LANGUAGES, adaptation.IN_DOMAIN)]
    equal = sum(column / column.std() for column in columns)
    found = models[adaptation.INTERPOLATED].predict(valid)
    assert metric(valid.y, found, valid.qid) >= metric(valid.y, equal, valid.qid) - 1e-12


def test_interpolation_of_two_is_at_least_as_good_as_each() -> None:
    valid = SMALL.sample(20, seed=3)
    rankers = [FeatureScorer(one, n_features=20, missing=0.0) for one in (0, 1)]
    metric = as_metric("ndcg@10")
    both = adaptation.interpolated(rankers, valid, "ndcg@10").predict(valid)
    alone = max(metric(valid.y, one.predict(valid), valid.qid) for one in rankers)
    assert metric(valid.y, both, valid.qid) >= alone - 1e-12


def test_rounds_of_mcrank_count_as_many_trees_as_there_are_labels() -> None:
    trial = WebSearch(Sizes(40, 5, 10), SMALL).trial("1")
    model = mcrank(4, 0.1, 4).fit(trial.train)
    n_labels = len(np.unique(trial.train.y))
    found = ByTrees("ndcg@10", (1, 2 * n_labels + 1, 100))(model, trial, 1)
    np.testing.assert_array_equal(found[TREES], [n_labels, 2 * n_labels + 1, 100])
    for row, rounds in zip(found[by_trees("ndcg@10")], (1, 2, 4), strict=True):
        scores = model.model_.first(rounds).predict(trial.test)
        report = rw.evaluate({"": scores}, trial.test, metrics=["ndcg@10"], drop_one_label=True)
        np.testing.assert_array_equal(row, report.per_query("", "ndcg@10"))
    assert ByTrees("ndcg@10", (1,))(FeatureScorer(0, n_features=20, missing=0.0), trial, 1) == {}


def _results(**means: list[float]) -> Measurements:
    """Return curves of models over 10, 20, ... trees; every query has the same values."""
    arrays = {}
    for model, curve in means.items():
        arrays[model, TREES, "1"] = 10.0 * np.arange(1, len(curve) + 1)
        arrays[model, by_trees("ndcg@10"), "1"] = np.repeat(np.array(curve)[:, None], 5, axis=1)
    return Measurements(("1",), arrays)


@pytest.mark.parametrize(
    ("fast", "ratio", "state"),
    [
        ([0.2, 0.5, 0.5, 0.5], 17.5 / 40, REACHED),
        ([0.1, 0.2, 0.3, 0.5], 35 / 40, NOT_SHOWN),
        ([0.1, 0.2, 0.3, 0.4], 1.0, NOT_SHOWN),
        ([0.1, 0.2, 0.3, 0.3], None, OPPOSITE),
    ],
)
def test_trees_are_counted_to_the_same_accuracy(fast, ratio, state) -> None:
    level = 0.425 if ratio == 17.5 / 40 else 0.4
    results = _results(fast=fast, slow=[0.1, 0.2, 0.3, level])
    found = fewer_trees("fast", "slow", "ndcg@10", 0.5)(results)
    assert found.state == state
    assert found.value == (None if ratio is None else pytest.approx(ratio))
    if ratio is None:
        assert "never" in found.measured
        assert found.p_value < 0.05
    else:
        assert found.interval == pytest.approx((ratio, ratio))


def test_fewer_trees_that_one_query_decides_are_not_shown() -> None:
    results = _results(fast=[0.1, 0.2, 0.3, 0.3], slow=[0.1, 0.2, 0.3, 0.4])
    results.arrays["fast", by_trees("ndcg@10"), "1"][0, 0] = 2.0  # the mean of the five queries is then .48
    found = fewer_trees("fast", "slow", "ndcg@10", 0.5)(results)
    assert found.value == pytest.approx(10 / 40)
    assert found.state == NOT_SHOWN


@pytest.mark.parametrize("quick", [True, False])
def test_mcrank_is_measured_at_whole_rounds(quick) -> None:
    declared = find_paper("lambdasmart-2010").experiments(Setup({}, quick))
    speed = [one.measures[0].trees for one in declared if one.name.startswith("Accuracy by number of trees")]
    assert len(speed) == 2
    assert all(number % LABELS == 0 for trees in speed for number in trees)


def test_comparable_accuracy_is_a_little_below_the_best() -> None:
    results = _results(fast=[0.2, 0.39, 0.39, 0.39], slow=[0.1, 0.2, 0.3, 0.4])
    assert fewer_trees("fast", "slow", "ndcg@10", 0.6)(results).value is None
    found = fewer_trees("fast", "slow", "ndcg@10", 0.6, below=0.02)(results)
    assert found.value == pytest.approx((10 + 10 * 0.18 / 0.19) / 38)
    assert "0.3900" in by_size(("fast", "slow"), by_trees("ndcg@10"), "ndcg@10", sizes=TREES)(results).description


@pytest.mark.parametrize(("ahead", "state"), [(0.2, OPPOSITE), (-0.05, OPPOSITE), (0.0, REACHED)])
def test_like_the_best_is_refuted_in_both_directions(ahead, state) -> None:
    base = np.random.default_rng(1).random(50)
    arrays = {("model", "m", "1"): base + ahead, ("a", "m", "1"): base, ("b", "m", "1"): base - 0.1}
    finding = adaptation.like_the_best("model", ("a", "b"), "m", 50)(Measurements(("1",), arrays))
    assert (finding.state, finding.value) == (state, pytest.approx(ahead))


@pytest.mark.parametrize(("mixed", "state"), [(0.6, REACHED), (0.5, REACHED), (0.45, OPPOSITE)])
def test_the_exact_combination_is_no_worse_than_its_rankers(mixed, state) -> None:
    means = {"Interpolated": mixed, "a": 0.5, "b": 0.3}
    arrays = {(model, "valid ndcg@10", "1"): np.full(4, value) for model, value in means.items()}
    assert adaptation.at_least(("a", "b"))(Measurements(("1",), arrays)).state == state


def test_models_are_compared_at_their_numbers_of_trees() -> None:
    results = _results(fast=[0.2, 0.3, 0.35, 0.35], slow=[0.1, 0.2, 0.3, 0.4])
    measured = by_trees("ndcg@10")
    found = more_accurate(("fast", 25), ("slow", 20), measured)(results)
    assert found.value == pytest.approx(0.1)
    assert found.measured == "fast 0.3000 with 20 trees, slow 0.2000 with 20 trees"
    assert as_accurate(("fast", 20), ("slow", 30), measured)(results).state == REACHED
    noise = np.random.default_rng(2).normal(0, 0.01, (4, 60))
    flat = {model: np.repeat(results.values(model, measured)[:, :1], 60, axis=1) for model in ("fast", "slow")}
    arrays = dict(results.arrays)
    for number, model in enumerate(flat):
        arrays[model, measured, "1"] = flat[model] + noise * number
    many = Measurements(("1",), arrays)
    assert more_accurate(("fast", 20), ("slow", 20), measured)(many).state == REACHED
    assert as_accurate(("fast", 20), ("slow", 40), measured)(many).state == OPPOSITE


@pytest.mark.parametrize(("difference", "state"), [(0.0, REACHED), (-0.05, NOT_SHOWN)])
def test_less_time_counts_for_comparable_accuracy_only(difference, state) -> None:
    base = np.random.default_rng(0).random(50)
    arrays = {("a", "m", "1"): base + difference, ("b", "m", "1"): base}
    arrays |= {("a", "fit seconds", "1"): np.array([1.0]), ("b", "fit seconds", "1"): np.array([3.0])}
    assert faster_and_as_accurate("a", "b", "m")(Measurements(("1",), arrays)).state == state


@pytest.mark.slow
@pytest.mark.long
def test_the_quick_version_has_every_row_and_goes_on_where_it_was(tmp_path: Path) -> None:
    paper = find_paper("lambdasmart-2010")
    result = reproduce(paper, data=None, work=tmp_path, quick=True)
    assert len(result.rows) == sum(
        len(one.published) + len(one.claims) for one in paper.experiments(Setup({}, quick=True))
    )
    assert all(row.state for row in result.rows)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    next(iter(files)).unlink()
    again = reproduce(paper, data=None, work=tmp_path, quick=True)
    states, before = ([row.state for row in rows if "time" not in row.what] for rows in (again.rows, result.rows))
    assert states == before, "times vary from run to run, nothing else does"
    assert len(before) > len(result.rows) / 2
    assert sum(path.stat().st_mtime_ns != when for path, when in files.items()) == 1

"""The reproduction of Busa-Fekete et al. (2011): one fit gives all ensembles, and every row has its number."""

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.papers.calibrated_2011.diversity import _falls, _low
from rankwright.papers.calibrated_2011.paper import BASELINES, CPC, OWN, PAPER, SHRUNK, TABLE_2, _above_at
from rankwright.papers.calibrated_2011.pools import Calibrations, Ensembles, calibrated_members
from rankwright.papers.framework.claims import not_worse
from rankwright.papers.framework.experiment import DataTrial, Setup
from rankwright.papers.framework.measurements import Measurements
from rankwright.papers.framework.reproduce import reproduce
from rankwright.papers.framework.rows import NO_DATA, NOT_SHOWN, OPPOSITE, REACHED
from rankwright.papers.framework.sources import COLLECTIONS
from rankwright.training.calibration.calibrations import CLASS_PROBABILITY
from shared_data import SHARED, needs_shared_data

SMALL = {"leaves": (3,), "terms": (2,), "rounds_tried": (2, 5), "exponents": (0.0, 100.0)}


def part(seed, n_features=45, n_queries=8):
    """Return queries with three labels."""
    truth = rw.synthetic.RandomPolynomial.draw(1, n_features=n_features, n_active=5, n_terms=5, degree=1)
    drawn = truth.sample(n_queries, seed=seed, n_documents=12)
    return rw.RankingData(drawn.X, np.minimum(drawn.y, 2), drawn.qid + 100 * seed)


@pytest.fixture(scope="module")
def trial():
    return DataTrial("Fold1", part(1), part(2), part(3))


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Return the quick version on a small collection that has the shape of OHSUMED, and one like MQ2007."""
    folder = tmp_path_factory.mktemp("letor")
    for collection, n_features in (("OHSUMED", 45), ("MQ2007", 46)):
        for fold in (1, 2):
            path = folder / collection / f"Fold{fold}"
            path.mkdir(parents=True)
            for place, name in enumerate(("train", "vali", "test")):
                rw.write_letor(part(3 * fold + place, n_features), path / f"{name}.txt")
    with pytest.MonkeyPatch.context() as patch:
        for collection in ("OHSUMED", "MQ2007"):
            patch.setitem(COLLECTIONS, collection, COLLECTIONS[collection]._replace(n_queries=16))
        return reproduce(PAPER, folder, work=folder / "work", quick=True).done


@pytest.mark.parametrize("calibrations", [("ls", "ell"), ("linear",)])
def test_an_ensemble_is_that_of_the_ranker(trial, calibrations):
    everything = rw.CalibratedAdaBoost.as_printed(calibrations=("ls", "ell", "linear"), **SMALL)
    found = Ensembles(everything, (("some", calibrations),))(trial, 1)["some"]
    ranker = rw.CalibratedAdaBoost.as_printed(calibrations=calibrations, **SMALL | unclipped(calibrations))
    alone = ranker.fit(trial.train, validation=trial.valid)
    np.testing.assert_array_equal(found.predict(trial.test), alone.predict(trial.test))
    assert {one.rounds for one in alone.pool_} == {found.n_rounds}


def test_the_single_classifier_is_the_best_on_the_validation_part(trial):
    ranker = rw.CalibratedAdaBoost.as_printed(calibrations=("ls", "linear"), **SMALL)
    found = Ensembles(ranker, (), single="best")(trial, 1)["best"]
    members, judge = calibrated_members(ranker, trial, 1)
    values = [judge(one.scorer.predict(trial.valid)) for one in members]
    assert judge(found.predict(trial.valid)) == max(values)
    assert min(values) < max(values)


def unclipped(calibrations):
    """Return the option that only regressions have; others refuse it."""
    return {"clip": "linear" not in calibrations}


def test_calibrations_are_models_of_their_own(trial):
    ranker = rw.CalibratedAdaBoost.as_printed(
        leaves=(3,), terms=(), rounds_tried=(5,), calibrations=tuple(CLASS_PROBABILITY), clip=True
    )
    models = Calibrations(ranker)(trial, 1)
    assert list(models) == list(CLASS_PROBABILITY)
    assert len({models[name].predict(trial.test).tobytes() for name in ("ls", "ewls")}) == 2


def test_ensembles_need_a_validation_part_and_the_papers_split(trial):
    ranker = rw.CalibratedAdaBoost.as_printed(**SMALL)
    with pytest.raises(InputError, match="Fold1 has no validation part"):
        Ensembles(ranker, ())(trial._replace(valid=None), 1)
    bagged = rw.CalibratedAdaBoost.as_printed(bagging=True, **SMALL)
    with pytest.raises(InputError, match="without bagging"):
        Ensembles(bagged, ())(trial, 1)


def test_every_published_number_is_measured(done):
    for one in done:
        if one.results is None:
            assert "MQ2008" in one.experiment.name
            continue
        for number in one.experiment.published:
            assert one.results.by_trial(number.system, number.measured), number
    numbers = [row for one in done for row in one.rows if row.published is not None]
    assert len(numbers) == 3 * (len(BASELINES) + 2 * len(OWN))
    assert {row.data for row in numbers if row.state == NO_DATA} == {"MQ2008"}
    assert all(0 < row.ours < 1 for row in numbers if row.state != NO_DATA)


def test_every_claim_is_tested_and_every_figure_drawn(done):
    for one in done:
        if one.results is not None:
            assert len(one.rows) == len(one.experiment.published) + len(one.experiment.claims)
            for picture in one.experiment.figures:
                assert "mark" in str(picture.draw(one.results).spec)


def test_the_table_is_the_papers():
    models = (*BASELINES, *OWN)
    by_name = {name: dict(zip(models, column, strict=True)) for name, column in TABLE_2.items()}
    assert by_name["OHSUMED"][CPC] == 0.4621
    assert max(by_name["MQ2007"], key=by_name["MQ2007"].get) == "RankBoost"
    assert max(by_name["MQ2008"], key=by_name["MQ2008"].get) == "ensemble with CPC+RBC"


def test_settings_are_the_papers():
    (table, *_) = PAPER.experiments(Setup({}, quick=False))
    ensembles = table.systems["ensembles"].ranker
    assert (ensembles.learning_rate, ensembles.rounds_tried, ensembles.exponents) == (1.0, (100,), (100.0,))
    assert len(ensembles.calibrations) == 13
    assert len(ensembles.leaves) == len(ensembles.terms) == 9
    assert table.systems[f"ensembles{SHRUNK}"].ranker.learning_rate == 0.1


def results_of(values, name="ndcg@10"):
    """Return results of one trial."""
    return Measurements(
        ("Fold1",), {(model, name, "Fold1"): np.asarray(one, float) for model, one in values.items()}
    )


def test_not_worse_is_refuted_by_a_clearly_better_model():
    random = np.random.default_rng(0)
    base = random.random(200)
    results = results_of({"a": base, "alike": base + random.normal(0, 0.1, 200), "better": base + 0.05})
    assert not_worse("a", ("alike",), "ndcg@10")(results).state == REACHED
    assert not_worse("a", ("alike", "better"), "ndcg@10")(results).state == OPPOSITE


def test_above_at_counts_truncation_levels():
    def state(ahead, n_queries=30):
        values = {(name, k): 0.5 for name in BASELINES for k in (1, 2, 3)}
        values |= {("own", k): 0.5 + one for k, one in zip((1, 2, 3), ahead, strict=True)}
        arrays = {(name, f"ndcg@{k}", "Fold1"): np.full(n_queries, value) for (name, k), value in values.items()}
        return _above_at("own", (1, 2, 3))(Measurements(("Fold1",), arrays)).state

    assert state((0.1, 0.1, 0.1)) == REACHED
    assert state((0.1, -0.1, 0.1)) == OPPOSITE
    assert state((-0.1, -0.1, 0.1), n_queries=2) == NOT_SHOWN  # too few to tell


def test_overfitting_is_a_fall_after_the_round_that_the_validation_part_chooses():
    early = np.random.default_rng(0).random(100)
    curves = {"down": (early - 0.3, early, early - 0.1), "up": (early - 0.3, early, early + 0.1)}
    arrays = {(model, "ndcg@10 by round", "Fold1"): np.array(one) for model, one in curves.items()}
    arrays |= {(model, "valid ndcg@10 by round", "Fold1"): np.array([[0.2], [0.4], [0.3]]) for model in curves}
    arrays |= {(model, "rounds", "Fold1"): np.array([10.0, 50.0, 500.0]) for model in curves}
    results = Measurements(("Fold1",), arrays)
    found = _falls("down")(results)
    assert (found.state, found.value) == (REACHED, pytest.approx(0.1))
    assert "after 50 rounds" in found.measured
    assert _falls("up")(results).state == OPPOSITE


@pytest.mark.parametrize(("chosen", "state"), [((10, 50, 500), REACHED), ((50, 500, 500), NOT_SHOWN)])
def test_a_low_number_of_rounds(chosen, state):
    names = ("Fold1", "Fold2", "Fold3")
    arrays = {("ensemble", "T", name): np.array([float(one)]) for name, one in zip(names, chosen, strict=True)}
    arrays |= {("ensemble", "c", name): np.array([100.0]) for name in names}
    found = _low((10, 50, 500))(Measurements(names, arrays))
    assert found.state == state
    assert ("10 is the least that was tried" in found.measured) == (10 in chosen)


@needs_shared_data
@pytest.mark.long
def test_the_quick_version_on_real_data(tmp_path):
    found = reproduce(PAPER, SHARED / "letor", work=tmp_path, quick=True)
    numbers = [row for row in found.rows if row.published is not None and row.data != "MQ2007"]
    assert all(0.2 < row.ours < 0.6 for row in numbers)

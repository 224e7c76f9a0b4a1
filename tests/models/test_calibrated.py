from dataclasses import replace

import numpy as np
import pytest

from artefacts.make import calibrations
from rankwright.base.errors import InputError
from rankwright.models import (
    Calibrated,
    ClassTrees,
    HiddenLayer,
    LogisticCalibration,
    Polynomial,
    RadialBasis,
    Rescaled,
    SigmoidCalibration,
    StandardCalibration,
)
from rankwright.models.model_file import decode, encode
from reference.trees import random_ensemble

GAINS = [0.0, 0.25, 1.0]
EYE = np.eye(3)


def class_trees(n_classes=3, leaves=(4, 1, 3)):
    rng = np.random.default_rng(1)
    trees = random_ensemble(rng, list(leaves), np.array([-1.0, 0.0, 0.5], dtype=np.float32), n_features=2)
    return ClassTrees(trees, rng.normal(size=(sum(leaves), n_classes)), n_classes)


def documents(n=50):
    values = np.random.default_rng(2).normal(size=(n, 2)).astype(np.float32)
    values[::7, 0] = np.nan
    return values


def test_a_calibrated_score_is_what_the_calibration_makes_of_the_classes_scores():
    trees = class_trees()
    by_class = np.stack([one.predict(documents()) for one in trees.by_class], axis=1)
    for one in calibrations().members:
        found = Calibrated(trees, one).predict(documents())
        assert found.tolist() == one._score(by_class, None, 1).tolist()


def test_probabilities_are_those_whose_expected_gain_is_the_score():
    for calibration in (StandardCalibration(GAINS, 9.0), SigmoidCalibration(GAINS, 2.0, 0.1)):
        scorer = Calibrated(class_trees(), calibration)
        found = scorer.probabilities(documents())
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found @ GAINS, scorer.predict(documents()), rtol=1e-12)
        alone = np.vstack([scorer.probabilities(documents()[[row]]) for row in range(50)])
        assert alone.tolist() == found.tolist()


def test_a_regression_has_no_probabilities():
    with pytest.raises(InputError, match="A calibration of kind 'combination' gives gains, not probabilities"):
        Calibrated(class_trees(), calibrations()).probabilities(documents())


def test_a_saved_calibrated_scorer_is_the_same():
    scorer = Calibrated(class_trees(), calibrations())
    again = decode(encode(scorer), "it")
    assert again.predict(documents()).tolist() == scorer.predict(documents()).tolist()
    assert encode(again) == encode(scorer)
    assert again.depth == scorer.depth == 4


def test_a_row_alone_scores_as_among_others():
    scorer = Calibrated(class_trees(), calibrations())
    assert [scorer.predict(documents()[[row]])[0] for row in range(50)] == scorer.predict(documents()).tolist()
    assert scorer.predict(documents(), n_jobs=3).tolist() == scorer.predict(documents(), n_jobs=1).tolist()


def test_the_first_rounds_alone():
    scorer = Calibrated(class_trees(), StandardCalibration(GAINS, 9.0))
    assert scorer.n_rounds == 3
    assert scorer.first(2).n_rounds == 2
    most = np.abs(scorer.classes.values[len(scorer.classes.first(2).values) :]).max()
    assert scorer.first(2).calibration.total == pytest.approx(9.0 - most)
    fitted = Calibrated(class_trees(), SigmoidCalibration(GAINS, 2.0, 0.5))
    shorter = Calibrated(fitted.classes.first(2), fitted.calibration)
    assert fitted.first(2).predict(documents()).tolist() == shorter.predict(documents()).tolist()


def test_probabilities_sum_to_1_even_far_out():
    scores = np.array([[1e300, 0.0, -1e300], [0.0, 0.0, 0.0], [-800.0, -900.0, -1000.0]])
    for one in (
        StandardCalibration(GAINS, 5.0),
        SigmoidCalibration(GAINS, 2.0, 0.5),
        LogisticCalibration(GAINS, EYE, [0, 0, 0]),
    ):
        shares = one.probabilities(scores)
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    shares = SigmoidCalibration(GAINS, 1.0, 0.0).probabilities(scores)[2]
    np.testing.assert_allclose(shares, np.exp([0.0, -100.0, -200.0]))


def test_regressions_by_hand():
    at = np.array([[2.0, 3.0]])
    assert Polynomial([[0, 0], [1, 0], [1, 2]], [1.0, 10.0, 100.0])._score(at, None, 1).tolist() == [1821.0]
    network = HiddenLayer([[1.0], [-1.0]], [0.5], [2.0], 0.25)
    assert network._score(at, None, 1)[0] == pytest.approx(0.25 + 2 * np.tanh(-0.5))
    radial = RadialBasis([[2.0, 1.0]], [3.0], 2.0, 0.5)
    assert radial._score(at, None, 1)[0] == pytest.approx(0.5 + 3 * np.exp(-0.5))
    inner = Polynomial([[1, 0], [0, 1]], [1.0, 1.0])
    rescaled = Rescaled(inner, [1.0, 1.0], [1.0, 2.0], 0.0, 4.0)
    extremes = np.array([[2.0, 3.0], [9.0, 9.0], [-9.0, 0.0]])
    assert rescaled._score(extremes, None, 1).tolist() == [0.5, 1.0, 0.0]
    unclipped = replace(rescaled, clip=False)
    assert unclipped._score(extremes, None, 1).tolist() == [0.5, 12 / 4, -10.5 / 4]
    again = Rescaled.from_state(unclipped.state())
    assert not again.clip
    assert Rescaled.from_state(rescaled.state()).clip
    with pytest.raises(InputError, match="clip must be True or False, not 'no'"):
        replace(rescaled, clip="no")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Calibrated(class_trees(4), calibrations()), "There are 4 classes, but the calibration takes 3"),
        (lambda: StandardCalibration([], 1.0), "gains must hold at least one number"),
        (lambda: StandardCalibration([np.nan], 1.0), "gains"),
        (lambda: StandardCalibration(GAINS, np.inf), "total must be a finite number"),
        (lambda: SigmoidCalibration(GAINS, "steep", 0.0), "slope must be a finite number"),
        (lambda: LogisticCalibration(GAINS, EYE[:2], [0, 0, 0]), "weights has shape"),
        (lambda: Polynomial([[1, -1]], [1.0]), "powers must be between 0 and 8"),
        (lambda: Polynomial([[1, 99]], [1.0]), "powers must be between 0 and 8"),
        (lambda: Polynomial([[0.5]], [1.0]), "matrix of integers"),
        (lambda: Polynomial([[1, 1]], [1.0, 2.0]), "coefficients has shape"),
        (lambda: HiddenLayer([1.0], [1.0], [1.0], 0.0), "weights must be a matrix"),
        (lambda: HiddenLayer(EYE, [1.0], [1.0], 0.0), "intercepts has shape"),
        (lambda: RadialBasis(EYE, [1.0], 1.0, 0.0), "weights has shape"),
        (lambda: RadialBasis(EYE, [1.0] * 3, 0.0, 0.0), "length_scale must be positive"),
        (lambda: Rescaled(Polynomial([[1]], [1.0]), [0.0], [0.0], 0.0, 1.0), "every scale must be positive"),
        (lambda: Rescaled(Polynomial([[1]], [1.0]), [0.0], [1.0], 1.0, 1.0), "low must be below high"),
    ],
)
def test_wrong_values_are_refused(make, sentence):
    with pytest.raises(InputError, match=sentence):
        make()


def test_contributions_come_back_from_a_file():
    scorer = Calibrated(class_trees(), calibrations())
    again = decode(encode(scorer), "it")
    assert again.contributions(documents()).tobytes() == scorer.contributions(documents()).tobytes()

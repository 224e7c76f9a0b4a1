from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.neural_network import MLPRegressor

from properties import examples
from rankwright import _native
from rankwright.data.groups import QueryGroups
from rankwright.data.label_classes import LabelClasses
from rankwright.models import Scorer
from rankwright.models.probability_calibrations import log_sigmoid
from rankwright.training.calibration.calibrations import (
    CALIBRATIONS,
    CLASS_PROBABILITY,
    Standard,
    named_calibrations,
)
from rankwright.training.calibration.task import SIGMOID_GRID, CalibrationTask


def task(n_queries=12, n_documents=10, *, labels=(0.0, 1.0, 2.0), seed=1):
    """Documents whose own class is mostly scored highest."""
    rng = np.random.default_rng(seed)
    classes = LabelClasses(np.array(labels))
    n = n_queries * n_documents
    own = rng.choice(len(labels), n, p=np.linspace(2, 1, len(labels)) / np.linspace(2, 1, len(labels)).sum())
    scores = rng.normal(scale=0.7, size=(n, len(labels))) + 1.2 * np.eye(len(labels))[own] - 0.4
    groups = QueryGroups.of_sizes([n_documents] * n_queries)
    return CalibrationTask(scores, 5.0, classes.labels[own], groups, classes)


def scored(scorer, one):
    return scorer._score(one.scores, one.groups, 1)


SLOW = {"gaussian-process", "network", "polynomial-4", "polynomial-5"}
every_calibration = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CALIBRATIONS]
)


@every_calibration
def test_scores_are_from_0_to_1_and_rank_better_than_chance(name):
    one, other = task(), task(seed=2)
    scorer = CALIBRATIONS[name].fit(one)
    assert isinstance(scorer, Scorer)
    scores = scored(scorer, other)
    assert (scores >= 0).all()
    assert (scores <= 1).all()
    assert np.corrcoef(scores, other.labels)[0, 1] > 0.3


@every_calibration
def test_the_same_documents_give_the_same_bits(name):
    first, second = (scored(CALIBRATIONS[name].fit(task()), task(seed=2)) for _ in range(2))
    assert first.tobytes() == second.tobytes()


@every_calibration
def test_a_score_does_not_depend_on_the_rows_beside_it(name):
    scorer, one = CALIBRATIONS[name].fit(task()), task(seed=2)
    alone = [scorer._score(one.scores[[row]], one.groups, 1)[0] for row in range(20)]
    assert alone == scored(scorer, one)[:20].tolist()


@every_calibration
@pytest.mark.parametrize("labels", [(0.0, 1.0), (0.0, 4.0, 10.0), (0.5, 1.25, 2.0, 2.5, 4.0, 7.0)], ids=str)
def test_any_labels_will_do(name, labels):
    scorer = CALIBRATIONS[name].fit(task(labels=labels, n_queries=60))
    assert np.isfinite(scored(scorer, task(labels=labels, seed=2))).all()


@every_calibration
def test_a_label_that_the_calibration_part_lacks(name):
    one = task()
    rows = np.flatnonzero(one.labels < 2)
    lacking = CalibrationTask(
        one.scores[rows], 5.0, one.labels[rows], QueryGroups.of_sizes([len(rows)]), one.classes
    )
    assert np.isfinite(scored(CALIBRATIONS[name].fit(lacking), one)).all()


@every_calibration
def test_a_part_that_tells_nothing_is_no_failure(name):
    one = task(2)
    alike = CalibrationTask(one.scores, 5.0, np.ones(len(one.labels)), one.groups, one.classes)
    constant = CalibrationTask(np.ones_like(one.scores), 5.0, one.labels, one.groups, one.classes)
    for odd in (alike, constant):
        scorer = CALIBRATIONS[name].fit(odd)
        assert scorer is None or np.isfinite(scored(scorer, one)).all()


def uncalibrated(seed):
    """Documents whose labels have nothing to do with their scores."""
    one = task(seed=seed)
    labels = np.random.default_rng(seed).permutation(one.labels)
    return CalibrationTask(one.scores, one.total, labels, one.groups, one.classes)


@pytest.mark.slow
def test_a_gaussian_process_is_scikit_learns_without_its_warnings():
    one = uncalibrated(5)
    gains = one.classes.gains[one.own]
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(1.0, (0.1, 1e3)) + WhiteKernel(1.0, (1e-3, 1e3))
    with pytest.warns(ConvergenceWarning, match="close to the specified"):
        theirs = GaussianProcessRegressor(kernel, normalize_y=True).fit(one.standardised, gains)
    ours = CALIBRATIONS["gaussian-process"].fit(one)
    values = ours.inner._score(one.standardised, one.groups, 1)
    np.testing.assert_allclose(values, theirs.predict(one.standardised), atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_network_fits_as_well_as_scikit_learns_without_its_warnings(seed):
    one = uncalibrated(seed)
    X, gains = one.standardised, one.classes.gains[one.own]
    network = CALIBRATIONS["network"]
    ours = network.fit(one).inner
    like = {"hidden_layer_sizes": 5, "activation": "tanh", "solver": "lbfgs", "alpha": network.penalty}
    theirs = [MLPRegressor(**like, random_state=draw).fit(X, gains) for draw in range(2)]

    def loss(weights, outputs, values):
        return ((values - gains) ** 2).sum() + network.penalty * ((weights**2).sum() + (outputs**2).sum())

    own = loss(ours.weights, ours.output_weights, ours._score(X, one.groups, 1))
    assert own <= max(loss(*model.coefs_, model.predict(X)) for model in theirs) * 1.001


def test_standard_is_equation_3():
    one = task()
    shifted = 0.5 * (1 + one.scores / one.total)
    expected = (shifted / shifted.sum(axis=1, keepdims=True)) @ one.classes.gains
    np.testing.assert_allclose(scored(Standard().fit(one), one), expected, rtol=1e-12)


def sigmoid_probabilities(one, slope, middle):
    """Equation 4, literally."""
    sigmoids = 1 / (1 + np.exp(-slope * (one.scores - middle)))
    return sigmoids / sigmoids.sum(axis=1, keepdims=True)


def smooth_dcg(one, probabilities, sigma):
    """The soft ranks of section 4.2, literally."""
    total, gains = 0.0, np.exp2(one.classes.labels) - np.exp2(one.classes.labels[0])
    for rows in one.groups:
        scores = probabilities[rows] @ gains
        for t, j in enumerate(np.argsort(-scores, kind="stable"), start=1):
            near = np.exp(-((scores - scores[j]) ** 2) / sigma)
            total += (near / near.sum()) @ gains[one.own[rows]] / np.log2(1 + t)
    return total


def literal_target(name, p, one, *, C=2, sigma=0.01):
    """The target functions of section 4.2, literally."""
    own, labels = p[np.arange(len(p)), one.own], one.classes.labels
    if name == "ls":
        return -np.log(own).sum()
    if name == "ewls":
        return (-np.log(own) * (-p * np.log(p)).sum(axis=1) ** C).sum()
    if name == "el":
        return ((labels - one.labels[:, None]) ** 2 * p).sum()
    if name == "ell":
        return ((p @ labels - one.labels) ** 2).sum()
    return -smooth_dcg(one, p, sigma)


@pytest.mark.parametrize("name", CLASS_PROBABILITY)
def test_a_target_function_is_the_papers(name):
    one = task()
    expected = literal_target(name, sigmoid_probabilities(one, 1.7, 0.3), one)
    (found,) = CALIBRATIONS[name].target(one, np.array([[1.7, 0.3]]))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", ["ewls", "sn"])
def test_the_constants_of_the_paper_may_be_changed(name):
    one = task()
    ((_, calibration),) = named_calibrations([name], entropy_power=0.5, smoothness=0.3, clip=True)
    (found,) = calibration.target(one, np.array([[1.7, 0.3]]))
    expected = literal_target(name, sigmoid_probabilities(one, 1.7, 0.3), one, C=0.5, sigma=0.3)
    assert found == pytest.approx(expected, rel=1e-9)
    assert found != pytest.approx(CALIBRATIONS[name].target(one, np.array([[1.7, 0.3]]))[0])


SCORES = st.sampled_from([-1.0, 0.0, 0.5]) | st.floats(-1e6, 1e6)


@examples(200)
@given(st.data(), st.integers(1, 7), st.integers(0, 150))
def test_the_kernel_of_the_log_likelihood_is_its_twin(data, n_classes, n_documents):
    scores = data.draw(arrays.arrays(np.float64, (n_classes, n_documents), elements=SCORES))
    own = data.draw(arrays.arrays(np.int64, n_documents, elements=st.integers(0, n_classes - 1)))
    slope, middle = data.draw(st.floats(1e-6, 1e3)), data.draw(SCORES)
    (found,) = _native.log_sigmoid_losses(scores, own, np.array([[slope, middle]]))
    sigmoids = log_sigmoid(slope * (scores - middle))
    expected = np.logaddexp.reduce(sigmoids, axis=0) - sigmoids[own, np.arange(n_documents)]
    assert found == pytest.approx(expected.sum(), rel=1e-12, abs=1e-12 * (1 + np.abs(sigmoids).sum()))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"scores": np.zeros((0, 2))}, "from 1 to 256 classes"),
        ({"scores": np.zeros((257, 2))}, "from 1 to 256 classes"),
        ({"scores": np.full((2, 2), np.inf)}, "scores must be finite"),
        ({"own": np.array([0])}, "one class per document"),
        ({"own": np.array([0, 2])}, "a class is out of range"),
        ({"own": np.array([0, -1])}, "a class is out of range"),
        ({"sigmoids": np.ones((1, 3))}, "a slope and a middle"),
        ({"sigmoids": np.array([[0.0, 1.0]])}, "slopes must be positive"),
        ({"sigmoids": np.array([[1e308, 1e308]])}, "values finite"),
        ({"sigmoids": np.array([[1.0, np.nan]])}, "values finite"),
    ],
)
def test_the_kernel_of_the_log_likelihood_refuses_what_is_wrong(changes, sentence):
    right = {"scores": np.zeros((2, 2)), "own": np.array([0, 1]), "sigmoids": np.ones((1, 2))}
    with pytest.raises(ValueError, match=sentence):
        _native.log_sigmoid_losses(**(right | changes))


@examples(100)
@given(arrays.arrays(np.float64, st.integers(0, 40), elements=st.floats(max_value=700.0)))
def test_exponentials_have_the_same_bits_on_every_path(values):
    paths = [_native.exponentials(values, path) for path in range(_native.widest_path() + 1)]
    np.testing.assert_allclose(paths[0], np.where(values < -708.0, 0.0, np.exp(values)), rtol=1e-15)
    for other in paths[1:]:
        assert other.tobytes() == paths[0].tobytes()


@pytest.mark.parametrize("name", ["linear", "polynomial-2"])
def test_without_clipping_scores_are_rescaled_alone(name):
    """(g - min) / (max - min) over the calibration documents, for any document."""
    one = task()
    far = replace(one, scores=3.0 * one.scores)
    ((_, calibration),) = named_calibrations([name], entropy_power=2.0, smoothness=0.01, clip=False)
    fitted, clipped = calibration.fit(one), CALIBRATIONS[name].fit(one)
    g = [fitted.inner._score((x.scores - one.centre) / one.scale, x.groups, 1) for x in (one, far)]
    expected = (g[1] - g[0].min()) / (g[0].max() - g[0].min())
    np.testing.assert_allclose(scored(fitted, far), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scored(clipped, far), np.clip(expected, 0, 1), rtol=1e-5, atol=1e-6)
    assert expected.max() > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASS_PROBABILITY)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fit_reaches_the_best_of_a_dense_grid(name, seed):
    one = task(6, seed=seed)
    target = CALIBRATIONS[name].target
    (low, first), (high, last) = SIGMOID_GRID[0], SIGMOID_GRID[-1]
    points = [
        one.sigmoid_at(np.array([log_slope, middle]))
        for log_slope in np.linspace(low, high, 60)
        for middle in np.linspace(first, last, 60)
    ]
    grid = target(one, np.array(points))
    fitted = CALIBRATIONS[name].fit(one)
    (found,) = target(one, np.array([[fitted.slope, fitted.middle]]))
    assert found <= min(grid) + 0.01 * (max(grid) - min(grid))


@examples(100)
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 2**32), st.sampled_from([1e-3, 0.01, 1.0])
)
def test_the_kernel_of_soft_ranks_is_its_twin(sizes, seed, sigma):
    rng = np.random.default_rng(seed)
    groups = QueryGroups.of_sizes(sizes)
    scores, gains = rng.choice([0.0, 0.1, 0.12, 0.5], groups.n_rows), rng.choice([0.0, 1.0, 3.0], groups.n_rows)
    expected = []
    for rows in groups:
        value = 0.0
        for t, j in enumerate(rows[np.argsort(-scores[rows], kind="stable")], start=1):
            near = np.exp(-((scores[rows] - scores[j]) ** 2) / sigma)
            value += (near @ gains[rows]) / near.sum() / np.log2(1 + t)
        expected.append(value)
    found = [_native.smooth_dcg(groups.offsets, scores, gains, sigma, threads) for threads in (1, 2)]
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sigma": 0.0}, "sigma must be finite and above 0"),
        ({"sigma": np.nan}, "sigma must be finite and above 0"),
        ({"scores": np.array([np.nan, 1.0])}, "scores must be finite"),
        ({"gains": np.zeros(3)}, "one finite gain per score"),
        ({"offsets": np.array([0, 3])}, "offsets must run from 0"),
    ],
)
def test_the_kernel_of_soft_ranks_refuses_what_is_wrong(changes, sentence):
    right = {
        "offsets": np.array([0, 2]),
        "scores": np.zeros(2),
        "gains": np.zeros(2),
        "sigma": 1.0,
        "n_threads": 1,
    }
    with pytest.raises(ValueError, match=sentence):
        _native.smooth_dcg(**(right | changes))

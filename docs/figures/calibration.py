"""Draw how reliable probabilities are, and what a pool's members weigh: `python docs/figures/calibration.py`.

Both figures are of generated queries; they are written beside this file.
"""

from pathlib import Path

import numpy as np

import rankwright as rw
from rankwright.analyses.reliability import reliability, reliability_chart
from rankwright.data.label_classes import LabelClasses
from rankwright.reports.charts import Chart, tile_chart
from rankwright.training.calibration.calibrations import CALIBRATIONS
from rankwright.training.calibration.task import CalibrationTask

TRUTH = {"n_features": 30, "n_active": 10, "n_terms": 20, "degree": 2}
SHOWN = ("standard", "ls", "ell", "logistic")
LEAVES, TERMS, EXPONENT = (5, 15, 30), (2, 5, 10), 100.0


def parts() -> list[rw.RankingData]:
    """Return queries to learn from, to calibrate on and to judge."""
    truth = rw.synthetic.RandomPolynomial.draw(1, **TRUTH)
    sizes = {1: 200, 2: 100, 3: 500}
    return [truth.sample(size, seed=seed, n_documents=20) for seed, size in sizes.items()]


def reliability_diagram() -> Chart:
    """Return how often test documents have a label, by how likely one classifier calls it."""
    learn, calibrate, test = parts()
    model = rw.AdaBoostMH(rounds=100, n_jobs=1).fit(learn).model_
    classes = LabelClasses.of(learn.y)
    scores, test_scores = (np.ascontiguousarray(model.classes.outputs(part).T) for part in (calibrate, test))
    task = CalibrationTask(scores, model.calibration.total, calibrate.y, calibrate.groups, classes)
    outcomes = test.y[:, None] == classes.labels
    fitted = {name: CALIBRATIONS[name].fit(task) for name in SHOWN}
    said = {name: one.probabilities(test_scores) for name, one in fitted.items()}
    return reliability_chart({name: reliability(one, outcomes, n_bins=20) for name, one in said.items()})


def pool_weights() -> Chart:
    """Return what the members of a pool with all calibrations weigh, summed over splits and rounds."""
    train, valid, _ = parts()
    pool = rw.CalibratedAdaBoost(
        leaves=LEAVES,
        terms=TERMS,
        calibrations=tuple(CALIBRATIONS),
        splits=3,
        bagging=False,
        exponents=(EXPONENT,),
        n_jobs=1,
    )
    members = pool.fit(train, validation=valid).pool_
    learners = list(dict.fromkeys(one.learner for one in members))
    table = {name: dict.fromkeys(learners, 0.0) for name in CALIBRATIONS}
    for one in members:
        table[one.calibration][one.learner] += one.weight
    label = f"share of all weight by calibration and base learner, c = {EXPONENT:g}"
    weights = {(name, learner): weight for name, row in table.items() for learner, weight in row.items()}
    name, learner = max(weights, key=weights.__getitem__)
    description = f"{label}; most, {weights[name, learner]:.1%}, for {name} of {learner}."
    return tile_chart(table, label, description=description)


if __name__ == "__main__":
    for name, drawn in {"reliability": reliability_diagram, "pool-weights": pool_weights}.items():
        drawn().save(Path(__file__).with_name(f"{name}.svg"))

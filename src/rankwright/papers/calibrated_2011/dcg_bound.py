"""Section 6 of Busa-Fekete et al. (2011): the DCG that wrong class probabilities lose, below its bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.analyses.dcg_bound import dcg_loss
from rankwright.base.wording import metric_value
from rankwright.data.synthetic import RandomPolynomial
from rankwright.papers.calibrated_2011.pools import Calibrations
from rankwright.papers.framework.experiment import Claim, DataTrial, Experiment, Finding, Picture
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.rows import OPPOSITE, REACHED
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.reports.charts.bars import grouped_bar_chart
from rankwright.training.calibration.calibrations import CLASS_PROBABILITY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.base.arrays import Doubles
    from rankwright.data.dataset import RankingData
    from rankwright.papers.framework.experiment import Setup
    from rankwright.reports.charts.chart import Chart

POWERS = {"1": 1.0, "2": 2.0, "infinity": np.inf}  # p of the proposition
SHARES = (0.6, 0.25, 0.15)
ROUNDING = 1e-9


@dataclass(frozen=True)
class NoisyLabels:
    """Queries of three labels, some of which are drawn at random: the probability of each label is known."""

    n_queries: int
    noise: float = 0.3
    title: str = "generated, with known probabilities"

    def trials(self) -> Sequence[str]:
        """Return the name of the only trial."""
        return ("1",)

    def trial(self, name: str) -> DataTrial:
        """Draw training, validation and test queries."""
        train, valid, test = (
            self._truth.sample(self.n_queries, seed=seed, n_documents=20, noise=self.noise) for seed in (1, 2, 3)
        )
        return DataTrial(name, train, valid, test)

    @property
    def _truth(self) -> RandomPolynomial:
        return RandomPolynomial.draw(1, n_features=20, n_active=8, n_terms=10, degree=2, label_shares=SHARES)

    def probabilities(self, data: RankingData) -> Doubles:
        """Return the true probability of each label, one row per document."""
        truth = self._truth
        label = np.searchsorted(truth.thresholds, truth.values(data.X), side="right")
        return self.noise * np.array(SHARES) + (1.0 - self.noise) * np.eye(len(SHARES))[label]


@dataclass(frozen=True)
class ExpectedLosses:
    """Per test query: the expected DCG that is lost, and its bounds, each by p; gains are 2^label + 1."""

    source: NoisyLabels

    def __call__(self, model: Any, trial: DataTrial, threads: int) -> dict[str, Doubles]:
        """Compare the model's probabilities with the true ones."""
        data = trial.test
        estimated, true = model.probabilities(data, n_jobs=threads), self.source.probabilities(data)
        gains = np.exp2(np.arange(1.0, len(SHARES) + 1.0)) + 1.0
        by_kind: dict[str, Doubles] = {}
        for name, power in POWERS.items():
            losses = [dcg_loss(estimated[rows], true[rows], gains, power=power) for rows in data.groups]
            kinds = zip(("lost", "bound", "corollary"), np.array(losses).T, strict=True)
            by_kind |= {f"{kind}, p {name}": values for kind, values in kinds}
        return by_kind


def dcg_bound(setup: Setup) -> Experiment:
    """Return the proposition and its corollary, for five calibrations of one classifier."""
    source = NoisyLabels(20 if setup.quick else 200)
    ranker = CalibratedAdaBoost.as_printed(
        leaves=(10,), terms=(), rounds_tried=(50,), calibrations=tuple(CLASS_PROBABILITY), clip=True
    )
    return Experiment(
        name="Bound of section 6",
        about=f"{source.n_queries} training and as many test queries of 20 documents. {source.noise:.0%} of the "
        "labels are drawn at random, so that the true probability of each label is known. Trees of 10 leaves, 50 "
        "rounds, five calibrations of class probabilities.",
        source=source,
        systems={"trees": Calibrations(ranker)},
        measures=(ExpectedLosses(source),),
        claims=tuple(
            Claim(
                where,
                f"the expected DCG that is lost is never above the bound of the {where.lower()}",
                _never_above(kind),
                proved=True,
                part_of="the bounds of section 6",
            )
            for where, kind in (("Proposition", "bound"), ("Corollary", "corollary"))
        ),
        figures=(Picture("Section 6", "The expected DCG that is lost is below its bounds.", _losses_and_bounds),),
    )


@curried
def _never_above(results: Measurements, kind: str) -> Finding:
    cases = [(model, power) for model in CLASS_PROBABILITY for power in POWERS]
    gaps = np.concatenate(
        [
            results.values(model, f"{kind}, p {power}") - results.values(model, f"lost, p {power}")
            for model, power in cases
        ]
    )
    lost, bound = (results.mean("ls", f"{each}, p 2") for each in ("lost", kind))
    text = (
        f"mean loss of LS {metric_value(lost)}, bound with p = 2 {metric_value(bound)}; least distance in "
        f"{len(gaps):,} cases"
    )
    return Finding(REACHED if gaps.min() >= -ROUNDING else OPPOSITE, text, float(gaps.min()), unit="distance")


def _losses_and_bounds(results: Measurements) -> Chart:
    table = {
        model: {kind: results.mean(model, f"{kind}, p 2") for kind in ("lost", "bound", "corollary")}
        for model in CLASS_PROBABILITY
    }
    description = "Expected DCG that calibrations lose, and its bounds with p = 2, means over test queries."
    return grouped_bar_chart(table, "expected DCG", description=description)

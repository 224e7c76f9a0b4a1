"""Overfitting of MPBoost over many rounds, with directed distances and without (Zhu et al. 2009, figure 6).

`python -m benchmarks.overfitting [FIGURE.svg]` trains on generated queries with five labels, a fraction of which
is replaced by random ones, and measures NDCG@5 on clean queries after every 10 rounds. The parameter of each
distance is chosen on a noisy validation part, as in the paper.
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np

import rankwright as rw
from rankwright.metrics import NDCG
from rankwright.rankers.shared.distances import Binary, Distance, Linear, Logarithmic, Logistic
from rankwright.reports.charts import line_chart

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData
    from rankwright.reports.charts import Chart

ROUNDS, EVERY = 600, 10
SEEDS = range(5)
NOISE = 0.3
DISTANCES: dict[str, tuple[Distance, ...]] = {
    "binary": (Binary(),),
    "linear": (Linear(0.0625), Linear(0.125), Linear(0.25)),
    "logarithmic": (Logarithmic(0.125), Logarithmic(0.25), Logarithmic(0.5)),
    "logistic": (Logistic(0.25), Logistic(0.5), Logistic(1.0)),
}


def parts(seed: int) -> tuple[RankingData, RankingData, RankingData]:
    """Return noisy training and validation queries, and clean test queries."""
    truth = rw.synthetic.RandomPolynomial.draw(seed, n_features=30, n_active=10, n_terms=20, degree=2)
    return (
        truth.sample(100, seed=3 * seed + 1, n_documents=20, noise=NOISE),
        truth.sample(100, seed=3 * seed + 2, n_documents=20, noise=NOISE),
        truth.sample(500, seed=3 * seed + 3, n_documents=20),
    )


def test_curve(choices: tuple[Distance, ...], seed: int) -> np.ndarray:
    """Return NDCG@5 on the test part after every `EVERY` rounds, for the distance that is best on validation."""
    train, valid, test = parts(seed)
    fits = [rw.MPBoost(NDCG(k=5), distance=one, rounds=ROUNDS, learning_rate=1.0, n_jobs=1) for one in choices]
    best = max((one.fit(train) for one in fits), key=lambda one: one.score(*valid))
    counts = range(EVERY, best.model_.n_trees + 1, EVERY)
    return np.array([NDCG(k=5)(test.y, best.model_.first(n).predict(test), test.qid) for n in counts])


def main() -> None:
    """Print the peak of each distance and the loss after it; draw the curves if a file is given."""
    warnings.filterwarnings("ignore", message=".*condition 9")
    curves = {}
    print(
        f"MPBoost, 5 labels, {NOISE:.0%} of them random, mean of {len(SEEDS)} data sets: NDCG@5 on clean queries"
    )
    for name, choices in DISTANCES.items():
        curve = curves[name] = np.mean([test_curve(choices, seed) for seed in SEEDS], axis=0)
        peak = int(np.argmax(curve))
        print(
            f"{name:<14}peak {curve[peak]:.4f} at round {EVERY * (peak + 1):>4}, after {ROUNDS} {curve[-1]:.4f}, "
            f"lost {curve[peak] - curve[-1]:.4f}"
        )
    if len(sys.argv) > 1 and sys.argv[1].endswith(".svg"):
        figure(curves).save(sys.argv[1])


def figure(curves: dict[str, np.ndarray]) -> Chart:
    """Return the curves of all distances."""
    lines = {name: [(EVERY * (n + 1), y) for n, y in enumerate(one)] for name, one in curves.items()}
    ends = ", ".join(
        f"{name} {one.max():.4f} at best and {one[-1]:.4f} in the end" for name, one in curves.items()
    )
    description = f"NDCG@5 on test queries by round: {ends}."
    return line_chart(lines, "round", "NDCG@5 on test queries", description=description)


if __name__ == "__main__":
    main()

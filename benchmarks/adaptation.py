"""Adapts a ranker of a large market to a small one, on generated data (Wu et al. 2010, tables 2 to 4).

`python -m benchmarks.adaptation` prints the table; `--figure FILE` draws it; `--background lightgbm` adapts a
model of LightGBM. Background and target are random polynomials with the same terms; the target's coefficients are
mixed with newly drawn ones. All choices are made on validation queries of the target.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from rankwright.metrics import NDCG
from rankwright.reports.charts import line_chart

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankwright.data.dataset import RankingData
    from rankwright.evaluation.report import Report
    from rankwright.reports.charts import Chart

    Scores = Callable[[RankingData], NDArray[np.float64]]

SEED, SHIFT = 1, 0.5
N_BACKGROUND, N_VALIDATION, N_TEST, N_DOCUMENTS = 5_000, 200, 1_000, 20
SIZES = (100, 200, 500, 1_000)
METRIC = "ndcg@10"
SYSTEMS = ("LambdaSMART", "interpolated", "in-domain", "background")
ALPHAS = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 121)])  # weights of the in-domain ranker relative to 1


SETTINGS: tuple[dict[str, Any], ...] = ({}, {"learning_rate": 0.1, "max_leaves": 16})


def fitted(train: RankingData, valid: RankingData, start: Any, threads: int | None) -> rw.LambdaMART:
    """Return LambdaMART with defaults or with larger trees and steps, whichever is better on validation data."""
    each = [
        rw.LambdaMART(n_jobs=threads, **setting).fit(train, validation=valid, start=start) for setting in SETTINGS
    ]
    return max(each, key=lambda one: one.history_.validation.max())


def run(background: str = "rankwright", seed: int = SEED, threads: int | None = None) -> dict[int, Report]:
    """Return, for each number of adaptation queries, the report of all systems on the target's test queries."""
    large = rw.synthetic.RandomPolynomial.draw(seed, n_features=50, n_terms=50, n_active=50)
    small = large.shifted(SHIFT, seed=seed)
    options: dict[str, Any] = {"n_documents": N_DOCUMENTS}
    valid, test = small.sample(N_VALIDATION, seed=2, **options), small.sample(N_TEST, seed=3, **options)
    start, scores = BACKGROUNDS[background](large.sample(N_BACKGROUND, seed=1, **options), threads)
    pool = small.sample(max(SIZES), seed=4, **options)
    found = {}
    for size in SIZES:
        train = pool.take_queries(np.arange(size))
        in_domain = fitted(train, valid, None, threads)
        adapted = fitted(train, valid, start, threads)
        alpha = _best_alpha(scores(valid), in_domain.predict(valid), valid)
        needed = {} if background == "rankwright" else {"init_score": scores(test)}
        adapted_scores = adapted.predict(test, **needed)
        systems = {
            "LambdaSMART": adapted_scores,
            "interpolated": scores(test) + alpha * in_domain.predict(test),
            "in-domain": in_domain.predict(test),
            "background": scores(test),
        }
        found[size] = rw.evaluate(systems, test, metrics=[METRIC], n_jobs=threads)
    return found


def _best_alpha(one: NDArray[np.float64], other: NDArray[np.float64], valid: RankingData) -> float:
    """Return the weight of the other ranker that is best on the validation part; the middle one if several are."""
    values = np.array([NDCG(k=10)(valid.y, one + alpha * other, valid.qid) for alpha in ALPHAS])
    best = np.flatnonzero(values == values.max())
    return float(ALPHAS[best[len(best) // 2]])


def _rankwright(data: RankingData, threads: int | None) -> tuple[Any, Scores]:
    plain = {"subsample": 1.0, "feature_fraction": 1.0, "l2": 0.0, "min_documents": 20}  # as LightGBM's
    model = rw.LambdaMART(rounds=300, learning_rate=0.1, max_leaves=16, n_jobs=threads, **plain).fit(data)
    return model, model.predict


def _lightgbm(data: RankingData, threads: int | None) -> tuple[Any, Scores]:
    import lightgbm

    sizes = np.diff(np.append(np.flatnonzero(np.diff(data.qid, prepend=-1)), len(data)))
    options = {"objective": "lambdarank", "num_leaves": 16, "learning_rate": 0.1, "verbosity": -1}
    if threads is not None:
        options["num_threads"] = threads
    model = lightgbm.train(options, lightgbm.Dataset(data.X, data.y, group=sizes), 300)
    return model, lambda other: np.asarray(model.predict(other.X))


BACKGROUNDS = {"rankwright": _rankwright, "lightgbm": _lightgbm}


def main() -> None:
    """Print a table of means, and the significance of LambdaSMART's lead over each other system."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--background", choices=tuple(BACKGROUNDS), default="rankwright")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    found = run(options.background, options.seed, options.threads)
    print(
        f"Adaptation: {N_BACKGROUND:,} background queries ({options.background}), {N_VALIDATION} validation and "
        f"{N_TEST:,} test queries of the target, {N_DOCUMENTS} documents each; {METRIC}"
    )
    print(f"{'queries':>8}" + "".join(f"{system:>14}" for system in SYSTEMS) + "   p against each")
    for size, report in found.items():
        means = "".join(f"{report.mean(system, METRIC):>14.4f}" for system in SYSTEMS)
        p_values = (report.compare(SYSTEMS[0], other, METRIC).p_value for other in SYSTEMS[1:])
        print(f"{size:>8}{means}   {', '.join(f'{p_value:.4f}' for p_value in p_values)}")
    if options.figure:
        _figure(found).save(options.figure)


def _figure(found: dict[int, Report]) -> Chart:
    curves = {
        system: [(size, report.mean(system, METRIC)) for size, report in found.items()] for system in SYSTEMS
    }
    ends = ", ".join(f"{system} {curve[-1][1]:.4f}" for system, curve in curves.items())
    description = f"{METRIC} by number of adaptation queries; with {max(SIZES):,}: {ends}."
    return line_chart(curves, "adaptation queries", METRIC, description=description)


if __name__ == "__main__":
    main()

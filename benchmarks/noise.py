"""Robustness to label noise, the future work of Busa-Fekete, Kégl, Éltető & Szarvas (2011).

`python -m benchmarks.noise` trains on generated queries with five labels. In the training and validation parts a
fraction of the labels is flipped: replaced by one of the other labels, all with the same probability. It measures
NDCG@10 on clean queries for several data sets, and how much each ranker, with its defaults, loses compared with
training without noise. Every data set has its own function; a larger fraction flips the same labels and more.
`--setting` chooses another kind of data; `--figure FILE` draws the losses.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import rankwright as rw
from rankwright.metrics import NDCG
from rankwright.reports.charts import line_chart

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData
    from rankwright.rankers.ranker import Ranker
    from rankwright.reports.charts import Chart

METRIC = NDCG(k=10)
SHARES = (0.0, 0.1, 0.2)
ENSEMBLE = "CalibratedAdaBoost"


@dataclass(frozen=True)
class Setting:
    """The numbers of queries and documents, and the options of the target function."""

    n_train: int
    n_validation: int
    function: dict[str, Any]
    n_documents: int = 20
    n_test: int = 500


QUADRATIC = {"n_features": 30, "n_active": 10, "n_terms": 20, "degree": 2}  # as in benchmarks/overfitting.py
SETTINGS = {
    "small": Setting(200, 100, QUADRATIC),
    "smaller": Setting(60, 30, QUADRATIC),
    "cubic": Setting(200, 100, {}),
}


def rankers(threads: int | None) -> dict[str, Ranker]:
    """Return every ranker with its defaults."""
    kinds: dict[str, type[Ranker]] = {
        ENSEMBLE: rw.CalibratedAdaBoost,
        "AdaBoostMH": rw.AdaBoostMH,
        "LambdaMART": rw.LambdaMART,
        "MART": rw.MART,
        "McRank": rw.McRank,
        "MPBoost": rw.MPBoost,
        "RankSVM": rw.RankSVM,
    }
    return {name: kind(METRIC, n_jobs=threads) for name, kind in kinds.items()}


def flipped(data: RankingData, share: float, seed: int) -> RankingData:
    """Return the data with a fraction of the labels replaced by one of the other labels, drawn at random."""
    random = np.random.default_rng(seed)
    labels = np.unique(data.y)
    numbers = np.searchsorted(labels, data.y)
    hit = random.permutation(len(data))[: round(share * len(data))]
    moves = random.integers(1, len(labels), len(data))
    numbers[hit] = (numbers[hit] + moves[hit]) % len(labels)
    return rw.RankingData(data.X, labels[numbers], data.qid)


def values(setting: Setting, seed: int, threads: int | None) -> dict[str, list[float]]:
    """Return each ranker's metric on clean queries, by fraction of flipped labels, for one data set."""
    truth = rw.synthetic.RandomPolynomial.draw(seed, **setting.function)
    sizes = (setting.n_train, setting.n_validation, setting.n_test)
    train, valid, test = (
        truth.sample(size, seed=3 * seed + place, n_documents=setting.n_documents)
        for place, size in enumerate(sizes)
    )
    found: dict[str, list[float]] = {name: [] for name in rankers(threads)}
    for share in SHARES:
        parts = flipped(train, share, 2 * seed), flipped(valid, share, 2 * seed + 1)
        for name, ranker in rankers(threads).items():
            fitted = ranker.fit(parts[0], validation=parts[1])
            found[name].append(METRIC(test.y, fitted.predict(test), test.qid))
    return found


def main() -> None:
    """Print each ranker's values and losses, and how much less the ensemble loses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", choices=SETTINGS, default="small")
    parser.add_argument("--data-sets", type=int, default=10)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    setting, started, runs = SETTINGS[options.setting], time.process_time(), []
    for seed in range(1, options.data_sets + 1):
        runs.append(values(setting, seed, options.threads))
        seconds = time.process_time() - started
        print(f"({seed} of {options.data_sets}: {seconds:.0f} s of processor time)", file=sys.stderr)
    by_ranker = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    lost = {name: found[:, :1] - found[:, 1:] for name, found in by_ranker.items()}
    queries = f"{setting.n_train} training and {setting.n_validation} validation queries"
    print(f"Flipped labels: {queries} of {setting.n_documents} documents, {len(runs)} data sets, {METRIC}")
    heads = [f"{share:.0%}" for share in SHARES] + [f"lost at {share:.0%}" for share in SHARES[1:]]
    print(f"{'':<20}" + "".join(f"{head:>18}" for head in heads))
    for name, found in by_ranker.items():
        print(f"{name:<20}" + "".join(f"{shown(column):>18}" for column in (*found.T, *lost[name].T)))
    for name in lost:
        if name != ENSEMBLE:
            less = "; ".join(
                f"{shown(difference)} at {share:.0%}, {(difference > 0).sum()} of {len(runs)}"
                for share, difference in zip(SHARES[1:], (lost[name] - lost[ENSEMBLE]).T, strict=True)
            )
            print(f"{ENSEMBLE} loses less than {name} by {less}")
    if options.figure:
        figure({name: sample.mean(axis=0).tolist() for name, sample in lost.items()}).save(options.figure)


def shown(sample: np.ndarray) -> str:
    """Return the mean over data sets and its standard error."""
    return f"{sample.mean():.4f} +- {sample.std(ddof=1) / np.sqrt(len(sample)):.4f}"


def figure(lost: dict[str, list[float]]) -> Chart:
    """Return the mean loss of each ranker by fraction of flipped labels."""
    shares = [100 * share for share in SHARES]
    curves = {name: list(zip(shares, [0.0, *means], strict=True)) for name, means in lost.items()}
    ends = ", ".join(f"{name} {means[-1]:.4f}" for name, means in lost.items())
    description = f"{METRIC} lost by percentage of labels flipped; at {shares[-1]:g} %: {ends}."
    return line_chart(curves, "% of labels flipped", f"{METRIC} lost", description=description)


if __name__ == "__main__":
    main()

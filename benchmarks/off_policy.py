"""Off-policy estimates beside obp's, on the Open Bandit data inside its wheel.

`pip install --no-deps obp==0.4.1` brings the data; to compute obp's own estimates it also needs torch, seaborn and
mypy-extensions. `python -m benchmarks.off_policy` prints, for three campaigns, what either policy would have had,
from the log of the other: our estimates, the largest difference from obp's, the on-policy value, and the fraction
of 1,000 bootstrap samples of the log whose 95 % interval has that value. Then it prints in how many of 1,000
simulated logs the interval of IPS, and the normal one, miss a value that is known. `--write FILE` writes obp's
estimates.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankwright.base.arrays import Doubles, Integers

CAMPAIGNS, POSITIONS = ("all", "men", "women"), 3
BOOTSTRAPS = 1000
NORMAL_95 = 1.959964


class Logged(NamedTuple):
    """The decisions of a policy: items and positions from 0, clicks, and the probability of the item there."""

    item: Integers
    position: Integers
    click: Doubles
    propensity: Doubles


class Question(NamedTuple):
    """Which policy is evaluated by which log: its probability of every item at every position."""

    name: str
    log: Logged
    chances: Doubles
    on_policy: float

    @property
    def weights(self) -> Doubles:
        """The importance weight of each decision."""
        return self.chances[self.log.item, self.log.position] / self.log.propensity

    @property
    def rates(self) -> Doubles:
        """A prediction of clicks by item and position: smoothed click rates of items."""
        n_items = len(self.chances)
        clicks, shown = (np.bincount(self.log.item, each, n_items) for each in (self.log.click, None))
        return np.repeat(((clicks + 1.0) / (shown + 200.0))[:, None], POSITIONS, axis=1)


def data_folder() -> Path | None:
    """Return the folder of the data in obp's installation; None if it is not installed."""
    spec = find_spec("obp")
    return None if spec is None or spec.origin is None else Path(spec.origin).parent / "dataset" / "obd"


def questions(folder: Path) -> Iterator[Question]:
    """Yield both questions for every campaign.

    The random policy shows all items alike. The other one, Thompson sampling, does not look at users and changes
    over time: its probabilities are how often it showed each item at each position.
    """
    for campaign in CAMPAIGNS:
        random, sampling = (_read(folder / policy / campaign / f"{campaign}.csv") for policy in ("random", "bts"))
        n_items = int(random.item.max()) + 1
        frequency = np.zeros((n_items, POSITIONS))
        np.add.at(frequency, (sampling.item, sampling.position), 1.0)
        uniform = np.full((n_items, POSITIONS), 1.0 / n_items)
        yield Question(f"{campaign}: random from bts", sampling, uniform, float(random.click.mean()))
        yield Question(
            f"{campaign}: bts from random", random, frequency / frequency.sum(0), float(sampling.click.mean())
        )


def _read(path: Path) -> Logged:
    with path.open() as file:
        rows = [
            (int(row["item_id"]), int(row["position"]) - 1, float(row["click"]), float(row["propensity_score"]))
            for row in csv.DictReader(file)
        ]
    item, position, click, propensity = map(np.array, zip(*rows, strict=True))
    return Logged(item, position, click, propensity)


def our_estimates(question: Question) -> dict[str, rw.clicks.OffPolicyEstimate]:
    """Return our estimates."""
    log, rates = question.log, question.rates
    expected = (question.chances * rates).sum(axis=0)[log.position]
    predicted = rates[log.item, log.position]
    return rw.clicks.importance_estimates(log.click, question.weights, predicted=predicted, expected=expected)


def obp_estimates(question: Question) -> dict[str, float]:
    """Return obp's estimates."""
    from obp import ope

    log = question.log
    feedback = {
        "reward": log.click,
        "action": log.item,
        "pscore": log.propensity,
        "position": log.position,
        "action_dist": np.tile(question.chances, (len(log.click), 1, 1)),
        "estimated_rewards_by_reg_model": np.tile(question.rates, (len(log.click), 1, 1)),
    }
    estimators = {
        "ips": ope.InverseProbabilityWeighting(),
        "self_normalised": ope.SelfNormalizedInverseProbabilityWeighting(),
        "direct": ope.DirectMethod(),
        "doubly_robust": ope.DoublyRobust(),
    }
    return {name: float(each.estimate_policy_value(**feedback)) for name, each in estimators.items()}


def coverage(question: Question) -> float:
    """Return in which part of bootstrap samples of the log the interval of IPS has the on-policy value."""
    random, n = np.random.default_rng(0), len(question.log.click)
    rewards, weights = question.log.click, question.weights
    covered = 0
    for _ in range(BOOTSTRAPS):
        rows = random.integers(n, size=n)
        estimate = rw.clicks.importance_estimates(rewards[rows], weights[rows])["ips"]
        covered += estimate.low <= question.on_policy <= estimate.high
    return covered / BOOTSTRAPS


def misses(question: Question) -> tuple[float, float, float]:
    """Return the fractions of intervals that miss the truth in simulated logs: ours below, above, and normal.

    A log has decisions drawn from the real one, with their weights, and clicks at the predicted rates of items, so
    that the truth is the weighted mean of these rates over the real log.
    """
    random, n = np.random.default_rng(1), len(question.log.click)
    weights, rates = question.weights, question.rates[question.log.item, question.log.position]
    truth = float((weights * rates).mean())
    missed = np.zeros(3)
    for _ in range(BOOTSTRAPS):
        rows = random.integers(n, size=n)
        clicks = (random.random(n) < rates[rows]).astype(np.float64)
        ips = rw.clicks.importance_estimates(clicks, weights[rows])["ips"]
        reach = NORMAL_95 * float((clicks * weights[rows]).std(ddof=1)) / np.sqrt(n)
        missed += (ips.high < truth, ips.low > truth, abs(ips.value - truth) > reach)
    below, above, normal = (missed / BOOTSTRAPS).tolist()
    return below, above, normal


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args(sys.argv[1:] if __name__ == "__main__" else [])
    folder = data_folder()
    if folder is None:
        raise SystemExit("The data are in obp's wheel: pip install --no-deps obp==0.4.1")
    if options.write:
        options.write.write_text(
            json.dumps({each.name: obp_estimates(each) for each in questions(folder)}, indent=1)
        )
    print(
        "policy and log            IPS (95 % interval)          self-norm.  doubly robust  effective  "
        "on-policy  covered  difference from obp"
    )
    for question in questions(folder):
        ours = our_estimates(question)
        ips, others = ours["ips"], [ours[name].value for name in ("self_normalised", "doubly_robust")]
        interval = f"{ips.value:.5f} ({ips.low:.5f} to {ips.high:.5f})"
        values = f"{others[0]:.5f}  {others[1]:13.5f}  {ips.effective:9,.0f}  {question.on_policy:9.5f}"
        print(
            f"{question.name:24}  {interval}  {values}  {coverage(question):7.3f}  {_difference(question, ours)}"
        )
    print("\nsimulated logs            interval below  above  normal interval misses")
    for question in questions(folder):
        below, above, normal = misses(question)
        print(f"{question.name:24}  {below:14.3f}  {above:5.3f}  {normal:22.3f}")


def _difference(question: Question, ours: dict[str, rw.clicks.OffPolicyEstimate]) -> str:
    try:
        theirs = obp_estimates(question)
    except ModuleNotFoundError as error:
        return f"- ({error})"
    return f"{max(abs(ours[name].value - value) for name, value in theirs.items()):.1e}"


if __name__ == "__main__":
    main()

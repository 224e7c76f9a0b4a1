"""Analyses of Busa-Fekete et al. (2011): how calibrations differ (figure 3), and how many rounds are best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.analyses.diversity import calibration_diversity
from rankwright.base.wording import metric_value
from rankwright.papers.calibrated_2011.pools import Calibrations, Ensembles, PoolChoices, TestScores
from rankwright.papers.framework.claims import finding
from rankwright.papers.framework.experiment import Claim, Experiment, Finding, Picture
from rankwright.papers.framework.figures import by_size
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import VALID, ByRound, named
from rankwright.papers.framework.rows import LEVEL, NOT_SHOWN, OPPOSITE, REACHED
from rankwright.papers.framework.sources import letor
from rankwright.papers.framework.systems import FittedSystem
from rankwright.rankers.adaboost_mh import AdaBoostMH
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.reports.charts.bars import tile_chart
from rankwright.statistics.paired_tests import compare_values
from rankwright.training.calibration.calibrations import CLASS_PROBABILITY

if TYPE_CHECKING:
    from typing import Any

    from rankwright.papers.framework.experiment import Setup, System
    from rankwright.reports.charts.chart import Chart

BEST_ROUNDS = {"OHSUMED": 100, "MQ2007": 50, "MQ2008": 50}  # T, "the best number of iterations" (section 7)
ROUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
LONG_ROUNDS = (100, 200, 500, 1000, 2000, 5000, 10_000)
LONG = "trees of 30 leaves"


def diversity(setup: Setup, collection: str) -> Experiment:
    """Figure 3: trees of 30 leaves, five calibrations of class probabilities, a t-test per fold."""
    rounds = 20 if setup.quick else BEST_ROUNDS[collection]
    ranker = CalibratedAdaBoost.as_printed(
        leaves=(30,), terms=(), rounds_tried=(rounds,), calibrations=tuple(CLASS_PROBABILITY), clip=True
    )
    return Experiment(
        name=f"Diversity of calibrations on {collection}",
        about="Scores of test documents by trees of 30 leaves, calibrated in five ways: paired t-tests per fold, "
        "combined by Fisher's method. The paper shows MQ2007.",
        source=letor(setup, collection),
        systems={"30 leaves": Calibrations(ranker)},
        measures=(TestScores(),),
        claims=(
            Claim("Figure 3", "some calibrations give scores that are close to each other", _some_alike),
            Claim("Figure 3", "some calibrations give scores that differ", _some_differ),
        ),
        figures=(Picture("Figure 3", "A subset of the calibrations is close to each other.", _p_values),),
        stand_in=collection != "MQ2007",  # the only one that the figure has
    )


def _p_values_of(results: Measurements) -> dict[tuple[str, str], float]:
    return calibration_diversity({name: results.by_trial(name, "scores") for name in CLASS_PROBABILITY})


def _some_alike(results: Measurements) -> Finding:
    (calibration, other), p_value = max(_p_values_of(results).items(), key=lambda item: item[1])
    shown = f"largest p-value, of {calibration} and {other}"
    return Finding(REACHED if p_value >= LEVEL else OPPOSITE, shown, None, None, p_value)


def _some_differ(results: Measurements) -> Finding:
    p_values = _p_values_of(results)
    n_differ = sum(p_value < LEVEL for p_value in p_values.values())
    shown = f"p < .05 for {n_differ} of {len(p_values)} pairs"
    return Finding(REACHED if n_differ else NOT_SHOWN, shown, None, None, min(p_values.values()))


def _p_values(results: Measurements) -> Chart:
    p_values = _p_values_of(results)
    table: dict[str, dict[str, float]] = {name: {} for name in CLASS_PROBABILITY}
    for (name, other), p_value in p_values.items():
        table[name][other] = table[other][name] = p_value
    ordered = {
        name: {other: row[other] for other in CLASS_PROBABILITY if other in row} for name, row in table.items()
    }
    return tile_chart(ordered, "p-value", description="p-values between calibrations.", percent=False)


def overfitting(setup: Setup, collection: str) -> Experiment:
    """Section 8: NDCG@10 by number of rounds of single classifiers, and the T that is best for ensembles."""
    rounds = ROUNDS[:6] if setup.quick else ROUNDS
    tried = tuple(number for number in rounds if number in (10, 50, 100, 500))
    settings: dict[str, Any] = {"leaves": (30,), "terms": (5,), "calibrations": ("ls", "ell", "linear")}
    systems: dict[str, System] = {
        "trees of 30 leaves": FittedSystem(
            AdaBoostMH.as_printed(max_leaves=30, rounds=rounds[-1]), validate=False
        ),
        "products of 5 terms": FittedSystem(
            AdaBoostMH.as_printed(learner="product", max_terms=5, rounds=rounds[-1]), validate=False
        ),
        "ensemble": Ensembles(
            CalibratedAdaBoost.as_printed(rounds_tried=tried, **settings),
            (("ensemble", settings["calibrations"]),),
        ),
    }
    singles = tuple(systems)[:2]
    return Experiment(
        name=f"Rounds on {collection}",
        about=f"NDCG@10 of AdaBoost.MH after 1 to {rounds[-1]:,} rounds on the folds of {collection}, alpha as "
        "printed. The ensemble has trees of 30 leaves, products of 5 terms and three calibrations; the "
        f"validation part chooses T from {', '.join(map(str, tried))}, and c.",
        source=letor(setup, collection),
        systems=systems,
        measures=(*_by_round(rounds), PoolChoices()),
        claims=(
            *(_overfit(model, rounds[-1]) for model in singles),
            Claim("Section 7", "the T that is best on the validation part is low, at most 100", _low(tried)),
        ),
        figures=(
            Picture(
                "Section 8",
                "AdaBoost overfits NDCG after few rounds.",
                by_size(singles, "ndcg@10 by round", "NDCG@10", x_log=True),
            ),
        ),
    )


def long_boosting(setup: Setup) -> Experiment:
    """Section 8 with T up to 10,000, as in the grid of section 7, for trees of one size on OHSUMED."""
    rounds = LONG_ROUNDS[:3] if setup.quick else LONG_ROUNDS
    trees = AdaBoostMH.as_printed(max_leaves=30, rounds=rounds[-1])
    return Experiment(
        name="Long boosting on OHSUMED",
        about=f"NDCG@10 of AdaBoost.MH with trees of 30 leaves after {rounds[0]} to {rounds[-1]:,} rounds.",
        source=letor(setup, "OHSUMED"),
        systems={LONG: FittedSystem(trees, validate=False)},
        measures=_by_round(rounds),
        claims=(_overfit(LONG, rounds[-1]),),
        figures=(
            Picture(
                "Section 8",
                "AdaBoost overfits NDCG after few rounds.",
                by_size((LONG,), "ndcg@10 by round", "NDCG@10", x_log=True),
            ),
        ),
    )


def _by_round(rounds: tuple[int, ...]) -> tuple[ByRound, ByRound]:
    """Return NDCG@10 by round on the test part, and on the validation part, which chooses one."""
    return ByRound("ndcg@10", rounds), ByRound("ndcg@10", rounds, part=VALID)


def _overfit(model: str, last: int) -> Claim:
    text = f"{model} overfit: NDCG@10 falls from the round that the validation part chooses to the last, {last:,}"
    return Claim("Section 8", text, _falls(model), part_of="AdaBoost.MH overfits NDCG after few rounds")


@curried
def _falls(results: Measurements, model: str) -> Finding:
    rounds = results.by_trial(model, "rounds")[0]
    tests, valids = (results.by_trial(model, f"{named('ndcg@10', part)} by round") for part in ("test", VALID))
    chosen = [int(np.nanmean(valid, axis=1).argmax()) for valid in valids]
    early = np.concatenate([test[best] for test, best in zip(tests, chosen, strict=True)])
    late = np.concatenate([test[-1] for test in tests])
    text = (
        f"{metric_value(float(early.mean()))} after {_numbers(rounds[chosen].tolist())} rounds, "
        f"{metric_value(float(late.mean()))} in the end"
    )
    return finding(compare_values(early, late), f"{text}{_at_the_edge(rounds[chosen].tolist(), float(rounds[0]))}")


@curried
def _low(results: Measurements, tried: tuple[int, ...]) -> Finding:
    chosen = sorted(float(values[0]) for values in results.by_trial("ensemble", "T"))
    exponents = sorted(float(values[0]) for values in results.by_trial("ensemble", "c"))
    median = float(np.median(chosen))
    shown = f"T {_numbers(chosen)}{_at_the_edge(chosen, tried[0])}; c {_numbers(exponents)}; median of T"
    return Finding(REACHED if median <= 100 else NOT_SHOWN, shown, median, unit="rounds")


def _at_the_edge(chosen: list[float], first: float) -> str:
    """Return a note if the least number that was tried is chosen: the best one may be lower still."""
    return f" ({first:g} is the least that was tried)" if first in chosen else ""


def _numbers(values: list[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)

"""A robust ranking methodology based on diverse calibration of AdaBoost (Busa-Fekete et al., ECML 2011).

Table 2 and figures 2 and 3 on LETOR's own folds, and the overfitting of section 8. The ensembles are the paper's:
its 18 base learners, all 13 calibrations, one split of the training part, and the T and c that the paper reports.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankwright.papers.calibrated_2011.dcg_bound import dcg_bound
from rankwright.papers.calibrated_2011.diversity import BEST_ROUNDS, diversity, long_boosting, overfitting
from rankwright.papers.calibrated_2011.pools import Ensembles
from rankwright.papers.framework.claims import better, better_than_published, not_worse
from rankwright.papers.framework.experiment import Claim, Experiment, Finding, Paper, Picture, Published
from rankwright.papers.framework.figures import CUTS, by_cut
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import PerQuery
from rankwright.papers.framework.rows import LEVEL, NOT_SHOWN, OPPOSITE, REACHED
from rankwright.papers.framework.sources import letor
from rankwright.papers.framework.systems import BestOf, FittedSystem
from rankwright.rankers.adaboost_mh import AdaBoostMH
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranksvm import RankSVM
from rankwright.statistics.paired_tests import holm
from rankwright.training.calibration.calibrations import CLASS_PROBABILITY, REGRESSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from rankwright.papers.framework.experiment import Setup, System

CPC, RBC, BOTH = (f"ensemble with {kind}" for kind in ("CPC", "RBC", "CPC+RBC"))
SINGLE = "best calibrated classifier"  # on the validation part
TREE, PRODUCT = "AdaBoost.MH with trees", "AdaBoost.MH with products"
BASELINES = ("AdaRank-MAP", "AdaRank-NDCG", "ListNet", "RankBoost", "RankSVM")
OWN = (CPC, RBC, BOTH, TREE, PRODUCT)
SHRUNK = ", alpha x .1"
SHRINKAGE = 0.1
RATES = {"": 1.0, SHRUNK: SHRINKAGE}

# Table 2, its columns in the order of section 7.
TABLE_2 = {
    "OHSUMED": (0.4429, 0.4496, 0.4410, 0.4302, 0.4140, 0.4621, 0.4493, 0.4561, 0.4164, 0.4162),
    "MQ2007": (0.4891, 0.4914, 0.4988, 0.5003, 0.4966, 0.4975, 0.4976, 0.4974, 0.4868, 0.4785),
    "MQ2008": (0.4915, 0.4950, 0.4914, 0.4850, 0.4832, 0.4998, 0.5004, 0.5006, 0.4843, 0.4768),
}
MEASURED = {"OHSUMED": "ndcg@10", "MQ2007": "mean_ndcg", "MQ2008": "mean_ndcg"}
CONVENTION = {"OHSUMED": "letor3", "MQ2007": "letor4", "MQ2008": "letor4"}
BEST_EXPONENT = 100.0  # c, "the best base parameter" for all three
SINGLE_LEAVES, SINGLE_TERMS = tuple(range(5, 50, 5)), tuple(range(2, 11))
SINGLE_ROUNDS = {1.0: 100, SHRINKAGE: 200}

WHY_SINGLE = (
    "steps as printed overfit from the first rounds on; stumps and shrunken steps do not (docs/as-printed.md)"
)
WHY_ENSEMBLE = "unexplained; docs/as-printed.md says what was ruled out"
BETTER_THAN_SINGLE = "the ensembles are better than single AdaBoost.MH"
WHY_ADARANK = (
    "trained here on NDCG@5; trained on NDCG of the whole list it has .4886, within chance (docs/adarank.md), and "
    "scores of another implementation have .4854; the paper does not say which NDCG"
)


def experiments(setup: Setup) -> Sequence[Experiment]:
    """Return Table 2 and its figures on every collection, what the paper says of T and calibrations, its bound."""
    on_collections = [
        make(setup, collection)
        for collection in ("OHSUMED", "MQ2008", "MQ2007")
        for make in (_table_2, diversity, overfitting)
    ]
    return [*on_collections, long_boosting(setup), dcg_bound(setup)]


def _table_2(setup: Setup, collection: str) -> Experiment:
    measured = MEASURED[collection]
    metrics = (*dict.fromkeys((measured, *(f"ndcg@{k}" for k in CUTS))),)
    models = (*BASELINES, *OWN)
    return Experiment(
        name=f"Table 2 on {collection}",
        about=f"The folds of {collection} in LETOR, measured as LETOR's script does ({CONVENTION[collection]}). "
        "Ensembles: trees of 5, 10, ... 45 leaves and products of 2, 3, ... 10 terms, 13 calibrations, a fifth of "
        "the training queries to calibrate on, "
        f"{_rounds_and_exponent(setup, collection)}. Single classifiers: size "
        "(of the same nine) and rounds chosen on the validation part. 'alpha x .1': every "
        "step is shrunk, which the paper does not mention. AdaRank as LETOR ran it, RankBoost with weak rankers "
        "chosen by NDCG; other rankers: defaults. The validation part chooses rounds.",
        source=letor(setup, collection),
        systems={**_baselines(), **_singles(setup), **_ensembles(setup, collection)},
        measures=(PerQuery(metrics, CONVENTION[collection]),),
        published=(
            *(
                _published(name, collection, value)
                for name, value in zip(models, TABLE_2[collection], strict=True)
            ),
            *(
                _published(f"{name}{SHRUNK}", collection, value)
                for name, value in zip(OWN, TABLE_2[collection][-len(OWN) :], strict=True)
            ),
        ),
        claims=(*_claims(collection, measured, ""), *_claims(collection, measured, SHRUNK)),
        figures=(
            Picture(
                "Figure 2",
                "The ensemble is above the baselines at almost every truncation level on OHSUMED and MQ2008, and "
                "only at low ones on MQ2007.",
                by_cut((BOTH, f"{BOTH}{SHRUNK}", f"{TREE}{SHRUNK}", *BASELINES)),
            ),
        ),
    )


def _rounds_and_exponent(setup: Setup, collection: str) -> str:
    if setup.full:
        return "T from 10 to 10,000 and c from 0 to 200 chosen on the validation part"
    return f"T = {BEST_ROUNDS[collection]} and c = 100, which the paper reports as best"


def _published(system: str, collection: str, value: float) -> Published:
    why = ""
    if "ensemble" in system:
        why = WHY_ENSEMBLE
    elif system in (TREE, PRODUCT):
        why = WHY_SINGLE
    elif "AdaRank" in system and collection == "MQ2008":
        why = WHY_ADARANK
    return Published("Table 2", system, MEASURED[collection], value, why=why, variant=SHRUNK in system)


def _baselines() -> dict[str, System]:
    rankers = (
        AdaRank.as_in_letor(metric="map"),
        AdaRank.as_in_letor(metric="ndcg@5"),
        ListNet(),
        RankBoost(choose="metric"),  # section 7
        RankSVM(),
    )
    return {name: FittedSystem(ranker) for name, ranker in zip(BASELINES, rankers, strict=True)}


def _singles(setup: Setup) -> dict[str, System]:
    """Return AdaBoost.MH by equation 3; the validation part chooses the size and the number of rounds."""
    leaves, terms = ((5,), (2,)) if setup.quick else (SINGLE_LEAVES, SINGLE_TERMS)
    systems: dict[str, System] = {}
    for suffix, rate in RATES.items():
        shared: dict[str, Any] = {"learning_rate": rate, "rounds": 20 if setup.quick else SINGLE_ROUNDS[rate]}
        trees = tuple(AdaBoostMH.as_printed(max_leaves=size, **shared) for size in leaves)
        products = tuple(AdaBoostMH.as_printed(learner="product", max_terms=size, **shared) for size in terms)
        systems[f"{TREE}{suffix}"] = BestOf(trees, "ndcg@10")
        systems[f"{PRODUCT}{suffix}"] = BestOf(products, "ndcg@10")
    return systems


def _ensembles(setup: Setup, collection: str) -> dict[str, System]:
    settings: dict[str, Any] = {"rounds_tried": (BEST_ROUNDS[collection],), "exponents": (BEST_EXPONENT,)}
    if setup.full:
        settings = {}  # the whole ranges of T and c
    elif setup.quick:
        settings |= {"leaves": (5, 30), "terms": (2,), "rounds_tried": (20,)}
    cpc, rbc = tuple(CLASS_PROBABILITY), tuple(REGRESSIONS)[: 3 if setup.quick else None]
    return {
        f"ensembles{suffix}": Ensembles(
            CalibratedAdaBoost.as_printed(learning_rate=rate, calibrations=(*cpc, *rbc), **settings),
            ((f"{CPC}{suffix}", cpc), (f"{RBC}{suffix}", rbc), (f"{BOTH}{suffix}", (*cpc, *rbc))),
            single=f"{SINGLE}{suffix}",
        )
        for suffix, rate in RATES.items()
    }


def _claims(collection: str, measured: str, suffix: str) -> tuple[Claim, ...]:
    cpc, rbc, both, tree, product = (f"{name}{suffix}" for name in OWN)
    claims = [
        Claim(
            "Section 7.1",
            f"the {ensemble} is better than single AdaBoost.MH",
            better(ensemble, (tree, product), measured),
            part_of=BETTER_THAN_SINGLE,
        )
        for ensemble in (cpc, rbc, both)
    ]
    single = f"{SINGLE}{suffix}"
    text = f"mixing is better than selecting: the {both} than the {single} on the validation part"
    claims.append(Claim("Section 1, abstract", text, better(both, (single,), measured)))
    claims.append(
        Claim(
            "Section 8",
            f"the {both} is as good as RankSVM and ListNet, within a point",
            not_worse(both, ("ListNet", "RankSVM"), measured),
            WHY_ENSEMBLE,
        )
    )
    if collection == "MQ2007":
        levels, few = CUTS[:3], "at low truncation levels"
    else:
        levels, few = CUTS, "at almost every truncation level"
        text = f"the {both} outperforms AdaRank, ListNet, RankBoost and RankSVM"
        published = dict(zip(BASELINES, TABLE_2[collection], strict=False))
        against = better_than_published(both, published, measured)
        better_than_all = better(both, BASELINES, measured)
        claims.append(Claim("Section 7.1", text, better_than_all, WHY_ENSEMBLE, against_published=against))
    text = f"the {both} is above all baselines {few}"
    claims.append(Claim("Figure 2", text, _above_at(both, levels), WHY_ENSEMBLE))
    if collection == "OHSUMED":
        better_by = Claim("Section 8", f"the {cpc} is better than the {rbc}", better(cpc, (rbc,), measured))
    else:
        text = f"the {cpc} is as good as the {rbc}, within a point"
        better_by = Claim("Section 8", text, not_worse(cpc, (rbc,), measured))
    return tuple(replace(claim, variant=bool(suffix)) for claim in (*claims, better_by))


@curried
def _above_at(results: Measurements, model: str, cuts: Sequence[int]) -> Finding:
    """Test that the model's mean NDCG@k is above those of all baselines, at all cuts but one in ten.

    Opposite if it is significantly below the best baseline at more cuts than that, corrected by Holm's method.
    """
    compared = [
        results.compare(model, max(BASELINES, key=lambda name: results.mean(name, measure)), measure)
        for measure in (f"ndcg@{k}" for k in cuts)
    ]
    p_values = holm(np.array([pair.p_value for pair in compared]))
    n_above = sum(pair.difference > 0 for pair in compared)
    n_below = sum(pair.difference < 0 and p < LEVEL for pair, p in zip(compared, p_values, strict=True))
    exceptions = len(cuts) / 10
    state = REACHED if n_above >= len(cuts) - exceptions else OPPOSITE if n_below > exceptions else NOT_SHOWN
    shown = f"above the best baseline at {n_above} of {len(cuts)} levels, significantly below it at {n_below}"
    deciding = float(np.sort(p_values)[int(exceptions)]) if state == OPPOSITE else None
    distance = float(np.mean([pair.difference for pair in compared]))
    return Finding(state, f"{shown}; mean distance to it", distance, None, deciding)


PAPER = Paper(
    "calibrated-2011",
    "A robust ranking methodology based on diverse calibration of AdaBoost",
    "Busa-Fekete, Kégl, Éltető & Szarvas 2011",
    experiments,
    reduced="T and c, which are those that the paper reports as best",
)

"""AdaRank: a boosting algorithm for information retrieval (Xu & Li, SIGIR 2007).

The paper's figures have no digits, so its claims are tested: which method is better, by which measure, and why.
Its OHSUMED has seven features of its own, and LETOR's has 45. Cranfield stands in for WSJ and AP, with the seven
features of Table 2; LETOR's TD2003 has the queries of .Gov, and MQ2007 and MQ2008 are of the same task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.papers.framework.claims import (
    always_better,
    better,
    better_with_few_pairs,
    faster,
    fewer_errors,
    finding,
    never_below,
)
from rankwright.papers.framework.cranfield import BM25, CRANFIELD, cranfield
from rankwright.papers.framework.experiment import Claim, Experiment, Finding, Paper, Picture
from rankwright.papers.framework.figures import (
    by_number_of_pairs,
    label_errors,
    means,
    queries_by_pairs,
    training_curves,
)
from rankwright.papers.framework.measurements import Measurements, curried
from rankwright.papers.framework.measures import (
    TRAIN,
    FitSeconds,
    LabelErrors,
    NumberOfPairs,
    PerQuery,
    Rounds,
)
from rankwright.papers.framework.rows import NOT_SHOWN, REACHED
from rankwright.papers.framework.sources import COLLECTIONS, divided
from rankwright.papers.framework.systems import FittedSystem, OneFeature
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranksvm import RankSVM
from rankwright.statistics.paired_tests import compare_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.experiment import Setup, Source, System

MAP, NDCG, SVM, BOOST = "AdaRank.MAP", "AdaRank.NDCG", "Ranking SVM", "RankBoost"
BASELINES = ("BM25", SVM, BOOST)
PRINTED, LETOR = ", as printed", ", as in LETOR"
SYSTEMS = (*BASELINES, *(f"{name}{how}" for how in ("", LETOR, PRINTED) for name in (MAP, NDCG)))
PAIRS_OF_LABELS = {"2 > 0": "d-n", "2 > 1": "d-p", "1 > 0": "p-n"}
STARTS = tuple(range(0, 9000, 1000))
DEFINITELY = "map(threshold=2)"  # for MAP on OHSUMED, only 'definitely relevant' counts (section 4.2)
FIGURES = {  # the figure, and which MAP it has
    "OHSUMED": ("Figure 2", DEFINITELY),
    CRANFIELD: ("Figures 3 and 4", "map"),
    "TD2003": ("Figure 5", "map"),
    "MQ2008": ("Figure 5", "map"),
    "MQ2007": ("Figure 5", "map"),
}
STAND_INS = (CRANFIELD, "MQ2007", "MQ2008")  # for WSJ and AP, and for .Gov
DIVISIONS, HALVINGS = 10, 5
COARSE = (
    "The alpha of Figure 1 is a coarse step: after a few rounds no feature lowers the loss with it. With finer "
    "steps and more divisions, see the variants."
)
OUTPERFORMS = "AdaRank significantly outperforms BM25, Ranking SVM and RankBoost"
FEWER_ERRORS = "AdaRank misorders fewer d-n and d-p pairs than Ranking SVM and RankBoost"
FEW_PAIRS = "AdaRank is better than RankBoost for queries with few document pairs"
TRAINED = "trained with a measure, AdaRank is better in it on training queries"
OTHER_FEATURES = {
    "OHSUMED": "The paper's OHSUMED has 7 features, LETOR's has 45, among them many ways to compute BM25.",
    CRANFIELD: "Seven features of about 90 training queries add little to a tuned BM25, which is one of them.",
    "MQ2008": "With the alpha of Figure 1, training ends after a few rounds, in a poor optimum for MAP.",
}

SOON_STOPPED = (
    "Weights of queries differ by a factor of at most e, so the best feature is chosen again, and training stops."
)
FALLS = (  # why Figure 11 is not reached, by way to choose the feature
    SOON_STOPPED,
    "The feature is chosen by its own measure, not by that of the ensemble with it.",
    "The loss falls in every round; its mean measure need not rise.",
)


def experiments(setup: Setup) -> Sequence[Experiment]:
    """Return figures 2 to 11 on the collections that there are."""
    accuracies = [_accuracies(setup, collection) for collection in FIGURES]
    trained = [_trained_measure(setup, collection) for collection in FIGURES if collection != "TD2003"]
    return [*accuracies, *trained, _learning_curve(setup), _times(setup)]


def _source(setup: Setup, collection: str, *, repeats: int = 1) -> Source:
    """Return four folds by query, without a validation part."""
    if collection == CRANFIELD:
        return cranfield(setup, n_folds=4, repeats=repeats)
    return divided(setup, collection, n_folds=4, repeats=repeats)


def _systems(collection: str, measure: str) -> dict[str, System]:
    return {
        "BM25": OneFeature(BM25 if collection == CRANFIELD else COLLECTIONS[collection].bm25),
        SVM: FittedSystem(RankSVM()),
        BOOST: FittedSystem(RankBoost()),
        MAP: FittedSystem(AdaRank(measure)),
        NDCG: FittedSystem(AdaRank("ndcg@5")),
        f"{MAP}{LETOR}": FittedSystem(AdaRank.as_in_letor(metric=measure)),
        f"{NDCG}{LETOR}": FittedSystem(AdaRank.as_in_letor(metric="ndcg@5")),
        f"{MAP}{PRINTED}": FittedSystem(AdaRank.as_printed(metric=measure)),
        f"{NDCG}{PRINTED}": FittedSystem(AdaRank.as_printed(metric="ndcg@5")),
    }


def _accuracies(setup: Setup, collection: str) -> Experiment:
    where, measure = FIGURES[collection]
    metrics = (measure, "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
    on_ohsumed = collection == "OHSUMED"
    documents = (
        "The documents of a query are the first 200 that BM25 finds; queries with fewer than 5 relevant ones are "
        "left out, and BM25 is tuned on the first trial."
        if collection == CRANFIELD
        else "The paper's data have other features (Tables 2 and 4). BM25 is a feature of LETOR; the paper's is "
        "tuned (section 4.2)."
    )
    return Experiment(
        name=f"Ranking accuracies on {collection}",
        about=f"{collection} in four folds by query. AdaRank stops by itself; it chooses features by equation 8, "
        "and as printed by section 3.6. As in LETOR, it sets a feature that repeats aside and keeps all of its "
        f"100 rounds. The other rankers run with their defaults. {documents}",
        source=_source(setup, collection),
        systems=_systems(collection, measure),
        measures=(
            PerQuery(metrics),
            PerQuery((measure, "ndcg@5"), part=TRAIN),
            *((NumberOfPairs(), LabelErrors()) if on_ohsumed else ()),
        ),
        claims=(
            *(claim for how in ("", LETOR, PRINTED) for claim in _outperforms(collection, metrics, how)),
            *_improved(measure, "the alpha of Figure 1", COARSE),
            *(_discussion(measure) if on_ohsumed else ()),
        ),
        figures=(
            Picture(where, "AdaRank is better than all baselines in every measure.", means(SYSTEMS, metrics)),
            *(_pictures(measure) if on_ohsumed else ()),
        ),
        stand_in=collection in STAND_INS,
    )


def _outperforms(collection: str, metrics: Sequence[str], how: str) -> tuple[Claim, ...]:
    """Abstract and sections 4.2 to 4.4; `how` is the end of the systems' names."""
    both = tuple(f"{name}{how}" for name in (MAP, NDCG))
    why = SOON_STOPPED if how == PRINTED else OTHER_FEATURES.get(collection, "")
    significant = tuple(
        Claim(
            section,
            f"{model} is significantly better than {other} in {own}",
            better(model, (other,), own),
            why,
            part_of=f"{OUTPERFORMS}{how}",  # each way to run AdaRank has a correction of its own
            variant=bool(how),
        )
        for section, model, own in _significant(collection, *both)
        for other in BASELINES
    )
    text = f"{' and '.join(both)} outperform BM25, Ranking SVM and RankBoost in all measures"
    where = FIGURES[collection][0]
    return (*significant, Claim(where, text, always_better(both, BASELINES, metrics), variant=bool(how)))


def _significant(collection: str, by_map: str, by_ndcg: str) -> tuple[tuple[str, str, str], ...]:
    """Return where the paper says of which model that it is significantly better, and in which measure."""
    measure = FIGURES[collection][1]
    if collection == "OHSUMED":
        return ("Abstract, section 4.2", by_map, measure), ("Abstract, section 4.2", by_ndcg, "ndcg@5")
    if collection == CRANFIELD:  # of NDCG@5 "only some of the improvements" are
        return ("Section 4.3", by_map, measure), ("Section 4.3", by_ndcg, measure)
    return ()  # section 4.4: "some of the improvements are not statistically significant"


def _improved(measure: str, steps: str, why: str = "", *, variant: bool = False) -> tuple[Claim, ...]:
    """Figures 9 and 10: on training queries, each measure is best where it was trained with."""
    return tuple(
        Claim(
            where,
            f"trained with {own} and {steps}, AdaRank is better in {own} on training queries",
            _improves(model, other, own),
            why,
            part_of=TRAINED,
            variant=variant,
        )
        for where, model, other, own in (("Figure 9", MAP, NDCG, measure), ("Figure 10", NDCG, MAP, "ndcg@5"))
    )


@curried
def _improves(results: Measurements, model: str, other: str, measured: str) -> Finding:
    name = f"train {measured}"
    values = [results.query_means(trained, name, "train queries") for trained in (model, other)]
    pairs = zip(results.by_trial(model, name), results.by_trial(other, name), strict=True)
    higher = [bool(np.nanmean(own) > np.nanmean(others)) for own, others in pairs]
    text = f"{model} to {other}; higher in {sum(higher)} of {len(higher)} trials"
    return finding(compare_values(*values), text)


def _discussion(measure: str) -> tuple[Claim, ...]:
    """Figures 6 and 8."""
    errors = tuple(
        Claim(
            "Figure 6",
            f"{model} misorders fewer {name} pairs than {other}",
            fewer_errors(model, other, pair),
            part_of=FEWER_ERRORS,
        )
        for model in (MAP, NDCG)
        for pair, name in PAIRS_OF_LABELS.items()
        if name != "p-n"
        for other in (SVM, BOOST)
    )
    few = "queries with fewer than 3,000 document pairs"
    return (
        *errors,
        *(
            Claim(
                "Figure 8",
                f"{model} is better than {BOOST} in {measure} for {few}",
                better_with_few_pairs(model, BOOST, measure, 3000, STARTS),
                part_of=FEW_PAIRS,
            )
            for model in (MAP, NDCG)
        ),
    )


def _times(setup: Setup) -> Experiment:
    """Section 3.4: AdaRank of 100 rounds, as its complexity is stated, against other rankers."""
    return Experiment(
        name="Training times",
        about="Processor time of a fit on OHSUMED: medians of five fits after a first one. AdaRank chooses "
        "features by their measure, which costs the O((k + T) m n log n) of section 3.4, and runs 100 rounds; "
        "Ranking SVM and RankBoost have their defaults.",
        source=divided(setup, "OHSUMED", n_folds=4),
        systems={
            MAP: FittedSystem(AdaRank.as_in_letor(metric=DEFINITELY)),
            SVM: FittedSystem(RankSVM()),
            BOOST: FittedSystem(RankBoost()),
        },
        measures=(FitSeconds(),),
        claims=tuple(
            Claim(
                "Section 3.4",
                f"{MAP} is trained in less time than {other}, in this implementation",
                faster(MAP, (other,)),
                "RankSVM and RankBoost take time linear in the documents here, not in their pairs.",
                part_of="AdaRank is trained in less time than Ranking SVM and RankBoost, in this implementation",
            )
            for other in (SVM, BOOST)
        ),
    )


def _pictures(measure: str) -> tuple[Picture, ...]:
    return (
        Picture(
            "Figure 6",
            "AdaRank misorders fewer pairs of definitely relevant with other documents.",
            label_errors((SVM, BOOST, MAP, NDCG), PAIRS_OF_LABELS),
        ),
        Picture("Figure 7", "Numbers of document pairs vary from query to query.", queries_by_pairs(MAP, STARTS)),
        Picture(
            "Figure 8",
            "AdaRank is better than RankBoost where queries have few pairs.",
            by_number_of_pairs((MAP, BOOST), measure, STARTS),
        ),
    )


def _trained_measure(setup: Setup, collection: str) -> Experiment:
    """Figures 9 and 10 with finer steps, and with more training parts, which differ more than the measures do."""
    measure = FIGURES[collection][1]
    return Experiment(
        name=f"Trained measure on {collection}",
        about=f"Figures 9 and 10 on {collection}, divided in ten ways into four folds. When no feature lowers "
        f"the loss with the alpha of Figure 1, it is halved, up to {HALVINGS} times (equation 8 leaves alpha "
        "open). A query's value is the mean over the training parts that have it.",
        source=_source(setup, collection, repeats=1 if setup.quick else DIVISIONS),
        systems={
            name: FittedSystem(AdaRank(trained, halvings=HALVINGS))
            for name, trained in ((MAP, measure), (NDCG, "ndcg@5"))
        },
        measures=(PerQuery((measure, "ndcg@5"), part=TRAIN),),
        claims=_improved(measure, "finer steps", variant=True),
        figures=(
            Picture(
                "Figures 9 and 10",
                "The measure that was trained is the measure that improves, on training queries.",
                means((MAP, NDCG), (f"train {measure}", "train ndcg@5"), queries="train queries"),
            ),
        ),
        stand_in=collection in STAND_INS,
    )


def _learning_curve(setup: Setup) -> Experiment:
    """Figure 11: the training curve of AdaRank.MAP, and the bound of Theorem 1."""
    recipe = AdaRank.as_in_letor(metric=DEFINITELY, rounds=60)
    finer = f"{MAP}, equation 8 with finer steps"
    curves = {
        f"{MAP}{PRINTED}": FittedSystem(AdaRank.as_printed(metric=DEFINITELY)),
        f"{MAP}, next best feature": FittedSystem(recipe),
        finer: FittedSystem(AdaRank(DEFINITELY, halvings=HALVINGS)),
    }
    return Experiment(
        name="Learning curve",
        about="MAP on the training queries of OHSUMED after every round. As printed, the best feature is soon "
        "chosen again, which changes no ranking, so that training stops. It goes on if then the next best feature "
        "is taken, or if equation 8 chooses and its steps are halved.",
        source=divided(setup, "OHSUMED", n_folds=4),
        systems=curves,
        measures=(Rounds((TRAIN, "bound")),),
        claims=(
            Claim(
                "Abstract, Theorem 1",
                "training MAP is never below the bound of Theorem 1",
                never_below(tuple(curves), "round train", "round bound"),
            ),
            *(
                Claim(
                    "Figure 11",
                    f"training MAP steadily improves until it reaches its peak ({name})",
                    _rises(name),
                    why,
                    variant=PRINTED not in name,
                )
                for name, why in zip(curves, FALLS, strict=True)
            ),
        ),
        figures=(
            Picture(
                "Figure 11",
                "Training MAP improves steadily until the peak.",
                training_curves(tuple(curves), "MAP"),
            ),
        ),
    )


@curried
def _rises(results: Measurements, model: str) -> Finding:
    """Test that the training measure rises, and never falls before its peak."""
    curves = [curve[: int(np.argmax(curve)) + 1] for curve in results.by_trial(model, "round train")]
    rounds = [len(curve) for curve in curves]
    falls = sum(int((np.diff(curve) < 0).sum()) for curve in curves)
    gain = float(np.mean([curve[-1] - curve[0] for curve in curves]))
    steady = min(rounds) > 1 and falls == 0
    state = REACHED if gain > 0 and steady else NOT_SHOWN
    steps = sum(rounds) - len(rounds)
    shown = f"the peak is after {min(rounds)} to {max(rounds)} rounds; falls in {falls} of {steps} steps to it"
    return Finding(state, f"{shown}; gain since the first round", gain, unit="gain")


PAPER = Paper(
    "adarank-2007",
    "AdaRank: a boosting algorithm for information retrieval",
    "Xu & Li 2007",
    experiments,
)

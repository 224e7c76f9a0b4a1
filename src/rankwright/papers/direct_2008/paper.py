"""Direct optimization of evaluation measures in learning to rank (Xu, Li, Liu, Peng, Lu & Ma; SIGIR 2008, 2010).

LETOR 2's protocol: five folds of train, validation and test part; the validation part chooses C and rounds by MAP.
The data are LETOR 3's, which has other features than LETOR 2: numbers are not those of the same data, claims about
methods are tested all the same. WSJ and AP are not in LETOR; Cranfield, with the same features, stands in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankwright.base.wording import enumerated
from rankwright.papers.direct_2008.bounds import simulations
from rankwright.papers.direct_2008.claims import converges, rank_claims, varies, working_sets
from rankwright.papers.direct_2008.surrogates import THEOREMS, surrogates
from rankwright.papers.framework.claims import (
    alike,
    always_better,
    better,
    better_with_few_pairs,
    faster,
    fewer_errors,
    never_below,
    no_significant_difference,
)
from rankwright.papers.framework.cranfield import CRANFIELD, cranfield
from rankwright.papers.framework.experiment import Absent, Claim, Experiment, Paper, Picture, Published
from rankwright.papers.framework.figures import (
    by_number_of_pairs,
    label_errors,
    means,
    queries_by_pairs,
    training_curves,
)
from rankwright.papers.framework.measures import (
    TRAIN,
    FitSeconds,
    LabelErrors,
    NumberOfPairs,
    PerQuery,
    Rounds,
)
from rankwright.papers.framework.sources import letor
from rankwright.papers.framework.systems import BestOf, FittedSystem
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.permurank import PermuRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranksvm import RankSVM
from rankwright.rankers.svmmap import SVMmap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.papers.framework.experiment import Setup, System

MAP, ADA, PERMU, SVM, BOOST = "SVMmap", "AdaRank", "PermuRank", "RankSVM", "RankBoost"
DIRECT, BASELINES = (MAP, ADA, PERMU), (SVM, BOOST)
METHODS = DIRECT + BASELINES
MEASURES = ("map", "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
C = (1.0, 3.0, 10.0, 30.0, 100.0)
PAIRS_OF_LABELS = {"2 > 0": "d-n", "2 > 1": "d-p", "1 > 0": "p-n"}
STARTS = tuple(range(0, 9000, 1000))
FEW = 6000
UNTIL_IT_STOPS = 1000  # rounds; PermuRank as printed needs fewer
HORIZON = 300  # rounds, three times as many as the paper says that convergence takes
TABLES = {  # Tables 2 and 3: MAP and NDCG@3 of the methods, in the order of METHODS
    "OHSUMED": ((0.4456, 0.4419, 0.4495, 0.4469, 0.4403), (0.4669, 0.4803, 0.4764, 0.4649, 0.4726)),
    "TD2003": ((0.2554, 0.1373, 0.2768, 0.2564, 0.2125), (0.4014, 0.2912, 0.3823, 0.3787, 0.2704)),
    "TD2004": ((0.3804, 0.3308, 0.3636, 0.3505, 0.3835), (0.4586, 0.4017, 0.4467, 0.4092, 0.4640)),
    "WSJ": ((0.4406, 0.4287, 0.4617, 0.4218, 0.4203), (0.5867, 0.5547, 0.5846, 0.5069, 0.5362)),
    "AP": ((0.4208, 0.4233, 0.4527, 0.4144, 0.4081), (0.5415, 0.5010, 0.5765, 0.4653, 0.4902)),
}
FEATURES = {
    "OHSUMED": "The paper has LETOR 2.0's OHSUMED with 25 features; this is LETOR 3's, with 45.",
    "TD2003": "LETOR 3's TD2003 has other documents and 64 features, LETOR 2's had 44.",
    "TD2004": "LETOR 3's TD2004 has other documents and 64 features, LETOR 2's had 44.",
}

MORE_PRECISE = f"{ADA} is better than {BOOST} in MAP, also for queries with few document pairs"
CONVERGES = "training converges after 40 to 100 rounds, with working sets of as many permutations"
SWAPPED = "The paper prints rank 2 for SVMmap and 3 for RankSVM, against its own numbers."


def experiments(setup: Setup) -> Sequence[Experiment]:
    """Return tables 2 to 4, theorems 1 to 4 and figures 1 to 4, 8, 11 and 14 to 16."""
    return [
        _on_letor(setup, "OHSUMED", _on_ohsumed(), _pictures()),
        *(_on_letor(setup, name, (_all_alike(name),), ()) for name in ("TD2003", "TD2004")),
        *(_on_news(name) for name in ("WSJ", "AP")),
        _on_cranfield(setup),
        _learning_curves(setup),
        _times(setup),
        surrogates(setup),
        *simulations(setup),
    ]


def _systems() -> dict[str, System]:
    """Return the five methods; the validation part chooses C and the round by MAP."""
    return {
        MAP: BestOf(tuple(SVMmap(C=each) for each in C), "map"),
        ADA: FittedSystem(AdaRank.as_in_letor(metric="map")),
        PERMU: BestOf(tuple(PermuRank("map", C=each) for each in C), "map"),
        SVM: BestOf(tuple(RankSVM("map", C=each) for each in C), "map"),
        BOOST: FittedSystem(RankBoost("map")),
        f"{ADA}, as printed": FittedSystem(AdaRank.as_printed(metric="map")),
        f"{PERMU}, as printed": BestOf(tuple(PermuRank.as_printed(C=each) for each in C[::2]), "map"),
    }


def _on_letor(setup: Setup, collection: str, claims: Sequence[Claim], figures: Sequence[Picture]) -> Experiment:
    number = {"OHSUMED": 8, "TD2003": 9, "TD2004": 10}[collection]
    shown = "Methods that optimise the measure directly are better than the others."
    return Experiment(
        name=f"Ranking accuracies on {collection}",
        about=f"{collection} of LETOR 3 in its five folds, evaluated as by its script. {FEATURES[collection]} "
        "Numbers therefore differ for that reason alone; claims about methods should hold all the same. AdaRank "
        "as LETOR ran it, PermuRank with its defaults; the validation part chooses C and rounds by MAP.",
        source=letor(setup, collection),
        systems=_systems(),
        measures=(PerQuery(MEASURES, convention="letor3"), NumberOfPairs(), LabelErrors()),
        published=_published(collection, other_features=collection == "OHSUMED"),
        claims=(*_ranks(collection), *claims),
        figures=(Picture(f"Figure {number}", shown, means(METHODS, MEASURES)), *figures),
    )


def _published(collection: str, *, other_features: bool) -> tuple[Published, ...]:
    """Return the numbers of tables 2 and 3; PermuRank and AdaRank have rows as printed, too.

    Without `other_features`, the documents differ as well, and nothing can be compared.
    """
    return tuple(
        Published(
            f"Table {table}",
            system,
            measured,
            value,
            comparable=other_features,
            other_features=other_features,
            variant=system != method,
        )
        for table, measured, values in zip((2, 3), ("map", "ndcg@3"), TABLES[collection], strict=True)
        for method, value in zip(METHODS, values, strict=True)
        for system in ([method, f"{method}, as printed"] if method in (ADA, PERMU) else [method])
    )


def _ranks(collection: str) -> tuple[Claim, ...]:
    """Return the ranks that the numbers of tables 2 and 3 give."""
    names = zip((2, 3), ("map", "ndcg@3"), TABLES[collection], strict=True)
    return tuple(
        rank_claims(
            f"Table {table}",
            measured,
            dict(zip(METHODS, values, strict=True)),
            SWAPPED if (collection, measured) == ("OHSUMED", "map") else "",
        )
        for table, measured, values in names
    )


def _on_ohsumed() -> tuple[Claim, ...]:
    """Return the abstract's claims, and those of section 7."""
    return (
        Claim(
            "Abstract",
            f"{enumerated(DIRECT)} always outperform {SVM} and {BOOST}",
            always_better(DIRECT, BASELINES, MEASURES),
        ),
        *(
            Claim(
                "Section 6.1",
                f"{method} is significantly better than {SVM} and {BOOST} in NDCG@1",
                better(method, BASELINES, "ndcg@1"),
                part_of=f"{enumerated(DIRECT)} are significantly better than {SVM} and {BOOST} in NDCG@1",
            )
            for method in DIRECT
        ),
        Claim(
            "Abstract, section 6.1",
            f"no significant difference in NDCG@1 among {enumerated(DIRECT)}",
            no_significant_difference(DIRECT, "ndcg@1"),
        ),
        *(
            Claim(
                "Figure 14",
                f"{ADA} misorders fewer {name} pairs than {BOOST}",
                fewer_errors(ADA, BOOST, pair),
                part_of=f"{ADA} misorders fewer d-n and d-p pairs than {BOOST}",
            )
            for pair, name in PAIRS_OF_LABELS.items()
            if name != "p-n"
        ),
        Claim("Figure 15", "the numbers of document pairs vary from query to query", varies(ADA, STARTS)),
        Claim(
            "Figure 16",
            f"{ADA} is better than {BOOST} in MAP for queries with fewer than {FEW:,} document pairs",
            better_with_few_pairs(ADA, BOOST, "map", FEW, STARTS),
            part_of=MORE_PRECISE,
        ),
        Claim(
            "Figure 16",
            f"{ADA} is better than {BOOST} in MAP",
            better(ADA, (BOOST,), "map"),
            part_of=MORE_PRECISE,
        ),
    )


def _pictures() -> tuple[Picture, ...]:
    return (
        Picture(
            "Figure 14",
            "AdaRank misorders fewer pairs of definitely relevant with other documents.",
            label_errors((BOOST, ADA), PAIRS_OF_LABELS),
        ),
        Picture("Figure 15", "Numbers of document pairs vary from query to query.", queries_by_pairs(ADA, STARTS)),
        Picture(
            "Figure 16",
            "AdaRank is better than RankBoost where queries have few pairs.",
            by_number_of_pairs((ADA, BOOST), "map", STARTS),
        ),
    )


def _all_alike(collection: str) -> Claim:
    text = f"no significant difference in NDCG@1 among all five methods on {collection}"
    return Claim("Section 6.1", text, no_significant_difference(METHODS, "ndcg@1"))


def _on_news(collection: str) -> Experiment:
    number = {"WSJ": 12, "AP": 13}[collection]
    return Experiment(
        name=f"Ranking accuracies on {collection}",
        about=f"Figure {number}. The articles are licensed by the LDC and not part of LETOR.",
        source=Absent(collection, "articles of TREC, not part of LETOR; Cranfield stands in for them"),
        systems=_systems(),
        measures=(PerQuery(MEASURES),),
        published=_published(collection, other_features=False),
    )


def _on_cranfield(setup: Setup) -> Experiment:
    text = f"{{}} is significantly better than {SVM} and {BOOST} in MAP"
    return Experiment(
        name=f"Ranking accuracies on {CRANFIELD}",
        about=f"{CRANFIELD} in place of WSJ and AP, in four folds by query, with the seven features of Xu and Li "
        "(2007). A fourth of the training queries is the validation part.",
        source=cranfield(setup, validation=0.25),
        systems={name: system for name, system in _systems().items() if name in METHODS},
        measures=(PerQuery(MEASURES),),
        claims=(
            *(
                Claim(
                    "Section 6.2",
                    text.format(method),
                    better(method, BASELINES, "map"),
                    part_of=text.format(f"each of {MAP} and {PERMU}"),
                )
                for method in (MAP, PERMU)
            ),
            Claim(
                "Section 6.2",
                f"no significant difference between {MAP} and {PERMU} in MAP",
                no_significant_difference((MAP, PERMU), "map"),
            ),
            *(
                Claim(
                    "Section 6.2",
                    f"{method} is significantly better than {ADA} in MAP",
                    better(method, (ADA,), "map"),
                    part_of=f"{MAP} and {PERMU} are significantly better than {ADA} in MAP",
                )
                for method in (MAP, PERMU)
            ),
            *(
                Claim("Section 6.2", f"{ADA} is similar to {method} in MAP", alike((ADA, method), "map"))
                for method in BASELINES
            ),
        ),
        figures=(
            Picture(
                "Figures 12 and 13",
                "SVMmap and PermuRank are better than the baselines.",
                means(METHODS, MEASURES),
            ),
        ),
        stand_in=True,
    )


def _learning_curves(setup: Setup) -> Experiment:
    """Figure 11: training curves of AdaRank and PermuRank, and the sizes of PermuRank's working sets."""
    rounds, printed = 30 if setup.quick else HORIZON, f"{PERMU}, as printed"
    aside = AdaRank.as_in_letor(metric="map", rounds=rounds)
    curves: dict[str, System] = {
        ADA: FittedSystem(aside, validate=False),
        PERMU: FittedSystem(PermuRank("map", rounds=rounds), validate=False),
        printed: FittedSystem(PermuRank.as_printed(rounds=30 if setup.quick else UNTIL_IT_STOPS), validate=False),
    }
    return Experiment(
        name="Learning curves",
        about="MAP on the training queries of OHSUMED after every round. AdaRank takes the next best feature "
        "where the best one would change nothing: as printed it stops after one or two rounds. PermuRank's model "
        "is the mean over rounds of the normalised weights, and as printed the weights of the last round, in "
        "which no permutation is new.",
        source=letor(setup, "OHSUMED"),
        systems=curves,
        measures=(Rounds((TRAIN, "bound", "perfect", "imperfect")),),
        claims=(
            *(
                Claim(
                    "Section 6.1",
                    f"training MAP of {name} converges after 40 to 100 rounds",
                    converges(name),
                    part_of=CONVERGES,
                    variant=name == printed,
                )
                for name in curves
            ),
            Claim(
                "Section 6.1",
                f"the working sets of {printed} have 40 to 100 permutations when it stops",
                working_sets(printed),
                part_of=CONVERGES,
            ),
            Claim(
                "Theorem 4",
                "training MAP is never below the bound",
                never_below((ADA,), "round train", "round bound"),
                proved=True,
                part_of=THEOREMS,
            ),
        ),
        figures=(
            Picture(
                "Figure 11",
                "The training MAP of AdaRank steadily improves.",
                training_curves(tuple(curves), "training MAP"),
            ),
        ),
    )


def _times(setup: Setup) -> Experiment:
    """Table 4: one fit of each direct method."""
    return Experiment(
        name="Training times",
        about="Processor time of a fit on OHSUMED, with default C and rounds: medians of five fits after a first "
        "one. AdaRank chooses features by their measure: the paper's O((k + T) m n log n) is the cost of that. "
        "Table 4 is about orders of growth, which a single size does not test.",
        source=letor(setup, "OHSUMED"),
        systems={
            ADA: FittedSystem(AdaRank.as_in_letor(metric="map")),
            PERMU: FittedSystem(PermuRank("map")),
            MAP: FittedSystem(SVMmap()),
        },
        measures=(FitSeconds(),),
        claims=(
            Claim(
                "Table 4",
                f"{ADA} is trained in less time than {PERMU} and {MAP}, in this implementation",
                faster(ADA, (PERMU, MAP)),
                "The paper counts losses over all permutations; here the worst permutation of a query is found by "
                "sorting, and few of them are needed.",
            ),
        ),
    )


PAPER = Paper(
    "direct-2008",
    "Direct optimization of evaluation measures in learning to rank",
    "Xu et al. 2010",
    experiments,
)

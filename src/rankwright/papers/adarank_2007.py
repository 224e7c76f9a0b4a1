"""AdaRank: a boosting algorithm for information retrieval (Xu & Li, SIGIR 2007).

The paper's figures have no digits, so its claims are tested: which method is better, by which measure, and why.
Its OHSUMED has seven features of its own; LETOR's has 45.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.charts import line_chart
from rankwright.evaluation.pairs import compare_values
from rankwright.papers.claims import better, finding
from rankwright.papers.experiment import Claim, Experiment, Finding, Paper, Picture
from rankwright.papers.measures import TRAIN, LabelErrors, NumberOfPairs, PerQuery, Rounds
from rankwright.papers.pictures import by_number_of_pairs, error_rate, label_errors, means
from rankwright.papers.results import NOT_SHOWN, OPPOSITE, REACHED
from rankwright.papers.sources import COLLECTIONS, divided
from rankwright.papers.systems import Fitted, OneFeature
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranksvm import RankSVM

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankwright.charts import Chart
    from rankwright.papers.experiment import Setup, System
    from rankwright.papers.results import Results

MAP, NDCG = "AdaRank.MAP", "AdaRank.NDCG"
BASELINES = ("BM25", "Ranking SVM", "RankBoost")
SYSTEMS = (*BASELINES, MAP, NDCG)
PAIRS_OF_LABELS = {"2 > 0": "d-n", "2 > 1": "d-p", "1 > 0": "p-n"}
STARTS = tuple(range(0, 9000, 1000))
DEFINITELY = "map(threshold=2)"  # for MAP on OHSUMED, only 'definitely relevant' counts (section 4.2)


def experiments(setup: Setup) -> Sequence[Experiment]:
    """Return figures 2 to 11 on the collections that there are."""
    found = [
        _accuracies(setup, "OHSUMED", DEFINITELY, "Figure 2"),
        _accuracies(setup, "MQ2008", "map", "Figures 3 to 5"),
        _accuracies(setup, "MQ2007", "map", "Figures 3 to 5"),
    ]
    return [*found, _learning_curve(setup)]


def _systems(collection: str, measure: str) -> dict[str, System]:
    return {
        "BM25": OneFeature(COLLECTIONS[collection].bm25),
        "Ranking SVM": Fitted(RankSVM()),
        "RankBoost": Fitted(RankBoost()),
        MAP: Fitted(AdaRank(measure)),
        NDCG: Fitted(AdaRank("ndcg@5")),
        f"{MAP}, as printed": Fitted(AdaRank.as_printed(metric=measure)),
        f"{NDCG}, as printed": Fitted(AdaRank.as_printed(metric="ndcg@5")),
    }


def _accuracies(setup: Setup, collection: str, measure: str, where: str) -> Experiment:
    """Four folds by query, no validation part; MAP, and NDCG at 1, 3, 5 and 10."""
    metrics = (measure, "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
    on_ohsumed = collection == "OHSUMED"
    return Experiment(
        name=f"Ranking accuracies on {collection}",
        about=f"{collection} of LETOR in four folds by query. AdaRank stops by itself; the other rankers run with "
        "their defaults. The paper's data have other features (Table 2).",
        source=divided(setup, collection, n_folds=4),
        systems=_systems(collection, measure),
        measures=(
            PerQuery(metrics),
            PerQuery((measure, "ndcg@5"), part=TRAIN),
            NumberOfPairs(),
            LabelErrors(),
        ),
        claims=(
            *(
                Claim(
                    where,
                    f"{model} outperforms BM25, Ranking SVM and RankBoost in {trained}",
                    better(model, BASELINES, trained),
                )
                for model, trained in ((MAP, measure), (NDCG, "ndcg@5"))
            ),
            *_trained_measure(measure),
            *(_discussion(measure) if on_ohsumed else ()),
        ),
        figures=(
            Picture(where, "AdaRank is better than all baselines in every measure.", means(SYSTEMS, metrics)),
            *(_pictures(measure) if on_ohsumed else ()),
        ),
    )


def _trained_measure(measure: str) -> tuple[Claim, ...]:
    """Figures 9 and 10: on training queries, each measure is best where it was trained with."""
    return tuple(
        Claim(
            where,
            f"trained with {own}, AdaRank is better in {own} on training queries",
            _improves(one, other, own),
        )
        for where, one, other, own in (("Figure 9", MAP, NDCG, measure), ("Figure 10", NDCG, MAP, "ndcg@5"))
    )


def _improves(one: str, other: str, measured: str) -> Callable[[Results], Finding]:
    def test(results: Results) -> Finding:
        values = [results.query_means(model, f"train {measured}", "train queries") for model in (one, other)]
        return finding(compare_values(*values), f"{one} to {other} on training queries")

    return test


def _discussion(measure: str) -> tuple[Claim, ...]:
    """Figures 6 to 8."""
    errors = tuple(
        Claim("Figure 6", f"{MAP} misorders fewer {name} pairs than {other}", _fewer_errors(MAP, other, pair))
        for pair, name in PAIRS_OF_LABELS.items()
        if name != "p-n"
        for other in ("Ranking SVM", "RankBoost")
    )
    few = "queries with fewer than 3,000 document pairs"
    return (
        *errors,
        Claim("Figure 8", f"{MAP} is better than RankBoost for {few}", _better_with_few_pairs(measure, 3000)),
    )


def _fewer_errors(one: str, other: str, pair: str) -> Callable[[Results], Finding]:
    def test(results: Results) -> Finding:
        rates = [
            results.values(model, f"wrong {pair}") / np.maximum(results.values(model, f"pairs {pair}"), 1)
            for model in (other, one)
        ]
        some = results.values(one, f"pairs {pair}") > 0
        totals = (error_rate(results, model, pair) for model in (one, other))
        shown = f"{one} {next(totals):.4f}, {other} {next(totals):.4f} of all pairs; difference per query"
        return finding(compare_values(rates[0][some], rates[1][some]), shown)

    return test


def _better_with_few_pairs(measure: str, most: int) -> Callable[[Results], Finding]:
    def test(results: Results) -> Finding:
        few = results.values(MAP, "pairs") < most
        values = [results.values(model, measure)[few] for model in (MAP, "RankBoost")]
        return finding(compare_values(*values), f"{few.sum()} queries")

    return test


def _pictures(measure: str) -> tuple[Picture, ...]:
    return (
        Picture(
            "Figure 6",
            "AdaRank misorders fewer pairs of definitely relevant with other documents.",
            label_errors(("Ranking SVM", "RankBoost", MAP, NDCG), PAIRS_OF_LABELS),
        ),
        Picture(
            "Figures 7 and 8",
            "Numbers of document pairs vary from query to query; AdaRank does better where there are few.",
            by_number_of_pairs((MAP, "RankBoost"), measure, STARTS),
        ),
        Picture(
            "Figures 9 and 10",
            "The measure that was trained is the measure that improves, on training queries.",
            means((MAP, NDCG), (f"train {measure}", "train ndcg@5")),
        ),
    )


def _learning_curve(setup: Setup) -> Experiment:
    """Figure 11: the training curve of AdaRank.MAP, and the bound of Theorem 1."""
    recipe = AdaRank(DEFINITELY, choose="measure", repeats="once", stop="rounds", rounds=45)
    curves = {
        f"{MAP}, as printed": Fitted(AdaRank.as_printed(metric=DEFINITELY)),
        f"{MAP}, each feature once": Fitted(recipe),
        f"{MAP}, chosen by equation 8": Fitted(AdaRank(DEFINITELY)),
    }
    return Experiment(
        name="Learning curve",
        about="MAP on the training queries of OHSUMED after every round. As printed, the best feature is soon "
        "chosen again, which changes no ranking, so that training stops.",
        source=divided(setup, "OHSUMED", n_folds=4),
        systems=curves,
        measures=(Rounds((TRAIN, "bound")),),
        claims=(
            Claim("Theorem 1", "training MAP is never below the bound", _bound_holds(tuple(curves))),
            Claim(
                "Figure 11",
                "training MAP steadily improves until it reaches its peak",
                _rises(f"{MAP}, chosen by equation 8"),
            ),
        ),
        figures=(Picture("Figure 11", "Training MAP improves steadily until the peak.", _curves(tuple(curves))),),
    )


def _bound_holds(models: Sequence[str]) -> Callable[[Results], Finding]:
    def test(results: Results) -> Finding:
        gaps = [
            curve - bound
            for model in models
            for curve, bound in zip(
                results.by_trial(model, "round train"), results.by_trial(model, "round bound"), strict=True
            )
        ]
        least = min(float(np.nanmin(one)) for one in gaps)
        rounds = sum(len(one) for one in gaps)
        return Finding(
            REACHED if least >= 0 else OPPOSITE, f"smallest distance over {rounds} rounds of all fits", least
        )

    return test


def _rises(model: str) -> Callable[[Results], Finding]:
    def test(results: Results) -> Finding:
        curves = results.by_trial(model, "round train")
        rounds = [len(one) for one in curves]
        falls = sum(int((np.diff(one) < 0).sum()) for one in curves)
        gain = float(np.mean([one[-1] - one[0] for one in curves]))
        state = OPPOSITE if gain <= 0 else REACHED if falls == 0 else NOT_SHOWN
        shown = f"{min(rounds)} to {max(rounds)} rounds, MAP falls in {falls} of them; gain since the first round"
        return Finding(state, shown, gain)

    return test


def _curves(models: Sequence[str]) -> Callable[[Results], Chart]:
    def draw(results: Results) -> Chart:
        first = results.trials[0]
        curves = {
            model: list(enumerate(results.on_trial(model, "round train", first).tolist(), start=1))
            for model in models
        }
        return line_chart(curves, "round", "training MAP", description="Training MAP by round, first fold.")

    return draw


PAPER = Paper(
    "adarank-2007",
    "AdaRank: a boosting algorithm for information retrieval",
    "Xu & Li 2007",
    experiments,
    ("OHSUMED", "MQ2008", "MQ2007"),
)

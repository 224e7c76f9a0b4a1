"""`rankwright demo`: the main job on built-in data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from rankwright.cli.inputs import JsonFlag
from rankwright.cli.output import note, progress, say, show_json, show_table
from rankwright.data import RankingData, synthetic
from rankwright.evaluation import Report, evaluate
from rankwright.evaluation.page import write_page
from rankwright.metrics import NDCG
from rankwright.models import FeatureScorer, save

if TYPE_CHECKING:
    from rankwright.rankers import AdaRank

METRIC = NDCG(k=10)


def demo(
    report: Annotated[Path, typer.Option("--report", help="Where to write the page.")] = Path("report.html"),
    queries: Annotated[int, typer.Option("--queries", min=10, help="Queries to learn from.")] = 300,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another collection.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Train, compare and report on a collection made for the purpose, in a few seconds.

    Example: `rankwright demo`
    """
    truth = synthetic.RandomPolynomial.draw(seed)
    train, valid, test = (truth.sample(queries, seed=3 * seed + part) for part in range(3))
    note(f"made training, validation and test data, each {train!r}")
    ranker = _train(train, valid)
    systems: dict[str, Any] = {
        "AdaRank": ranker,
        "best feature": _best_feature(train),
        "random": _random(test),
    }
    measured = evaluate(systems, test, metrics=[METRIC, "map", "mrr"])
    write_page(measured, report, histories={"AdaRank": ranker.history_})
    save(ranker, report.with_suffix(".rw"))
    if json:
        show_json(measured.to_dict() | {"report": str(report), "model": str(report.with_suffix(".rw"))})
    else:
        _show(measured, report)


def _train(train: RankingData, valid: RankingData) -> AdaRank:
    from rankwright.rankers import AdaRank

    ranker = AdaRank(METRIC, directions="both")
    with progress("training AdaRank", ranker.rounds) as step:
        return ranker.fit(*train, validation=valid, on_round=lambda one: step(f"{one.validation:.4f}"))


def _best_feature(train: RankingData) -> FeatureScorer:
    """Return the single feature that ranks the training queries best, in its better direction."""
    candidates = [
        FeatureScorer(feature, direction, n_features=train.n_features, missing=0.0)
        for feature in range(train.n_features)
        for direction in (1, -1)
    ]
    return max(candidates, key=lambda one: METRIC(train.y, one.predict(train), train.qid))


def _random(test: RankingData) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.random.default_rng(0).normal(size=len(test))


def _show(measured: Report, report: Path) -> None:
    rows = [
        (system, *(f"{measured.mean(system, metric):.4f}" for metric in measured.metrics))
        for system in measured.systems
    ]
    show_table(("", *measured.metrics), rows)
    found = measured.compare("AdaRank", "best feature", str(METRIC))
    say(
        f"AdaRank against the best feature: {found.difference:+.4f} {METRIC} (p = {found.p_value:.4f}); "
        f"better on {found.better} queries, worse on {found.worse}."
    )
    note(f"{measured.footnote()}; wrote {report} and {report.with_suffix('.rw')}")

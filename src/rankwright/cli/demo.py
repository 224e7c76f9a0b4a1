"""`rankwright demo`: train, evaluate and report on generated data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.inputs import JsonFlag, checked_output
from rankwright.cli.output import describe, note, say, show_json, show_table
from rankwright.cli.train import exit_if_interrupted, fit_with_progress
from rankwright.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from rankwright.models import FeatureScorer

METRIC = "ndcg@10"


def demo(
    report: Annotated[
        Path,
        typer.Option(
            "--report", metavar="FILE", help="HTML page to write; the model is written beside it as .rw."
        ),
    ] = Path("report.html"),
    queries: Annotated[
        int, typer.Option("--queries", min=10, metavar="N", help="Number of training queries.")
    ] = 300,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Seed of the generated data.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Train on generated data, compare with baselines and write a report, in a few seconds.

    Example:

        rankwright demo
    """
    from rankwright.evaluation.page import write_page

    model = _model_beside(report)
    truth = rw.synthetic.RandomPolynomial.draw(seed)
    train, valid, test = (truth.sample(queries, seed=3 * seed + part) for part in range(3))
    note(f"Generated training, validation and test data, each with {describe(train)}.")
    ranker = _train(train, valid)
    systems: dict[str, Any] = {
        "AdaRank": ranker,
        "best feature": _best_feature(train),
        "random": _random(test),
    }
    measured = rw.evaluate(systems, test, metrics=[METRIC, "map", "mrr"])
    write_page(measured, report, histories={"AdaRank": ranker.history_})
    rw.save(ranker, model)
    if json:
        show_json(measured.to_dict() | {"report": str(report), "model": str(model)})
    else:
        _show(measured)
        note(f"Wrote the page {report} and the model {model}; next: rankwright info {model}")
    exit_if_interrupted(ranker)


def _model_beside(report: Path) -> Path:
    """Return the path of the model: that of the page, but ending in .rw."""
    model = checked_output(report).with_suffix(".rw")
    if model == report:
        raise InputError(
            f"{report} would be overwritten by the model; give the page another name, such as report.html."
        )
    return checked_output(model)


def _train(train: rw.RankingData, valid: rw.RankingData) -> rw.AdaRank:
    ranker = rw.AdaRank(rw.metrics.parse(METRIC), directions="both")
    fit_with_progress(ranker, train, valid)
    return ranker


def _best_feature(train: rw.RankingData) -> FeatureScorer:
    """Return the single feature, ascending or descending, that ranks the training queries best."""
    from rankwright.models import FeatureScorer

    metric = rw.metrics.parse(METRIC)
    candidates = [
        FeatureScorer(feature, direction, n_features=train.n_features, missing=0.0)
        for feature in range(train.n_features)
        for direction in (1, -1)
    ]
    return max(candidates, key=lambda one: metric(train.y, one.predict(train), train.qid))


def _random(test: rw.RankingData) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    import numpy as np

    return np.random.default_rng(0).normal(size=len(test))


def _show(measured: rw.Report) -> None:
    rows = [
        (system, *(f"{measured.mean(system, metric):.4f}" for metric in measured.metrics))
        for system in measured.systems
    ]
    show_table(("system", *measured.metrics), rows)
    found = measured.compare("AdaRank", "best feature", METRIC)
    say(
        f"AdaRank against the best feature: {found.difference:+.4f} {METRIC} (p = {found.p_value:.4f}); "
        f"better on {found.better} queries, worse on {found.worse}."
    )
    note(measured.footnote())

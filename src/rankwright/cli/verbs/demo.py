"""`rankwright demo`: train, blend, compare and report on generated data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError, MissingPackageError
from rankwright.cli.options.option_groups import option
from rankwright.cli.options.shared_options import JSON, checked_output, this_command
from rankwright.cli.output.console import describe, note, show
from rankwright.cli.output.fit_progress import exit_interrupted, fit_with_progress

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker

METRIC = "ndcg@10"
DOCUMENTS, NOISE = 20, 0.2
TIME_LIMIT = 60.0  # seconds for the fits of AutoRanker, which take a fifth of it on most machines
BASELINE = "best feature"


def demo(
    *,
    report: Path = option(
        "HTML page to write; the model is written beside it as .rw.", "FILE", default=Path("report.html")
    ),
    queries: int = option("Number of training queries.", "N", min=10, default=150),
    seed: int = option("Seed of the generated data.", "N", min=0, default=0),
    json: bool = JSON,
) -> None:
    """Train rankers on generated data, blend two, compare them and write a report, in half a minute.

    Example:

        rankwright demo
    """
    from rankwright.evaluation.compare import compare_report
    from rankwright.models.scorer import scorer_of

    model = _model_beside(report)
    truth = rw.synthetic.RandomPolynomial.draw(seed)
    train, valid, test = (
        truth.sample(queries, seed=3 * seed + part, n_documents=DOCUMENTS, noise=noise)
        for part, noise in enumerate((NOISE, NOISE, 0.0))
    )
    note(
        f"Generated training, validation and test data, each with {describe(train)}; a fifth of the labels to "
        "learn from is random."
    )
    fitted, interrupted = _fitted(train, valid)
    systems = _systems(fitted, train, valid)
    measured = rw.evaluate(systems, test, metrics=[METRIC, "map", "mrr"])
    compared = compare_report(measured, baseline=BASELINE)
    saved = next(name for name in compared.by().ranked() if scorer_of(systems[name]))  # which the page describes
    rw.save(systems[saved], model)
    page = _write_page(compared, systems, fitted, test, report)
    if json:
        show(measured, json=True, report=page, model=model)
    else:
        show(compared, json=False, sections=1)
        _show_files(model, saved, page)
    if interrupted:
        exit_interrupted()


def _show_files(model: Path, saved: str, page: str | None) -> None:
    """Say what each file is, and what to do with it."""
    note(f"\nWrote {model}: the model {saved}, one file of data without code.")
    note(f"    rankwright info {model}    describes it")
    note(f"    rankwright serve {model}   answers requests with it; needs rankwright[serve]")
    if page is not None:
        note(f"Wrote {page}: the comparison as a page, to open in a browser; it needs no network.")
    note("Next, your own judgements: rankwright auto --data judged.csv --qid query --label grade --model model.rw")


def _model_beside(report: Path) -> Path:
    """Return the path of the model: that of the page, but ending in .rw."""
    model = checked_output(report).with_suffix(".rw")
    if model == report:
        raise InputError(
            f"{report} would be overwritten by the model; give the page another name, such as report.html."
        )
    return checked_output(model)


def _rankers() -> dict[str, Ranker]:
    """Return the rankers to compare, the fastest first."""
    metric = rw.metrics.parse(METRIC)
    return {
        "AdaRank": rw.AdaRank(metric, directions="both"),
        "RankSVM": rw.RankSVM(),
        "LambdaMART": rw.LambdaMART(metric),
        "AutoRanker": rw.AutoRanker(metric, preset="quick", time_limit=TIME_LIMIT),
    }


def _fitted(train: rw.RankingData, valid: rw.RankingData) -> tuple[dict[str, Ranker], bool]:
    """Return the fitted rankers by name, and whether Ctrl-C ended the fits."""
    fitted: dict[str, Ranker] = {}
    for name, ranker in _rankers().items():
        try:
            fit_with_progress(ranker, train, valid)
        except InputError as error:  # this machine is too slow for AutoRanker's time limit
            note(f"{name} is left out: {error}")
            continue
        except KeyboardInterrupt:
            if not fitted:
                raise
            return fitted, True
        fitted[name] = ranker
        if ranker.history_.interrupted:
            return fitted, True
    return fitted, False


def _systems(fitted: dict[str, Ranker], train: rw.RankingData, valid: rw.RankingData) -> dict[str, Any]:
    """Return what is compared: the rankers, the last one first, a blend of two of them, and the best feature."""
    from rankwright.crossval.best_feature import best_feature

    systems: dict[str, Any] = dict(reversed(fitted.items()))
    if "LambdaMART" in fitted:
        pair = fitted["LambdaMART"], fitted["RankSVM"]
        systems["LambdaMART + RankSVM"] = rw.blend(*pair, on=valid, metric=METRIC)
    return systems | _lightgbm(train, valid) | {BASELINE: best_feature(train, METRIC)}


def _lightgbm(train: rw.RankingData, valid: rw.RankingData) -> dict[str, Any]:
    """Return LightGBM at its defaults, which learns from both parts as AutoRanker does, if it is installed."""
    try:
        import lightgbm
    except ImportError:
        return {}
    from rankwright.data.splitting import concat

    data = concat(train, valid, shared_queries="separate")
    ranker = lightgbm.LGBMRanker(verbosity=-1)
    return {"LightGBM, defaults": ranker.fit(data.X, data.y.astype(int), group=data.groups.sizes)}


def _write_page(
    compared: rw.SystemComparison,
    systems: dict[str, Any],
    fitted: dict[str, Ranker],
    test: rw.RankingData,
    report: Path,
) -> str | None:
    """Write the page and return its path; without the packages for it, say how to get them and return None."""
    from rankwright.cards.report_page import write_page

    histories = {name: ranker.history_ for name, ranker in fitted.items() if name != "AutoRanker"}
    try:
        write_page(
            compared,
            report,
            histories=histories,
            systems=systems,
            data=test,
            title="rankwright demo",
            reproduce=this_command(),
        )
    except MissingPackageError as error:
        note(f"Did not write {report}. {error}")
        return None
    return str(report)

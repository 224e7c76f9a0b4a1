"""Print the table and, with `--write`, put it into docs/interop.md; `--only WORD` tries the tools with that word.

The exit status is 1 if scores differ by more than a rounding in 32 bits.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

import rankwright as rw
from benchmarks.parity import engines, libraries, models, ranklib
from benchmarks.parity.jars import UnavailableError, version_of
from benchmarks.parity.table import HEAD, PAGE, Row, line, write
from rankwright.interop.exporters.scorer_sum import sum_of_scorers
from rankwright.interop.exporters.target_rules import never_negative


class Read(NamedTuple):
    """A tool that makes models, and whether it takes infinite values."""

    models: object
    infinite: bool = False


class Written(NamedTuple):
    """A target of export: its scores of all models at once, and what it cannot see or hold."""

    scores: object
    tiny: float = 0.0  # values nearer to 0 are 0
    zeros: bool = False  # a missing value is 0
    linear: bool = True  # weights of features can be held
    lifted: bool = False  # a constant is added, so that no score is negative
    infinite: bool = False  # takes infinite values, which we take for trees


def one_by_one(scores_of):
    """Return the scores of several models by a function for one."""

    def scores(several, rows, folder):
        return [scores_of(model, X, folder) for model, X in zip(several, rows, strict=True)]

    return scores


def package(name):
    """Return the version of an installed package."""
    try:
        return import_module(name).__version__
    except ImportError:
        raise UnavailableError(f"{name} is not installed") from None


READ = {
    "LightGBM": (lambda: package("lightgbm"), Read(models.lightgbm_models, infinite=True)),
    "XGBoost": (lambda: package("xgboost"), Read(models.xgboost_models)),
    "CatBoost": (lambda: package("catboost"), Read(models.catboost_models, infinite=True)),
    "RankLib (RankyMcRankFace)": (lambda: version_of("ranklib"), Read(ranklib.ranklib_models)),
}
WRITTEN = {
    "LightGBM": (
        lambda: package("lightgbm"),
        Written(one_by_one(libraries.by_lightgbm), tiny=1.1e-35, linear=False, infinite=True),
    ),
    "XGBoost": (lambda: package("xgboost"), Written(one_by_one(libraries.by_xgboost), linear=False)),
    "ONNX Runtime": (lambda: package("onnxruntime"), Written(one_by_one(libraries.by_onnx), infinite=True)),
    "C, compiled by gcc": (libraries.gcc_version, Written(one_by_one(libraries.by_gcc), infinite=True)),
    "RankLib (RankyMcRankFace)": (lambda: version_of("ranklib"), Written(ranklib.by_ranklib, zeros=True)),
    "Solr, embedded": (lambda: version_of("solr"), Written(engines.by_solr, zeros=True)),
    "Elasticsearch, its inference": (
        lambda: version_of("elasticsearch"),
        Written(engines.by_elasticsearch, linear=False, lifted=True),
    ),
    "Vespa, its evaluator": (lambda: version_of("vespa"), Written(engines.by_vespa)),
}


def compare_read(row, tool, folder):
    """Compare the tool's models with what we read."""
    for seed, predict in tool.models(folder):
        scorer = rw.load(folder / "model", **({"n_features": 6} if tool.models is ranklib.ranklib_models else {}))
        X = models.rows_for(scorer, seed, infinite=tool.infinite)
        row.add(X, scorer.predict(X), predict(X))


def compare_written(row, target, folder):
    """Compare our models with what the target makes of the exported files."""
    several = list(chain(models.ours(), models.linear() if target.linear else ()))
    rows = [
        models.rows_for(
            models.with_thresholds(one), seed, target.tiny, infinite=target.infinite and one.allows_infinite
        )
        for seed, one in several
    ]
    scores = target.scores([one for _, one in several], rows, folder)
    for (_, model), X, theirs in zip(several, rows, scores, strict=True):
        ours = model.predict(np.where(np.isnan(X), np.float32(0.0), X) if target.zeros else X)
        row.add(X, ours + never_negative(sum_of_scorers(model).trees)[1] if target.lifted else ours, theirs)


def tries():
    """Yield each comparison: the tool, its version when asked, the direction, and how to compare."""
    for tool, (version, made) in READ.items():
        yield tool, version, "read", lambda row, folder, made=made: compare_read(row, made, folder)
    for tool, (version, target) in WRITTEN.items():
        yield tool, version, "written", lambda row, folder, target=target: compare_written(row, target, folder)


def main():
    """Compare all tools, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    parser.add_argument("--only", default="", metavar="WORD", help="only tools whose name has this word")
    options = parser.parse_args()
    rows, skipped = [], []
    print(line(HEAD), line(["---"] * len(HEAD)), sep="\n")
    for tool, version, direction, compare in tries():
        if options.only.lower() not in tool.lower():
            continue
        try:
            row = Row(f"{tool} {version()}", direction)
            with TemporaryDirectory() as folder:
                compare(row, Path(folder))
            rows.append(row)
            print(row, flush=True)
        except UnavailableError as reason:
            skipped.append(f"{tool}, {direction}: skipped, because {reason}.")
    print(*skipped, sep="\n")
    if options.write and not skipped and not options.only:
        write(map(str, rows))
    elif options.write:
        print(f"{PAGE.name} is left as it is, because not all tools were tried.")
    wrong = [f"{row.tool}, {row.direction}, does not agree with us." for row in rows if not row.agrees]
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

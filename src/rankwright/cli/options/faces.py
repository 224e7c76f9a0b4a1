"""What the command line adds to parameters of Python functions, by their names.

A face says how an option is spelled and completed, what a value is called in the help, and how its text is read.
Without a face, an option has the name of the parameter, and its help is the parameter's description.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rankwright.base.errors import InputError
from rankwright.cli.options.completion import (
    complete_companions,
    complete_convention,
    complete_metric,
    complete_rankers,
)

# Written out, since help must not wait for numpy; a test compares them with the metrics.
METRICS = ("ndcg", "dcg", "mean_ndcg", "map", "mrr", "err", "p", "recall", "wta", "pair_accuracy", "kendall_tau")


@dataclass(frozen=True)
class Face:
    """A parameter as an option of the command line.

    Parameters
    ----------
    metavar
        What the help calls the value.
    option
        The option, by default the parameter with dashes, after `--no-` if the parameter is True by default.
    words
        The help, where the text of the command line differs from the values of Python; by default the parameter's
        description.
    read
        Returns the value of the parameter from the option's name and text.
    type
        The type of the option, if it is not the parameter's.
    rare
        Whether `--help` leaves the option to `--help-all`.
    more
        Further arguments of `typer.Option`.
    """

    metavar: str = ""
    option: str = ""
    words: str = ""
    read: Callable[[str, Any], Any] | None = None
    type: Any = None
    rare: bool = False
    more: dict[str, Any] = field(default_factory=dict)


def names(_option: str, text: str) -> list[str]:
    """Return names that are separated by commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def integers(option: str, text: str) -> list[int]:
    """Return integers that are separated by commas."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        example = "such as 50,100,200"
        raise InputError(f"{option} takes integers separated by commas, {example}, not {text!r}.") from None


def numbers(option: str, text: str) -> list[float]:
    """Return numbers that are separated by commas; those without a point are integers."""
    try:
        return [float(number) if "." in number else int(number) for number in text.split(",")]
    except ValueError:
        example = "such as 50,100,200"
        raise InputError(f"{option} takes numbers separated by commas, {example}, not {text!r}.") from None


def number_or_starts(option: str, text: str) -> int | list[int]:
    """Return one integer, or several that are separated by commas."""
    values = integers(option, text)
    return values if "," in text else values[0]


def true_or_false(option: str, text: str) -> bool:
    """Return True or False."""
    if text.lower() not in ("true", "false"):
        raise InputError(f"{option} takes true or false, not {text!r}.")
    return text.lower() == "true"


def number_or_word(_option: str, text: str) -> float | str:
    """Return a number; any other text is left to the checks of the function."""
    try:
        return float(text)
    except ValueError:
        return text


COUNT = {"min": 1}
ROUNDS = Face("LIST", read=integers, words="Numbers of rounds, such as 50,100,200; by default about twenty.")
METRIC = Face("NAME", words="Metric, such as ndcg@10, map or mrr.", more={"autocompletion": complete_metric})
WORKERS = Face("N", words="Number of parallel fits; by default one per thread.", rare=True, more=COUNT)

FACES = {
    "metrics": Face(
        "LIST",
        words="Metrics separated by commas, such as ndcg@10 for the first 10 ranks, or ndcg@1-10 for each of "
        f"them: {', '.join(METRICS)}.",
        more={"autocompletion": complete_metric},
    ),
    "metric": METRIC,
    "convention": Face("NAME", rare=True, more={"autocompletion": complete_convention}),
    "queries": Face("WHICH", rare=True),
    "min_relevant": Face("N", rare=True, more={"min": 0}),
    "drop_one_label": Face(rare=True),
    "n_jobs": Face(
        "N", "--jobs", "Number of threads; by default all that this process may use.", rare=True, more=COUNT
    ),
    "workers": WORKERS,
    "random_state": Face("N", rare=True, more={"min": 0}),
    "level": Face("FRACTION", rare=True),
    "folds": Face("N", more={"min": 2}),
    "repeats": Face("N", rare=True, more=COUNT),
    "validation": Face("FRACTION or fold", read=number_or_word, type=str),
    "stratify": Face(
        words="Give all folds and validation parts about the same numbers of queries with few and with many "
        "relevant documents (label >= 1).",
        rare=True,
    ),
    "new_documents": Face(
        words="Split by document as well: test on documents that no training query had.",
    ),
    "refit": Face(rare=True),
    "rounds": ROUNDS,
    "max_bins": Face("N", more={"min": 2, "max": 255}),
    "trees": Face(
        "LIST",
        read=integers,
        words="In place of --rounds: numbers of trees, such as 100,500. A round of mcrank may have one tree per "
        "class.",
    ),
    "groups": Face(
        "N or LIST",
        read=number_or_starts,
        type=str,
        words="Number of groups of about as many queries; or where groups begin, such as 1,1000,2000.",
    ),
    "cutoffs": Face("LIST", words="Cut-offs, such as 1-10 or 1,3,5,10."),
    "cost": Face("WHAT"),
    "sizes": Face(
        "LIST",
        read=numbers,
        words="Numbers of training queries, such as 50,100,200, or fractions; by default up to five, each twice "
        "the one before.",
    ),
    "draws": Face("N", more={"min": 2}),
    "trials": Face("N"),
    "preset": Face("NAME", words="How much to try: quick, default or best."),
    "time_limit": Face("TIME", "--time"),
    "storage": Face("FILE"),
    "form": Face(
        "NAME", words="How to add two models a and b; convex: (1 - alpha) a + alpha b; sum: a + alpha b."
    ),
    "low": Face("ALPHA", words="Lowest alpha."),
    "high": Face("ALPHA", words="Highest alpha."),
    "max_microseconds": Face("N", "--max-us", type=str | None, rare=True),
    "companions": Face(
        "LIST",
        words="Other libraries, separated by commas, whose rankers join: lightgbm, xgboost, catboost. They must "
        "be installed.",
        rare=True,
        more={"autocompletion": complete_companions},
    ),
    "portfolio": Face(
        "LIST",
        words="The rankers to mix, in place of the built-in portfolio: names separated by commas, or JSON such as "
        '["ranksvm", {"ranker": "mart", "rounds": 50}].',
        rare=True,
        more={"autocompletion": complete_rankers},
    ),
    "models": Face(
        "FILES",
        words="Model files, separated by commas, that join as they are: of rankwright, LightGBM, XGBoost, "
        "CatBoost or RankLib. They must not have learned from these queries.",
        rare=True,
    ),
    "interpretable": Face(words="Choose one simple model: a weighted sum of features, or of thresholds."),
    "baseline_column": Face(
        "COLUMN",
        words="Column of the data by which documents are ordered today, such as position, ascending; with - "
        "before it, such as -sales, descending. The model is compared with this order; the column is no feature "
        "unless --features names it.",
    ),
    "time_column": Face(
        "COLUMN",
        words="Column of the data with the time of each query, a date or a number: folds are in time order, and "
        "each is judged by fits on earlier queries only. The column is no feature unless --features names it.",
        rare=True,
    ),
    "target": Face(
        "TARGET",
        "--for",
        "Fit only rankers whose mixture this target of rankwright export holds exactly: elasticsearch, "
        "elasticsearch-ltr, opensearch-ltr:VERSION, solr, vespa, lightgbm, xgboost, ranklib, onnx or c.",
    ),
    "work": Face("DIR", rare=True),
    "feature_names": Face("LIST", words="Names of the features there, separated by commas.", read=names),
    "n_features": Face("N", more=COUNT),
}

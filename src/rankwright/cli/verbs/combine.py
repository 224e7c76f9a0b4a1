"""`rankwright combine`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.completion import complete_metric
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_data, reads_data
from rankwright.cli.options.shared_options import (
    PICTURES,
    JobsOption,
    JsonFlag,
    checked_output,
    checked_picture,
    require_distinct,
)
from rankwright.cli.output.console import describe, note, progress, say, show_json, show_table


@reads_data
def combine(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL MODEL...", help="Two or more model files.")],
    data: Annotated[
        Path,
        typer.Option(
            "--data",
            metavar="FILE",
            help=f"Judged documents that choose the weights ({FORMATS}), best not the training data.",
        ),
    ],
    model: Annotated[Path, typer.Option("--model", metavar="FILE", help="Model file to write.")],
    reading: ReadOptions,
    metric: Annotated[
        str,
        typer.Option("--metric", metavar="NAME", help="Metric to maximise.", autocompletion=complete_metric),
    ] = "ndcg@10",
    form: Annotated[
        str,
        typer.Option(
            "--form",
            metavar="NAME",
            help="How to add two models a and b; convex: (1 - alpha) a + alpha b; sum: a + alpha b.",
        ),
    ] = "convex",
    low: Annotated[float | None, typer.Option("--low", metavar="ALPHA", help="Lowest alpha.")] = None,
    high: Annotated[float | None, typer.Option("--high", metavar="ALPHA", help="Highest alpha.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help=f"Chart to write ({PICTURES}): the metric for every alpha (two models only).",
        ),
    ] = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Find the best combination of models for a metric and save it as one model.

    For two models the result is exact. For more, each weight is optimised in turn until nothing improves.

    Example:

        rankwright combine trees.rw linear.rw --data vali.txt --model mix.rw
    """
    _check(models, model, plot, data)
    scorers = [rw.load(path) for path in models]
    judged = read_data(data, reading, scorers, n_jobs=jobs)
    mix = _blend(scorers, judged, metric=rw.metrics.parse(metric), form=form, low=low, high=high, n_jobs=jobs)
    assert mix.model_ is not None
    rw.save(mix.model_, model)
    if plot is not None:
        mix.chart().save(plot)
    facts = _facts(mix, models, judged) | {"model": str(model)}
    if json:
        show_json(facts)
    else:
        _show(mix, models)
        note(f"{describe(judged)}; wrote {model}{'' if plot is None else f' and {plot}'}")


def _check(models: list[Path], model: Path, plot: Path | None, data: Path) -> None:
    if len(models) < 2:
        raise InputError("combine takes two or more models.")
    require_distinct(models)
    if plot is not None and len(models) > 2:
        raise InputError(f"--plot needs exactly two models, not {len(models)}.")
    checked_output(model, inputs=(*models, data))
    if plot is not None:
        checked_picture(plot, inputs=(*models, data))
        if plot.resolve() == model.resolve():
            raise InputError(f"--plot and --model both name {plot}; give the picture another name.")


def _blend(scorers: list[rw.Scorer], judged: rw.RankingData, **options: Any) -> rw.Blend:
    with progress(f"combining {len(scorers)} models", None) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the output says the same
        return rw.blend(
            *scorers, on=judged, on_step=lambda value: step(f"{options['metric']} {value:.4f}"), **options
        )


def _facts(mix: rw.Blend, models: list[Path], judged: rw.RankingData) -> dict[str, Any]:
    return {
        "metric": str(mix.metric),
        "value": mix.value,
        "alpha": mix.alpha,
        "constant": mix.constant,
        "models": [
            {"model": str(path), "weight": weight, "alone": alone}
            for path, weight, alone in zip(models, mix.weights, mix.alone, strict=True)
        ],
        "steps": None if mix.curve is None else len(mix.curve),
        "documents": len(judged),
        "queries": len(judged.groups),
    }


def _show(mix: rw.Blend, models: list[Path]) -> None:
    rows = [
        (str(path), f"{weight:.6g}", f"{alone:.4f}")
        for path, weight, alone in zip(models, mix.weights, mix.alone, strict=True)
    ]
    show_table(("model", "weight", f"{mix.metric} alone"), rows)
    if mix.constant:
        say(f"{mix.metric} is {mix.value:.4f} for every alpha, so these data cannot choose the weights.")
    else:
        say(f"{mix.metric} of the combination: {mix.value:.4f}")

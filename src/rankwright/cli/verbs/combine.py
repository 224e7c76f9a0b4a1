"""`rankwright combine`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import metric_value, plain_number
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_data
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import (
    JSON,
    MODEL_TO_WRITE,
    PICTURES,
    check_plot,
    checked_output,
    named_files,
)
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, progress, say, show, show_table


def combine(
    *,
    models: list[str] = argument(
        "Two or more model files; NAME=FILE names one.", "MODEL MODEL...", default=REQUIRED
    ),
    data: Path = option(
        f"Judged documents that choose the weights ({FORMATS}), best not the training data.",
        "FILE",
        default=REQUIRED,
    ),
    model: Path = MODEL_TO_WRITE,
    reading: ReadOptions,
    how: Given = options_of("blend", without=("on",)),
    plot: Path | None = option(
        f"Chart to write ({PICTURES}): the metric for every alpha (two models only).", "FILE"
    ),
    json: bool = JSON,
) -> None:
    """Find the best combination of models for a metric and save it as one model.

    For two models the result is exact. For more, each weight is optimised in turn until nothing improves.

    Example:

        rankwright combine trees.rw linear.rw --data vali.txt --model mix.rw
    """
    files = named_files(models)
    if len(files) < 2:
        raise InputError("combine takes two or more models.")
    if plot is not None and len(files) > 2:
        raise InputError(f"--plot needs exactly two models, not {len(files)}.")
    checked_output(model, inputs=(*files.values(), data))
    check_plot(plot, inputs=(*files.values(), data), model=model)
    scorers = [rw.load(path) for path in files.values()]
    judged = read_data(data, reading, scorers, n_jobs=how["n_jobs"])
    mix = _blend(scorers, judged, how)
    assert mix.model_ is not None
    rw.save(mix.model_, model)
    if plot is not None:
        mix.chart().save(plot)
    if json:
        show(_facts(mix, files, judged) | {"model": str(model)}, json=True)
    else:
        _show(mix, files)
        note(f"{describe(judged)}; wrote {model}{'' if plot is None else f' and {plot}'}")


def _blend(scorers: list[rw.Scorer], judged: rw.RankingData, how: Given) -> rw.Blend:
    with progress(f"combining {len(scorers)} models", None) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the output says the same

        def on_step(value: float) -> None:
            step(f"{how['metric']} {metric_value(value)}")

        return rw.blend(*scorers, on=judged, on_step=on_step, **how)


def _facts(mix: rw.Blend, models: Iterable[str], judged: rw.RankingData) -> dict[str, Any]:
    return {
        "metric": str(mix.metric),
        "value": mix.value,
        "alpha": mix.alpha,
        "constant": mix.constant,
        "models": [
            {"model": name, "weight": weight, "alone": alone}
            for name, weight, alone in zip(models, mix.weights, mix.alone, strict=True)
        ],
        "steps": None if mix.curve is None else len(mix.curve),
        "documents": len(judged),
        "queries": len(judged.groups),
    }


def _show(mix: rw.Blend, models: Iterable[str]) -> None:
    rows = [
        (name, plain_number(weight), metric_value(alone))
        for name, weight, alone in zip(models, mix.weights, mix.alone, strict=True)
    ]
    show_table(("model", "weight", f"{mix.metric} alone"), rows)
    value = metric_value(mix.value)
    if mix.constant:
        say(f"{mix.metric} is {value} for every alpha, so these data cannot choose the weights.")
    else:
        say(f"{mix.metric} of the combination: {value}")

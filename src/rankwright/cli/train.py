"""`rankwright train`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from rankwright.cli.inputs import JsonFlag, SetOption, ThreadsOption, make_ranker, read_data
from rankwright.cli.output import note, progress, say, show_json
from rankwright.models import save


def train(
    ranker: Annotated[str, typer.Argument(help="The method, such as adarank.")],
    train: Annotated[Path, typer.Option("--train", help="Judged documents (LETOR, .csv, .parquet).")],
    model: Annotated[Path, typer.Option("--model", help="Where to write the model.")],
    valid: Annotated[
        Path | None, typer.Option("--valid", help="Judged documents that choose the best round.")
    ] = None,
    settings: SetOption = None,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Learn a ranker from judged documents and save it.

    Example: `rankwright train adarank --train train.txt --valid vali.txt --model model.rw --set metric=map`
    """
    chosen = make_ranker(ranker, settings or [], threads)
    judged = read_data(train)
    validation = None if valid is None else read_data(valid, n_features=judged.n_features)
    started = time.perf_counter()
    with progress(f"training {ranker}", chosen.get_params().get("rounds", 1)) as step:
        chosen.fit(*judged, validation=validation, on_round=lambda one: step(_remark(one)))
    seconds = time.perf_counter() - started
    save(chosen, model)
    _report(chosen, judged, model, seconds, json)


def _remark(one: Any) -> str:
    value = one.train if one.validation is None else one.validation
    return f"{value:.4f}"


def _report(ranker: Any, judged: Any, model: Path, seconds: float, as_json: bool) -> None:
    history = ranker.history_
    best = history[history.best_round - 1]
    facts = {
        "ranker": ranker.name,
        "model": str(model),
        "metric": str(ranker.metric),
        "documents": len(judged),
        "queries": len(judged.groups),
        "rounds": len(history),
        "best_round": history.best_round,
        "train": best.train,
        "validation": best.validation,
        "seconds": seconds,
    }
    if as_json:
        show_json(facts)
        return
    validation = "" if best.validation is None else f", validation {best.validation:.4f}"
    say(f"{ranker.metric}: training {best.train:.4f}{validation} (round {history.best_round} of {len(history)})")
    note(f"{judged!r}, {seconds:.2f} s; wrote {model}")

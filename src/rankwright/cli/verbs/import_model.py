"""`rankwright import`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.options.data_files import file_of
from rankwright.cli.options.shared_options import JsonFlag, checked_output
from rankwright.cli.output.console import note, say, show_json


def import_model(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Model file of LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON, .cbm) or RankLib.",
        ),
    ],
    model: Annotated[Path, typer.Option("--model", metavar="FILE", help="Model file to write.")],
    n_features: Annotated[
        int | None,
        typer.Option(
            "--n-features",
            min=1,
            metavar="N",
            help="Number of features of the data, for a RankLib model, whose file does not say it.",
        ),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Turn another tool's model into one of ours, which gives the same scores.

    The tool is not needed, except catboost for a .cbm file.

    Example:

        rankwright import ranker.txt --model ranker.rw
    """
    checked_output(model, inputs=(file,))
    with file_of(file) as path:
        scorer = _loaded(path, n_features)
    rw.save(scorer, model)
    facts = {
        "source": scorer.about.get("ranker", scorer.kind),
        "kind": scorer.kind,
        "features": scorer.n_features,
        "trees": scorer.n_trees,
        "model": str(model),
    }
    if json:
        show_json(facts)
    else:
        say(f"{facts['source']} model: {_size(facts)}")
        note(f"wrote {model}")


def _size(facts: dict[str, Any]) -> str:
    from rankwright.base.wording import counted

    trees = f"{counted(facts['trees'], 'tree')}, " if facts["trees"] else ""
    return f"{trees}{counted(facts['features'], 'feature')}"


def _loaded(path: Path, n_features: int | None) -> rw.Scorer:
    from rankwright.base.files import open_bytes
    from rankwright.cli.options.foreign_models import CatBoostModel

    with open_bytes(path) as file:
        binary = file.read(4) == b"CBM1"
    if not binary:
        return rw.load(path, n_features=n_features)
    with TemporaryDirectory() as folder:
        converted = Path(folder, path.with_suffix(".json").name)
        CatBoostModel(path).model.save_model(str(converted), format="json")
        return rw.load(converted, n_features=n_features)

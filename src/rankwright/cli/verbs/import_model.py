"""`rankwright import`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rankwright as rw
from rankwright.cli.options.data_files import file_of
from rankwright.cli.options.option_groups import REQUIRED, argument
from rankwright.cli.options.shared_options import JSON, MODEL_TO_WRITE, checked_output
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import note, say, show_json


def import_model(
    *,
    file: Path = argument(
        "Model file of LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON, .cbm) or RankLib.",
        "FILE",
        default=REQUIRED,
    ),
    model: Path = MODEL_TO_WRITE,
    how: Given = options_of("load"),
    json: bool = JSON,
) -> None:
    """Turn another tool's model into one of ours, which gives the same scores.

    The tool is not needed, except catboost for a .cbm file.

    Example:

        rankwright import ranker.txt --model ranker.rw
    """
    checked_output(model, inputs=(file,))
    with file_of(file) as path:
        scorer = _loaded(path, how)
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


def _loaded(path: Path, how: Given) -> rw.Scorer:
    from rankwright.base.files import open_bytes
    from rankwright.cli.options.foreign_models import CatBoostModel

    with open_bytes(path) as file:
        binary = file.read(4) == b"CBM1"
    if not binary:
        return rw.load(path, **how)
    with TemporaryDirectory() as folder:
        converted = Path(folder, path.with_suffix(".json").name)
        CatBoostModel(path).model.save_model(str(converted), format="json")
        return rw.load(converted, **how)

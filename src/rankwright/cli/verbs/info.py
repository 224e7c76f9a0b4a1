"""`rankwright info` and `rankwright doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.base.wording import brief_list, plain_number
from rankwright.cli.options.data_files import (
    FORMATS,
    ReadOptions,
    file_of,
    is_binned,
    is_parquet_folder,
    read_documents_with_labels,
)
from rankwright.cli.options.option_groups import REQUIRED, argument
from rankwright.cli.options.shared_options import JSON
from rankwright.cli.output.console import note, show, show_table
from rankwright.rankers.parameters.spelling import spelled

SHOWN_FEATURES = 20


def info(
    *,
    file: Path = argument(
        f"Model, searcher, folder of an index, binned data, or documents ({FORMATS}).", "FILE", default=REQUIRED
    ),
    reading: ReadOptions,
    json: bool = JSON,
) -> None:
    """Describe a model, a searcher, an index, or a file of documents with or without labels.

    Example:

        rankwright info model.rw
    """
    from rankwright.cli.output.model_facts import (
        binned_facts,
        data_facts,
        index_facts,
        is_model,
        is_searcher,
        model_facts,
        searcher_facts,
    )

    with file_of(file) as path:
        if file.is_dir() and not is_parquet_folder(file):
            facts = index_facts(file)
        elif is_model(path):
            facts = model_facts(rw.load(path))
        elif is_binned(path):
            facts = binned_facts(rw.BinnedData(path))
        elif is_searcher(path):
            facts = searcher_facts(path)
        else:
            facts = data_facts(read_documents_with_labels(path, reading))
    if json:
        show(facts, json=True)
        return
    importances = facts.pop("importances", None)
    if "categories" in facts:
        facts["categories"] = {name: _levels(own) for name, own in facts["categories"].items()}
    if isinstance(facts.get("parameters"), dict):
        facts["parameters"] = {name: _spelled(value) for name, value in facts["parameters"].items()}
    show(facts, json=False)
    if importances:
        _show_importances(importances)


def doctor(*, json: bool = JSON) -> None:
    """Show versions, processor, threads, memory and optional packages, for a report of a bug.

    Example:

        rankwright doctor
    """
    from rankwright.cli.output.installation import this_installation

    show(this_installation(), json=json)


def _levels(encoding: dict[str, Any]) -> str:
    """Return the features of a one-hot category, or the code of each level."""
    if None not in encoding["otherwise"].values():
        return f"one-hot: {brief_list(encoding['otherwise'])}"
    codes = [f"{level} = {code}" for level, own in encoding["levels"].items() for code in own.values()]
    return f"codes: {brief_list(codes)}"


def _spelled(value: Any) -> str:
    """Return a saved parameter as `--set` takes it; a model file holds a tuple as Python writes it."""
    text = spelled(value)
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        return spelled([part.strip("' ") for part in text[1:-1].split(",") if part])
    return text


def _show_importances(importances: dict[str, dict[str, float]]) -> None:
    rows = [(name, plain_number(both["gain"]), plain_number(both["splits"])) for name, both in importances.items()]
    show_table(("feature", "gain", "splits"), rows[:SHOWN_FEATURES])
    if len(rows) > SHOWN_FEATURES:
        note(f"and {len(rows) - SHOWN_FEATURES} more; --json lists all")

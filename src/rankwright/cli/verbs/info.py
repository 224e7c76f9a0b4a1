"""`rankwright info`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.options.data_files import FORMATS, ReadOptions, file_of, read_documents_with_labels, reads_data
from rankwright.cli.options.shared_options import JsonFlag
from rankwright.cli.output.console import note, show_facts, show_json, show_table
from rankwright.rankers.parameters.spelling import spelled

SHOWN_FEATURES = 20


@reads_data
def info(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help=f"Model, searcher, folder of an index, or documents ({FORMATS})."),
    ],
    reading: ReadOptions,
    json: JsonFlag = False,
) -> None:
    """Describe a model, a searcher, an index, or a file of documents with or without labels.

    Example:

        rankwright info model.rw
    """
    from rankwright.cli.output.model_facts import data_facts, is_model, is_searcher, model_facts, searcher_facts

    if file.is_dir():
        _describe_index(file, as_json=json)
        return
    with file_of(file) as path:
        if is_model(path):
            facts = model_facts(rw.load(path))
        elif is_searcher(path):
            facts = searcher_facts(path)
        else:
            facts = data_facts(read_documents_with_labels(path, reading))
    if json:
        show_json(facts)
        return
    importances = facts.pop("importances", None)
    if isinstance(facts.get("parameters"), dict):
        facts["parameters"] = {name: _spelled(value) for name, value in facts["parameters"].items()}
    show_facts(facts)
    if importances:
        _show_importances(importances)


def _describe_index(folder: Path, *, as_json: bool) -> None:
    from rankwright.text.index.summary import analyser_facts, index_facts

    found = rw.text.Index.open(folder)
    facts = {"kind": "text index", **index_facts(found), "analyser": analyser_facts(found)}
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)


def _spelled(value: Any) -> str:
    """Return a saved parameter as `--set` takes it; a model file holds a tuple as Python writes it."""
    text = spelled(value)
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        return spelled([part.strip("' ") for part in text[1:-1].split(",") if part])
    return text


def _show_importances(importances: dict[str, dict[str, float]]) -> None:
    rows = [(name, f"{one['gain']:,.6g}", f"{one['splits']:,}") for name, one in importances.items()]
    show_table(("feature", "gain", "splits"), rows[:SHOWN_FEATURES])
    if len(rows) > SHOWN_FEATURES:
        note(f"and {len(rows) - SHOWN_FEATURES} more; --json lists all")

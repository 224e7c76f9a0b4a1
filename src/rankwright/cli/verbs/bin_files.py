"""`rankwright bin`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.data_files import ReadOptions, columns_noted
from rankwright.cli.options.faces import Face, names, true_or_false
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import JSON, checked_output
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.output.console import describe, note, progress, show_json

READ_BY_COLUMNS = ("label", "qid", "features", "drop", "categorical", "dates")
NO_OPTIONS = ("files", "path", *READ_BY_COLUMNS, "delimiter", "n_features")  # or those of all readers
FACES = {
    "coarse": Face("true or false", read=true_or_false),
    "query_features": Face("A,B,...", read=names),
    "category_splits": Face("NAME"),
    "weight": Face("COLUMN"),
}
WITHOUT_EFFECT = ("docid", "show", "zero_based", "format")


def bin_files(
    *,
    files: list[Path] = argument(
        "Judged documents: LETOR, .csv, .tsv or .parquet files, folders of Parquet files, quoted patterns.",
        "FILE...",
        default=REQUIRED,
    ),
    out: Path = option("File of binned data to write.", "FILE", default=REQUIRED),
    reading: ReadOptions,
    how: Given = options_of("BinnedData.create", without=NO_OPTIONS, faces=FACES),
    json: bool = JSON,
) -> None:
    """Bin judged documents that need not fit into memory, for `train`.

    Example:

        rankwright bin train/*.parquet --out train.binned
    """
    checked_output(out, inputs=files)
    columns = _columns(reading)
    with progress("binning", None) as step, columns_noted():
        said = {1: "first pass, edges of bins", 2: "second pass, codes"}
        binned = rw.BinnedData.create(
            files,
            out,
            **how,
            **columns,
            on_block=lambda number, documents: step(f"{said[number]}: {counted(documents, 'document')}"),
        )
    size = out.stat().st_size
    if json:
        from rankwright.cli.output.model_facts import binned_facts

        show_json(binned_facts(binned) | {"bytes": size, "file": str(out)})
        return
    if binned.data.columns is not None:
        note(str(binned.data.columns))
    note(f"wrote {out}: {describe(binned.data)}, {size / 2**20:,.0f} MiB")


def _columns(reading: ReadOptions) -> dict[str, Any]:
    """Return the options of reading files in blocks; refuse those that have no effect there."""
    for name in WITHOUT_EFFECT:
        if getattr(reading, name):
            raise InputError(f"--{name.replace('_', '-')} is not for bin.")
    options = reading.columns([], judged=True)
    delimiter = None if reading.delimiter is None else reading.delimiter_of("csv")
    read = {name: options[name] for name in READ_BY_COLUMNS}
    return read | {"delimiter": delimiter, "n_features": reading.n_features}

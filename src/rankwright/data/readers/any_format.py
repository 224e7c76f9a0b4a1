"""Reads judged documents from a file in any of the known formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.data.readers.csv import read_csv
from rankwright.data.readers.letor import read_letor
from rankwright.data.readers.parquet import read_parquet

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingData


def read_judged(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> RankingData:
    """Read judged documents: .csv, .tsv (each may be .gz too), .parquet, otherwise LETOR text."""
    suffix = Path(os.fspath(path).lower().removesuffix(".gz")).suffix
    if suffix == ".parquet":
        return read_parquet(path)
    if suffix in (".csv", ".tsv"):
        return read_csv(path)
    return read_letor(path, n_jobs=n_jobs)

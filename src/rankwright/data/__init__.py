"""Judged documents: in memory, in files, generated."""

from rankwright.data import synthetic
from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.data.ranking import Ranking
from rankwright.data.tables import from_arrow, from_pandas, from_polars, read_csv, read_parquet
from rankwright.data.trec import (
    Coverage,
    JudgedRun,
    Judgements,
    Run,
    format_run,
    judge,
    read_judgements,
    read_run,
    write_run,
)

__all__ = [
    "Coverage",
    "JudgedRun",
    "Judgements",
    "QueryGroups",
    "Ranking",
    "RankingData",
    "Run",
    "format_run",
    "from_arrow",
    "from_pandas",
    "from_polars",
    "judge",
    "read_csv",
    "read_judgements",
    "read_parquet",
    "read_run",
    "synthetic",
    "write_run",
]

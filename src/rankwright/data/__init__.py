"""Documents and judged documents: in memory, in files, generated."""

from rankwright.data import synthetic
from rankwright.data.dataset import Documents, RankingData
from rankwright.data.delimited import read_csv
from rankwright.data.folds import Fold, find_folds, read_fold
from rankwright.data.frames import from_arrow, from_pandas, from_polars
from rankwright.data.groups import QueryGroups
from rankwright.data.letor import read_letor, write_letor
from rankwright.data.parquet import read_parquet
from rankwright.data.ranking import Ranking
from rankwright.data.splitting import concat, sample_queries, split_queries
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
    "Documents",
    "Fold",
    "JudgedRun",
    "Judgements",
    "QueryGroups",
    "Ranking",
    "RankingData",
    "Run",
    "concat",
    "find_folds",
    "format_run",
    "from_arrow",
    "from_pandas",
    "from_polars",
    "judge",
    "read_csv",
    "read_fold",
    "read_judgements",
    "read_letor",
    "read_parquet",
    "read_run",
    "sample_queries",
    "split_queries",
    "synthetic",
    "write_letor",
    "write_run",
]

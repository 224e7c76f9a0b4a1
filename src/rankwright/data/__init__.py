"""Judged documents: in memory, in files, generated."""

from rankwright.data.dataset import RankingData
from rankwright.data.folds import Fold, find_folds, read_fold
from rankwright.data.groups import QueryGroups
from rankwright.data.letor import read_letor, write_letor
from rankwright.data.ranking import Ranking

__all__ = [
    "Fold",
    "QueryGroups",
    "Ranking",
    "RankingData",
    "find_folds",
    "read_fold",
    "read_letor",
    "write_letor",
]

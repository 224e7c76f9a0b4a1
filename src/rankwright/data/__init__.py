"""Judged documents: in memory, in files, generated."""

from rankwright.data.dataset import RankingData
from rankwright.data.groups import QueryGroups
from rankwright.data.ranking import Ranking

__all__ = ["QueryGroups", "Ranking", "RankingData"]

"""The methods of the papers, a file each."""

from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.mpboost import MPBoost
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranker import Ranker

__all__ = ["AdaRank", "LambdaMART", "MPBoost", "RankBoost", "Ranker"]

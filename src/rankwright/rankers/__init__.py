"""The methods of the papers, a file each."""

from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.ranknet import RankNet

__all__ = ["AdaRank", "LambdaMART", "LambdaRank", "ListNet", "RankNet", "Ranker"]

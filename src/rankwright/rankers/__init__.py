"""The methods of the papers, a file each."""

from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.mart import MART
from rankwright.rankers.mcrank import McRank
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.ranknet import RankNet

__all__ = ["MART", "AdaRank", "LambdaMART", "LambdaRank", "ListNet", "McRank", "RankNet", "Ranker"]

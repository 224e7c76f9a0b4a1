"""The methods of the papers, a file each."""

from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.mart import MART
from rankwright.rankers.mcrank import McRank
from rankwright.rankers.ranker import Ranker

__all__ = ["MART", "AdaRank", "LambdaMART", "McRank", "Ranker"]

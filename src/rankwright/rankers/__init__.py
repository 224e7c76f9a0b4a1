"""The methods of the papers, a file each."""

from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.permurank import PermuRank
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.ranksvm import RankSVM
from rankwright.rankers.svmmap import SVMmap

__all__ = ["AdaRank", "LambdaMART", "PermuRank", "RankSVM", "Ranker", "SVMmap"]

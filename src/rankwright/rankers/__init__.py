"""The methods of the papers, a file each."""

from rankwright.rankers.adaboost_mh import AdaBoostMH
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.mart import MART
from rankwright.rankers.mcrank import McRank
from rankwright.rankers.mpboost import MPBoost
from rankwright.rankers.permurank import PermuRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.ranknet import RankNet
from rankwright.rankers.ranksvm import RankSVM
from rankwright.rankers.svmmap import SVMmap

__all__ = [
    "MART",
    "AdaBoostMH",
    "AdaRank",
    "CalibratedAdaBoost",
    "LambdaMART",
    "LambdaRank",
    "ListNet",
    "MPBoost",
    "McRank",
    "PermuRank",
    "RankBoost",
    "RankNet",
    "RankSVM",
    "Ranker",
    "SVMmap",
]

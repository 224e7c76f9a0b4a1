"""The methods of the papers, a file each."""

from rankwright.rankers.adaboost_mh import AdaBoostMH
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.calibrated_adaboost import CalibratedAdaBoost
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.mart import MART
from rankwright.rankers.mcrank import McRank
from rankwright.rankers.ranker import Ranker

__all__ = ["MART", "AdaBoostMH", "AdaRank", "CalibratedAdaBoost", "LambdaMART", "McRank", "Ranker"]

"""Models of other tools as our scorers, read from their own files without importing the tool."""

from rankwright.interop.catboost import scorer_from_catboost
from rankwright.interop.lightgbm import scorer_from_lightgbm
from rankwright.interop.ranklib import scorer_from_ranklib
from rankwright.interop.xgboost import scorer_from_xgboost

__all__ = ["scorer_from_catboost", "scorer_from_lightgbm", "scorer_from_ranklib", "scorer_from_xgboost"]

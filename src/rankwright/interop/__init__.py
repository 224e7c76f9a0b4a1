"""Models of other libraries as our scorers, read from their own text or JSON without importing the library."""

from rankwright.interop.catboost import scorer_from_catboost
from rankwright.interop.lightgbm import scorer_from_lightgbm
from rankwright.interop.xgboost import scorer_from_xgboost

__all__ = ["scorer_from_catboost", "scorer_from_lightgbm", "scorer_from_xgboost"]

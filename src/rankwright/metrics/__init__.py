"""Ranking metrics, such as `NDCG(k=10)` or `parse("ndcg@10")`, and the conventions of other tools."""

from rankwright.metrics.average_precision import AP
from rankwright.metrics.base import Metric, Ties, mean_over_queries
from rankwright.metrics.cascade import ERR, RR
from rankwright.metrics.conventions import CONVENTIONS, Convention, find_convention
from rankwright.metrics.dot_product import DotProduct
from rankwright.metrics.function import FunctionMetric
from rankwright.metrics.gain import DCG, NDCG, Discount, Gain, MeanNDCG
from rankwright.metrics.pairwise import KendallTau, PairAccuracy
from rankwright.metrics.parse import MetricLike, as_metric, as_metrics, parse, parse_metrics
from rankwright.metrics.relevance import WTA, Precision, Recall

__all__ = [
    "AP",
    "CONVENTIONS",
    "DCG",
    "ERR",
    "NDCG",
    "RR",
    "WTA",
    "Convention",
    "Discount",
    "DotProduct",
    "FunctionMetric",
    "Gain",
    "KendallTau",
    "MeanNDCG",
    "Metric",
    "MetricLike",
    "PairAccuracy",
    "Precision",
    "Recall",
    "Ties",
    "as_metric",
    "as_metrics",
    "find_convention",
    "mean_over_queries",
    "parse",
    "parse_metrics",
]

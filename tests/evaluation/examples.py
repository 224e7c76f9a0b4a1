"""Small reports and data to test with."""

import numpy as np

from rankwright.data.dataset import RankingData
from rankwright.evaluation.report import Report


def small_data():
    """Three queries of three documents, the last with nothing to rank; the only feature is a good score."""
    y = np.array([2, 1, 0, 0, 1, 0, 0, 0, 0])
    return RankingData(np.array([3, 2, 1, 1, 3, 2, 1, 2, 3])[:, None], y, np.repeat(["a", "b", "c"], 3))


def small_report(**systems):
    """Return a report of one metric from every system's values."""
    n_queries = len(next(iter(systems.values())))
    return Report(
        systems=tuple(systems),
        metrics=("map",),
        queries=tuple(range(n_queries)),
        values={(system, "map"): np.array(values, dtype=float) for system, values in systems.items()},
        empty={"map": 0},
        convention="standard",
    )

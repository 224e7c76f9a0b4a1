"""Runs all benchmarks, `python -m benchmarks`, or some of them, `python -m benchmarks metrics`."""

import sys
from importlib import import_module

NAMES = (
    "reading",
    "parsing",
    "metrics",
    "training",
    "growth",
    "scoring",
    "scoring_grid",
    "blending",
    "pairs",
    "startup",
    "text",
    "serving",
)

if __name__ == "__main__":  # needed because some benchmarks start processes
    for name in sys.argv[1:] or NAMES:
        import_module(f"benchmarks.{name}").main()

"""All benchmarks: `python -m benchmarks`, or some of them: `python -m benchmarks metrics`."""

import sys
from importlib import import_module

NAMES = ("reading", "metrics", "scoring")

for name in sys.argv[1:] or NAMES:
    import_module(f"benchmarks.{name}").main()

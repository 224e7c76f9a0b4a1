"""Training time by number of queries, features, leaves and threads, compared with LightGBM.

`python -m benchmarks.growth` prints a table and draws `growth.svg`; `--plot` names another file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks import training
from rankwright.reports.charts import line_chart

ROUNDS = 20
USUAL = {"queries": 2_000, "features": 136, "leaves": 31, "threads": 1}
VARIED = {
    "queries": (500, 1_000, 2_000, 4_000, 8_000),
    "features": (34, 68, 136),
    "leaves": (8, 31, 127),
    "threads": (1, 2),
}
SYSTEMS = ("rankwright", "lightgbm")


def main() -> None:
    """Vary one size at a time, with the usual values for the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, default=Path("growth.svg"))
    options = parser.parse_args([] if "growth" in sys.argv[1:] else None)
    print(f"Growth: {ROUNDS} trees, seconds including the data set; usual sizes {USUAL}")
    print(f"{'':<12}{'':>8}" + "".join(f"{system:>12}" for system in SYSTEMS) + f"{'ratio':>8}")
    curves: dict[str, list[tuple[float, float]]] = {system: [] for system in SYSTEMS}
    for what, values in VARIED.items():
        for value in values:
            seconds = _seconds(USUAL | {what: value})
            row = "".join(f"{seconds[system]:>12.2f}" for system in SYSTEMS)
            print(f"{what:<12}{value:>8,}{row}{seconds['lightgbm'] / seconds['rankwright']:>8.2f}", flush=True)
            if what == "queries":
                for system in SYSTEMS:
                    curves[system].append((value, seconds[system]))
    description = f"Seconds for {ROUNDS} trees by number of queries, of {' and '.join(SYSTEMS)}."
    line_chart(curves, "queries", f"seconds for {ROUNDS} trees", description=description).save(options.plot)
    print(f"wrote {options.plot}")


def _seconds(sizes: dict[str, int]) -> dict[str, float]:
    found: list[dict[str, Any]] = training.run(
        sizes["queries"], ROUNDS, sizes["leaves"], (sizes["threads"],), SYSTEMS, sizes["features"]
    )
    return {one["system"]: one["seconds"] for one in found}


if __name__ == "__main__":
    main()

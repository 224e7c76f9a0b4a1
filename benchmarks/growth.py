"""Training time by queries, features, leaves and threads, compared with LightGBM and with the cost model.

`python -m benchmarks.growth` prints a table and draws `growth.svg`; `--plot` names another file. It fails if a
time on one thread, or the memory for large data, is further from what `benchmarks/costs.json` predicts than the
tolerance.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks import costs, training
from benchmarks.collection import DOCUMENTS_PER_QUERY
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
    head = "".join(f"{system:>12}" for system in SYSTEMS)
    print(f"{'':<12}{'':>8}{head}{'ratio':>8}{'predicted':>11}{'MB':>7}{'predicted':>11}")
    constants, misses = costs.stored(), list[str]()
    curves: dict[str, list[tuple[float, float]]] = {system: [] for system in SYSTEMS}
    for what, values in VARIED.items():
        for value in values:
            sizes = USUAL | {what: value}
            measured = _measured(sizes)
            seconds = {system: result["seconds"] for system, result in measured.items()}
            row = "".join(f"{seconds[system]:>12.2f}" for system in SYSTEMS)
            ratio, memory = seconds["lightgbm"] / seconds["rankwright"], measured["rankwright"]["peak_mb"]
            fit = costs.Size(sizes["queries"] * DOCUMENTS_PER_QUERY, sizes["features"], sizes["leaves"])
            time = costs.predicted_seconds(constants, fit, ROUNDS)
            megabytes = costs.predicted_megabytes(constants, fit)
            line = f"{what:<12}{value:>8,}{row}{ratio:>8.2f}{time:>11.2f}{memory:>7.0f}{megabytes:>11.0f}"
            print(line, flush=True)
            checked = [(time, seconds["rankwright"])] if sizes["threads"] == 1 else []
            checked += [(megabytes, memory)] if fit.is_large else []
            if any(abs(actual / expected - 1) > costs.TOLERANCE for expected, actual in checked):
                misses.append(line)
            if what == "queries":
                for system in SYSTEMS:
                    curves[system].append((value, seconds[system]))
    description = f"Seconds for {ROUNDS} trees by number of queries, of {' and '.join(SYSTEMS)}."
    line_chart(curves, "queries", f"seconds for {ROUNDS} trees", description=description).save(options.plot)
    print(f"wrote {options.plot}")
    if misses:
        sys.exit("\n".join([f"more than {costs.TOLERANCE:.0%} from the prediction:", *misses]))


def _measured(sizes: dict[str, int]) -> dict[str, dict[str, Any]]:
    results = training.run(
        sizes["queries"], ROUNDS, sizes["leaves"], (sizes["threads"],), SYSTEMS, sizes["features"]
    )
    return {result["system"]: result for result in results}


if __name__ == "__main__":
    main()

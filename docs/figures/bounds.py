"""Draw figures 3 and 4 of Xu et al. (2010) again: `python docs/figures/bounds.py` writes them beside this file."""

from pathlib import Path

import numpy as np

from rankwright import bounds
from rankwright.metrics import AP
from rankwright.reports.charts import Chart, line_chart

HIGHEST = 1.0  # type two bounds rise to several hundred


def figure(*, mixed: bool) -> Chart:
    """Return the exponential bounds and the basic loss over all directions of w, where they are below HIGHEST."""
    surrogates = bounds.SurrogateBounds(bounds.simulate(1, mixed=mixed), AP(), pairs="mixed")
    angles = np.linspace(0.0, 2 * np.pi, 181)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    losses = {"type one": surrogates.type_one, "type two": surrogates.type_two, "basic loss": surrogates.basic}
    curves = {}
    for name, loss in losses.items():
        values = np.array([loss(w) for w in directions])
        curves[name] = list(zip(angles, np.where(values <= HIGHEST, values, np.nan), strict=True))
    best = {"basic loss": (np.pi / 4, surrogates.basic(np.array([1.0, 1.0])))}
    kind = "overlapping" if mixed else "separated"
    description = f"Bounds of type one and two and the basic loss by theta, on {kind} documents; pi / 4 is marked."
    return line_chart(curves, "theta", "loss", description=description, marked=best, dashed=["basic loss"])


if __name__ == "__main__":
    for number, mixed in ((3, False), (4, True)):
        figure(mixed=mixed).save(Path(__file__).with_name(f"bounds-{number}.svg"))

"""Draw figures 3 and 4 of Xu et al. (2010) again: `python docs/figures/bounds.py` writes them beside this file."""

from pathlib import Path

import numpy as np

from rankwright import bounds
from rankwright.chart import Chart
from rankwright.metrics import AP

HIGHEST = 1.0  # type two bounds rise to several hundred
STYLE = (
    "<style>text{font:12px sans-serif;fill:#555}path{stroke:#ddd}polyline{fill:none;stroke-width:2}"
    ".one{stroke:#1f6fb2}.two{stroke:#c0392b}.basic{stroke:#888;stroke-dasharray:4 3}.best{stroke:#aaa}</style>"
)


def figure(*, mixed: bool) -> str:
    """Return the exponential bounds and the basic loss over all directions of w."""
    surrogates = bounds.SurrogateBounds(bounds.simulate(1, mixed=mixed), AP(), pairs="mixed")
    angles = np.linspace(0.0, 2 * np.pi, 181)
    directions = np.column_stack([np.cos(angles), np.sin(angles)])
    losses = {"one": surrogates.type_one, "two": surrogates.type_two, "basic": surrogates.basic}
    chart = Chart((0.0, 2 * np.pi), (0.0, HIGHEST), "theta (pi / 4 is marked)", "loss")
    lines = []
    for kind, loss in losses.items():
        values = np.array([loss(w) for w in directions])
        within = np.split(np.arange(len(angles)), np.flatnonzero(np.diff(values <= HIGHEST)) + 1)
        lines += [
            chart.line(kind, list(zip(angles[part], values[part], strict=True)))
            for part in within
            if values[part[0]] <= HIGHEST
        ]
    drawn = chart.drawn([chart.upright("best", np.pi / 4), *lines])
    return drawn.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(">", f">{STYLE}", 1)


if __name__ == "__main__":
    for number, mixed in ((3, False), (4, True)):
        Path(__file__).with_name(f"bounds-{number}.svg").write_text(figure(mixed=mixed) + "\n", encoding="utf-8")

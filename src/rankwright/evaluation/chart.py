"""A chart with labelled axes as SVG text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 24, 40  # room for the labels of the axes


@dataclass(frozen=True)
class Chart:
    """The two axes: what range of values each shows, and what it is called."""

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str

    def drawn(self, marks: Iterable[str]) -> str:
        """Return the whole picture: grid, marks, labels."""
        label = f"{escape(self.y_label)} by {escape(self.x_label)}"
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
            f"{self._grid()}{''.join(marks)}{self._labels()}</svg>"
        )

    def bar(self, place: int, value: float) -> str:
        """Return a bar from zero up or down."""
        top, bottom = self._y(max(value, 0.0)), self._y(min(value, 0.0))
        left, width = self._x(place), self._x(place + 1) - self._x(place)
        kind = "better" if value > 0 else "worse"
        return (
            f'<rect class="{kind}" x="{left:.2f}" y="{top:.2f}" width="{width:.2f}" height="{bottom - top:.2f}"/>'
        )

    def line(self, kind: str, points: Sequence[tuple[float, float]]) -> str:
        """Return a line through points."""
        places = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        return f'<polyline class="{kind}" points="{places}"/>'

    def upright(self, kind: str, x: float) -> str:
        """Return a line from bottom to top."""
        return f'<path class="{kind}" d="M{self._x(x):.1f} {TOP}V{HEIGHT - BOTTOM}"/>'

    def _x(self, value: float) -> float:
        low, high = self.x_range
        return LEFT + (value - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        low, high = self.y_range
        return HEIGHT - BOTTOM - (value - low) / ((high - low) or 1.0) * (HEIGHT - TOP - BOTTOM)

    def _grid(self) -> str:
        return "".join(
            f'<path class="{"grid" if tick else "zero"}" d="M{LEFT} {self._y(tick):.1f}H{WIDTH - RIGHT}"/>'
            f'<text x="{LEFT - 8}" y="{self._y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
            for tick in ticks(*self.y_range)
        )

    def _labels(self) -> str:
        along = "".join(
            f'<text x="{self._x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
            for tick in ticks(*self.x_range, most=10)
            if tick == int(tick)
        )
        return (
            f'{along}<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{escape(self.x_label)}</text>'
            f'<text x="0" y="12">{escape(self.y_label)}</text>'
        )


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Return round numbers within a range, at most so many and one more."""
    if not low < high:
        return [low]
    rough = (high - low) / most
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * (1 - 1e-9))
    digits = max(0, -floor(log10(step)))
    return [round(step * place, digits) for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


COLOURS = ("#2458a6", "#d08a2e", "#2a7f62", "#b5483a", "#6b4c9a", "#5c6773")
LINE_STYLE = (
    "text { font: 12px system-ui, sans-serif; fill: #5c6773; } .grid, .zero { stroke: #e3e7ec; }"
    " polyline { fill: none; stroke-width: 2; }"
)


def line_chart(curves: Mapping[str, Sequence[tuple[float, float]]], x_label: str, y_label: str) -> str:
    """Return an SVG file of its own: a line through each curve's points, and its name in the same colour."""
    points = [point for curve in curves.values() for point in curve]
    x_range, y_range = ((min(values), max(values)) for values in zip(*points, strict=True))
    chart = Chart(x_range, y_range, x_label, y_label)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(curves))]
    styles = "".join(f" .line{place} {{ stroke: {colour}; }}" for place, colour in enumerate(colours))
    marks = [f"<style>{LINE_STYLE}{styles}</style>", '<rect width="100%" height="100%" fill="#fff"/>']
    for place, (name, curve) in enumerate(curves.items()):
        marks.append(chart.line(f"line{place}", curve))
        height = HEIGHT - BOTTOM - 8 - 16 * (len(curves) - 1 - place)
        text = f'<text x="{WIDTH - RIGHT - 6}" y="{height}" text-anchor="end" style="fill: {colours[place]}">'
        marks.append(f"{text}{escape(name)}</text>")
    size = f'xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
    return chart.drawn(marks).replace("<svg ", f"<svg {size} ", 1) + "\n"

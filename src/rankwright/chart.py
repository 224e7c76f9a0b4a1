"""Draws charts with labelled axes as SVG text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 24, 40  # margins for the labels of the axes


@dataclass(frozen=True)
class Chart:
    """A chart with two axes: the range of values and the label of each.

    A logarithmic axis takes positive values only.
    """

    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_label: str
    y_label: str
    x_whole: bool = True  # x has only integers
    x_log: bool = False
    width: int = WIDTH
    height: int = HEIGHT

    def drawn(self, marks: Iterable[str]) -> str:
        """Return the chart (grid, marks, labels) for a page that defines its style."""
        return self._picture("", marks)

    def drawn_alone(self, marks: Iterable[str], style: str) -> str:
        """Return the chart as the text of an SVG file with its style."""
        size = f' xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
        return self._picture(size, [f"<style>{style}</style>", *marks])

    def _picture(self, attributes: str, marks: Iterable[str]) -> str:
        label = f"{escape(self.y_label)} by {escape(self.x_label)}"
        return (
            f'<svg{attributes} viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{label}">'
            f"{self._grid()}{''.join(marks)}{self._labels()}</svg>"
        )

    def bar(self, place: int, value: float) -> str:
        """Return a bar from zero to the value."""
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
        """Return a vertical line."""
        return f'<path class="{kind}" d="M{self._x(x):.1f} {TOP}V{self.height - BOTTOM}"/>'

    def point(self, kind: str, x: float, y: float, title: str, radius: float = 4.0) -> str:
        """Return a disc with a title, which browsers show under the pointer."""
        place = f'cx="{self._x(x):.1f}" cy="{self._y(y):.1f}" r="{radius:g}"'
        return f'<circle class="{kind}" {place}><title>{escape(title)}</title></circle>'

    def names(self, kind: str, points: Sequence[tuple[float, float, str]]) -> str:
        """Return the names of points: above each point, or below it where another name would be too near."""
        placed: list[tuple[float, float]] = []
        for x, y, _ in points:
            across, above = self._x(x), self._y(y) - 8
            crowded = any(abs(across - one) < 16 and abs(above - other) < 12 for one, other in placed)
            placed.append((across, above + 24 if crowded else above))
        return "".join(
            f'<text class="{kind}" x="{across:.1f}" y="{down:.1f}" text-anchor="middle">{escape(name)}</text>'
            for (across, down), (*_, name) in zip(placed, points, strict=True)
        )

    def _x(self, value: float) -> float:
        low, high = map(log10, self.x_range) if self.x_log else self.x_range
        value = log10(value) if self.x_log else value
        return LEFT + (value - low) / ((high - low) or 1.0) * (self.width - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        low, high = self.y_range
        return self.height - BOTTOM - (value - low) / ((high - low) or 1.0) * (self.height - TOP - BOTTOM)

    def _grid(self) -> str:
        return "".join(
            f'<path class="{"grid" if tick else "zero"}" d="M{LEFT} {self._y(tick):.1f}H{self.width - RIGHT}"/>'
            f'<text x="{LEFT - 8}" y="{self._y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>'
            for tick in ticks(*self.y_range)
        )

    def _labels(self) -> str:
        along = "".join(
            f'<text x="{self._x(tick):.1f}" y="{self.height - BOTTOM + 16}" text-anchor="middle">{tick:g}</text>'
            for tick in self._x_ticks()
            if tick == int(tick) or not self.x_whole
        )
        x, y = self.width - RIGHT, self.height - 6
        return (
            f'{along}<text x="{x}" y="{y}" text-anchor="end">{escape(self.x_label)}</text>'
            f'<text x="0" y="12">{escape(self.y_label)}</text>'
        )

    def _x_ticks(self) -> list[float]:
        room = self.width // 70
        steps = round_numbers(*self.x_range) if self.x_log else []
        if len(steps) < 2:
            return ticks(*self.x_range, most=room)
        return steps if len(steps) <= room else [one for one in steps if log10(one).is_integer()]


def ticks(low: float, high: float, *, most: int = 6) -> list[float]:
    """Return round numbers within a range, at most `most` + 1 of them."""
    if not low < high:
        return [low]
    rough = (high - low) / most
    unit = 10.0 ** floor(log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough * (1 - 1e-9))
    digits = max(0, -floor(log10(step)))
    return [round(step * place, digits) for place in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def round_numbers(low: float, high: float) -> list[float]:
    """Return the numbers 1, 2 and 5 times a power of ten within a positive range."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    numbers = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    return [one for one in numbers if low <= one <= high]


COLOURS = ("#2458a6", "#d08a2e", "#2a7f62", "#b5483a", "#6b4c9a", "#5c6773", "#b8588f")
LINE_STYLE = (
    "text { font: 12px system-ui, sans-serif; fill: #5c6773; } .grid, .zero { stroke: #e3e7ec; }"
    " polyline { fill: none; stroke-width: 2; }"
)


def line_chart(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    x_label: str,
    y_label: str,
    *,
    x_whole: bool = True,
    names_above: bool = False,
) -> str:
    """Return the text of an SVG file: one line per curve, and its name in the same colour.

    Names are at the bottom right, which curves that level off leave free, or at the top left if `names_above`.
    """
    points = [point for curve in curves.values() for point in curve]
    x_range, y_range = ((min(values), max(values)) for values in zip(*points, strict=True))
    chart = Chart(x_range, y_range, x_label, y_label, x_whole)
    colours = [COLOURS[place % len(COLOURS)] for place in range(len(curves))]
    styles = "".join(f" .line{place} {{ stroke: {colour}; }}" for place, colour in enumerate(colours))
    marks = []
    for place, (name, curve) in enumerate(curves.items()):
        marks.append(chart.line(f"line{place}", curve))
        below = HEIGHT - BOTTOM - 8 - 16 * (len(curves) - 1 - place)
        x, y, anchor = (
            (LEFT + 6, TOP + 12 + 16 * place, "start") if names_above else (WIDTH - RIGHT - 6, below, "end")
        )
        text = f'<text x="{x}" y="{y}" text-anchor="{anchor}" style="fill: {colours[place]}">'
        marks.append(f"{text}{escape(name)}</text>")
    return chart.drawn_alone(marks, LINE_STYLE + styles) + "\n"


TILE_LEFT, TILE_HEIGHT = 130, 24
TILE_STYLE = "text { font: 12px system-ui, sans-serif; fill: #5c6773; } .dark { fill: #ffffff; }"


def tile_chart(table: Mapping[str, Mapping[str, float]], label: str) -> str:
    """Return the text of an SVG file: one row of tiles per name, darker for larger values, which are in percent.

    Every row must have the same columns in the same order.
    """
    columns = list(next(iter(table.values())))
    largest = max(value for row in table.values() for value in row.values()) or 1.0
    width, height = (WIDTH - TILE_LEFT - RIGHT) / len(columns), TOP + TILE_HEIGHT * (len(table) + 1)
    middles = [TILE_LEFT + width * (place + 0.5) for place in range(len(columns))]
    marks = [f"<style>{TILE_STYLE}</style>", f'<text x="0" y="12">{escape(label)}</text>']
    for middle, name in zip(middles, columns, strict=True):
        marks.append(f'<text x="{middle:.1f}" y="{TOP + 16}" text-anchor="middle">{escape(name)}</text>')
    for number, (name, row) in enumerate(table.items(), start=1):
        top = TOP + TILE_HEIGHT * number
        marks.append(f'<text x="{TILE_LEFT - 8}" y="{top + 16}" text-anchor="end">{escape(name)}</text>')
        for middle, value in zip(middles, row.values(), strict=True):
            share = value / largest
            place = f'x="{middle - width / 2 + 1:.1f}" y="{top + 1}"'
            size = f'width="{width - 2:.1f}" height="{TILE_HEIGHT - 2}"'
            kind = ' class="dark"' if share > 0.4 else ""
            marks.append(f'<rect {place} {size} fill="{COLOURS[0]}" fill-opacity="{share:.3f}"/>')
            marks.append(f'<text{kind} x="{middle:.1f}" y="{top + 16}" text-anchor="middle">{value:.1%}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{"".join(marks)}</svg>\n'
    )

"""The differences between two tools, as a table in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

HEAD = (
    "tool",
    "direction",
    "models",
    "rows",
    "infinite values",
    "bit for bit",
    "largest difference",
    "in another order",
)
PAGE = Path(__file__).parents[2] / "docs" / "interop.md"
PLACE = re.compile(r"(<!-- measured: parity -->\n).*?(<!-- end -->)", re.DOTALL)
NEAR = 1e-6  # of the largest score: what targets that sum in 32 bits may differ by


class Row:
    """The differences between two tools, model by model."""

    def __init__(self, tool, direction):
        self.tool, self.direction = tool, direction
        self.models = self.rows = self.infinite = self.exact = self.moved = 0
        self.largest = 0.0

    def add(self, X, ours, theirs):
        """Compare the scores of one model for the rows X; differences count relative to the largest score."""
        if len(ours) != len(theirs) or not np.isfinite(theirs).all():
            raise RuntimeError(f"{self.tool} gives {len(theirs)} scores for {len(ours)} rows, or some not finite.")
        scale = max(1e-300, np.abs(ours).max())
        self.models += 1
        self.rows += len(ours)
        self.infinite += int(np.isinf(X).sum())
        self.exact += bool((ours == theirs).all())
        self.largest = max(self.largest, float(np.abs(ours - theirs).max() / scale))
        order = np.argsort(ours, kind="stable")
        falls = np.diff(np.asarray(theirs, dtype=np.float64)[order]) < 0
        self.moved += int((falls & (np.diff(ours[order]) > NEAR * scale)).sum())

    @property
    def agrees(self):
        """Whether no difference is more than a rounding in 32 bits."""
        return self.largest <= NEAR and not self.moved

    def __str__(self):
        counts = f"{self.models}", f"{self.rows:,}", f"{self.infinite:,}", f"{self.exact}"
        return line((self.tool, self.direction, *counts, f"{self.largest:.1e}", f"{self.moved}"))


def line(cells):
    """Return one line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def write(lines, page=PAGE):
    """Put the table between its marks in the page."""
    text = page.read_text(encoding="utf-8")
    table = "\n".join([line(HEAD), line(["---"] * len(HEAD)), *lines])
    page.write_text(PLACE.sub(lambda found: f"{found[1]}{table}\n{found[2]}", text), encoding="utf-8")

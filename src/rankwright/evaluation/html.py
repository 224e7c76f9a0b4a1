"""The parts of HTML pages: one look for all of them, in light and dark, without scripts or other files.

Functions take and return HTML; what may hold any text must be escaped before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankwright.data.files import write_whole

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

# Blue and orange can be told apart by everyone. A colour is three numbers, so that it can be drawn faintly.
STYLE = """
:root { color-scheme: light dark; --page: 255 255 255; --text: 29 37 48; --muted: 92 103 115; --line: 227 231 236;
  --rule: 200 208 217; --blue: 36 88 166; --orange: 190 100 20; --red: 181 72 58; }
@media (prefers-color-scheme: dark) { :root { --page: 20 24 29; --text: 228 232 237; --muted: 158 169 181;
  --line: 44 51 60; --rule: 74 84 96; --blue: 110 163 240; --orange: 232 154 74; --red: 232 122 108; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem;
  color: rgb(var(--text)); background: rgb(var(--page)); }
h1 { font-size: 1.6rem; margin-bottom: 0; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } tr { border-bottom: 1px solid rgb(var(--line)); }
th, td { padding: .4rem 0 .4rem 1rem; text-align: right; font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; text-align: left; overflow-wrap: anywhere; }
th { font-weight: 600; border-bottom: 2px solid rgb(var(--rule)); } td small { display: block; }
small, .note { color: rgb(var(--muted)); } .note { font-size: .9rem; }
svg { width: 100%; height: auto; } b.worse { color: rgb(var(--orange)); } b.better { color: rgb(var(--blue)); }
"""


def write_html(path: str | os.PathLike[str], title: str, parts: Iterable[str], style: str = "") -> None:
    """Write a page with this title, completely or not at all; `style` is added to that of all pages."""
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}{style}</style></head><body><h1>{title}</h1>{''.join(parts)}</body></html>\n"
    )
    with write_whole(path) as file:
        file.write(page.encode())


def note(html: str) -> str:
    """Return a paragraph that explains what is above it."""
    return f'<p class="note">{html}</p>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with one line of headings."""
    header = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table>"


def shown(value: float, form: str = ".4f") -> str:
    """Return a number in this form, or a dash if it is unknown."""
    return "&ndash;" if np.isnan(value) else format(value, form)


def shown_p_value(value: float) -> str:
    """Return a p-value with three digits, or a dash if it is unknown."""
    return "&lt; 0.001" if value < 0.001 else shown(value, ".3f")

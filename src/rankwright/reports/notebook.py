"""Results in notebooks: the summary, the tables and a picture of the first chart, as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.blocks import Facts, Figure, Kind, Table, shown_blocks, spelled_fact, spelled_row, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rankwright.reports.blocks import Rendered, ShownBlock


def bundle_of(result: Rendered) -> dict[str, Any]:
    """Return what a notebook may show of a result, by MIME type."""
    body = [escape_paragraph(result.summary), *_picture(result)]
    sections = [(section.title, shown) for section in result.sections if (shown := shown_blocks(section))]
    for title, blocks in sections:
        body += [f"<h4>{escape(title)}</h4>"] if len(sections) > 1 else []
        body += map(_html, blocks)
    return {"text/plain": text_of(result), "text/html": "".join(body)}


def escape_paragraph(text: str) -> str:
    """Return plain text as a paragraph of HTML."""
    return f"<p>{escape(text)}</p>"


def _html(block: ShownBlock) -> str:
    if isinstance(block, Table):
        return _table_html(block)
    if isinstance(block, Facts):
        return card_html("", {name: spelled_fact(value) for name, value in block.facts.items()})
    return escape_paragraph(block.text)


def card_html(title: str, facts: Mapping[str, str]) -> str:
    """Return named facts as a table below a title."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    caption = f"<caption><b>{escape(title)}</b></caption>" if title else ""
    return f"<table>{caption}<tbody>{rows}</tbody></table>"


def _table_html(table: Table) -> str:
    sides = ["left" if column.kind is Kind.TEXT else "right" for column in table.columns]

    def cells(tag: str, texts: Iterable[str]) -> str:
        aligned = zip(sides, texts, strict=True)
        return "".join(f'<{tag} style="text-align: {side}">{escape(text)}</{tag}>' for side, text in aligned)

    head = cells("th", (column.title for column in table.columns))
    rows = (spelled_row(table.columns, row, limits=True) for row in table.rows)
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _picture(result: Rendered) -> Iterator[str]:
    """Yield the first chart as a picture; nothing where there is nothing to draw, or a package is missing.

    A chart of its own comes before the small ones side by side, each of which shows only a part.
    """
    large = [block for section in result.sections for block in section.blocks if isinstance(block, Figure)]
    for figure in (large or result.figures)[:1]:
        try:
            chart = figure.chart()
            yield f"<div>{chart.svg()}</div>"
        except (InputError, MissingPackageError):
            return
        if caption := " ".join([figure.caption, *chart.notes]).strip():
            yield escape_paragraph(caption)

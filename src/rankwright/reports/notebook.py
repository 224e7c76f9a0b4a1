"""Results in notebooks: the summary, the tables and a picture of the first chart, as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError, MissingPackageError
from rankwright.reports.blocks import Facts, Note, Table, Text, spelled_fact, spelled_row, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankwright.reports.blocks import Block, Rendered


def bundle_of(result: Rendered) -> dict[str, Any]:
    """Return what a notebook may show of a result, by MIME type."""
    body = [escape_paragraph(result.summary), *_picture(result)]
    body += [part for section in result.sections for block in section.blocks for part in _html(block)]
    return {"text/plain": text_of(result), "text/html": "".join(body)}


def escape_paragraph(text: str) -> str:
    """Return plain text as a paragraph of HTML."""
    return f"<p>{escape(text)}</p>"


def _html(block: Block) -> Iterator[str]:
    if isinstance(block, Table) and block.in_text:
        yield _table_html(block)
    elif isinstance(block, Facts):
        yield card_html("", {name: spelled_fact(value) for name, value in block.facts.items()})
    elif isinstance(block, Text | Note):
        yield escape_paragraph(block.text)


def card_html(title: str, facts: Mapping[str, str]) -> str:
    """Return named facts as a table below a title."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    caption = f"<caption><b>{escape(title)}</b></caption>" if title else ""
    return f"<table>{caption}<tbody>{rows}</tbody></table>"


def _table_html(table: Table) -> str:
    head = "".join(f"<th>{escape(column.title)}</th>" for column in table.columns)
    rows = (spelled_row(table.columns, row, limits=True) for row in table.rows)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _picture(result: Rendered) -> Iterator[str]:
    """Yield the first chart as a picture; nothing where there is nothing to draw, or a package is missing."""
    for figure in result.figures[:1]:
        try:
            yield f"<div>{figure.chart().svg()}</div>"
        except (InputError, MissingPackageError):
            return

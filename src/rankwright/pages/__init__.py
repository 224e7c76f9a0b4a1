"""Pages: one self-contained HTML file per report, with one look for all of them."""

from rankwright.pages.blocks import (
    Block,
    Cell,
    Code,
    Column,
    Facts,
    Figure,
    Figures,
    Note,
    Row,
    Section,
    Table,
    Text,
)
from rankwright.pages.browser import BrowsedQuery, Listed, Moved, QueryBrowser
from rankwright.pages.page import Page, require_packages

__all__ = [
    "Block",
    "BrowsedQuery",
    "Cell",
    "Code",
    "Column",
    "Facts",
    "Figure",
    "Figures",
    "Listed",
    "Moved",
    "Note",
    "Page",
    "QueryBrowser",
    "Row",
    "Section",
    "Table",
    "Text",
    "require_packages",
]

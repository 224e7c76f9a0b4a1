"""The old page of sections; it goes when every page is made of Results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwright.base.files import write_whole
from rankwright.reports.page import require_packages as require_packages
from rankwright.reports.page import sections_html

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from rankwright.reports.blocks import Section


@dataclass(frozen=True)
class Page:
    """A page: its title, a sentence that says what was found, and sections of old and new blocks."""

    title: str
    summary: str
    sections: Sequence[Section]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, completely or not at all."""
        content = self.html().encode("utf-8", "replace")
        with write_whole(path) as file:
            file.write(content)

    def html(self) -> str:
        """Return the page as text."""
        return sections_html(self.sections, title=self.title, summary=self.summary)

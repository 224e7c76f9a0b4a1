"""Check the links of a built site: `python docs/site/links.py FOLDER`.

A link within the site must lead to a file and, if it names a part of a page, to an element with that id. Other
addresses are not requested, since not every machine that builds the site reaches them: only their form is checked.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)


read_page = cache(_Page)


def problem(link: str, page: Path, site: Path) -> str:
    """Return what is wrong with a link of a page, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in {"data", "mailto"}:
        return ""
    if parts.scheme or parts.netloc:
        well_formed = parts.scheme in {"http", "https"} and "." in parts.netloc and " " not in link
        return "" if well_formed else "not an address"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site.resolve()) or not target.is_file():
        return "no such file"
    if parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read_page(target).ids:
        return "no such part"
    return ""


def main(site: Path) -> int:
    """Print what was checked and every dead link; return whether there is one."""
    pages = sorted(path.resolve() for path in site.rglob("*.html") if "_static" not in path.parts)
    checked = [(page, link) for page in pages for link in dict.fromkeys(read_page(page).links)]
    dead = [(page, link, reason) for page, link in checked if (reason := problem(link, page, site))]
    for page, link, reason in dead:
        sys.stdout.write(f"{page.relative_to(site.resolve())}: {link}: {reason}\n")
    sys.stdout.write(f"{len(pages)} pages, {len(checked):,} links, {len(dead)} dead.\n")
    return bool(dead)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""Gather the pages of the site: `python docs/site/pages.py FOLDER` writes what Sphinx reads.

The README is the home page, each section of `docs/index.md` becomes a page whose links are its part of the
navigation, and every public name gets a page for its docstring. All other pages are taken as they are, with links
that hold in the site.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import TYPE_CHECKING, Any

import api
import notebooks

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HOME = "README.md"
# Pages with another name in the site; LICENSE is not Markdown.
PROJECT = {
    HOME: "index.md",
    "docs/index.md": "start.md",
    "docs/search.md": "text-search.md",  # search.html is the page that searches the site
    "examples": "gallery/index.rst",
    "LICENSE": "licence.md",
    **{name: name.lower() for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")},
}
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
HEADING = re.compile(r"^(#+) (.*)$", re.MULTILINE)
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?<![\[`])`(rw(?:\.\w+)+)(\([^`\n]*\))?`(?![`\]])")


def gather(folder: Path) -> None:
    """Write all sources of the site into a folder, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS / "figures", folder / "figures", ignore=shutil.ignore_patterns("*.py"))
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    names = reference_names()
    sources = [path.relative_to(ROOT).as_posix() for path in (*DOCS.glob("*.md"), *DOCS.glob("papers/*.md"))]
    for source in {*sources, *PROJECT}:
        if source.endswith(".md") and source != "docs/index.md":
            text = (ROOT / source).read_text(encoding="utf-8")
            page = linked_names(relinked(text, source), names)
            if (guide := Path(source).stem) in notebooks.GUIDES:
                page = page.replace("\n\n", f"\n\n[Notebook of this page](notebooks/{guide}.ipynb)\n\n", 1)
            _write(folder / site_path(source), page)
    _write(folder / "licence.md", f"# Licence\n\n```text\n{(ROOT / 'LICENSE').read_text()}```\n")
    written = [*section_pages(linked_names(relinked((DOCS / "index.md").read_text(), "docs/index.md"), names))]
    for slug, text in written:
        _write(folder / f"{slug}.md", text)
    slugs = [slug for slug, _ in written]
    slugs.insert(slugs.index("methods") + 1, "gallery/index")
    _append(folder / "index.md", toctree(slugs))
    for heading, values in api.groups().items():
        for name, value in values.items():
            _write(folder / names[name], reference_page(name, value))
        _append(folder / "api.md", toctree([names[name] for name in values], heading))


def site_path(source: str) -> str:
    """Return where a file of the repository stands in the site."""
    return PROJECT.get(source, source.removeprefix("docs/"))


def relinked(text: str, source: str) -> str:
    """Return a page with links that hold in the site, and examples without the empty line that doctest needs."""
    here = PurePosixPath(source).parent.as_posix()

    def mended(link: re.Match[str]) -> str:
        target, anchor = site_path(normpath(f"{here}/{link[1]}")), link[2] or ""
        if target == PROJECT["docs/index.md"] and anchor:  # a section of the index is a page of the site
            target, anchor = f"{anchor[1:]}.md", ""
        start = PurePosixPath(site_path(source)).parent.as_posix()
        return f"]({relpath(target, start)}{anchor})"

    return LINK.sub(mended, text.replace("\n\n```\n", "\n```\n"))


def linked_names(text: str, names: dict[str, str]) -> str:
    """Return a page in which public names in running text lead to their reference."""

    def linked(match: re.Match[str]) -> str:
        return f"[{match[0]}](/{names[match[1]]})" if match[1] in names else match[0]

    parts = FENCE.split(text)
    for place in range(0, len(parts), 2):
        lines = parts[place].split("\n")
        parts[place] = "\n".join(line if line.startswith("#") else NAMED.sub(linked, line) for line in lines)
    return "".join(parts)


def section_pages(index: str) -> Iterator[tuple[str, str]]:
    """Yield a name and a page per section of the index; a page's place in the navigation is its last mention."""
    _, *parts = re.split(r"^## ", index, flags=re.MULTILINE)
    for place, part in enumerate(parts):
        later = _whole_pages("".join(parts[place + 1 :]))
        title, _, body = part.partition("\n")
        trees = []
        for group in re.split(r"^(?=### )", body, flags=re.MULTILINE):
            heading = HEADING.match(group)
            pages = [page for page in _whole_pages(group) if page not in later]
            if pages:
                trees.append(toctree(pages, heading[2] if heading else ""))
        yield re.sub(r"\W+", "-", title.lower()), f"# {title}\n{body.replace('### ', '## ')}\n{''.join(trees)}"


def _whole_pages(text: str) -> dict[str, None]:
    """Return the pages that a text links to, not to a part of them, in order; the home page has the gallery."""
    links = [link[1] for link in LINK.finditer(text) if not link[2] and link[1].endswith(".md")]
    return dict.fromkeys(link for link in links if link != "index.md")


def toctree(pages: list[str], caption: str = "") -> str:
    """Return the directive that puts pages into the navigation and nothing onto the page."""
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n```{toctree}\n" + "\n".join([*options, "", *pages]) + "\n```\n"


def reference_names() -> dict[str, str]:
    """Return the page of every public name."""
    return {name: f"reference/{name}.rst" for values in api.groups().values() for name in values}


def reference_page(name: str, value: Any) -> str:
    """Return the page of a public name, which Sphinx fills from the docstring."""
    directive = ".. autoclass::" if isinstance(value, type) else ".. autofunction::"
    options = "   :members:\n   :inherited-members:\n" if isinstance(value, type) else ""
    return f"{name}\n{'=' * len(name)}\n\n{directive} {name.replace('rw', 'rankwright', 1)}\n{options}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _append(path: Path, text: str) -> None:
    _write(path, path.read_text(encoding="utf-8") + text)


if __name__ == "__main__":
    gather(Path(sys.argv[1]))

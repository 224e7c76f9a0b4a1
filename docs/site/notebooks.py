"""Write guides as notebooks, executed: `python docs/site/notebooks.py FOLDER`.

A notebook is made from the Markdown of its page. Examples become cells; a cell ends where the page shows output.
"""

from __future__ import annotations

import doctest
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ("ten-minutes", "from-a-frame", "auto", "data", "evaluation")
EXAMPLES = re.compile(r"^```python\n(>>> .*?)^```\n", re.MULTILINE | re.DOTALL)
LOCAL_LINK = re.compile(r"!?\[([^\]]*)\]\((?!\w+:)[^)]*\)")
OPTION = re.compile(r" *# doctest: .*$", re.MULTILINE)


def notebook(page: str) -> Any:
    """Return a page as a notebook without outputs."""
    from nbformat import v4

    cells = []
    for place, part in enumerate(EXAMPLES.split(page)):
        if place % 2:
            cells += [v4.new_code_cell(source) for source in _sources(part)]
        elif part.strip():
            cells.append(v4.new_markdown_cell(LOCAL_LINK.sub(r"\1", part.strip())))
    for number, cell in enumerate(cells):
        cell["id"] = str(number)  # the same in every run
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def execute(guide: str) -> Any:
    """Return the notebook of a guide with its outputs; an error in a cell is an error here."""
    from nbclient import NotebookClient

    made = notebook((ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        here = {"metadata": {"path": folder}}
        quiet = ["--Application.log_level=ERROR"]  # a kernel warns that it speaks to us without encryption
        NotebookClient(made, timeout=600, resources=here, extra_arguments=quiet).execute()
    return made


def _sources(examples: str) -> Iterator[str]:
    """Yield the code of each cell."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(examples):
        lines.append(OPTION.sub("", example.source.rstrip()))
        if example.want:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)


if __name__ == "__main__":
    import nbformat

    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for guide in GUIDES:
        nbformat.write(execute(guide), folder / f"{guide}.ipynb")

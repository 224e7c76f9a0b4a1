"""The site: its pages are all of the documentation's, guides run as notebooks, dead links are found."""

from pathlib import Path

import links
import notebooks
import pages
import pytest

ROOT = Path(__file__).resolve().parents[1]
LONG = ("auto", "data", "evaluation")


@pytest.mark.slow
@pytest.mark.parametrize(
    "guide", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in notebooks.GUIDES]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_notebook_of_a_guide_runs(guide):
    made = notebooks.execute(guide)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert len(code) > 3
    assert all(cell.execution_count for cell in code)


def test_an_error_in_a_notebook_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "examples").mkdir()
    (tmp_path / "docs" / "wrong.md").write_text("# Wrong\n\n```python\n>>> 1 / 0\n0\n\n```\n")
    monkeypatch.setattr(notebooks, "ROOT", tmp_path)
    with pytest.raises(Exception, match="ZeroDivisionError"):
        notebooks.execute("wrong")


def test_a_cell_of_a_notebook_ends_where_the_page_shows_output():
    examples = ">>> a = 1  # doctest: +SKIP\n>>> a\n1\n>>> b = 2\n\n"
    page = f"# Title\n\nSee [Data](data.md).\n\n```python\n{examples}```\n\nEnd.\n"
    cells = notebooks.notebook(page).cells
    assert [(cell.cell_type, cell.source) for cell in cells] == [
        ("markdown", "# Title\n\nSee Data."),
        ("code", "a = 1\na"),
        ("code", "b = 2"),
        ("markdown", "End."),
    ]


def test_every_page_and_every_public_name_is_in_the_navigation_once(tmp_path):
    pages.gather(tmp_path / "site")
    named = []
    for path in (tmp_path / "site").rglob("*.md"):
        for tree in path.read_text().split("```{toctree}\n")[1:]:
            named += tree.partition("\n\n")[2].partition("\n```")[0].split("\n")
    names = [name if name.endswith((".md", ".rst")) else f"{name}.md" for name in named]
    assert len(names) == len(set(names))
    written = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.md")}
    assert written - set(names) == {"index.md"}
    assert {name for name in names if name.startswith("reference/")} == set(pages.reference_names().values())


@pytest.mark.parametrize(
    ("source", "link", "expected"),
    [
        ("docs/auto.md", "data.md", "data.md"),
        ("docs/auto.md", "../README.md#install", "index.md#install"),
        ("docs/auto.md", "index.md#methods", "methods.md"),
        ("docs/papers/adarank-2007.md", "../metrics.md", "../metrics.md"),
        ("README.md", "docs/auto.md", "auto.md"),
        ("README.md", "https://example.org/c.md", "https://example.org/c.md"),
    ],
)
def test_links_hold_in_the_site(source, link, expected):
    assert pages.relinked(f"[a]({link})", source) == f"[a]({expected})"


def test_public_names_lead_to_their_reference_but_not_in_code_and_headings():
    text = "## `rw.load`\n`rw.load(path)` and `rw.other`\n```\n`rw.load`\n```\n"
    expected = text.replace("`rw.load(path)`", "[`rw.load(path)`](/reference/rw.load.rst)")
    assert pages.linked_names(text, {"rw.load": "reference/rw.load.rst"}) == expected


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("other.html", ""),
        ("other.html#part", ""),
        ("#here", ""),
        ("https://example.org/a", ""),
        ("gone.html", "no such file"),
        ("other.html#gone", "no such part"),
        ("#gone", "no such part"),
        ("../outside.html", "no such file"),
        ("https://nowhere", "not an address"),
    ],
)
def test_a_dead_link_is_found(link, reason, tmp_path, capsys):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").write_text("")
    (site / "other.html").write_text('<p id="part"></p>')
    (site / "index.html").write_text(f'<p id="here"><a href="{link}">a</a></p>')
    assert links.main(site) == bool(reason)
    assert reason in capsys.readouterr().out

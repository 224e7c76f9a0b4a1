"""The tables of the documentation equal the declarations, its links lead somewhere, other libraries' code runs."""

import doctest
import importlib.util
import re
import tomllib
from pathlib import Path

import api
import pytest
from threadpoolctl import threadpool_limits

from rankwright.rankers.catalogue import known_rankers

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")


@pytest.fixture(scope="module")
def tables():
    found = importlib.util.spec_from_file_location("tables", ROOT / "docs" / "tables.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.stem)
def test_tables_equal_the_declarations(page, tables):
    text = page.read_text()
    assert tables.renewed(text) == text, "the declarations have changed: run `make docs`"


def test_the_api_reference_equals_the_docstrings():
    assert api.reference() == api.PAGE.read_text(), "the docstrings have changed: run `make docs`"


def test_a_stale_table_is_written_anew(tables):
    page = "before\n<!-- table: listnet -->\n| old |\n<!-- end -->\nafter\n"
    fresh = tables.renewed(page)
    assert "old" not in fresh
    assert "| `hidden` | `()` |" in fresh
    assert fresh.startswith("before\n<!-- table: listnet -->\n| option | default |")
    assert fresh.endswith("|\n<!-- end -->\nafter\n")


def test_every_ranker_and_every_verb_has_its_table(tables):
    named = {found[2] for page in tables.pages() for found in tables.MARKED.finditer(page.read_text())}
    named_elsewhere = {"reading", "familiar", "text-features", "printed"}
    assert named == {*tables.RANKERS, *tables.VERBS, *tables.DOCUMENTED, *named_elsewhere}


def test_the_readme_names_every_ranker():
    words = set(re.findall(r"\w+", PAGES[0].read_text()))
    assert {kind.__name__ for kind in known_rankers().values()} <= words


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text()
    assert [page.name for page in PAGES[1:] if page.name != "index.md" and f"({page.name}" not in index] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text()):
        found = page.parent / target if target else page
        assert found.exists(), target
        if anchor and found.suffix == ".md":
            assert anchor in _anchors(found), f"{target}#{anchor}"


@pytest.mark.slow
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_code_of_other_libraries_runs(library, tmp_path, monkeypatch):
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "coming-from.md").read_text()
    data = page[page.index("## The data") : page.index("## Train with")]
    blocks = re.findall(rf"```python {library}\n(.*?)```", page, re.DOTALL)
    assert blocks
    variables = {}
    with threadpool_limits(1):  # threads of two libraries get in each other's way on a busy machine
        for code in [*(one.source for one in doctest.DocTestParser().get_examples(data)), *blocks]:
            exec(code, variables)


def _anchors(page):
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_names_every_extra_and_no_other():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    rows = [line for line in PAGES[0].read_text().splitlines() if line.startswith("| `rankwright[")]
    assert {name for row in rows for name in re.findall(r"`(?:rankwright)?\[(\w+)\]`", row)} == extras
    named = {name for page in PAGES for name in re.findall(r"rankwright\[(\w+)\]", page.read_text())}
    assert named <= extras

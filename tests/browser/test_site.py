"""The documentation site in a browser: readable by everyone, on a phone, in light and dark, and searchable."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
SITE = Path(__file__).parents[2] / "build" / "site"
PAGES = ["index", "ten-minutes", "reference/rw.LambdaMART", "gallery/compare_systems", "papers/mpboost-2009"]
SERIOUS = {"serious", "critical"}


@pytest.fixture
def visited(chromium):
    """Open a page of the site, which must have been built."""
    if not (SITE / "index.html").exists():
        pytest.skip("there is no site: run `make site` first")
    contexts = []

    def visit(name, *, query="", scheme="light", width=1280):
        contexts.append(chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}))
        page = contexts[-1].new_page()
        page.goto((SITE / f"{name}.html").as_uri() + query)
        return page

    yield visit
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(name, scheme, visited):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    violations = axe.Axe().run(visited(name, scheme=scheme)).response["violations"]
    serious = [fault for fault in violations if fault["impact"] in SERIOUS]
    assert [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in serious] == []


@pytest.mark.parametrize("name", PAGES)
def test_fits_a_phone(name, visited):
    assert visited(name, width=375).evaluate("document.documentElement.scrollWidth") == 375


def test_the_search_finds_a_ranker(visited):
    page = visited("search", query="?q=LambdaMART")
    page.wait_for_selector("#search-results li")
    assert "rankwright.LambdaMART" in page.locator("#search-results").inner_text()

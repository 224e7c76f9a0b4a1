"""Pages in a browser: they open from disk, can be used by mouse and keyboard, and can be read by everyone."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
PAGES = [
    "report_page",
    "auto_page",
    "training_page",
    "crossval_page",
    "tuning_page",
    "runs_page",
    "hostile_page",
]
SERIOUS = {"serious", "critical"}


def column(page, table, place):
    cells = table.locator(f"tbody tr > :nth-child({place})")
    return [text.split("\n")[0] for text in cells.all_inner_texts()]


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(name, scheme, opened, request):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(request.getfixturevalue(name), scheme=scheme)
    found = axe.Axe().run(page).response["violations"]
    faults = [
        (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found if one["impact"] in SERIOUS
    ]
    assert faults == []


@pytest.mark.parametrize("name", PAGES)
def test_fits_a_phone(name, opened, request):
    page = opened(request.getfixturevalue(name), width=375)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    beyond = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((one) =>
            one.getBoundingClientRect().right > 376 && !one.closest(".wide, pre, svg, .hidden"))
            .map((one) => one.outerHTML)"""
    )
    assert beyond == []


@pytest.mark.parametrize("name", PAGES)
def test_charts_are_drawn_and_described(name, opened, request):
    page = opened(request.getfixturevalue(name))
    charts = page.locator(".chart").all()
    assert charts
    for chart in charts:
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) > 20
        assert chart.locator("svg").count() == (1 if chart.is_visible() else 0)


def test_one_of_several_differences_is_shown_and_another_can_be_chosen(opened, report_page):
    page = opened(report_page)
    figures = page.locator(".choices figure")
    assert [figure.is_visible() for figure in figures.all()] == [True, False]
    page.locator(".choice").select_option(index=1)
    figures.nth(1).locator("svg").wait_for()
    assert [figure.is_visible() for figure in figures.all()] == [False, True]
    assert figures.nth(1).locator("svg").bounding_box()["width"] > 300


def test_the_summary_comes_first(opened, report_page):
    page = opened(report_page)
    assert "ahead of AdaRank by" in page.locator("header .summary").inner_text()
    titles = page.locator("main h2").all_inner_texts()
    assert page.locator("nav a").all_inner_texts() == titles
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_tables_sort_by_mouse(opened, report_page):
    page = opened(report_page)
    table = page.locator("table").first
    heading = table.locator("th").nth(1)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    values = list(map(float, column(page, table, 2)))
    assert values == sorted(values, reverse=True)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert list(map(float, column(page, table, 2))) == sorted(values)


def test_tables_sort_by_keyboard(opened, report_page):
    page = opened(report_page)
    table = page.locator("table").first
    table.locator("th button").first.focus()
    page.keyboard.press("Enter")
    assert column(page, table, 1) == sorted(column(page, table, 1), key=str.lower)
    page.keyboard.press("Space")
    assert column(page, table, 1) == sorted(column(page, table, 1), key=str.lower, reverse=True)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert [one.get_attribute("aria-sort") for one in table.locator("thead th").all()] == [
        None,
        "descending",
        None,
    ]


def shown(page):
    """The query that is shown, and the two systems."""
    texts = [
        page.locator(place).inner_text() for place in ("#query-name", "#left-name .name", "#right-name .name")
    ]
    return tuple(texts)


def test_queries_are_chosen_by_mouse(opened, report_page):
    page = opened(report_page)
    first = shown(page)
    assert page.locator("#previous").is_disabled()
    page.locator("#next").click()
    second = shown(page)
    assert second != first
    page.locator("#previous").click()
    assert shown(page) == first
    page.locator("#queries li").nth(3).click()
    selected = page.locator("#queries [aria-selected=true]")
    assert selected.count() == 1
    assert shown(page)[0] == f"Query {selected.locator('.name').inner_text()}"
    page.locator("#find").fill("query 17")
    assert page.locator("#queries [role=option]").count() == 1
    page.locator("#queries li").click()
    assert shown(page)[0] == "Query query 17"
    page.locator("#find").fill("nothing like that")
    assert page.locator("#queries").inner_text() == "No query has that name."


def test_queries_are_chosen_by_keyboard(opened, report_page):
    page = opened(report_page)
    names = [f"Query {one}" for one in page.locator("#queries .name").all_inner_texts()]
    page.locator("#queries").focus()
    for key, place in (
        ("ArrowDown", 1),
        ("ArrowDown", 2),
        ("ArrowUp", 1),
        ("PageDown", 11),
        ("End", -1),
        ("Home", 0),
    ):
        page.keyboard.press(key)
        assert shown(page)[0] == names[place]
        active = page.locator("#queries").get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.locator("#find").focus()
    page.keyboard.type("query 23")
    page.keyboard.press("Enter")
    assert shown(page)[0] == "Query query 23"


def test_systems_are_chosen_by_mouse_and_keyboard(opened, report_page):
    page = opened(report_page)
    query, left, right = shown(page)
    assert (left, right) == ("LambdaMART", "AdaRank")
    page.locator("#swap").click()
    assert shown(page) == (query, "AdaRank", "LambdaMART")
    page.locator("#right-system").select_option("random")
    assert shown(page) == (query, "AdaRank", "random")
    page.locator("#left-system").focus()
    page.keyboard.press("ArrowUp")
    assert shown(page) == (query, "LambdaMART", "random")


def test_lists_have_labels_ids_scores_moves_and_features(opened, report_page):
    page = opened(report_page)
    document = page.locator("#left-list li.document").first
    assert document.locator(".rank").inner_text() == "1"
    assert document.locator(".grade").get_attribute("title").startswith("label ")
    assert document.locator(".line > .name").inner_text().startswith("document ")
    assert document.locator(".moved li").count() > 0
    assert document.locator(".moved .name").first.inner_text() in {"title BM25", "PageRank", "clicks", "age"}
    assert page.locator(".move.plus").count() > 0
    document.hover()
    assert page.locator("li.same").count() >= 1
    more = page.locator("#left-list + .more")
    page.locator("#order").select_option("name")
    for option in page.locator("#queries li").all():
        option.click()
        if more.is_visible():
            more.click()
            assert page.locator("#left-list li.document").count() > 10
            return
    raise AssertionError("no query has more than ten documents")


def test_a_click_on_a_bar_opens_its_query(opened, report_page):
    page = opened(report_page)
    page.locator("#swap").click()
    page.locator(".choice").select_option(index=1)
    bars = page.locator(".compares").nth(1).locator("svg .mark-rect.role-mark path")
    bars.last.click(force=True)
    query, left, right = shown(page)
    assert (left, right) == ("LambdaMART", "random")
    differences = page.locator("#queries .number").all_inner_texts()
    lowest = min(float(one.replace("\N{MINUS SIGN}", "-")) for one in differences)
    chosen = page.locator("#queries [aria-selected=true] .number").inner_text()
    assert float(chosen.replace("\N{MINUS SIGN}", "-")) == lowest
    assert page.evaluate("document.activeElement.id") == "query-name"
    assert query == f"Query {page.locator('#queries [aria-selected=true] .name').inner_text()}"


def test_a_document_that_was_not_judged_has_no_label(opened, runs_page):
    page = opened(runs_page)
    page.locator("#find").fill("1")
    page.locator("#queries li").first.click()
    titles = [one.get_attribute("title") for one in page.locator("#left-list .grade").all()]
    assert titles == ["label 1", "not judged"]


def test_folded_tables_open_and_sort(opened, tuning_page):
    page = opened(tuning_page)
    table = page.locator("details table")
    assert not table.is_visible()
    page.locator("summary").click()
    table.locator("thead th").nth(1).locator("button").click()
    values = list(map(float, column(page, table, 2)))
    assert len(values) == 12
    assert values == sorted(values, reverse=True)


def test_wide_tables_say_that_they_scroll(opened, report_page):
    def hints(page):
        script = "(one) => getComputedStyle(one, '::before').content"
        return [one.evaluate(script) for one in page.locator("section .wide").all() if one.is_visible()]

    assert any("Scroll sideways" in one for one in hints(opened(report_page, width=375)))
    assert not any("Scroll sideways" in one for one in hints(opened(report_page, width=1280)))


@pytest.mark.parametrize("name", ["report_page", "runs_page", "tuning_page"])
def test_titles_of_charts_are_not_cut_off(name, opened, request):
    page = opened(request.getfixturevalue(name), width=375)
    beyond = page.evaluate(
        """() => [...document.querySelectorAll(".chart svg")].flatMap((chart) => {
            const { left, right } = chart.getBoundingClientRect();
            return [...chart.querySelectorAll(".role-axis-title, .role-title, .role-legend")].filter((one) => {
                const place = one.getBoundingClientRect();
                return place.width && (place.left < left - 1 || place.right > right + 1);
            }).map((one) => one.textContent);
        })"""
    )
    assert beyond == []


def test_follows_the_colour_scheme(opened, report_page):
    page = opened(report_page)

    def grounds():
        page_ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return page_ground, page.evaluate("document.querySelector('.chart svg').style.backgroundColor")

    assert grounds() == ("rgb(255, 255, 255)", "rgb(255, 255, 255)")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.querySelector('.chart svg')?.style.backgroundColor === 'rgb(20, 24, 29)'")
    assert grounds() == ("rgb(20, 24, 29)", "rgb(20, 24, 29)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_prints(opened, report_page, scheme):
    page = opened(report_page, scheme=scheme)
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") > 3
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()


def test_charts_are_saved(opened, report_page):
    page = opened(report_page)
    for form, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with page.expect_download() as download:
            page.locator(f".save button[data-format={form}]").first.click()
        assert download.value.suggested_filename == f"chart-1.{form}"
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_names_are_never_markup(opened, hostile_page):
    page = opened(hostile_page)
    assert page.locator("main b").count() == 0
    assert "</script><script>alert(1)</script>" in page.locator("#left-name").inner_text()
    assert "</script><script>alert(1)</script>" in page.locator("#left-list").inner_text()
    assert page.title().startswith("</script>")


def test_columns_of_the_data_are_shown_as_text_and_web_addresses_as_links(opened, shop_page):
    page = opened(shop_page)
    assert page.locator("#query-name").inner_text().startswith("shoes for query")
    assert page.locator("#query-facts").inner_text().startswith("Query query")
    assert page.locator("main b").count() == 0
    links = page.locator(".details a").evaluate_all("links => links.map((link) => link.protocol)")
    assert links
    assert set(links) == {"https:"}
    assert "javascript:alert(1)" in page.locator("#left-list").inner_text()
    page.fill("#find", "shoes for query 3")
    assert page.locator("#queries li").count() == 1


@pytest.mark.parametrize("width", [1280, 375])
def test_long_ids_are_shortened_in_the_middle(opened, shop_page, width):
    page = opened(shop_page, width=width)
    name = page.locator(".document .name").first
    assert name.inner_text().startswith("SHOP-DE-2026-JACKETS-")
    assert "\n" not in name.inner_text(), "a copied id is in one piece"
    start, end = (name.locator("span").nth(part) for part in (0, 1))
    assert start.evaluate("part => part.scrollWidth > part.clientWidth"), "the beginning is cut"
    right = name.evaluate("name => name.getBoundingClientRect().right")
    assert end.evaluate("part => part.getBoundingClientRect().right") <= right + 1, "the end is not"


def test_entries_of_the_contents_stay_in_one_column(opened, auto_page):
    links = opened(auto_page, width=390).locator(".contents a")
    assert all(pieces == 1 for pieces in links.evaluate_all("all => all.map(a => a.getClientRects().length)"))

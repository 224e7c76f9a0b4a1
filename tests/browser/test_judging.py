"""The judging page in a browser: by keyboard, through reloads and killed servers, for several judges at once."""

import collections

import pytest

import rankwright as rw
from browser.conftest import PATIENCE
from judgements.judging.judging_process import HOSTILE, judging

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
SERIOUS = {"serious", "critical"}


@pytest.fixture
def server(tmp_path):
    with judging(tmp_path, 10, "--depth", "10") as server:
        yield server


@pytest.fixture
def judge(chromium, server):
    """Open the page as a judge, in light and on a wide screen by default."""
    contexts = []

    def open_page(name, *, scheme="light", width=1280):
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 800})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.faults = []
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("dialog", lambda dialog: page.faults.append(dialog.message))
        page.goto(server.address)
        page.wait_for_selector("#name:visible")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_selector("html[data-shown]")
        assert page.url == server.address  # without the name, so that it can be passed on
        return page

    yield open_page
    for context in contexts:
        context.close()


def shown(page):
    return page.get_attribute("html", "data-shown")


def press(page, key):
    """Press a key, and wait until another document appears; return the one that was judged."""
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function("before => document.documentElement.dataset.shown !== before", arg=before)
    return before


def grades(server):
    """The grades on disk, each once, by judge and document."""
    table = rw.judgements.read_grades(server.out)
    assert table.notes == ()
    return {
        (judge, f"{query}/{document}"): grade
        for (query, document), row in zip(table.pairs(), table.grades.tolist(), strict=True)
        for judge, grade in zip(table.judges, row, strict=True)
        if grade == grade
    }


def test_fifty_judgements_by_keyboard_with_reloads_and_killed_servers(server, judge):
    """Two judges at once; what is on disk is what they entered, before the next document appears."""
    pages = {name: judge(name) for name in ("ada", "bob")}
    entered = {}
    for number in range(50):
        for offset, (name, page) in enumerate(pages.items()):
            key = str((number + offset) % 4)
            entered[name, press(page, key)] = float(key)
            assert grades(server) == entered
            if number % 17 == 5:
                page.reload()
                page.wait_for_selector("html[data-shown]")
        if number in (12, 31):
            server.kill()
            before = {name: shown(page) for name, page in pages.items()}
            for page in pages.values():
                page.keyboard.press("1")
                page.wait_for_selector("#problem:visible")
            assert grades(server) == entered
            server.start()
            for name, page in pages.items():
                page.wait_for_selector("#problem", state="hidden")
                assert shown(page) == before[name]
        if number in (20, 40):  # killed while a judgement is on its way: a reload says whether it was saved
            page = pages["ada"]
            before = shown(page)
            page.keyboard.press("2")
            server.kill()
            saved = grades(server)
            server.start()
            page.reload()
            page.wait_for_selector("html[data-shown]")
            assert (shown(page) != before) == (("ada", before) in saved)
            if ("ada", before) not in saved:
                assert press(page, "2") == before
            entered["ada", before] = 2.0
            assert grades(server) == entered
    assert collections.Counter(name for name, _ in entered) == {"ada": 52, "bob": 50}
    assert grades(server) == entered
    for name, page in pages.items():
        assert page.inner_text("#count") == f"{52 if name == 'ada' else 50} of 100 judged"
        assert page.faults == []
    page.click("summary")
    shared = {document for name, document in entered if name == "ada"} & {
        document for name, document in entered if name == "bob"
    }
    assert f"on {len(shared)} documents" in page.inner_text("#judges")


def test_undo_skip_and_notes(server, judge):
    page = judge("ada")
    first = press(page, "2")
    assert press(page, "u") != first
    assert shown(page) == first
    page.keyboard.press("n")
    page.keyboard.type("0 is a digit in a note")
    assert shown(page) == first
    page.keyboard.press("Enter")
    press(page, "3")
    assert server.lines()[-1]["note"] == "0 is a digit in a note"
    second = press(page, "s")
    assert page.inner_text("#count") == "1 of 100 judged, 1 skipped"
    assert grades(server) == {("ada", first): 3.0}
    assert second not in {shown(page), first}
    press(page, "u")
    assert shown(page) == second
    page.click("#grades button >> nth=1")
    page.wait_for_function("() => document.documentElement.dataset.graded === '2'")
    assert grades(server) == {("ada", first): 3.0, ("ada", second): 1.0}


def test_the_end_and_skipped_documents(tmp_path, chromium):
    with judging(tmp_path, 1, "--depth", "3", "--scale", "0=no,1=yes") as server:
        page = chromium.new_page()
        page.goto(server.address + "&judge=ada")
        page.wait_for_selector("html[data-shown]")
        skipped = press(page, "s")
        press(page, "1")
        press(page, "0")
        assert page.is_visible("#done")
        page.click("#again")
        page.wait_for_function("() => document.documentElement.dataset.shown !== 'done'")
        assert shown(page) == skipped
        press(page, "1")
        assert shown(page) == "done"
        assert not page.is_visible("#again")
        assert len(grades(server)) == 3
        page.close()


def test_without_the_token_nothing_is_shown(server, chromium):
    page = chromium.new_page()
    page.goto(server.address.partition("#")[0])
    page.wait_for_selector("#problem:visible")
    assert "no valid token" in page.inner_text("#problem")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 375])
def test_accessible_and_fits(judge, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = judge("ada", scheme=scheme, width=width)
    page.click("summary")
    press(page, "1")
    assert HOSTILE in page.inner_text("#document")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    violations = axe.Axe().run(page).response["violations"]
    faults = [(each["id"], each["nodes"][0]["html"][:200]) for each in violations if each["impact"] in SERIOUS]
    assert faults == []
    assert page.faults == []

"""A browser, and pages for it to open."""

import shutil

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from auto.small_run import small_data, small_ranker
from rankwright.cards.crossval_page import write_crossval_page
from rankwright.cards.report_page import write_page
from rankwright.cards.training_page import write_training_page
from rankwright.cards.tuning_page import write_tuning_page
from rankwright.data.readers.trec import Judgements, Run

HINT = "tests/browser/install.sh installs it"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 300_000  # milliseconds; a machine may be busy
HOSTILE = "</script><script>alert(1)</script><b>\"x\" & 'y'</b>"


@pytest.fixture(scope="session")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason=f"playwright is not installed; {HINT}")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip(f"there is no chromium; {HINT}")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def report_page(folder):
    """The page of three systems, with everything that a page can have."""
    data = small_data(40, feature_names=["title BM25", "PageRank", "clicks", "age"])
    names = [f"document {row}" for row in range(len(data))]
    data = rw.RankingData(data.X, data.y, data.qid, feature_names=data.feature_names, document_ids=names)
    trees = rw.LambdaMART(rounds=10, max_leaves=4, min_documents=5).fit(data)
    boosted = rw.AdaRank(rounds=4).fit(data)
    systems = {"LambdaMART": trees, "AdaRank": boosted, "random": np.random.default_rng(0).normal(size=len(data))}
    report = rw.evaluate(systems, data, metrics=["ndcg@10", "map"])
    histories = {"LambdaMART": trees.history_, "AdaRank": boosted.history_}
    path = folder / "report.html"
    write_page(report, path, histories=histories, systems=systems, data=data, reproduce="rankwright demo")
    return path


@pytest.fixture(scope="session")
def auto_page(folder):
    small_ranker().report(folder / "auto.html")
    return folder / "auto.html"


@pytest.fixture(scope="session")
def training_page(folder):
    ranker = rw.LambdaMART(rounds=5, max_leaves=4).fit(small_data(), validation=small_data(12))
    write_training_page(ranker, folder / "training.html", train=small_data(), validation=small_data(12))
    return folder / "training.html"


@pytest.fixture(scope="session")
def crossval_page(folder):
    result = rw.cross_validate(rw.RankSVM(), small_data(), folds=3)
    write_crossval_page(result, folder / "crossval.html", data=small_data(), reproduce="rankwright crossval")
    return folder / "crossval.html"


@pytest.fixture(scope="session")
def tuning_page(folder):
    grid = {"max_leaves": [2, 4, 8, 16, 32, 64], "query_features": [(), ("zscore",)]}
    tuning = rw.tune(rw.LambdaMART(rounds=2, min_documents=2), small_data(), grid=grid)
    write_tuning_page(tuning, folder / "tuning.html", reproduce="rankwright tune")
    return folder / "tuning.html"


@pytest.fixture(scope="session")
def runs_page(folder):
    """The page of two runs, whose names are long, one of which retrieves documents that were not judged."""
    judged = Judgements.of(["1", "1", "2"], ["a", "b", "a"], [1, 0, 2])
    old = Run.of(["1", "1", "2"], ["a", "unjudged", "a"], [3.0, 2.0, 1.0])
    new = Run.of(["1", "1", "2"], ["b", "a", "other"], [2.0, 1.0, 1.0])
    systems = {f"{'folder/' * 9}old.run": old, f"{'a long name of ' * 9}new.run": new}
    report = rw.evaluate(systems, judged, metrics="map")
    write_page(report, folder / "runs.html", systems=systems, data=judged)
    return folder / "runs.html"


@pytest.fixture(scope="session")
def hostile_page(folder):
    """A page of systems, queries, documents and features whose names are HTML."""
    data = small_data(8, names=HOSTILE + "{}", feature_names=[f"{HOSTILE}{number}" for number in range(4)])
    names = [f"{HOSTILE}{row}" for row in range(len(data))]
    data = rw.RankingData(data.X, data.y, data.qid, feature_names=data.feature_names, document_ids=names)
    systems = {f"{HOSTILE}{number}": rw.RankSVM(C=number).fit(data) for number in (1, 2)}
    report = rw.evaluate(systems, data, metrics=["ndcg@10"])
    write_page(report, folder / "hostile.html", systems=systems, data=data, title=HOSTILE, reproduce=HOSTILE)
    return folder / "hostile.html"


@pytest.fixture(scope="session")
def shop_page(folder):
    """A page of a shop's table whose ids differ only at the end, with columns to show."""
    data = small_data(8)
    frame = pd.DataFrame(data.X, columns=list("abcd")).assign(qid=data.qid, label=data.y)
    frame["docid"] = [f"{'SHOP-DE-2026-JACKETS-' * 3}{row:08d}" for row in range(len(data))]
    frame["query_text"] = [f"shoes for {query}" for query in data.qid]
    frame["title"] = HOSTILE
    frame["title"] += frame["docid"]
    frame["url"] = [
        f"{'javascript:alert(1)//' if row % 2 else ''}https://shop.example/{row}" for row in frame.index
    ]
    shown = rw.from_pandas(frame, show=["query_text", "title", "url"])
    systems = {"model": rw.RankSVM().fit(shown), "today": "-a"}
    report = rw.evaluate(systems, shown, metrics="ndcg@10")
    write_page(report, folder / "shop.html", systems=systems, data=shown)
    return folder / "shop.html"


@pytest.fixture
def opened(chromium):
    """Open a page, by default in light and on a wide screen; nothing may go wrong and nothing be asked for."""
    contexts, faults = [], []

    def open_page(path, *, scheme="light", width=1280):
        context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda asked: None if asked.url == path.as_uri() else faults.append(asked.url))
        page.on("dialog", lambda dialog: faults.append(dialog.message))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [one for one in faults if not one.startswith(("data:", "blob:"))] == []

"""`rankwright reproduce`: what it prints and writes, that it goes on, and what it refuses."""

from __future__ import annotations

import os

import pytest

import rankwright as rw
from papers.small_collections import write_collection
from rankwright.papers.framework.claims import better
from rankwright.papers.framework.experiment import Claim, Experiment, Paper, Picture, Published
from rankwright.papers.framework.figures import means
from rankwright.papers.framework.generated import GeneratedWeb
from rankwright.papers.framework.measures import PerQuery
from rankwright.papers.framework.systems import FittedSystem, OneFeature


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def small(monkeypatch):
    """Make every name that of a small paper: two systems on two trials."""
    systems = {"AdaRank": FittedSystem(rw.AdaRank(rounds=3)), "feature": OneFeature(1)}
    experiment = Experiment(
        "small",
        "Two folds.",
        GeneratedWeb("generated", 20, 6, 5, n_folds=2),
        systems,
        (PerQuery(("ndcg@5",)),),
        published=(Published("Table 1", "AdaRank", "ndcg@5", 0.99, why="it is too high"),),
        claims=(Claim("Abstract", "AdaRank is better", better("AdaRank", ("feature",), "ndcg@5")),),
        figures=(Picture("Figure 1", "AdaRank is better.", means(tuple(systems), ("ndcg@5",))),),
    )
    paper = Paper("small-2026", "A small paper", "Nobody 2026", lambda _setup: (experiment,))
    monkeypatch.setattr("rankwright.papers.framework.catalogue.find_paper", lambda _name: paper)


def test_the_table_the_page_and_what_is_kept(small, run, tmp_path):
    first = run("reproduce", "small-2026", "--report", "page.html")
    assert first.code == 0, first.err
    assert "AdaRank is better" in first.out
    assert first.out.startswith("0 of 2 numbers and claims of Nobody 2026 hold on data like the paper")
    page = (tmp_path / "page.html").read_text()
    for text in ("A small paper", "it is too high", "Figure 1. AdaRank is better.", "Two folds."):
        assert text in page
    assert len(list((tmp_path / "reproduced" / "small-2026").glob("*.npz"))) == 4
    again = run("reproduce", "small-2026", "--json")
    assert "4 of 4 tasks are in reproduced/small-2026 from an earlier run" in again.err
    assert [row["where"] for row in again.json["rows"]] == ["Table 1", "Abstract"]
    assert again.json["work"] == "reproduced/small-2026"


def test_a_run_that_had_no_room_goes_on_when_there_is_some(small, run, refuse, monkeypatch):
    written = []

    def full_after_two(_descriptor):
        written.append(1)
        if len(written) > 4:  # a file and its folder for each
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_after_two)
        sentence = refuse("reproduce", "small-2026", "--jobs", 1)
    assert sentence.endswith("cannot be written: No space left on device.")
    again = run("reproduce", "small-2026")
    assert again.code == 0
    assert "2 of 4 tasks are in" in again.err


def test_what_is_refused(refuse, tmp_path):
    assert refuse("reproduce", "adarnk-2007").endswith("Did you mean adarank-2007?")
    assert refuse("reproduce", "adarank-2007").startswith("adarank-2007 needs data: give --data a folder that has")
    words = ("reproduce", "adarank-2007", "--data")
    assert refuse(*words, "nowhere") == "There is no folder nowhere."
    (tmp_path / "letor" / "MQ2007").mkdir(parents=True)
    assert "contains no folds" in refuse(*words, "letor")
    write_collection(tmp_path / "other", "MQ2008")
    (tmp_path / "other" / "MQ2008").rename(tmp_path / "letor" / "OHSUMED")
    (tmp_path / "letor" / "MQ2007").rmdir()
    assert refuse(*words, "letor") == "letor/OHSUMED is not OHSUMED: it has 46 features, OHSUMED has 45."
    (tmp_path / "letor" / "OHSUMED").rename(tmp_path / "letor" / "MQ2007")
    assert "784 queries together, MQ2007 has 1692" in refuse(*words, "letor")
    for name, words_ in (("adarank-2007", "anyway: full changes nothing"), ("mpboost-2009", "exclude each other")):
        options = ("--full",) if name == "adarank-2007" else ("--full", "--quick")
        assert words_ in refuse("reproduce", name, *options)
    (tmp_path / "letor" / "IMAT2009").mkdir()
    (tmp_path / "letor" / "MQ2007").rename(tmp_path / "MQ2007")
    assert refuse(*words, "letor").endswith("IMAT2009 is not IMAT2009: it has no imat2009_learning.txt.")
    (tmp_path / "letor" / "IMAT2009" / "imat2009_learning.txt").write_text("0 1:0.5 # 7\n3.5 245:1 # 7\n")
    assert refuse(*words, "letor").endswith("it has 1 queries, IMAT2009 has 9124.")
    assert "there is no folder no" in refuse("reproduce", "lambdasmart-2010", "--report", "no/page.html")
    (tmp_path / "file").write_text("")
    assert "cannot be made" in refuse("reproduce", "lambdasmart-2010", "--work", "file")
    assert "is not Cranfield: it has no cran.all.1400" in refuse(*words[:2], "--cranfield", tmp_path)

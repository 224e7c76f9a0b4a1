"""The pages of the papers say what the runs found, and the runs are of what the package declares."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from rankwright.papers.framework.catalogue import find_paper
from rankwright.papers.framework.experiment import Setup
from rankwright.papers.framework.rows import STATES
from rankwright.papers.framework.rows import rows_of as declared_rows

ROOT = Path(__file__).parents[2]


def _module():
    found = importlib.util.spec_from_file_location("papers", ROOT / "docs" / "papers.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


papers = _module()
of_each = pytest.mark.parametrize("name", papers.run_papers())


@of_each
def test_the_rows_are_those_that_the_package_declares(name):
    experiments = find_paper(name).experiments(Setup({}, quick=False))
    declared = [row for one in experiments for row in declared_rows(one, None)]
    kept = papers.rows_of(papers.read_facts(name))
    keys = [[(row.experiment, row.where, row.what, row.published) for row in rows] for rows in (kept, declared)]
    assert keys[0] == keys[1], f"the declarations have changed: run docs/papers.py {name}"
    assert {row.state for row in kept} <= set(STATES)


@of_each
def test_the_runs_had_the_systems_that_the_package_declares(name):
    kept = {one["name"]: one["mark"] for one in papers.read_facts(name)["experiments"]}
    declared = {one.name: one.mark() for one in find_paper(name).experiments(Setup({}, quick=False))}
    assert kept == declared, f"the systems have changed: run docs/papers.py {name}"


@of_each
def test_the_page_is_made_from_the_rows(name):
    assert (papers.PAGES / f"{name}.md").read_text() == papers.page(papers.read_facts(name))


@of_each
def test_numbers_of_the_lead_are_in_the_rows(name):
    lead = papers.LEADS[name]
    numbers = re.findall(r"\d\.\d+", lead)
    assert numbers
    below = papers.page(papers.read_facts(name)).replace(lead, "")
    assert [number for number in numbers if number not in below] == []


def test_the_overview_is_made_from_the_rows():
    text = papers.OVERVIEW.read_text()
    assert papers.renewed(text) == text


@of_each
def test_figures_are_there(name):
    for section in papers.read_facts(name)["experiments"]:
        for figure in section["figures"]:
            assert (papers.FIGURES / figure["file"]).exists()

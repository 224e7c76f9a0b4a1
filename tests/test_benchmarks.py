"""Benchmarks are run by hand; here only that none of them has fallen behind the package."""

import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [path.relative_to(ROOT) for path in (ROOT / "benchmarks").rglob("*.py") if path.stem != "__init__"]
MODULES = sorted(".".join(path.with_suffix("").parts) for path in FILES if path != Path("benchmarks/__main__.py"))
FIGURES = sorted((ROOT / "docs" / "figures").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_imports(name):
    import_module(name)


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_every_script_of_figures_imports(path):
    runpy.run_path(str(path), run_name="imported")


def test_the_tracked_page_is_made_from_the_history():
    tracked = import_module("benchmarks.tracked")
    assert tracked.PAGE.read_text() == tracked.page(tracked.history()), "run `make bench-page`"


def test_tracked_ratios_compare_a_library_with_the_same_task_here():
    tracked = import_module("benchmarks.tracked")
    run = {
        "training": {"rankwright": 2.0, "LightGBM": 6.0},
        "scoring": {"rankwright, model of XGBoost": 3.0, "XGBoost": 12.0, "rankwright, model of LightGBM": 1.0},
        "reading": {"rankwright, 1 thread": 4.0, "rankwright, 2 threads": 2.0, "scikit-learn": 20.0},
        "metrics": {},
    }
    assert tracked.ratios(run) == {
        "training, LightGBM": 3.0,
        "scoring, XGBoost": 4.0,
        "reading, scikit-learn": 10.0,
    }

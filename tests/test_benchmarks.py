"""Benchmarks are run by hand; here only that none of them has fallen behind the package."""

import runpy
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py"))
FIGURES = sorted((ROOT / "docs" / "figures").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_imports(name):
    import_module(f"benchmarks.{name}")


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_every_script_of_figures_imports(path):
    runpy.run_path(str(path), run_name="imported")

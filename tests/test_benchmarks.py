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

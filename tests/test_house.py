"""The house rules that a machine can check: short files and functions, one boosting loop, profiles that apply."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULES = {path: path.read_text() for path in sorted((ROOT / "src").rglob("*.py"))}
KERNELS = {path: path.read_text() for path in sorted((ROOT / "native").rglob("*.[ch]pp"))}
TESTS = {path: path.read_text() for path in sorted((ROOT / "tests").rglob("*.py"))}

MOST_LINES_OF_A_FILE = 400  # a stub may be longer: it must mirror one module
MOST_LINES_OF_A_FUNCTION = 60


def _name(path):
    return str(path.relative_to(ROOT))


def test_there_is_something_to_check():
    assert len(MODULES) > 50
    assert len(KERNELS) > 20
    assert len(TESTS) > 50


def test_files_are_short():
    lengths = {_name(path): text.count("\n") for path, text in (MODULES | KERNELS).items()}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FILE} == {}


def test_functions_fit_a_screen():
    lengths = {
        f"{_name(path)}: {node.name}": node.end_lineno - node.lineno + 1
        for path, text in MODULES.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES_OF_A_FUNCTION} == {}


def test_there_is_one_boosting_loop():
    loops = [_name(path) for path, text in MODULES.items() for _ in re.findall(r"\bin range\(rounds\)", text)]
    assert loops == ["src/rankwright/training/boosting/loop.py"]


def test_one_sort_decides_ties():
    pattern = re.compile(r"(?:argsort|lexsort)\([^\n]*(?:scores|X @ |_X @ )")
    elsewhere = [_name(path) for path, text in MODULES.items() if pattern.search(text)]
    assert elsewhere == [], "rank documents with Ranking.of, which has the only tie rule"


def test_there_is_no_drawer_for_odds_and_ends():
    names = {path.stem for path in MODULES | KERNELS}
    assert not names & {"utils", "util", "helpers", "common", "misc"}


def test_property_tests_follow_the_profile():
    pattern = re.compile(r"^@settings\(.*max_examples", re.MULTILINE)
    fixed = [_name(path) for path, text in TESTS.items() if pattern.search(text)]
    assert fixed == [], "say @examples(n) of tests/properties.py, which every profile scales"

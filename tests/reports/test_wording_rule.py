"""Metric values, differences, p-values and intervals are spelled by base/wording.py and reports/ only."""

import ast
import re
from pathlib import Path

import pytest

import rankwright

SOURCE = Path(rankwright.__file__).parent
SPEC = r"[-+ <>^=z0-9,_]*\.[34]f"  # .4f, .3f, +.4f, +z.4f, >8.4f
SPELLED = re.compile(rf"({SPEC})|.*\{{[^{{}}]*:{SPEC}\}}.*|.*%[-+ 0-9]*\.[34]f.*", re.DOTALL)
ALLOWED = ("reports/", "base/wording.py")


def specs(tree):
    """Yield the format specifications of f-strings and other texts that format a number with 3 or 4 digits."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if is_text and SPELLED.fullmatch(node.value):
            yield node.lineno, node.value


def offenders():
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith(ALLOWED) and list(specs(ast.parse(path.read_text(encoding="utf-8")))):
            yield name


@pytest.mark.parametrize(
    ("code", "is_spelled"),
    [
        ('f"{value:.4f}"', True),
        ('f"{value:+z.4f} of {name}"', True),
        ('f"{value:>{width}.4f}"', True),
        ('format(value, "+.3f")', True),
        ('"[{:+.4f}, {:+.4f}]".format(low, high)', True),
        ('"%.4f" % value', True),
        ('f"{seconds:.1f} s"', False),
        ('f"{number:,} queries"', False),
        ('f"{value:.4g}"', False),
        ('"""Return f"{value:.4f}"."""', False),
        ('"see fig.4f or v1.3f"', False),
    ],
)
def test_what_counts_as_spelling(code, is_spelled):
    assert bool(list(specs(ast.parse(code)))) == is_spelled


def test_no_other_module_formats_a_metric_value():
    assert list(offenders()) == [], "use metric_value, difference or interval of base/wording.py"

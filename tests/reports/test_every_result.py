"""What holds for every result: it writes no formatting, and renders as text, JSON, notebook output and frame."""

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from evaluation.examples import small_report
from rankwright.evaluation.compare import compare_report
from rankwright.evaluation.cutoffs import CutoffCurves
from rankwright.evaluation.report import Report

SOURCE = Path(rw.__file__).parent
RENDERING = {"__str__", "__repr__", "_repr_mimebundle_", "_repr_html_", "__format__"}


def result_classes():
    """Yield the name of every class that derives from Result by name, and what it defines."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(getattr(base, "id", "") == "Result" for base in node.bases):
                yield node.name, node.body


CLASSES = dict(result_classes())


@pytest.mark.parametrize("name", CLASSES)
def test_a_result_writes_no_formatting(name):
    functions = {item.name: item for item in CLASSES[name] if isinstance(item, ast.FunctionDef)}
    assert not RENDERING & set(functions)
    for property_name in {"summary", "title"} & set(functions):
        decorators = [getattr(one, "id", "") for one in functions[property_name].decorator_list]
        assert decorators in (["property"], ["cached_property"])


def report():
    return small_report(good=np.linspace(0.5, 1, 12), poor=np.linspace(0, 0.6, 12), unknown=[np.nan] * 12)


def comparison():
    known = small_report(
        good=np.linspace(0.5, 1, 12), poor=np.linspace(0, 0.6, 12), other=np.linspace(0.1, 0.5, 12)
    )
    return compare_report(known, columns={"half": np.arange(12) % 2})


def curves():
    values = {("a", f"ndcg@{cut}"): np.linspace(0, 1, 5) / cut for cut in (1, 2, 3)}
    metrics = tuple(metric for _, metric in values)
    return CutoffCurves.of(Report(("a",), metrics, tuple(range(5)), values, dict.fromkeys(metrics, 0), "standard"))


def rounds():
    data = rw.synthetic.RandomPolynomial.draw(3, n_features=5, n_active=3, n_terms=4).sample(
        8, seed=1, n_documents=6
    )
    return rw.evaluate_rounds({"trees": rw.LambdaMART(rounds=3, n_jobs=1).fit(data)}, data, [1, 3])


@pytest.mark.parametrize("made", [report, comparison, curves, rounds])
def test_a_result_is_rendered(made):
    result = made()
    assert isinstance(result, rw.Result)
    assert type(result).__name__ in CLASSES
    text = str(result)
    assert text.startswith(result.summary)
    assert "nan" not in text.split()
    json.dumps(result.to_dict(), allow_nan=False)
    assert result.summary.split(":")[0] in repr(result)
    shown = result._repr_mimebundle_()
    assert shown["text/plain"] == text
    assert "<table>" in shown["text/html"]
    assert "<svg" in shown["text/html"]
    assert len(result.frame()) == len(result.tables[0].rows)


@pytest.mark.slow
@pytest.mark.parametrize("made", [report, comparison, curves, rounds])
def test_a_result_is_a_page(made, tmp_path):
    made().write_page(tmp_path / "page.html", reproduce="again")
    page = (tmp_path / "page.html").read_text()
    assert "How to reproduce" in page
    assert 'class="chart"' in page

"""Every public name has a docstring with a short example, and the examples run."""

import doctest
import inspect

import pytest

import rankwright as rw

MODULES = {
    "rw": rw,
    "rw.metrics": rw.metrics,
    "rw.text": rw.text,
    "rw.analyses": rw.analyses,
    "rw.charts": rw.charts,
    "rw.clicks": rw.clicks,
    "rw.distributed": rw.distributed,
}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PUBLIC = {
    f"{prefix}.{name}": getattr(module, name)
    for prefix, module in MODULES.items()
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) or inspect.isfunction(getattr(module, name))
}


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_the_docstring_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    value = PUBLIC[name]
    text = inspect.getdoc(value)
    assert text, "there is no docstring"
    example = doctest.DocTestParser().get_doctest(text, {"rw": rw}, name, inspect.getsourcefile(value), None)
    assert example.examples, "the docstring has no example"
    said = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=said.append)
    assert said == [], "".join(said)

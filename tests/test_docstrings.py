"""Every public name has a docstring with a short example, and the examples run."""

import doctest
import inspect

import api
import pytest

import rankwright as rw

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PUBLIC = {name: value for values in api.groups().values() for name, value in values.items()}


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

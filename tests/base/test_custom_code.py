"""Values with custom code have another identity if the code differs, and the same in every process."""

import subprocess
import sys
import threading
import types
from functools import cache, cached_property, partial

import numpy as np
import pytest

import rankwright as rw
from rankwright.base.custom_code import identity
from rankwright.base.errors import InputError

PLAIN = "def own(labels):\n    return float(labels[0] > 0)"


def own(text, **names):
    module = {"np": np, "rw": rw, "partial": partial, "cache": cache, "cached_property": cached_property}
    module |= {"__name__": "custom", **names}
    exec(text, module)
    return module["own"]


def identified(text, **names):
    return identity(own(text, **names), "own")


def module_with(**names):
    module = types.ModuleType("helpers")
    vars(module).update(names)
    return module


PAIRS = {
    "constant": (PLAIN, PLAIN.replace("> 0", "> 1")),
    "operator": (PLAIN, PLAIN.replace("> 0", ">= 0")),
    "name": (PLAIN, PLAIN.replace("float", "int")),
    "default": ("def own(labels, k=1): return k", "def own(labels, k=2): return k"),
    "keyword": ("def own(labels, *, k=1): return k", "def own(labels, *, k=2): return k"),
    "closure": tuple(f"def make(k):\n    return lambda labels: k\nown = make({k})" for k in (1, 2)),
    "array": tuple(f"gains = np.array([{k}])\ndef own(labels): return gains @ labels" for k in (1, 2)),
    "helper": tuple(f"def gain(label): return {k}\ndef own(labels): return gain(labels[0])" for k in (1, 2)),
    "comprehension": tuple(f"def own(labels): return [label + {k} for label in labels]" for k in (1, 2)),
    "partial": tuple(f"def f(k, labels): return k\nown = partial(f, {k})" for k in (1, 2)),
    "cached": tuple(f"@cache\ndef own(labels): return {k}" for k in (1, 2)),
    "set": tuple(f"def own(labels): return labels[0] in {{'a', 'b', 'c', '{k}'}}" for k in "de"),
    "class": tuple(f"class own:\n    def __call__(self, labels): return {k}\nown = own()" for k in (1, 2)),
    "attribute": tuple(f"class own:\n    def __init__(self): self.k = {k}\nown = own()" for k in (1, 2)),
    "property": tuple(f"class own:\n    @property\n    def k(self): return {k}\nown = own()" for k in (1, 2)),
    "lazy": tuple(f"class own:\n    @cached_property\n    def k(self): return {k}\nown = own()" for k in (1, 2)),
    "static": tuple(f"class own:\n    @staticmethod\n    def k(): return {k}\nown = own()" for k in (1, 2)),
    "method": tuple(f"class A:\n    def f(self, labels): return {k}\nown = A().f" for k in (1, 2)),
    "base": tuple(f"class A:\n    k = {k}\nclass own(A): pass\nown = own()" for k in (1, 2)),
    "metric": tuple(
        f"class own(rw.metrics.Metric):\n    def of_ranking(self, labels): return {k}\nown = own()" for k in (1, 2)
    ),
    "ranker": tuple(f"class own(rw.MART):\n    k = {k}\nown = own()" for k in (1, 2)),
    "parameter": tuple(f"own = rw.LambdaMART(metric=lambda labels: {k})" for k in (1, 2)),
    "recursion": tuple(f"def own(labels): return own(labels[1:]) if len(labels) > {k} else 0.0" for k in (1, 2)),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_edited_code_has_another_identity(kind):
    first, edited = PAIRS[kind]
    assert identified(first) == identified("\n\n# moved\n" + first)
    assert identified(first) != identified(edited)


def test_a_helper_in_another_custom_module_counts():
    text = "def own(labels): return helpers.gain(labels)"
    first, same, edited = (
        identified(text, helpers=module_with(gain=own(f"def own(label): return {k}"))) for k in (1, 1, 2)
    )
    assert first == same != edited


def test_what_is_installed_is_known_by_its_name():
    assert identity(rw.metrics.NDCG(k=3), "ndcg@3") == "ndcg@3"
    assert identity((rw.LambdaMART(), 3), "(LambdaMART(), 3)") == "(LambdaMART(), 3)"
    assert identity(np.sum, "<function sum at 0x12ab>") == "<function sum>"


def test_the_identity_is_the_same_in_another_process():
    names = ("set", "metric", "array", "lazy", "parameter")
    texts = [PAIRS[name][0] for name in names]
    script = f"from base.test_custom_code import identified\nprint(*map(identified, {texts!r}), sep=chr(10))"
    for seed in "12":
        told = subprocess.run(
            [sys.executable, "-c", script],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONPATH": "tests", "PYTHONHASHSEED": seed},
        )
        assert told.stdout.split("\n")[:-1] == [identified(text) for text in texts]


def test_what_cannot_be_identified_is_refused():
    with pytest.raises(InputError) as caught:
        identified("def own(labels): return lock", lock=threading.Lock())
    assert str(caught.value) == (
        "own cannot be told from an edited version of it, so work with it cannot be kept: "
        "cannot pickle '_thread.lock' object."
    )


def test_code_that_fails_when_it_is_read_is_refused_too():
    class Failing:
        def __reduce_ex__(self, _protocol):
            raise RuntimeError("no state")

    def refers_to_nothing():
        return unbound

    for value, reason in ((Failing(), "no state"), (refers_to_nothing, "Cell is empty")):
        with pytest.raises(InputError, match=f"own cannot be told from an edited version .*: {reason}"):
            identity(value, "own")
    unbound = None

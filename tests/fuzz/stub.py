"""Plausible arguments for a function of the core, made from its types in `_native.pyi`."""

import ast
import re
from pathlib import Path

import rankwright

STUB = Path(rankwright.__file__).with_name("_native.pyi")
ROWS = 8


def functions():
    """Return the types of the parameters, as written, of every function of the core by its name."""
    tree = ast.parse(STUB.read_text())
    return {
        one.name: {
            parameter.arg: ast.unparse(parameter.annotation)
            for parameter in (*one.args.args, *one.args.kwonlyargs)
            if parameter.annotation
        }
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
    }


def value_of(kind, alike, rng):
    """Return a value of a type, written as in the stub; `alike` holds the core's own objects by type."""
    array = re.match(r"NDArray\[np\.(\w+?)_?\]", kind)
    if array:
        shape = (ROWS,) if rng.random() < 0.5 else (ROWS, 3)
        return rng.integers(0, 2, size=shape).astype(array[1])
    inner = re.fullmatch(r"(?:list|Sequence|tuple)\[(.*)\]", kind)
    if inner:
        return [value_of(inner[1], alike, rng) for _ in range(3)]
    plain = {"int": 1, "float": 0.5, "bool": True, "bytes": b"1", "str": "1"}
    if kind in plain:
        return plain[kind]
    objects = next((held for held_kind, held in alike.items() if held_kind.__name__ == kind and held), [None])
    return objects[rng.integers(len(objects))]

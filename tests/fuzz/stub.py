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


def made_inside():
    """Return the names of the classes that only the core itself can make."""
    tree = ast.parse(STUB.read_text())
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    return {one.name for one in classes if not any(getattr(part, "name", "") == "__init__" for part in one.body)}


def arguments(kinds, alike, rng):
    """Return an argument of each type; `alike` holds objects that the core itself has made, by type."""
    return {name: _value(kind, alike, rng) for name, kind in kinds.items()}


def _value(kind, alike, rng):
    array = re.match(r"NDArray\[np\.(\w+?)_?\]", kind)
    if array:
        shape = (ROWS,) if rng.random() < 0.5 else (ROWS, 3)
        return rng.integers(0, 2, size=shape).astype(array[1])
    inner = re.fullmatch(r"(?:list|Sequence|tuple)\[(.*)\]", kind)
    if inner:
        return [step + one if isinstance(one := _value(inner[1], alike, rng), float) else one for step in range(3)]
    plain = {"int": int(rng.integers(0, 4)), "float": 0.5, "bool": True, "bytes": b"1", "str": "1"}
    if kind in plain:
        return plain[kind]
    objects = next((held for held_kind, held in alike.items() if held_kind.__name__ == kind and held), [None])
    return objects[rng.integers(len(objects))]

"""Plausible arguments for a function of the core, made from its types in `_native.pyi`."""

import ast
import re
from pathlib import Path

import numpy as np

import rankwright

STUB = Path(rankwright.__file__).with_name("_native.pyi")
ROWS = 8


def functions():
    """Return the types of the parameters, as written, of every function of the core by its name."""
    tree = ast.parse(STUB.read_text())
    shared = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    return {
        one.name: {
            parameter.arg: ast.unparse(parameter.annotation)
            for parameter in (*one.args.args, *one.args.kwonlyargs)
            if parameter.annotation
        }
        | (_fields(shared, one.args.kwarg.annotation.slice.id) if one.args.kwarg else {})
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
    }


def _fields(classes, name):
    """Return the types of the parameters that `**documents: Unpack[NAME]` stands for."""
    if name not in classes:
        return {}
    kinds = {field.target.id: ast.unparse(field.annotation) for field in classes[name].body}
    own = {field: re.sub(r"NotRequired\[(.*)\]", r"\1", kind) for field, kind in kinds.items()}
    return _fields(classes, classes[name].bases[0].id) | own


def made_inside():
    """Return the names of the classes that only the core itself can make."""
    tree = ast.parse(STUB.read_text())
    classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
    return {one.name for one in classes if not any(getattr(part, "name", "") == "__init__" for part in one.body)}


def arguments(kinds, known, alike, rng):
    """Return an argument of each type: one of that name that is known, or one made of the same length."""
    lengths = [len(one) for one in known.values() if isinstance(one, np.ndarray)] or [ROWS]
    length = int(rng.choice(lengths))
    return {
        name: known[name] if name in known else _value(kind, length, alike, rng) for name, kind in kinds.items()
    }


def _value(kind, length, alike, rng):
    array = re.match(r"NDArray\[np\.(\w+?)_?\]", kind)
    if array:
        shape = (length,) if rng.random() < 0.5 else (length, 3)
        return rng.integers(0, 2, size=shape).astype(array[1])
    inner = re.fullmatch(r"(?:list|Sequence|tuple)\[(.*)\]", kind)
    if inner:
        parts = [_value(inner[1], length, alike, rng) for _ in range(3)]
        return [step + one if isinstance(one, float) else one for step, one in enumerate(parts)]
    plain = {"int": int(rng.integers(0, 4)), "float": 0.5, "bool": True, "bytes": b"1", "str": "1"}
    if kind in plain:
        return plain[kind]
    objects = next((held for held_kind, held in alike.items() if held_kind.__name__ == kind and held), [None])
    return objects[rng.integers(len(objects))]

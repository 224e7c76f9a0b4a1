"""Identifies values by their code too, so that an edited metric or ranker is not taken for the earlier one.

Functions and classes of installed packages are known by their names, all others by what they do: bytecode,
constants, defaults, closures, and the functions and values of their modules that they refer to.
"""

from __future__ import annotations

import hashlib
import re
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from rankwright.base.errors import InputError

PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
INSTALLED = {"site-packages", "dist-packages"}  # folders


def identity(value: Any, text: str) -> str:
    """Return the text that describes a value, with a hash of the custom code in it, if it has any."""
    reader = _CodeReader()
    try:
        content = reader.read(value)
    except Exception as error:  # such as "cannot pickle '_thread.lock' object"; a custom class may raise anything
        raise InputError(
            f"{text} cannot be told from an edited version of it, so work with it cannot be kept: {error}."
        ) from None
    described = re.sub(" at 0x[0-9a-f]+", "", text)
    return f"{described} {hashlib.sha256(content.encode()).hexdigest()[:16]}" if reader.custom else described


class _CodeReader:
    """Writes values as text that is the same in every process; `custom` says whether it met custom code."""

    def __init__(self) -> None:
        self.custom = False
        self._seen: dict[int, tuple[int, Any]] = {}  # keeps what it has seen alive, so that no id is used twice

    def read(self, value: Any) -> str:
        """Return a value as text."""
        if isinstance(value, PLAIN):
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, ModuleType):
            return f"module {value.__name__}"
        if id(value) in self._seen:
            return f"the same as {self._seen[id(value)][0]}"
        if not isinstance(value, tuple | frozenset | CodeType):  # Python may share equal ones, or not
            self._seen[id(value)] = len(self._seen), value
        return f"{type(value).__name__}({', '.join(self._parts(value))})"

    def _parts(self, value: Any) -> list[str]:
        if isinstance(value, dict):
            return [f"{self.read(key)}: {self.read(item)}" for key, item in value.items()]
        if isinstance(value, set | frozenset):
            return sorted(map(self.read, value))
        if isinstance(value, type | FunctionType) and _is_installed(value.__module__ or ""):
            return [value.__module__, value.__qualname__]
        return list(map(self.read, self._content(value)))

    def _content(self, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return value
        if isinstance(value, CodeType):
            return value.co_code, value.co_consts, value.co_names
        if isinstance(value, FunctionType):
            self.custom = True
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            wrapped = getattr(value, "__wrapped__", None)
            return value.__code__, value.__defaults__, value.__kwdefaults__, cells, _referred(value), wrapped
        if isinstance(value, type):
            self.custom = True
            return value.__bases__, {name: item for name, item in vars(value).items() if _is_own(name, item)}
        if isinstance(value, property | cached_property | staticmethod | classmethod):
            return [getattr(value, name, None) for name in ("fget", "func", "__func__")]
        if hasattr(value, "__wrapped__"):  # such as functools.cache
            return type(value), value.__wrapped__
        if hasattr(value, "get_params"):  # not what a ranker has learned
            return type(value), value.get_params()
        reduced = value.__reduce_ex__(4)  # what a pickle would hold: a name, or class, state and items
        if isinstance(reduced, str):
            return type(value), reduced
        return [*reduced[:3], *(list(items) for items in reduced[3:5] if items is not None)]


def _is_own(name: str, attribute: Any) -> bool:
    """Return whether an attribute of a class was written by its author, and not made by Python."""
    return isinstance(attribute, FunctionType) or not (name.startswith("__") or name == "_abc_impl")


def _referred(function: FunctionType) -> dict[str, Any]:
    """Return the values of its module, and of custom modules, that a function refers to, by name."""
    names = dict.fromkeys(_names(function.__code__))
    referred = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for module in list(referred.values()):
        if isinstance(module, ModuleType) and not _is_installed(module.__name__):
            own = vars(module)
            referred |= {f"{module.__name__}.{name}": own[name] for name in names if name in own}
    return referred


def _names(code: CodeType) -> list[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return [*code.co_names, *(name for constant in inner for name in _names(constant))]


def _is_installed(module: str) -> bool:
    top = module.partition(".")[0]
    if top == "rankwright" or top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    return file is not None and not INSTALLED.isdisjoint(Path(file).parts)

"""Options from the Python function that a verb calls: names, defaults, types and help from one declaration.

The source of the function is read, not imported: help must not wait for numpy. What a signature cannot say, such
as the form of a list on the command line or completion, is in `faces.py`, by the name of the parameter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter, cleandoc
from keyword import iskeyword
from pathlib import Path
from typing import Any, TypeAlias

from rankwright.cli.options.faces import FACES, Face
from rankwright.cli.options.option_groups import MORE, REQUIRED, option, option_name

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^(\w[\w, ]*)(?: : .*)?\n((?: {4}.*\n?|\n(?= {4}))+)", re.MULTILINE)  # of a numpydoc section
ELSEWHERE = re.compile(r"\b[Aa]s (?:for|in) `(?:rankwright\.)?([\w.]+)`")
METRIC = re.compile(r"^([A-Z]+)\(k=(\d+)\)$")  # in Python

Given: TypeAlias = dict[str, Any]
"""The options of a `Signature`, by the names of the function's parameters."""


@dataclass(frozen=True)
class Declared:
    """A parameter of a function, as its signature and its docstring declare it."""

    name: str
    type: str
    default: Any
    meaning: str


@dataclass(frozen=True)
class Signature:
    """The options that the keyword parameters of a public function give a verb, which receives them as a mapping.

    Parameters
    ----------
    function
        Its public name, such as `evaluate`, `analyses.ablation` or `text.Index.build`.
    without
        Parameters that are no options; those for callbacks never are.
    faces
        What differs from `FACES` in this verb.
    """

    function: str
    without: tuple[str, ...]
    faces: Mapping[str, Face]

    def parameters(self) -> list[Parameter]:
        """Return the options, each as a parameter of a function."""
        return [self._option(each) for each in self._declared()]

    def value(self, given: dict[str, Any]) -> Given:
        """Return the values of the function's parameters."""
        values = {}
        for each in self._declared():
            face = self._face(each)
            value = given[_key(face.option)]
            if each.default is True:
                value = not value
            values[each.name] = value if value is None or face.read is None else face.read(face.option, value)
        return values

    def spelling(self) -> dict[str, str]:
        """Return the options by parameter."""
        return {each.name: self._face(each).option for each in self._declared()}

    def _declared(self) -> list[Declared]:
        return [each for each in declared(self.function).values() if each.name not in self.without]

    def _face(self, each: Declared) -> Face:
        face = self.faces.get(each.name) or FACES.get(each.name, Face())
        no = "no_" if each.default is True else ""
        return face if face.option else replace(face, option=option_name(no + each.name))

    def _option(self, each: Declared) -> Parameter:
        face = self._face(each)
        default = False if each.default is True or face.type is bool else _spelled(each.default)
        words = face.words or help_text(each)
        metavar = None if isinstance(default, bool) else face.metavar or "TEXT"
        declared = option(
            words, metavar, face.option, default=default, panel=MORE if face.rare else None, **face.more
        )
        kind = face.type or _type(each, default)
        parameter: Parameter = declared.parameter(_key(face.option), kind)
        return parameter


def options_of(function: str, *, without: tuple[str, ...] = (), faces: Mapping[str, Face] | None = None) -> Any:
    """Declare the options that a function gives a verb, as the default of the parameter that receives them."""
    return Signature(function, without, faces or {})


def help_text(each: Declared) -> str:
    """Return the help of an option: the description of its parameter, without a default that help shows itself."""
    text = re.sub(r'`+"?|"(?=`)', "", each.meaning.replace('"`', "`"))
    text = re.sub(r"^Whether to (\w)", lambda match: match[1].upper(), text)
    text = re.sub(
        r"(\. |; )None: ", lambda match: f"{match[1]}{'By' if match[1] == '. ' else 'by'} default ", text
    )
    return text if each.default is None else re.sub(r" By default [^.]*\.", "", text)


@cache
def declared(function: str) -> dict[str, Declared]:
    """Return the keyword parameters of a public function or class by name, but callbacks."""
    node = _node(function)
    if isinstance(node, ast.ClassDef):
        return _of_fields(function, node)
    meanings = _meanings(ast.get_docstring(node) or "")
    own = node.args
    late = own.args[len(own.args) - len(own.defaults) :]
    pairs = [*zip(late, own.defaults, strict=True), *zip(own.kwonlyargs, own.kw_defaults, strict=True)]
    parameters = {
        each.arg: Declared(
            each.arg, _unparsed(each.annotation), _literal(function, default), meanings.get(each.arg, "")
        )
        for each, default in pairs
        if not each.arg.startswith("on_")
    }
    for name, meaning in meanings.items():
        elsewhere = ELSEWHERE.search(meaning)
        if elsewhere is None or elsewhere[1] == function:
            continue
        there = declared(elsewhere[1])
        if name in parameters and name in there:
            parameters[name] = replace(parameters[name], meaning=there[name].meaning)
        elif own.kwarg is not None and name == own.kwarg.arg:  # such as `**options: Unpack[EvaluationOptions]`
            parameters |= {each: there[each] for each in re.findall(r"`(\w+)`", meaning[: elsewhere.start()])}
    return parameters


def _unparsed(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(node)


def summary(function: str) -> str:
    """Return the first sentence of a public function's docstring."""
    return " ".join((ast.get_docstring(_node(function)) or "").partition("\n\n")[0].split())


def _of_fields(function: str, node: ast.ClassDef) -> dict[str, Declared]:
    """Return the fields of a class: of a dataclass with a docstring, or the parameters of a ranker."""
    meanings = _meanings(ast.get_docstring(node) or "")
    parameters = {}
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
            name, kind, default = each.target.id, ast.unparse(each.annotation), each.value
            if kind.startswith("ClassVar"):
                continue
            if isinstance(default, ast.Call):
                if ast.unparse(default.func) != "parameter":
                    continue
                given = {each.arg: each.value for each in default.keywords}
                texts = [*default.args, *given.values()]
                meanings[name] = next(
                    text.value for text in texts if isinstance(text, ast.Constant) and isinstance(text.value, str)
                )
                default = given["default"]
            parameters[name] = Declared(name, kind, _literal(function, default), meanings.get(name, ""))
    return parameters


@cache
def _module(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _node(function: str) -> ast.FunctionDef | ast.ClassDef:
    """Return the definition of a public function or class in the syntax tree of its module."""
    path, names = _source(function)
    node: Any = _module(path)
    for name in names:  # the last definition: overloads come before it
        node = [each for each in node.body if getattr(each, "name", None) == name][-1]
    assert isinstance(node, ast.FunctionDef | ast.ClassDef)
    return node


def _source(function: str) -> tuple[Path, list[str]]:
    """Return the file that defines a public name, as the stubs of packages say, and the names within the file."""
    folder, names = ROOT, function.split(".")
    while names:
        line = rf"^from \.(\S*) import (\w+) as {names[0]}$"
        module, name = re.findall(line, (folder / "__init__.pyi").read_text(encoding="utf-8"), re.MULTILINE)[0]
        folder = folder.joinpath(*module.split(".")) if module else folder
        if (file := folder.with_suffix(".py")).exists():
            return file, [name, *names[1:]]
        folder, names = folder / name, names[1:]
        if (file := folder.with_suffix(".py")).exists():
            return file, names
    raise LookupError(function)


def _literal(function: str, node: ast.expr | None) -> Any:
    """Return the value of a default: a literal, or a constant of the module; as text if it is computed."""
    if node is None:
        return REQUIRED
    if isinstance(node, ast.Name):
        for each in _module(_source(function)[0]).body:
            if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == node.id:
                return _literal(function, each.value)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def _meanings(docstring: str) -> dict[str, str]:
    """Return the description of each parameter in a numpydoc docstring."""
    section = cleandoc(docstring).partition("Parameters\n----------\n")[2].partition("\n\nAttributes")[0] + "\n"
    return {
        name: " ".join(meaning.split()) for names, meaning in ENTRY.findall(section) for name in names.split(", ")
    }


def _spelled(default: Any) -> Any:
    """Return a default as the command line takes it: a list as text with commas, a metric such as `ndcg@10`."""
    if isinstance(default, str):
        return METRIC.sub(lambda match: f"{match[1].lower()}@{match[2]}", default)
    return ",".join(map(str, default)) or None if isinstance(default, tuple) else default


def _type(each: Declared, default: Any) -> Any:
    """Return the type of an option."""
    if isinstance(default, bool):
        return bool
    plain = {"int": int, "float": float, "Path": Path}
    alternatives = [kind.strip() for kind in each.type.split("|")]
    kinds = [plain[kind] for kind in alternatives if kind in plain]
    if len(kinds) != len([kind for kind in alternatives if kind != "None"]):
        kinds = [Path if set(alternatives) >= {"str", "os.PathLike[str]"} else str]
    return kinds[0] | None if default is None else kinds[0]


def _key(name: str) -> str:
    """Return the parameter that an option is for the verb; --for, a word of Python's, is `for_`."""
    key = name.removeprefix("--").replace("-", "_")
    return f"{key}_" if iskeyword(key) else key

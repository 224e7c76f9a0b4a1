"""Write the API reference: `python docs/api.py`, or `make docs`.

`docs/api.md` is made from the public names in `rankwright/__init__.pyi` and their docstrings; `tests/test_docs.py`
fails if it is stale.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).with_name("api.md")
ROOMS = {  # the first part of a name's module, and the heading that it stands under
    "data": "Data",
    "rankers": "Rankers",
    "auto": "Rankers",
    "training": "Rankers",
    "evaluation": "Evaluation",
    "statistics": "Evaluation",
    "crossval": "Evaluation",
    "tuning": "Evaluation",
    "analyses": "Evaluation",
    "reports": "Evaluation",
    "ensembling": "Combining",
    "models": "Models",
    "interop": "Models",
    "base": "Errors",
}
MODULES = ("metrics", "analyses", "text", "clicks", "charts")
INTRODUCTION = """\
# API reference

Made from the docstrings by `make docs`; the tests run the examples, after `import rankwright as rw`.
"""
SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)


def reference() -> str:
    """Return the page."""
    by_heading: dict[str, list[str]] = {heading: [] for heading in dict.fromkeys(ROOMS.values())}
    for name, value in _public(rw):
        by_heading[ROOMS[value.__module__.split(".")[1]]].append("\n".join(_entry(f"rw.{name}", value)))
    parts = [INTRODUCTION]
    for heading, entries in by_heading.items():
        parts += [f"## {heading}\n", *entries]
    for module in MODULES:
        described = getattr(rw, module)
        parts += [f"## rw.{module}\n", f"{inspect.getdoc(described).splitlines()[0]}\n"]
        parts += ["\n".join(_entry(f"rw.{module}.{name}", value)) for name, value in _public(described)]
    return "\n".join(parts).rstrip() + "\n"


def _public(module: Any) -> Iterator[tuple[str, Any]]:
    for name in sorted(module.__all__, key=str.lower):
        value = getattr(module, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### {name}\n"
    if not inspect.isclass(value):
        yield f"```\n{name}{_signature(value)}\n```\n"
    summary, *sections = SECTION.split(inspect.getdoc(value) or "")
    yield f"{summary.strip()}\n"
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        if title == "Parameters":
            yield "\n".join(_parameters(text)) + "\n"
        elif title == "Examples":
            yield f"```\n{_code(text)}\n```\n"
    if inspect.isclass(value):
        methods = [*_methods(value)]
        if methods:
            yield "\n".join(methods) + "\n"


def _signature(function: Any) -> str:
    """Return the signature without annotations, which the descriptions say in words."""
    signature = inspect.signature(function)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    spelled = str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r"<(?:[^<>]|<[^<>]*>)*>", "...", spelled)  # functions and other objects have no short spelling


def _parameters(text: str) -> Iterator[str]:
    for names, meaning in re.findall(r"^(\w[^\n]*)\n((?: {4}[^\n]*\n?|\n)+)", text, re.MULTILINE):
        spelled = ", ".join(f"`{name}`" for name in names.partition(" : ")[0].split(", "))
        yield f"- {spelled}: {' '.join(meaning.split())}"


def _code(text: str) -> str:
    """Return an example without prompts, its output as comments."""
    lines = []
    for line in text.strip().splitlines():
        prompted = re.match(r"(>>>|\.\.\.) ?", line)
        lines.append(line[prompted.end() :] if prompted else f"# {line}".rstrip() if line.strip() else "")
    return "\n".join(lines)


def _methods(kind: type[Any]) -> Iterator[str]:
    for name, value in vars(kind).items():
        text = inspect.getdoc(value.fget if isinstance(value, property) else value)
        known = isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value)
        if known and text and not name.startswith("_"):
            brackets = "" if isinstance(value, property) else "()"
            yield f"- `{name}{brackets}`: {' '.join(text.partition(chr(10) * 2)[0].split())}"


if __name__ == "__main__":
    PAGE.write_text(reference())

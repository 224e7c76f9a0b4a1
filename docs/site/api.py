"""Write the list of public names: `python docs/site/api.py`, or `make docs`.

`docs/api.md` has one line per name of `rankwright/__init__.pyi` and of its public modules; the site has one page
per name, made from its docstring. `tests/test_docs.py` fails if the list is stale.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parents[1] / "api.md"
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
MODULES = [name for name in rw.__all__ if inspect.ismodule(getattr(rw, name))]
INTRODUCTION = """\
# API reference

All public names, after `import rankwright as rw`. Each has an example in its docstring, which the tests run: see
`help(rw.evaluate)`, or the page of the name in the documentation site.
"""


def groups() -> dict[str, dict[str, Any]]:
    """Return every public class and function by heading and name: `rw.evaluate`, `rw.metrics.NDCG`."""
    by_heading: dict[str, dict[str, Any]] = {heading: {} for heading in dict.fromkeys(ROOMS.values())}
    for name, value in _public(rw):
        by_heading[ROOMS[value.__module__.split(".")[1]]][f"rw.{name}"] = value
    for module in MODULES:
        by_heading[f"rw.{module}"] = {f"rw.{module}.{name}": value for name, value in _public(getattr(rw, module))}
    return by_heading


def reference() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    for heading, values in groups().items():
        about = [f"{summary(getattr(rw, heading[3:]))}\n"] if heading.startswith("rw.") else []
        rows = [f"| `{name}` | {summary(value)} |" for name, value in values.items()]
        parts += [f"## {heading}\n", *about, "\n".join(["| name | meaning |", "|---|---|", *rows]) + "\n"]
    return "\n".join(parts)


def summary(value: Any) -> str:
    """Return the first paragraph of a docstring as one line."""
    paragraph = (inspect.getdoc(value) or "").partition("\n\n")[0]
    return " ".join(paragraph.split()).replace("|", r"\|")


def _public(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the classes and functions of a module's `__all__`, or else those that it defines."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    for name in sorted(getattr(module, "__all__", own), key=str.lower):
        value = getattr(module, name)
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)):
            yield name, value


if __name__ == "__main__":
    PAGE.write_text(reference())

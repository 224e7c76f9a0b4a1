"""Parameters of rankers, each declared once: default, range, meaning and the values to try.

A class that derives from `Parameters` declares a parameter as a field:

    learning_rate: float = parameter(Real(above=0.0), "Factor of each tree.", default=0.05)

`__init__`, its checks, the docstring, the command line, tuning and the documentation all follow from that.

A parameter may be given as text, as on the command line: `LambdaMART(metric="ndcg@5")`. `get_params` returns what
was given, as scikit-learn expects; the attribute `ranker.metric` is the value that it spells.
"""

from __future__ import annotations

import inspect
import textwrap
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar, dataclass_transform

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.rankers.parameters.checks import Check, Integer, Real
from rankwright.rankers.parameters.search_space import NEVER_SEARCHED, Choices, Range, Space

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from dataclasses import Field

    from rankwright.metrics.base import Metric
    from rankwright.metrics.parse import MetricLike

T = TypeVar("T")
Value = TypeVar("Value")
Given = TypeVar("Given")

WIDTH, INDENT = 100, " " * 4  # of generated docstrings


@dataclass(frozen=True)
class Parameter:
    """What is known of one parameter of a ranker.

    Parameters
    ----------
    name, default
        Its name and default value.
    check
        The values that it may take; `str(check)` describes them.
    meaning
        What it does, in a sentence or two.
    tune
        The values of the small grid of `crossval --tune`; none if it leaves the parameter alone.
    search
        The values that `tune` searches; None if it leaves the parameter alone.
    """

    name: str
    default: Any
    check: Check
    meaning: str
    tune: tuple[Any, ...] = ()
    search: Space | None = None


def parameter(
    check: Check | None = None,
    meaning: str | None = None,
    *,
    default: Any,
    tune: tuple[Any, ...] | None = None,
    search: Space | None = None,
    kw_only: bool = True,
) -> Any:
    """Declare a parameter; a subclass that declares it again inherits what it leaves out."""
    given = {"check": check, "meaning": meaning, "tune": tune, "search": search}
    declared = {name: value for name, value in given.items() if value is not None}
    return field(default=default, kw_only=kw_only, metadata={"parameter": declared})


def fixed(*, default: T, init: Literal[False] = False) -> T:
    """Give a shared parameter one value that cannot be changed: this ranker does not have the parameter."""
    declaration: T = field(default=default, init=init, metadata={"fixed": True})
    return declaration


def fitted(meaning: str, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that `fit` sets."""
    return field(init=init, metadata={"fitted": meaning})


class Spelled(Generic[Value, Given]):
    """A parameter as an attribute: keeps what was given, and returns the value that this spells.

    A declaration names both types if they differ: `metric: Spelled[Metric, MetricLike] = parameter(...)`. As an
    attribute of the class it is the default.
    """

    def __init__(self, declared: Parameter) -> None:
        self.declared = declared

    def __get__(self, owner: Parameters | None, kind: type[Parameters]) -> Value:
        default = self.declared.default
        value: Value = default if owner is None else self._value(vars(owner).get(self.declared.name, default))
        return value

    def __set__(self, owner: Parameters, given: Given) -> None:
        vars(owner)[self.declared.name] = given

    def _value(self, given: Any) -> Any:
        return self.declared.check.value(given)


MetricParameter: TypeAlias = "Spelled[Metric, MetricLike]"


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(parameter, fixed, fitted))
class Parameters:
    """Declares parameters; what derives from it becomes a dataclass with keyword-only parameters.

    Families of parameters that several rankers share are such classes too (`shared_parameters.py`).
    """

    grid: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """The values of the small grid, by parameter."""
    space: ClassVar[Mapping[str, Space]] = {}
    """The values that a search may try, by parameter."""
    declared: ClassVar[Mapping[str, Parameter]] = {}

    def __new__(cls, *_: Any, **values: Any) -> Self:
        require_known(cls, values)
        return super().__new__(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        summary = inspect.cleandoc(cls.__dict__.get("__doc__") or cls.__name__)
        dataclass(eq=False, repr=False, kw_only=True)(cls)
        cls.declared = {declared.name: declared for declared in _collect(cls)}
        for name, declared in cls.declared.items():
            setattr(cls, name, Spelled(declared))
        cls.grid = {name: declared.tune for name, declared in cls.declared.items() if declared.tune}
        cls.space = {name: declared.search for name, declared in cls.declared.items() if declared.search}
        cls.__doc__ = "\n\n".join([summary, *_sections(cls)])

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002  # no parameter has its own
        """Return the parameters by name, as they were given."""
        return {name: vars(self).get(name, self.declared[name].default) for name in sorted(self.declared)}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name."""
        require_known(type(self), parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def unfitted(self) -> Self:
        """Return a new ranker with the same parameters."""
        return type(self)(**deepcopy(self.get_params()))

    def __repr__(self) -> str:
        given = {name: repr(value) for name, value in self.get_params().items()}
        changed = {name: text for name, text in given.items() if text != repr(self.declared[name].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in changed.items())})"

    def check_parameters(self) -> None:
        """Refuse values out of range, and values that do not go together."""
        for name, given in self.get_params().items():
            self.declared[name].check.take(name, given)
        self._check_together()

    def _check_together(self) -> None:
        """Refuse values that do not go together; by default all do."""


def describe(kind: type[Parameters]) -> list[Parameter]:
    """Return the parameters of a ranker: the metric, its own, those of its families."""
    return list(kind.declared.values())


def require_known(kind: type[Parameters], names: Iterable[str]) -> None:
    """Refuse a name that is no parameter of this class; say what other libraries' name is here, or the nearest."""
    for name in names:
        if name not in kind.declared:
            from rankwright.rankers.parameters.other_names import familiar_name  # for mistakes only

            familiar = familiar_name(name, kind.__name__, kind.declared)
            hint = nearest(name, kind.declared) if familiar is None else f": {familiar}."
            raise InputError(f"{kind.__name__} has no parameter {name!r}{hint}")


def search_space(ranker: Parameters, given: Mapping[str, Any] | None = None) -> dict[str, Space]:
    """Return the space to search, by parameter: what a ranker declares, with what is given in its place.

    Parameters that have been set to other values than their defaults stay as they are, unless they are given.
    """
    current, defaults = ranker.get_params(deep=False), type(ranker)().get_params(deep=False)
    own = {name: space for name, space in ranker.space.items() if current[name] == defaults[name]}
    return own | read_space(ranker, given or {})


def read_space(ranker: Parameters, given: Mapping[str, Any]) -> dict[str, Space]:
    """Return spaces as they are spelled: `"0.01..0.3"`, `"4..64:log"`, `"a,b,c"`, or a list of choices.

    A range has a log scale if the declared one has.
    """
    require_known(type(ranker), given)
    for name in NEVER_SEARCHED:
        if name in given:
            raise InputError(
                f"The space cannot contain {name}, which is the same for all settings: set it in the ranker. Each "
                "setting is measured after every round, and its best number of rounds is kept."
            )
    return {name: _read_space(ranker.declared[name], space) for name, space in given.items()}


def _read_space(declared: Parameter, given: Any) -> Space:
    if isinstance(given, str):
        space = _read_text(declared, given)
    elif isinstance(given, Range | Choices):
        space = given
    elif isinstance(given, list | tuple):
        space = Choices(*(declared.check.take(declared.name, choice) for choice in given))
    else:
        raise InputError(
            f"The space of {declared.name} must be text such as '0.01..0.3', or a list of choices, not {given!r}."
        )
    space.require(declared.name, declared.check)
    return space


def _read_text(declared: Parameter, text: str) -> Space:
    name, check = declared.name, declared.check
    if ".." not in text:
        parts = text.split(";" if ";" in text else ",")
        return Choices(*(check.parse(name, part.strip()) for part in parts))
    bounds, _, scale = text.partition(":")
    if scale.strip() not in ("", "log"):
        raise InputError(f"The space of {name} must be low..high or low..high:log, not {text!r}.")
    low, high = (check.parse(name, bound.strip()) for bound in bounds.split("..", 1))
    if not isinstance(check, Integer | Real) or low is None or high is None:
        raise InputError(f"The space of {name} must be choices, or numbers low..high, not {text!r}.")
    own = declared.search if isinstance(declared.search, Range) else Range(low, high)
    return replace(own, low=low, high=high, log=own.log or bool(scale))


def _collect(cls: type[Parameters]) -> Iterator[Parameter]:
    """Yield the parameters, the nearest class's first; a positional one comes before all others."""
    final = _fields(cls)
    names = [name for kind in cls.__mro__ for name in inspect.get_annotations(kind) if name in final]
    for name in sorted(dict.fromkeys(names), key=lambda name: bool(final[name].kw_only)):
        if not final[name].metadata:
            raise TypeError(f"{cls.__name__}.{name} must be declared by parameter, fixed or fitted.")
        if "parameter" in final[name].metadata:
            yield Parameter(name, final[name].default, **_inherited(cls, name))


def _inherited(cls: type[Parameters], name: str) -> dict[str, Any]:
    """Return a parameter's check, meaning and values to try, each from the nearest class that states it."""
    merged: dict[str, Any] = {}
    for kind in reversed(cls.__mro__):
        if name in inspect.get_annotations(kind):
            merged |= _fields(kind)[name].metadata.get("parameter", {})
    return merged


def _fields(cls: type) -> dict[str, Field[Any]]:
    return {declared.name: declared for declared in fields(cls)}


def _sections(cls: type[Parameters]) -> Iterator[str]:
    """Yield the numpydoc sections of the parameters and of the attributes that `fit` sets."""
    parameters = {
        f"{declared.name} : {declared.check}, default={written(declared.default)}": declared.meaning
        for declared in describe(cls)
    }
    meanings = {name: attribute.metadata.get("fitted") for name, attribute in _fields(cls).items()}
    attributes = {name: meaning for name, meaning in meanings.items() if meaning}
    for title, entries in {"Parameters": parameters, "Attributes": attributes}.items():
        if entries:
            lines = [f"{head}\n{_indented(meaning)}" for head, meaning in entries.items()]
            yield "\n".join([title, "-" * len(title), *lines])


def written(value: Any) -> str:
    """Return a default value as Python code writes it; a dataclass without the fields that have their defaults."""
    if not is_dataclass(value):
        return repr(value)
    given = {item.name: getattr(value, item.name) for item in fields(value)}
    defaults = {item.name: item.default for item in fields(value)}
    changed = {name: item for name, item in given.items() if item != defaults[name]}
    return f"{type(value).__name__}({', '.join(f'{name}={item!r}' for name, item in changed.items())})"


def _indented(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT)

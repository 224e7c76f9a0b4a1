"""Parameters of rankers, each declared once: default, range, meaning and the values to try.

A class that derives from `Parameters` declares a parameter as a field:

    learning_rate: float = parameter(Real(above=0.0), "Factor of each tree.", default=0.05)

`__init__`, its checks, the docstring, the command line, tuning and the documentation all follow from that.

A parameter may be given as text, as on the command line: `LambdaMART(metric="ndcg@5")`. `get_params` returns what
was given, as scikit-learn expects; the attribute `ranker.metric` is the value that it spells.

Families of parameters that several rankers share are such classes too, such as `StoppingParameters`.
"""

from __future__ import annotations

import inspect
import textwrap
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar, dataclass_transform

from rankwright.base.errors import InputError
from rankwright.base.wording import nearest
from rankwright.rankers.parameters.checks import Check, Flag, Integer, OneOf, Real
from rankwright.rankers.parameters.search_space import Choices, Range, Space
from rankwright.training.binned_features import MAX_BINS, BinnedFeatures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from dataclasses import Field

    from rankwright.metrics.base import Metric
    from rankwright.metrics.catalogue import MetricLike
    from rankwright.training.fit_task import FitTask


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
    """Declares parameters; what derives from it becomes a dataclass with keyword-only parameters."""

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
            from rankwright.rankers.parameters.aliases import familiar_name  # for mistakes only

            familiar = familiar_name(name, kind.__name__, kind.declared)
            hint = nearest(name, kind.declared) if familiar is None else f": {familiar}."
            raise InputError(f"{kind.__name__} has no parameter {name!r}{hint}")


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


EXACT_BYTES = 2**26  # one per document and column; a feature has a column for every 254 thresholds
DIRECTIONS = {"up": (1,), "both": (1, -1)}  # the signs with which a feature may rank documents


class StoppingParameters(Parameters):
    """When training stops."""

    rounds: int = parameter(
        Integer(1), "Maximum number of rounds. Validation data choose how many are kept.", default=100
    )
    patience: int | None = parameter(
        Integer(1, optional=True),
        "Stop after this many rounds in a row that are worse on the validation data than the best by more than "
        "one standard error. None: run all rounds.",
        default=None,
    )


class ShrinkageParameters(Parameters):
    """How far one round moves the model."""

    learning_rate: float = parameter(
        Real(above=0.0),
        "Shrinkage: the contribution of each round is multiplied by it.",
        default=0.1,
        search=Range(0.01, 1.0, log=True),
    )


class BinningParameters(Parameters):
    """How finely features are binned."""

    max_bins: int = parameter(
        Integer(2, MAX_BINS),
        f"Maximum number of bins per feature, at most {MAX_BINS}; thresholds lie between bins.",
        default=MAX_BINS,
    )


class ThresholdParameters(BinningParameters):
    """How finely features are binned, or that every threshold is tried."""

    all_thresholds: bool | None = parameter(
        Flag(optional=True),
        "Whether a feature may be split between any two of its values, as in the papers, rather than between "
        "`max_bins` bins; takes more time and memory. None: where the bins of all thresholds take at most "
        f"{EXACT_BYTES // 2**20} MB.",
        default=False,
    )

    def _check_together(self) -> None:
        super()._check_together()
        if self.all_thresholds and self.max_bins != self.declared["max_bins"].default:  # None may need them
            raise InputError("all_thresholds=True has as many bins as there are values: give no max_bins.")

    def _binned(self, task: FitTask, *, coarse: bool = False, sets: bool = False) -> BinnedFeatures:
        """Return the features as bin codes: with every threshold, or with `max_bins` bins."""
        every = task.train.exact_codes <= EXACT_BYTES if self.all_thresholds is None else self.all_thresholds
        if every:
            return task.train.exactly_binned(task.n_threads, sets=sets)
        return task.train.binned(self.max_bins, task.n_threads, coarse=coarse, sets=sets)


class RandomParameters(Parameters):
    """What is drawn at random."""

    random_state: int = parameter(
        Integer(0), "Seed of the random numbers. The same value on the same data gives the same model.", default=0
    )


class DirectionParameters(Parameters):
    """With which sign a feature may rank."""

    directions: str = parameter(
        OneOf(tuple(DIRECTIONS)),
        "Sign with which a feature may rank documents: 'up' if higher values are better, as in LETOR, or 'both'.",
        default="up",
        search=Choices("up", "both"),
    )


class MarginLossParameters(Parameters):
    """Which loss the violation of a margin has."""

    loss: str = parameter(
        OneOf(("squared_hinge", "hinge")),
        "Loss of a violated margin: 'squared_hinge', minimised by Newton's method, or 'hinge', minimised by "
        "cutting planes and slower.",
        default="squared_hinge",
        search=Choices("squared_hinge", "hinge"),
    )


class SolverParameters(Parameters):
    """When a solver stops."""

    tolerance: float = parameter(
        Real(above=0.0),
        "Stop once the objective is proved to be within this fraction of its optimum.",
        default=1e-3,
    )
    max_iterations: int = parameter(
        Integer(1), "Maximum number of iterations; a warning reports a gap above the tolerance.", default=1000
    )


class ClassBoostingParameters(ShrinkageParameters, BinningParameters):
    """How AdaBoost.MH boosts classifiers of labels."""

    learning_rate: float = parameter(
        meaning="Factor that the step of each round is multiplied by. The paper uses 1, which overfits small "
        "sets.",
        default=0.1,
    )
    votes: str | None = parameter(
        OneOf(("opposite", "free"), optional=True),
        "How the two sides of a split vote on a class: 'opposite', or 'free' to let both vote alike. "
        "None: 'opposite' for trees, 'free' for products.",
        default=None,
    )

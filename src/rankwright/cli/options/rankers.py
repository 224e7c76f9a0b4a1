"""Rankers on the command line, and their settings: `lambdamart`, or by name, `deep=lambdamart flat=lambdamart`.

`--set` and `--grid` take `name=value` for all rankers and `ranker.name=value` for one of several. A parameter is
an option too, `--max-leaves 16`, unless an option of the verb has its name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.wording import closest, nearest
from rankwright.cli.options.completion import complete_ranker, complete_setting
from rankwright.cli.options.config import merged_settings
from rankwright.cli.options.option_groups import MORE, REQUIRED, argument, option
from rankwright.cli.output.console import note

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker
TYPO = 0.8  # the similarity from which an unknown option is one of the command with a typo

RANKER = argument(
    "Ranking method, such as lambdamart; `rankwright rankers` lists all.",
    "RANKER",
    autocompletion=complete_ranker,
    default=REQUIRED,
)
RANKERS = argument(
    "Ranking methods, such as lambdamart; `rankwright rankers` lists all. NAME=RANKER names one, so that a "
    "method can take part twice. For one of several rankers, --set and --grid take NAME.PARAMETER=VALUE.",
    "RANKER...",
    autocompletion=complete_ranker,
    default=REQUIRED,
)
SETTINGS = option(
    "Set a parameter of the ranker; --set rounds=10 may also be written --rounds 10. May be repeated. `rankwright "
    "rankers RANKER` lists all parameters. One that is called as an option of this command needs --set.",
    "NAME=VALUE",
    "--set",
    callback=merged_settings,
    autocompletion=complete_setting,
)
AS_PRINTED = option(
    "Use the parameters of the ranker's paper in place of the defaults; --set changes them. `rankwright "
    "rankers RANKER` lists them.",
    default=False,
    panel=MORE,
)
REFIT = option(
    "Learn from the validation part too, once it has chosen the number of rounds.", default=False, panel=MORE
)
CHOOSE = option(
    "How --tune compares settings. validation: on the validation part, the default if there is one. "
    "out-of-fold: by cross-validation over the training and validation queries; the final fit uses both.",
    "HOW",
    panel=MORE,
)
GRID = option(
    "Values that --tune tries for a parameter, in place of the built-in grid: separated by commas, or by "
    "semicolons if values contain commas. May be repeated for several parameters.",
    "NAME=VALUES",
    panel=MORE,
)
TUNE_WORKERS = option("Number of parallel fits for --tune; by default one per thread.", "N", min=1, panel=MORE)


def with_settings(words: Sequence[str], options: Collection[str]) -> list[str]:
    """Return the words of a command with parameters such as `--max-leaves 16` as `--set max_leaves=16`.

    A word that is no parameter of any ranker but like one of the options is left, to be refused with that hint.
    """
    rest, written = list(words), list[str]()
    while rest and rest[0] != "--":
        word = rest.pop(0)
        option, equals, value = word.partition("=")
        if option[:2] != "--" or option in options:
            written.append(word)
            continue
        name = option[2:].replace("-", "_")
        kinds = _kinds(name)
        is_flag = "Flag" in kinds and (not rest or rest[0].lower() not in ("true", "false"))
        alone = not equals and (is_flag or not rest or rest[0].startswith("--"))
        if not kinds and (alone or closest(option, options, cutoff=TYPO) is not None):
            written.append(word)
        elif alone:
            written += ["--set", f"{name}={'true' if is_flag else ''}"]
        else:
            written += ["--set", f"{name}={value if equals else rest.pop(0)}"]
    return [*written, *rest]


def _kinds(name: str) -> set[str]:
    """Return the kinds of values that the parameters of this name have, of all rankers."""
    from rankwright.rankers.catalogue import known_rankers

    return {type(kind.declared[name].check).__name__ for kind in known_rankers().values() if name in kind.declared}


def make_ranker(name: str, settings: Sequence[str], n_jobs: int | None, *, as_printed: bool = False) -> Ranker:
    """Return the ranker of that name with its parameters set, each as `name=value`."""
    from rankwright.rankers import catalogue

    given = ({"as_printed": "true"} if as_printed else {}) | dict(map(_setting, settings))
    if n_jobs is not None and "n_jobs" in given:
        raise InputError("Give --jobs or --set n_jobs, not both.")
    ranker = catalogue.make_ranker(name, **given)
    return ranker if n_jobs is None else ranker.set_params(n_jobs=n_jobs)


def make_rankers(
    texts: Sequence[str], settings: Sequence[str], n_jobs: int | None, *, as_printed: bool = False
) -> dict[str, Ranker]:
    """Return rankers by name with their parameters set.

    With `as_printed` those of several rankers whose paper has parameters get them; the others are named in a note.
    """
    methods = _methods(texts)
    given = _by_ranker("--set", settings, methods)
    printed = _with_paper(methods) if as_printed else []
    return {
        name: make_ranker(method, given[name], n_jobs, as_printed=name in printed)
        for name, method in methods.items()
    }


def read_grid(ranker: Ranker, texts: Sequence[str] | None) -> dict[str, list[Any]] | None:
    """Return the values to try, by parameter, each spelled `name=value,value`; None without any."""
    from rankwright.rankers.parameters.declaration import require_known

    grid: dict[str, list[Any]] = {}
    for name, values in by_name("--grid", "name=value,value", texts or ()).items():
        require_known(type(ranker), [name])
        check = ranker.declared[name].check
        grid[name] = [check.parse(name, value.strip()) for value in values.split(";" if ";" in values else ",")]
    return grid or None


def read_grids(rankers: dict[str, Ranker], texts: Sequence[str] | None) -> dict[str, dict[str, list[Any]]] | None:
    """Return the values to try by ranker and parameter; None without any."""
    if not texts:
        return None
    read = {name: read_grid(rankers[name], own) for name, own in _by_ranker("--grid", texts, rankers).items()}
    return {name: grid for name, grid in read.items() if grid is not None}


def by_name(option: str, form: str, texts: Iterable[str]) -> dict[str, str]:
    """Return the text that an option gives for each name, spelled `name=...`."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name or not values:
            raise InputError(f"{option} takes {form}, not {text!r}.")
        if name in given:
            raise InputError(f"{option} gives values for {name} twice.")
        given[name] = values
    return given


def require_tune(tune: bool, options: Mapping[str, Any]) -> None:
    """Refuse options that have an effect only with --tune."""
    for name, value in options.items():
        if value and not tune:
            raise InputError(f"{name} has no effect without --tune; add --tune or leave it out.")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InputError(f"--set takes name=value, not {text!r}.")
    return name, value


def _with_paper(methods: dict[str, str]) -> list[str]:
    """Return the rankers that are to be as printed: those whose paper has parameters, if any has."""
    from rankwright.rankers.catalogue import find_ranker

    printed = [name for name, method in methods.items() if find_ranker(method).printed]
    others = [name for name in methods if name not in printed]
    if printed and others:
        note(f"--as-printed changes nothing in {', '.join(others)}: the defaults are the algorithm.")
    return printed or others


def _methods(texts: Sequence[str]) -> dict[str, str]:
    """Return the method of every ranker by its name; without a name, it is called as its method is."""
    from rankwright.rankers.catalogue import find_ranker

    methods: dict[str, str] = {}
    for text in texts:
        name, equals, method = (part.strip() for part in text.rpartition("="))
        if equals and not name:
            raise InputError(f"A ranker is spelled RANKER or NAME=RANKER, not {text!r}.")
        name = name or find_ranker(method).name
        if name in methods:
            raise InputError(f"Two rankers are called {name}; name them, as in one={method} other={method}.")
        methods[name] = method
    return methods


def _by_ranker(option: str, texts: Sequence[str], names: Iterable[str]) -> dict[str, list[str]]:
    """Return the texts `name=value` of every ranker, those for all rankers first."""
    for_all: list[str] = []
    for_one: dict[str, list[str]] = {name: [] for name in names}
    for text in texts:
        key, equals, value = text.partition("=")
        ranker, dot, parameter = (part.strip() for part in key.rpartition("."))
        if not dot:
            for_all.append(text)
        elif ranker not in for_one:
            raise InputError(f"{option} {text} is for no ranker of this command{nearest(ranker, for_one)}")
        else:
            for_one[ranker].append(f"{parameter}{equals}{value}")
    return {name: [*for_all, *own] for name, own in for_one.items()}

"""Completion of names in a shell. Nothing is imported for it before a shell asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import typer  # noqa: TC002  # typer reads the annotations


def complete_ranker(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the rankers that begin so, with their summaries."""
    from rankwright.rankers.catalogue import known_rankers

    for name, kind in sorted(known_rankers().items()):
        if name.startswith(incomplete):
            yield name, (kind.__doc__ or "").partition("\n")[0]


def complete_rankers(incomplete: str) -> Iterator[str]:
    """Yield the rankers that begin so; in a list with commas, completions of its last name."""
    from rankwright.rankers.catalogue import known_rankers

    return _in_list(incomplete, sorted(known_rankers()))


def complete_companions(incomplete: str) -> Iterator[str]:
    """Yield the libraries that begin so; in a list with commas, completions of its last name."""
    return _in_list(incomplete, ("lightgbm", "xgboost", "catboost"))


def complete_metric(incomplete: str) -> Iterator[str]:
    """Yield the metrics that begin so; in a list with commas, completions of its last name."""
    from rankwright.metrics.catalogue import METRICS

    return _in_list(incomplete, METRICS)


def _in_list(incomplete: str, names: Iterable[str]) -> Iterator[str]:
    before, comma, last = incomplete.rpartition(",")
    return (f"{before}{comma}{name}" for name in names if name.startswith(last.lower()))


def complete_convention(incomplete: str) -> Iterator[str]:
    """Yield the conventions that begin so."""
    from rankwright.metrics.catalogue import CONVENTIONS

    yield from (name for name in CONVENTIONS if name.startswith(incomplete))


def complete_setting(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the parameters of the ranker named before, each as `name=`."""
    from rankwright.base.errors import InputError
    from rankwright.rankers.catalogue import find_ranker

    named = [context.params.get("ranker"), *context.args]  # typer does not parse what comes before an open option
    try:
        declared = find_ranker(str(next(filter(None, named), None))).declared
    except InputError:  # no ranker yet
        return
    for name, parameter in declared.items():
        if name.startswith(incomplete):
            yield f"{name}=", parameter.meaning

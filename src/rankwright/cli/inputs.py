"""What the command line takes: data files, models, rankers and their parameters."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright import data
from rankwright.errors import InputError
from rankwright.metrics import CONVENTIONS, Metric, parse
from rankwright.metrics.parse import METRICS, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.data import RankingData
    from rankwright.models import Scorer
    from rankwright.rankers import Ranker

READERS = {".parquet": "read_parquet", ".csv": "read_csv"}

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", min=1, help="Threads to use; by default all this process may.")
]
MetricsOption = Annotated[
    str,
    typer.Option("--metrics", help=f"Metrics, with commas between: {', '.join(METRICS)}; @k cuts off at rank k."),
]
ConventionOption = Annotated[
    str, typer.Option("--convention", help=f"Whose way of counting: {', '.join(CONVENTIONS)}.")
]
FeaturesOption = Annotated[
    int | None,
    typer.Option("--features", min=1, help="Number of features, where a LETOR file leaves out the last ones."),
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="A parameter of the ranker, as name=value; may be repeated.")
]


def read_data(path: Path, *, n_features: int | None = None) -> RankingData:
    """Read judged documents: LETOR text (also .gz), .csv or .parquet."""
    reader = READERS.get(path.suffix.lower())
    if reader is not None:
        table: RankingData = getattr(data, reader)(path)
        return table
    return data.read_letor(path, n_features=n_features)


def read_data_for(scorers: Iterable[Scorer], path: Path, n_features: int | None) -> RankingData:
    """Read documents that these scorers can score: with the features that each was trained on."""
    documents = read_data(path, n_features=n_features)
    for scorer in scorers:
        if documents.n_features != scorer.n_features:
            hint = f"; if the file leaves out the last ones, say --features {scorer.n_features}"
            raise InputError(
                f"{path} has {documents.n_features} features, the model was trained on {scorer.n_features}"
                f"{hint if documents.n_features < scorer.n_features else ''}."
            )
    return documents


def rankers() -> dict[str, type[Ranker]]:
    """Return every ranker of the package by its name on the command line."""
    from rankwright import rankers as package  # scikit-learn takes its time; verbs that need none do without

    classes = (getattr(package, name) for name in package.__all__)
    return {one.name: one for one in classes if not inspect.isabstract(one)}


def make_ranker(name: str, settings: Sequence[str], n_threads: int | None) -> Ranker:
    """Return the ranker of that name with its parameters set."""
    known = rankers()
    if name not in known:
        raise InputError(f"There is no ranker {name!r}{nearest(name, known)}")
    defaults = known[name]().get_params(deep=False)
    values = dict(_setting(name, setting, defaults) for setting in settings)
    return known[name](**{"n_threads": n_threads, **values})


def _setting(ranker: str, setting: str, defaults: dict[str, Any]) -> tuple[str, Any]:
    name, equals, text = (part.strip() for part in setting.partition("="))
    if not equals:
        raise InputError(f"--set takes name=value, not {setting!r}.")
    if name not in defaults:
        raise InputError(f"The ranker {ranker} has no parameter {name!r}{nearest(name, defaults)}")
    return name, parse(text) if isinstance(defaults[name], Metric) else _plain_value(text)


def _plain_value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text

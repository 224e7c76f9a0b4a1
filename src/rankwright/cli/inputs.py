"""Inputs of the command line: data files, models, rankers and their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright import data
from rankwright.data.counted import counted
from rankwright.data.tables import WITHOUT_LABELS
from rankwright.errors import InputError
from rankwright.metrics import CONVENTIONS
from rankwright.metrics.parse import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rankwright.data import Documents, RankingData
    from rankwright.models import Scorer
    from rankwright.rankers.ranker import Ranker

READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv"}
FORMATS = "LETOR, .csv or .tsv, each may be .gz; .parquet"

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
PlainJsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JobsOption = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Number of threads; by default all that this process may use."
    ),
]
MetricsOption = Annotated[
    str,
    typer.Option(
        "--metrics",
        metavar="LIST",
        help=f"Metrics separated by commas, such as ndcg@10 for the first 10 ranks: {', '.join(METRICS)}.",
    ),
]
ConventionOption = Annotated[
    str,
    typer.Option(
        "--convention",
        metavar="NAME",
        help=f"The tool whose definitions of metrics to use: {', '.join(CONVENTIONS)}.",
    ),
]
FeaturesOption = Annotated[
    int | None,
    typer.Option(
        "--features",
        min=1,
        metavar="N",
        help="Number of features, if a LETOR file never mentions the last ones.",
    ),
]
RankerArgument = Annotated[
    str,
    typer.Argument(metavar="RANKER", help="Ranking method, such as lambdamart; `rankwright rankers` lists all."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Set a parameter of the ranker; may be repeated. `rankwright rankers RANKER` lists all parameters.",
    ),
]


def read_data(path: Path, *, n_features: int | None = None, n_jobs: int | None = None) -> RankingData:
    """Read judged documents: LETOR text, .csv or .tsv (each may end with .gz too) or .parquet."""
    reader = _table_reader(path, n_features)
    if reader is None:
        return data.read_letor(path, n_features=n_features, n_jobs=n_jobs)
    try:
        table: RankingData = reader(path)
    except InputError as error:
        needed = "This command needs labels; `rank` and `predict` do not."
        raise InputError(str(error).replace(WITHOUT_LABELS, needed)) from None
    return table


def read_data_for(
    scorers: Iterable[Scorer], path: Path, *, n_features: int | None, n_jobs: int | None
) -> RankingData:
    """Read judged documents and check that they have the features that each scorer was trained on."""
    judged = read_data(path, n_features=n_features, n_jobs=n_jobs)
    _require_features(judged, scorers, path)
    return judged


def read_documents_for(scorer: Scorer, path: Path, *, n_features: int | None, n_jobs: int | None) -> Documents:
    """Read documents to score; labels, if the file has any, are ignored."""
    reader = _table_reader(path, n_features)
    documents: Documents
    if reader is not None:
        documents = reader(path, label=None)
    else:
        documents = data.read_letor(path, judged=False, n_features=n_features, n_jobs=n_jobs)
    _require_features(documents, [scorer], path)
    return documents


def is_table(path: Path) -> bool:
    """Return whether a file is a table with named columns, not LETOR text."""
    return _table_suffix(path) in READERS


def _table_reader(path: Path, n_features: int | None) -> Any:
    """Return the function that reads such a table; None for LETOR text."""
    if not is_table(path):
        return None
    if n_features is not None:
        raise InputError("--features is for LETOR files only.")
    return getattr(data, READERS[_table_suffix(path)])


def _table_suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _require_features(documents: Documents, scorers: Iterable[Scorer], path: Path) -> None:
    for scorer in scorers:
        if documents.n_features != scorer.n_features:
            hint = f"; if the file never mentions the last ones, add --features {scorer.n_features}"
            fewer = documents.n_features < scorer.n_features and not is_table(path)
            raise InputError(
                f"{path} has {counted(documents.n_features, 'feature')}, the model was trained on "
                f"{scorer.n_features:,}{hint if fewer else ''}."
            )


def checked_output(path: Path, *, inputs: Iterable[Path | None] = ()) -> Path:
    """Refuse, before any long work, a path that cannot be written or that the command reads."""
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file to write.")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}.")
    if any(one is not None and one.exists() and path.exists() and one.samefile(path) for one in inputs):
        raise InputError(f"{path} is an input of this command; write to another file.")
    return path


def require_distinct(models: Sequence[Path]) -> None:
    """Refuse a model that is given twice."""
    for place, path in enumerate(models):
        if path in models[:place]:
            raise InputError(f"The model {path} is given twice.")


def make_ranker(name: str, settings: Sequence[str], n_jobs: int | None) -> Ranker:
    """Return the ranker of that name with its parameters set, each as `name=value`."""
    from rankwright.rankers import catalogue  # imports scikit-learn, which other commands do without

    given = dict(map(_setting, settings))
    if n_jobs is not None and "n_jobs" in given:
        raise InputError("Give --jobs or --set n_jobs, not both.")
    ranker = catalogue.make_ranker(name, **given)
    return ranker if n_jobs is None else ranker.set_params(n_jobs=n_jobs)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise InputError(f"--set takes name=value, not {text!r}.")
    return name, value

"""Systems to evaluate, each given as a file.

The first bytes of a file tell what it is:

| first bytes | system |
|---|---|
| byte 137, then `rankwright` | model of rankwright |
| a line `tree` | LightGBM model (text) |
| `{"learner":`, as JSON or UBJSON | XGBoost model |
| `CBM1`, or `{` and a part of CatBoost's JSON | CatBoost model |
| `##` and a method of RankLib | RankLib model |
| a line of six words, the fifth a number | TREC run |
| a line with one number | score file: one score per document, in the order of the data |
| a line of names, `qid`, `docid` and `score` among them; or `PAR1` | table of scores (CSV, TSV; Parquet) |
"""

from __future__ import annotations

import math
import re
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.base.wording import counted
from rankwright.cli.options.data_files import LETOR, file_of, read_data, read_documents_with_labels, streamed
from rankwright.cli.options.foreign_models import CatBoostModel, LightGBMModel, XGBoostModel
from rankwright.data.dataset import Documents
from rankwright.data.readers.any_format import SCORE_COLUMNS, read_scores
from rankwright.data.readers.csv import DELIMITERS
from rankwright.data.readers.judgements import read_judgements
from rankwright.data.readers.trec import Judgements, read_run
from rankwright.evaluation.evaluate import UnjudgedRunWarning
from rankwright.interop.loading import RANKLIB_START, load
from rankwright.models.model_file import MAGIC
from rankwright.models.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
    from pathlib import Path

    from rankwright.base.arrays import Doubles
    from rankwright.cli.options.data_files import ReadOptions
    from rankwright.data.readers.trec import Run

START_BYTES = 4096
CATBOOST_JSON = rb'\s*\{\s*"(ctrs|features_info|model_info|oblivious_trees|scale_and_bias|trees)"'


class ScoredFile(Protocol):
    """A file, other than a model of rankwright, that gives scores to documents."""

    def scores(self, documents: Any, n_jobs: int | None) -> Doubles:
        """Return one score per document."""


@contextmanager
def opened(
    files: Mapping[str, Path],
    data: Path,
    reading: ReadOptions,
    n_jobs: int | None,
    column: str | None = None,
    *,
    fusions: bool = False,
    in_blocks: bool = False,
    labels: bool = True,
) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the systems by name, as `rw.evaluate` takes them, and the judged documents.

    The order by a column of the data, if there is one, is the first system; the fusions of the retrievers whose
    scores the data have, if asked for, are the last. `-` is standard input. Runs with other document ids than the
    data are refused. With `in_blocks`, documents that models alone score are `FileDocuments` if they are larger
    than memory. Without `labels`, documents may have none.
    """
    if str(data) == "-" and "-" in map(str, files.values()):
        raise InputError("Standard input can be a system or the data, not both.")
    with ExitStack() as stack:
        systems = {name: open_system(stack.enter_context(file_of(path))) for name, path in files.items()}
        if _holds_judgements(data, reading):
            judged: Documents | Judgements = read_judgements(data)
        else:
            scorers = [system for system in systems.values() if isinstance(system, Scorer)]
            if in_blocks and column is None and not fusions and len(scorers) == len(systems):
                large = streamed(data, reading, scorers, judged=True)
                if large is not None:
                    yield systems, large
                    return
            read = read_data if labels else read_documents_with_labels
            judged = read(data, reading.ordered_by(column, scorers), scorers, n_jobs=n_jobs)
        stack.enter_context(_unjudged_runs_refused(judged))
        if reading.features is None:  # then the data have what one of the models needs, and no model needs it all
            warnings.filterwarnings("ignore", "The model does not use")
        order = {} if column is None else {column: column}
        named = {name: system_of(name, each, judged, data, n_jobs) for name, each in systems.items()}
        yield order | named | (_fusions(judged, named) if fusions else {}), judged


def _fusions(judged: Documents | Judgements, others: Iterable[str]) -> dict[str, Scorer]:
    """Return the fixed fusions of the retrievers whose scores the data have, by names that no other system has."""
    if isinstance(judged, Judgements):
        raise InputError("--fusions needs data with the scores of several retrievers, not TREC judgements.")
    fixed = rw.fixed_fusions(judged)
    for name in fixed:
        if name in others:
            raise InputError(f"A system is called {name!r}, like a fusion of --fusions: name it NAME=FILE.")
    return fixed


def open_system(path: Path) -> Scorer | ScoredFile | RunFile:
    """Return the system in a file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a file.")  # a pipe could not be read twice
    with open_bytes(path) as file:
        start = file.read(START_BYTES)
    for recognise, read in KINDS:
        if recognise(start):
            system: Scorer | ScoredFile | RunFile = read(path)
            return system
    raise InputError(
        f"{path} {'is no system' if start.strip() else 'is empty'}; systems are model files of rankwright, "
        "LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (.cbm, JSON) and RankLib, files with one score per "
        f"line, tables with the columns {', '.join(SCORE_COLUMNS)}, and TREC runs."
    )


def _holds_judgements(data: Path, reading: ReadOptions) -> bool:
    """Return whether a file without features holds TREC judgements: lines of four words, the last a number."""
    if str(data) == "-" or reading.format is not None or reading.format_of(data) != LETOR:
        return False
    with open_bytes(data) as file:
        words = _first_words(file.read(START_BYTES))
    return len(words) == 4 and not words[1].startswith("qid:") and not math.isnan(_number(words[3]))


@contextmanager
def _unjudged_runs_refused(judged: Documents | Judgements) -> Iterator[None]:
    columns = judged.columns if isinstance(judged, Documents) else None
    hint = "" if columns is None or columns.docid is not None else "; --docid names the column of document ids"
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnjudgedRunWarning)
        try:
            yield
        except UnjudgedRunWarning as warning:
            raise InputError(f"{str(warning).removesuffix('.')}{hint}.") from None


def system_of(
    name: str,
    file: Scorer | ScoredFile | RunFile,
    judged: Documents | Judgements,
    data: Path,
    n_jobs: int | None,
) -> Scorer | Doubles | Run:
    """Return a system as `rw.evaluate` takes it."""
    if isinstance(file, RunFile):
        return file.run()
    if isinstance(judged, Judgements) and not isinstance(file, ScoreFile):
        raise InputError(
            f"{name} is a model, which needs features, but {data} holds TREC judgements; give a run of the model, "
            "which `rankwright rank` writes."
        )
    return file if isinstance(file, Scorer) else file.scores(judged, n_jobs)


@dataclass(frozen=True)
class ScoreFile:
    """A file with one score per line, in the order of the documents."""

    path: Path

    def scores(self, documents: Sized, n_jobs: int | None) -> Doubles:  # noqa: ARG002
        """Return the scores in the file."""
        with open_bytes(self.path) as file, TextIOWrapper(file, "utf-8-sig", errors="replace") as lines:
            numbers = [self._number(line, text) for line, text in enumerate(lines, start=1) if text.strip()]
        if len(numbers) != len(documents):
            raise InputError(
                f"{self.path} has {counted(len(numbers), 'score')}, the data have "
                f"{counted(len(documents), 'document')}; a score file has one score per document, in their order."
            )
        return np.array(numbers)

    def _number(self, line: int, text: str) -> float:
        value = _number(text)
        if math.isnan(value):
            raise InputError(f"{self.path}, line {line}: {text.strip()[:40]!r} is not a score.")
        return value


@dataclass(frozen=True)
class RunFile:
    """A TREC run, matched with the documents by query id and document id."""

    path: Path

    def run(self) -> Run:
        """Return the run in the file."""
        return read_run(self.path)


@dataclass(frozen=True)
class ScoreTable(RunFile):
    """A table of scores, as `predict --out scores.csv` writes it; without a delimiter it is a Parquet file."""

    delimiter: str | None = None

    def run(self) -> Run:
        return read_scores(self.path, delimiter=self.delimiter)


def _number(text: str) -> float:
    """Return a number; NaN for anything else."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _first_words(start: bytes) -> list[str]:
    text = start.decode("utf-8-sig", errors="replace").lstrip()
    return text.splitlines()[0].split() if text else []


def _is_run(start: bytes) -> bool:
    words = _first_words(start)
    return len(words) == 6 and not math.isnan(_number(words[4]))


def _is_scores(start: bytes) -> bool:
    words = _first_words(start)
    return len(words) == 1 and not math.isnan(_number(words[0]))


def _has_score_columns(delimiter: str) -> Callable[[bytes], bool]:
    def recognise(start: bytes) -> bool:
        head, *_ = start.decode("utf-8-sig", errors="replace").splitlines() or [""]
        return set(SCORE_COLUMNS) <= {name.strip(' "') for name in head.split(delimiter)}

    return recognise


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda start: re.match(pattern, start, re.DOTALL) is not None


KINDS: tuple[tuple[Callable[[bytes], bool], Callable[[Path], Any]], ...] = (
    (_matches(re.escape(MAGIC)), load),
    (_matches(rb"tree\r?\n"), LightGBMModel),
    (_matches(rb'\{\s*"learner"|\{.{2,10}learner'), XGBoostModel),  # UBJSON has the length before a name
    (_matches(b"CBM1"), CatBoostModel),
    (_matches(RANKLIB_START), load),
    (_matches(CATBOOST_JSON), load),
    (_is_run, RunFile),
    (_is_scores, ScoreFile),
    (_matches(b"PAR1"), ScoreTable),
    *((_has_score_columns(delimiter), partial(ScoreTable, delimiter=delimiter)) for delimiter in DELIMITERS),
)

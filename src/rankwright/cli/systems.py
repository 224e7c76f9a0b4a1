"""Systems to evaluate, each given as a file.

The first bytes of a file tell what it is:

| first bytes | system |
|---|---|
| byte 137, then `rankwright` | model of rankwright |
| a line `tree` | LightGBM model (text) |
| `{"learner":`, as JSON or UBJSON | XGBoost model |
| `CBM1` | CatBoost model |
| a line of six words, the fifth a number | TREC run |
| a line with one number | score file: one score per document, in the order of the data |
| a line of names, `qid`, `docid` and `score` among them; or `PAR1` | table of scores (CSV, TSV; Parquet) |
"""

from __future__ import annotations

import math
import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rankwright.cli.foreign import CatBoostModel, LightGBMModel, XGBoostModel
from rankwright.cli.output import note
from rankwright.cli.reading import file_of
from rankwright.data import read_run
from rankwright.data.counted import counted
from rankwright.data.delimited import DELIMITERS
from rankwright.data.files import open_bytes
from rankwright.data.score_tables import SCORE_COLUMNS, read_scores
from rankwright.errors import InputError
from rankwright.models import Scorer, load
from rankwright.models.format import MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from rankwright.arrays import Doubles
    from rankwright.data import Documents, RankingData, Run

START_BYTES = 4096


class ScoredFile(Protocol):
    """A file, other than a model of rankwright, that gives scores to documents."""

    def scores(self, documents: Documents, n_jobs: int | None) -> Doubles:
        """Return one score per document."""


@contextmanager
def open_systems(files: Sequence[Path], data: Path) -> Iterator[dict[str, Any]]:
    """Yield the systems by the names of their files; `-` is standard input."""
    if str(data) == "-" and "-" in map(str, files):
        raise InputError("Standard input can be a system or the data, not both.")
    with ExitStack() as stack:
        yield {str(path): open_system(stack.enter_context(file_of(path))) for path in files}


def open_system(path: Path) -> Scorer | ScoredFile:
    """Return the system in a file."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a file.")  # a pipe could not be read twice
    with open_bytes(path) as file:
        start = file.read(START_BYTES)
    for recognise, read in KINDS:
        if recognise(start):
            system: Scorer | ScoredFile = read(path)
            return system
    raise InputError(
        f"{path} {'is no system' if start.strip() else 'is empty'}; evaluate takes model files of rankwright, "
        "LightGBM (text), XGBoost (JSON, UBJSON) and CatBoost (.cbm), files with one score per line, tables "
        f"with the columns {', '.join(SCORE_COLUMNS)}, and TREC runs."
    )


def scored(
    systems: Mapping[str, Scorer | ScoredFile], judged: RankingData, n_jobs: int | None
) -> dict[str, Scorer | Doubles]:
    """Return the systems as `rw.evaluate` takes them: scorers, and scores of the documents."""
    return {name: one if isinstance(one, Scorer) else one.scores(judged, n_jobs) for name, one in systems.items()}


@dataclass(frozen=True)
class ScoreFile:
    """A file with one score per line, in the order of the documents."""

    path: Path

    def scores(self, documents: Documents, n_jobs: int | None) -> Doubles:  # noqa: ARG002
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

    def scores(self, documents: Documents, n_jobs: int | None) -> Doubles:  # noqa: ARG002
        """Return the scores of the run; a document that was not retrieved is ranked last."""
        run = self._read()
        names = documents.document_names
        row_of = {pair: row for row, pair in enumerate(zip(documents.qid.astype(np.str_), names, strict=True))}
        if len(row_of) < len(documents):
            raise InputError(f"{self.path} cannot be matched: a document id of the data occurs twice in a query.")
        found = [row_of.get(pair) for pair in zip(run.qid, run.document_ids, strict=True)]
        rows = [row for row in found if row is not None]
        if not rows:
            ours, theirs = str(documents.qid[0]), str(run.qid[0])
            named = documents.columns is None or documents.columns.docid is not None
            hint = "" if named else "; --docid names the column of document ids"
            raise InputError(
                f"{self.path} retrieves no document of the data: its ids are like {run.document_ids[0]!r} in "
                f"query {theirs!r}, those of the data like {names[0]!r} in query {ours!r}{hint}."
            )
        scores = np.full(len(documents), -np.inf)
        scores[rows] = run.scores[[row is not None for row in found]]
        self._report(len(found) - len(rows), len(documents) - len(rows))
        return scores

    def _read(self) -> Run:
        return read_run(self.path)

    def _report(self, unknown: int, missing: int) -> None:
        if unknown:
            note(f"{self.path}: {counted(unknown, 'document')} not in the data, left out of the rankings")
        if missing:
            note(f"{self.path}: {counted(missing, 'document')} of the data not retrieved, ranked last")


@dataclass(frozen=True)
class ScoreTable(RunFile):
    """A table of scores, as `predict --out scores.csv` writes it; without a delimiter it is a Parquet file."""

    delimiter: str | None = None

    def _read(self) -> Run:
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
    (_is_run, RunFile),
    (_is_scores, ScoreFile),
    (_matches(b"PAR1"), ScoreTable),
    *((_has_score_columns(one), partial(ScoreTable, delimiter=one)) for one in DELIMITERS),
)

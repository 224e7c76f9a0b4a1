"""How the verbs read data files: the options that all of them share, and the readers behind them."""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright import data
from rankwright.base.errors import InputError
from rankwright.base.wording import brief_list, counted
from rankwright.cli.options.option_groups import option, option_group
from rankwright.cli.output.console import note
from rankwright.data.column_roles import LABEL, QUERY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankwright.data.alignment import HasFeatures
    from rankwright.data.dataset import Documents, RankingData
    from rankwright.data.readers.file_documents import FileDocuments
    from rankwright.training.training_set import TrainingSet

LETOR = "letor"
TABLES = {"csv": ",", "tsv": "\t", "parquet": None}  # with the delimiter of the fields
DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", ",": ",", ";": ";", "\t": "\t", "\\t": "\t"}
FORMATS = "LETOR, .csv or .tsv, each may be .gz; .parquet, or a folder of .parquet files; - for standard input"
STANDARD_INPUT = "standard input"
EXPANSION = 8  # about how much larger documents are than a compressed file of them


_option = functools.partial(option, panel="Reading data files")


@option_group
class ReadOptions:
    """How data files are read: their format, and what the columns of a table are used for."""

    label: str | None = _option("Column of a table with the labels; by default label.", "COLUMN")
    qid: str | None = _option("Column of a table with the query ids; by default qid.", "COLUMN")
    docid: str | None = _option(
        "Column of a table with the document ids; by default docid, if there is one.", "COLUMN"
    )
    features: str | None = _option("Feature columns of a table; patterns such as bm25_* are allowed.", "A,B,...")
    drop: str | None = _option("Columns of a table that are no features, by name or pattern.", "A,B,...")
    categorical: str | None = _option(
        "Columns of a table with categories to encode, by name or pattern.", "A,B,..."
    )
    dates: str | None = _option(
        "Columns of a table with dates, by name or pattern, to be features in days since 1970.", "A,B,..."
    )
    delimiter: str | None = _option(
        "Delimiter of a .csv or .tsv file: comma, semicolon or tab, by default as its name says.", "NAME"
    )
    show: str | None = _option(
        "Columns of a table to show beside documents and queries on pages and in written tables, such as "
        "query_text,title,url; this alone makes no feature of them, and keeps those that are.",
        "A,B,...",
    )
    n_features: int | None = _option(
        "Number of features, if a LETOR file never mentions the last ones.", "N", min=1
    )
    zero_based: bool = _option("LETOR files number features from 0, as scikit-learn writes them.", default=False)
    format: str | None = _option("letor, csv, tsv or parquet, if the name of the file does not say it.", "NAME")

    def format_of(self, path: Path) -> str:
        """Return the format of a file: as given, otherwise by the end of its name."""
        if self.format is not None:
            if self.format not in (LETOR, *TABLES):
                raise InputError(f"--format must be letor, csv, tsv or parquet, not {self.format!r}.")
            return self.format
        if is_parquet_folder(path):
            return "parquet"
        ending = Path(path.name.lower().removesuffix(".gz")).suffix.removeprefix(".")
        return ending if ending in TABLES else LETOR

    def columns(self, models: Sequence[HasFeatures], *, judged: bool) -> dict[str, Any]:
        """Return the options of the readers of tables; without a list of features, those of the models."""
        options: dict[str, Any] = {
            "label": (self.label or LABEL) if judged else self.label,
            "qid": self.qid or QUERY,
            "docid": self.docid,
            "features": None if self.features is None else _names(self.features),
            "drop": _names(self.drop),
            "categorical": _names(self.categorical),
            "dates": _names(self.dates),
            "show": _names(self.show),
        }
        if self.features is None and models and all(model.feature_names is not None for model in models):
            from rankwright.data.categories import source_columns

            needed = [source_columns(model.feature_names or (), model.categories) for model in models]
            options["features"] = list(dict.fromkeys(name for names in needed for name in names))
        if not self.categorical:
            held = [category.name for model in models for category in model.categories]
            options["categorical"] = list(dict.fromkeys(held))
        return options

    def ordered_by(self, column: str | None, models: Sequence[HasFeatures] = ()) -> ReadOptions:
        """Return the options that keep the column of an order, which is a feature only if that is asked for."""
        if column is None:
            return self
        name = column.removeprefix("-")
        asked = self.columns(models, judged=True)["features"] is not None
        drop = self.drop if asked else ",".join([*_names(self.drop), name])
        return replace(self, show=",".join([*_names(self.show), name]), drop=drop)

    def refuse_columns(self, path: Path) -> None:
        """Refuse options that have no effect on a LETOR file."""
        for name in ("show", "label", "qid", "docid", "features", "drop", "categorical", "dates", "delimiter"):
            if getattr(self, name) is not None:
                hint = "; for the number of features there is --n-features" if name == "features" else ""
                if str(path) == "-" and self.format is None:
                    hint = ", as which standard input is read; add --format csv, tsv or parquet"
                option = "--show, --baseline-column and --time-column are" if name == "show" else f"--{name} is"
                raise InputError(f"{option} for tables only, not for LETOR files{hint}.")

    def delimiter_of(self, kind: str) -> str | None:
        """Return the delimiter of a kind of table: as given, otherwise that of the kind; None for Parquet."""
        if self.delimiter is None:
            return TABLES[kind]
        if TABLES[kind] is None:
            raise InputError("--delimiter is for .csv and .tsv files, not for Parquet.")
        if self.delimiter not in DELIMITERS:
            raise InputError(f"--delimiter must be comma, semicolon or tab, not {self.delimiter!r}.")
        return DELIMITERS[self.delimiter]


def is_parquet_folder(path: Path) -> bool:
    """Return whether a path is a folder of Parquet files, in folders of their own or not."""
    return path.is_dir() and next(path.rglob("*.parquet"), None) is not None


def is_binned(path: Path) -> bool:
    """Return whether a file holds binned data."""
    from rankwright.base.array_files import MAGIC

    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def _names(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def read_data(
    path: Path, reading: ReadOptions, models: Sequence[HasFeatures] = (), *, n_jobs: int | None = None
) -> RankingData:
    """Read judged documents; with models, check that the documents have the models' features."""
    judged = _read(path, reading, models, n_jobs, judged=True)
    assert isinstance(judged, data.RankingData)
    return judged


def read_training_set(
    path: Path,
    reading: ReadOptions,
    models: Sequence[HasFeatures] = (),
    *,
    max_memory: int | None = None,
    validates: bool = False,
    n_jobs: int | None = None,
) -> TrainingSet:
    """Read judged documents to learn from, or open a file of binned data.

    If the command also reads documents that validate, options of reading are for those beside binned data.
    """
    if not is_binned(path):
        if max_memory is not None:
            raise InputError(f"--max-memory is for binned files: rankwright bin {path} --out FILE makes one.")
        return rw.TrainingSet(read_data(path, reading, models, n_jobs=n_jobs))
    if reading != ReadOptions() and not validates:
        raise InputError(f"Options of reading data files have no effect on {path}, which is binned already.")
    return rw.BinnedData(path, max_memory=max_memory)


def read_validation(
    path: Path, reading: ReadOptions, train: RankingData, *, n_jobs: int | None = None
) -> RankingData:
    """Read validation data; a LETOR file may never mention the last features of the training data.

    Labels, query ids and dates of a table are in the columns of the training data, also of binned ones, unless
    options name others.
    """
    used = train.columns
    if reading.format_of(path) == LETOR:
        reading = replace(reading, n_features=train.n_features)
    elif used is not None:
        label, qid, dates = reading.label or used.label, reading.qid or used.qid, reading.dates
        reading = replace(reading, label=label, qid=qid, dates=dates or ",".join(used.dates))
    return read_data(path, reading, [train], n_jobs=n_jobs)


def read_documents(
    path: Path, reading: ReadOptions, models: Sequence[HasFeatures] = (), *, n_jobs: int | None = None
) -> Documents:
    """Read documents to score; labels, if the file has any, are ignored."""
    return _read(path, reading, models, n_jobs, judged=False)


def streamed(
    path: Path, reading: ReadOptions, models: Sequence[HasFeatures], *, judged: bool
) -> FileDocuments | None:
    """Return documents to read in blocks: of several files, or most of the memory; None for all others."""
    from rankwright.base.resources import available_memory
    from rankwright.data.readers.blocks import expanded

    columns = {"label", "qid", "docid", "dates", "delimiter"}
    if str(path) == "-" or any(getattr(reading, field) for field in vars(ReadOptions()).keys() - columns):
        return None
    kind = reading.format_of(path)
    with suppress(InputError):  # reading them says why they cannot be read
        files = expanded(path)
        n_bytes = sum(Path(file).stat().st_size * (EXPANSION if file.endswith(".gz") else 1) for file in files)
        if n_bytes < available_memory() / 4 and (kind == "parquet" or path.exists()):
            return None
    if kind == LETOR:
        reading.refuse_columns(path)
        return rw.FileDocuments(path, label=LABEL if judged else None)
    options = reading.columns(models, judged=judged)
    chosen = {name: options[name] for name in ("label", "qid", "docid", "dates")}
    return rw.FileDocuments(path, delimiter=reading.delimiter_of(kind), **chosen)


def read_documents_with_labels(
    path: Path, reading: ReadOptions, models: Sequence[HasFeatures] = (), *, n_jobs: int | None = None
) -> Documents:
    """Read documents with their labels, if each has one; without, unless --label asks for them."""
    with file_of(path) as file:
        try:
            return _read(file, reading, models, n_jobs, judged=True)
        except InputError:
            if reading.label is not None:
                raise
        return _read(file, reading, models, n_jobs, judged=False)


def _read(
    path: Path, reading: ReadOptions, models: Sequence[HasFeatures], n_jobs: int | None, *, judged: bool
) -> Documents:
    kind = reading.format_of(path)
    if kind == LETOR:
        reading.refuse_columns(path)
    documents: Documents
    options: dict[str, Any]
    _refuse_pattern(path, kind)
    with file_of(path) as file:
        if kind == LETOR:
            options = {"n_features": reading.n_features, "zero_based": reading.zero_based}
            documents = data.read_letor(file, judged=judged, n_jobs=n_jobs, **options)
        else:
            if reading.n_features is not None or reading.zero_based:
                name = "--zero-based" if reading.zero_based else "--n-features"
                raise InputError(f"{name} is for LETOR files only.")
            options = reading.columns(models, judged=judged)
            documents = _read_table(file, reading.delimiter_of(kind), options)
    for model in models:
        _require_features(documents, model, path, reading)
    if documents.columns is not None:
        note(str(documents.columns))
    return documents


def _refuse_pattern(path: Path, kind: str) -> None:
    """Refuse a pattern of files that are not Parquet: they are read one at a time, or in blocks."""
    from rankwright.data.readers.blocks import expanded

    if str(path) != "-" and not path.exists() and kind != "parquet":
        files = counted(len(expanded(path)), "file")
        raise InputError(f"{path} names {files}: here give one, or a pattern of .parquet files.")


def _read_table(file: Path, delimiter: str | None, options: dict[str, Any]) -> Documents:
    with columns_noted():
        if delimiter is None:
            documents: Documents = data.read_parquet(file, **options)
        else:
            documents = data.read_csv(file, delimiter=delimiter, **options)
    return documents


@contextmanager
def columns_noted() -> Iterator[None]:
    """Suppress warnings of columns that are not used: a note will say the same."""
    from rankwright.data.tables import ColumnsWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        yield


@contextmanager
def file_of(path: Path) -> Iterator[Path]:
    """Yield the path itself or, for `-`, that of a temporary file with everything from standard input."""
    if str(path) != "-":
        yield path
        return
    with tempfile.NamedTemporaryFile() as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
        file.flush()
        try:
            yield Path(file.name)
        except InputError as error:
            from rankwright.data.readers.letor import OR_WRITE_SIZES

            sentence = str(error).replace(OR_WRITE_SIZES.format(file.name), "")  # no file stands beside it
            raise InputError(sentence.replace(file.name, STANDARD_INPUT)) from None


def _require_features(documents: Documents, model: HasFeatures, path: Path, reading: ReadOptions) -> None:
    """Refuse another number of features than the model's, unless they are found by their names."""
    by_name = model.feature_names is not None and documents.feature_names is not None
    if by_name or documents.n_features == model.n_features:
        return
    hint = ""
    if documents.n_features < model.n_features and documents.feature_names is None and reading.n_features is None:
        hint = f"; if the file never mentions the last ones, add --n-features {model.n_features}"
    names = "" if documents.feature_names is None else f" ({brief_list(documents.feature_names)})"
    raise InputError(
        f"{STANDARD_INPUT if str(path) == '-' else path} has {counted(documents.n_features, 'feature')}{names}, "
        f"the model was trained on {model.n_features:,}{hint}."
    )


def files_of(path: Path) -> list[Path]:
    """Return the data files that a command must not overwrite: the file, or those of a folder of folds."""
    return [*path.glob("*.txt*"), *path.glob("Fold*/*.txt*")] if path.is_dir() else [path]


def read_collection(
    path: Path, reading: ReadOptions, n_jobs: int | None, *, kept: str | None = None
) -> RankingData | Path:
    """Return the judged documents of a file or of a folder of Parquet files; another folder as it is.

    `kept` is a column to keep, though not as a feature.
    """
    if path.is_dir() and not is_parquet_folder(path):
        if reading != ReadOptions():
            raise InputError(f"Options of reading data files are for a file; {path} is a folder of folds.")
        return path
    if str(path) != "-" and not path.exists() and reading.format_of(path) != "parquet":
        raise InputError(f"There is no file or folder {path}.")
    return read_data(path, reading.ordered_by(kept), n_jobs=n_jobs)


def read_test_parts(folder: Path) -> RankingData:
    """Return the test parts of all folds together: every query of the collection once."""
    from rankwright.data.readers.fold_folders import find_folds

    return rw.concat(*(rw.read_fold(path).test for path in find_folds(folder)))


def read_all_queries(path: Path, reading: ReadOptions, n_jobs: int | None) -> RankingData:
    """Return the judged documents of a file, of all folds of a folder, or the training parts of one fold."""
    from rankwright.data.readers.fold_folders import is_fold, read_training_parts

    collection = read_collection(path, reading, n_jobs)
    if isinstance(collection, rw.RankingData):
        return collection
    if is_fold(path):
        note(f"{path} is one fold: the judged queries are its train and vali parts; test is left alone")
        return rw.concat(*read_training_parts(path, n_jobs=n_jobs))
    try:
        return read_test_parts(path)
    except InputError as error:
        raise InputError(f"The judged queries of a folder are the test parts of all its folds: {error}") from None

"""`rankwright judge` and `rankwright judgements TASK`: grades of several judges."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import typer

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.data_files import FORMATS, ReadOptions, read_documents_with_labels
from rankwright.cli.options.faces import Face, names, numbers
from rankwright.cli.options.option_groups import REQUIRED, argument, given_option, option
from rankwright.cli.options.result_options import ResultOptions
from rankwright.cli.options.shared_options import checked_output, columns_by_role, named_files
from rankwright.cli.options.signatures import Given, options_of
from rankwright.cli.options.text_options import QueryFileOptions
from rankwright.cli.output.console import note, write_text
from rankwright.cli.verb_groups import VerbGroup

GRADES = argument(
    "Grades: a table with the columns query, document, judge and grade, or query, document and one column per "
    "judge (.csv, .tsv, .parquet); the .jsonl that `rankwright judge` writes; TREC judgements. NAME=FILE names "
    "the judge of a file with one.",
    "FILE...",
    default=REQUIRED,
)
READING_FACES = {
    "judges": Face("LIST", read=names, type=str | None),
    "language_models": Face("LIST", read=names, type=str),
    "scale": Face("LIST", read=numbers, type=str | None),
    "delimiter": Face("CHARACTER", "--grades-delimiter", rare=True),
}
READING = options_of("judgements.read_grades", faces=READING_FACES)
# Merged labels and documents to judge next do not name judges.
READING_LABELS = options_of("judgements.read_grades", without=("language_models",), faces=READING_FACES)
COLUMNS = option(
    "Columns of a table with names of your own, such as judge=worker_id,grade=stars.", "ROLE=COLUMN,..."
)
METHODS = "majority, mean, or dawid_skene: the expected grade in a model of the mistakes that each judge makes."
RUNS = option("TREC run of a system; repeatable. NAME=FILE names it.", "FILE", "--run", default=REQUIRED)


def agreement(
    *,
    grades: list[str] = GRADES,
    reading: Given = READING,
    columns: str | None = COLUMNS,
    options: Given = options_of(
        "judgements.agreement",
        faces={"measure": Face("NAME"), "random_state": Face("N", "--seed", rare=True, more={"min": 0})},
    ),
    output: ResultOptions,
) -> None:
    """Measure how well judges agree: Krippendorff's alpha, kappa by pair, by grade and by query.

    Example:

        rankwright judgements agreement judgements.jsonl
    """
    output.check(*_graded(grades))
    output.show(rw.judgements.agreement(_read(grades, reading, columns), **options))


def judges(
    *,
    grades: list[str] = GRADES,
    reading: Given = READING,
    columns: str | None = COLUMNS,
    options: Given = options_of("judgements.judges", faces={"level": Face("FRACTION")}),
    output: ResultOptions,
) -> None:
    """Find judges who stand apart: who order documents differently from the others, are lenient or strict.

    Example:

        rankwright judgements judges judgements.jsonl
    """
    output.check(*_graded(grades))
    output.show(rw.judgements.judges(_read(grades, reading, columns), **options))


def merge(
    *,
    grades: list[str] = GRADES,
    reading: Given = READING_LABELS,
    columns: str | None = COLUMNS,
    options: Given = options_of("judgements.merge", faces={"method": Face("NAME", words=METHODS)}),
    out: Path | None = option(
        "File to write: TREC judgements; with --data, those of its documents that were judged, with their labels.",
        "FILE",
    ),
    data: Path | None = option(f"Documents with features to label ({FORMATS}).", "FILE"),
    weights: Path | None = option("With --data: file for the weights of the documents, one per line.", "FILE"),
    documents: ReadOptions,
    output: ResultOptions,
) -> None:
    """Merge the grades of several judges into one label per document, with its uncertainty.

    Example:

        rankwright judgements merge judgements.jsonl --out merged.qrels
    """
    inputs = (*_graded(grades), data)
    output.check(*inputs)
    _check_labelling(out, data, weights, documents)
    for path in (out, weights):
        if path is not None:
            checked_output(path, inputs=inputs)
    merged = rw.judgements.merge(_read(grades, reading, columns), **options)
    if out is not None and data is None:
        rw.write_judgements(merged.judgements, out)
        note(f"wrote {out}")
    elif out is not None and data is not None:
        _write_documents(merged, read_documents_with_labels(data, documents), out, weights)
    output.show(merged)


def _check_labelling(out: Path | None, data: Path | None, weights: Path | None, documents: ReadOptions) -> None:
    """Refuse options that do not go together."""
    for name, path in (("--data", data), ("--weights", weights)):
        if path is not None and (out is None or data is None):
            raise InputError(f"{name} needs {'--out' if out is None else '--data'}.")
    if out is not None and weights is not None and out.resolve() == weights.resolve():
        raise InputError(f"--out and --weights both name {out}.")
    if data is None and (unused := given_option(documents)):
        raise InputError(f"{unused} is for --data.")


def _write_documents(merged: Any, documents: Any, out: Path, weights: Path | None) -> None:
    from rankwright.data.writers import write_documents

    judged = merged.labelled(documents)
    write_documents(judged.data, out)
    note(f"wrote {out}: {len(judged.data):,} of {len(documents):,} documents were judged")
    if weights is not None:
        write_text("".join(f"{weight:.6g}\n" for weight in judged.weights.tolist()), weights)
        note(f"wrote {weights}")


def systems(
    *,
    grades: list[str] = GRADES,
    reading: Given = READING,
    columns: str | None = COLUMNS,
    runs: list[str] = RUNS,
    options: Given = options_of(
        "judgements.systems", faces={"random_state": Face("N", "--seed", rare=True, more={"min": 0})}
    ),
    output: ResultOptions,
) -> None:
    """Measure how much the order of systems depends on the judge: Kendall's tau of their rankings.

    Example:

        rankwright judgements systems judgements.jsonl --run old.run --run new.run
    """
    output.check(*_graded(grades), *_paths(runs))
    output.show(rw.judgements.systems(_read(grades, reading, columns), _read_runs(runs), **options))


def next_documents(
    *,
    grades: list[str] | None = argument("Grades so far, as for agreement; none if nothing was judged.", "FILE..."),
    reading: Given = READING_LABELS,
    columns: str | None = COLUMNS,
    runs: list[str] = RUNS,
    options: Given = options_of(
        "judgements.next_documents",
        without=("table",),
        faces={"n": Face("N", more={"min": 1}), "depth": Face("N", more={"min": 1})},
    ),
    out: Path | None = option("TREC run to write, for `rankwright judge --pool`.", "FILE"),
    output: ResultOptions,
) -> None:
    """Choose the documents to judge next, whose grade would change the comparison of systems most.

    Example:

        rankwright judgements next --run old.run --run new.run --out next.run
    """
    inputs = (*_graded(grades or []), *_paths(runs))
    output.check(*inputs)
    if out is not None:
        checked_output(out, inputs=inputs)
    if not grades and (columns is not None or any(value is not None for value in reading.values())):
        raise InputError("Options of grades need a FILE of grades.")
    table = _read(grades, reading, columns) if grades else None
    result = rw.judgements.next_documents(_read_runs(runs), table, **options)
    if out is not None:
        rw.write_run(result.run, out)
        note(f"wrote {out}")
    output.show(result)


def judge(
    *,
    queries: str = option("Queries to judge.", "FILE", default=REQUIRED),
    out: Path = option("File of judgements, new or to be continued (.jsonl).", "FILE", default=REQUIRED),
    searcher: Path | None = option("Searcher that finds documents and has their texts.", "PATH"),
    index: Path | None = option("Folder of an index, instead of --searcher; documents are found by BM25.", "DIR"),
    pool: list[str] | None = option(
        "Run of a system whose first documents are judged instead of those of the searcher; repeatable.", "FILE"
    ),
    options: Given = options_of(
        "judgements.judge",
        without=("pool",),
        faces={
            "depth": Face("N", more={"min": 1}),
            "scale": Face("LIST"),
            "host": Face("ADDRESS"),
            "port": Face("N", more={"min": 0, "max": 65535}),
            "tokens": Face("FILE"),
        },
    ),
    reading: QueryFileOptions,
) -> None:
    """Judge documents on a local page, by keyboard; several judges can use it at once.

    Example:

        rankwright judge --index index --queries q.jsonl --out judged.jsonl
    """
    if (index is None) == (searcher is None):
        raise InputError("Give --index DIR, or --searcher PATH.")
    checked_output(out, inputs=(Path(queries), *_paths(pool or [])))
    opened = rw.text.Searcher(rw.text.Index.open(index)) if index else rw.text.Searcher.load(str(searcher))
    runs = _read_runs(pool) if pool else None
    asked = reading.read_queries(queries)
    rw.judgements.judge(opened, asked, out, pool=runs, **options, on_ready=_say_notes)


def _say_notes(_address: str, notes: Sequence[str]) -> None:
    for sentence in notes:
        note(sentence)


def _paths(texts: Sequence[str]) -> tuple[Path, ...]:
    return tuple(named_files(texts).values())


def _graded(texts: Sequence[str]) -> dict[Path, str | None]:
    """Return the files of grades, with the name of their judge if one is given; a judge may have several files."""
    judge_of: dict[Path, str | None] = {}
    for text in texts:
        ((name, path),) = named_files([text], "file of grades").items()
        if path in judge_of:
            raise InputError(f"{path} is given twice.")
        judge_of[path] = None if name == str(path) else name
    return judge_of


def _read(texts: Sequence[str], reading: Given, columns: str | None) -> rw.judgements.GradeTable:
    """Read grades; what is noticed is shown with the result."""
    from rankwright.judgements.grade_files import JudgeWarning

    sources = [path if name is None else {name: path} for path, name in _graded(texts).items()]
    how: Given = reading | columns_by_role(columns)
    with warnings.catch_warnings(action="ignore", category=JudgeWarning):
        return rw.judgements.read_grades(sources, **how)


def _read_runs(texts: Sequence[str]) -> dict[str, Any]:
    return {name: rw.read_run(path) for name, path in named_files(texts).items()}


TASKS = {"agreement": agreement, "judges": judges, "merge": merge, "systems": systems, "next": next_documents}


class JudgementTasks(VerbGroup):
    """What can be done with grades of several judges."""

    panels: ClassVar[Mapping[str, Sequence[str]]] = {
        "Judges": ("agreement", "judges"),
        "Labels": ("merge", "next"),
        "Systems": ("systems",),
    }

    def load(self, name: str) -> Any:
        """Return the verb of a task."""
        return TASKS[name]


judgements = typer.Typer(
    cls=JudgementTasks, add_completion=False, subcommand_metavar="TASK ...", no_args_is_help=True
)


@judgements.callback()
def _options() -> None:
    """Work with grades of several judges: agreement, merged labels, judges that stand apart, what to judge next.

    Example:

        rankwright judgements agreement judgements.jsonl
    """

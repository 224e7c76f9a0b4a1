"""`rankwright features`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import rankwright as rw
from rankwright.cli.options.candidates import CandidateOptions, finds_candidates
from rankwright.cli.options.shared_options import JobsOption, JsonFlag, checked_output
from rankwright.cli.options.text_options import QueryOptions, reads_queries
from rankwright.cli.output.console import describe, note, say, show_json


@reads_queries
@finds_candidates
def features(
    index: Annotated[Path, typer.Option("--index", metavar="DIR", help="Folder of the index.")],
    queries: Annotated[str, typer.Option("--queries", metavar="FILE", help="Queries, or irds:NAME.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", help="File to write: .parquet, .csv or .tsv with names, otherwise LETOR."
        ),
    ],
    finding: CandidateOptions,
    asking: QueryOptions,
    qrels: Annotated[
        str | None,
        typer.Option("--qrels", metavar="FILE", help="Judgements, or irds:NAME; without any there are no labels."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            "--features",
            metavar="A,B,...",
            help="Features or families, such as BM25,proximity, or adarank-2007; by default all.",
        ),
    ] = None,
    jobs: JobsOption = None,
    json: JsonFlag = False,
) -> None:
    """Write the features of documents for queries, to train a ranker on.

    Example:

        rankwright features --index index --queries q.tsv --qrels q.txt --out f.csv
    """
    from rankwright.data.writers import write_documents

    checked_output(out, inputs=(finding.columns, finding.run))
    finding.check_labels(judged=qrels is not None)
    found, asked = rw.text.Index.open(index), asking.read_queries(queries)
    chosen = rw.text.FeatureSet(_names(names), columns=finding.columns)
    chosen.names(found)  # refuses unknown features before anything is read
    judged = None
    if qrels is None:
        documents: Any = finding.documents(chosen, found, asked, jobs)
    else:
        judged = finding.judged(chosen, found, asked, asking.read_judgements(qrels), jobs)
        documents = judged.data
    write_documents(documents, out)
    if json:
        facts = {} if judged is None else judged.to_dict()
        show_json(facts | {"out": str(out), "documents": len(documents), "feature_names": documents.feature_names})
        return
    if judged is not None:
        say(str(judged))
        asking.hint(asked, judged.coverage)
    note(f"wrote {out}: {describe(documents)}")


def _names(text: str | None) -> Any:
    names = None if text is None else [name.strip() for name in text.split(",")]
    return names[0] if names is not None and len(names) == 1 else names

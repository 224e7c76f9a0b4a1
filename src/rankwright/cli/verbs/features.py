"""`rankwright features`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rankwright as rw
from rankwright.cli.options.option_groups import REQUIRED, option
from rankwright.cli.options.shared_options import JOBS, JSON, checked_output
from rankwright.cli.options.text_options import INDEX, CandidateOptions, QueryOptions, hybrid_retrieval
from rankwright.cli.output.console import describe, note, say, show_json


def features(
    *,
    index: Path = INDEX,
    queries: str = option("Queries, or irds:NAME.", "FILE", default=REQUIRED),
    out: Path = option(
        "File to write: .parquet, .csv or .tsv with names, otherwise LETOR.", "FILE", default=REQUIRED
    ),
    finding: CandidateOptions,
    asking: QueryOptions,
    qrels: str | None = option("Judgements, or irds:NAME; without any there are no labels.", "FILE"),
    features: str | None = option(
        "Features or families, such as BM25,proximity, or adarank-2007; by default all.", "A,B,..."
    ),
    jobs: int | None = JOBS,
    json: bool = JSON,
) -> None:
    """Write the features of documents for queries, to train a ranker on.

    Example:

        rankwright features --index index --queries q.tsv --qrels q.txt --out f.csv
    """
    from rankwright.data.writers import write_documents

    checked_output(out, inputs=(finding.columns, finding.run))
    finding.check_labels(judged=qrels is not None)
    opened, asked = rw.text.Index.open(index), asking.read_queries(queries)
    retrieval = hybrid_retrieval(finding.retrieval)
    chosen = rw.text.FeatureSet(_names(features), columns=finding.columns, retrieval=retrieval)
    chosen.names(opened)  # refuses unknown features before anything is read
    judged = None
    if qrels is None:
        documents: Any = finding.documents(chosen, opened, asked, jobs)
    else:
        judged = finding.judged(chosen, opened, asked, asking.read_judgements(qrels), jobs)
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

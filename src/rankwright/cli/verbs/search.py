"""`rankwright search`."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.cli.options.option_groups import argument, given_option, option
from rankwright.cli.options.shared_options import JOBS, PLAIN_JSON, checked_output
from rankwright.cli.options.text_options import RETRIEVAL, QueryOptions, read_retrieval
from rankwright.cli.output.console import note, show_found, show_json, show_text, write_text
from rankwright.cli.verbs.predict import run_lists

if TYPE_CHECKING:
    from rankwright.text.collections.queries import Queries
    from rankwright.text.index.snapshot import SearchResults
    from rankwright.text.searcher import Searcher

HEADING = 100  # characters
TAG = "rankwright"


def search(
    *,
    asking: QueryOptions,
    words: list[str] | None = argument("The query; or --queries for many.", "QUERY..."),
    index: Path | None = option("Folder of the index.", "DIR"),
    model: Path | None = option("Model of features of text; by default --retrieval decides.", "FILE"),
    searcher: Path | None = option("Searcher that --save wrote, or the folder of its index, instead.", "PATH"),
    retrieval: str = RETRIEVAL,
    candidates: int | None = option("Number of documents that --model ranks; by default 100.", "N", min=1),
    columns: Path | None = option("Table of your own numbers that --model was trained with.", "FILE"),
    n: int | None = option("Number of results; by default 10, with --queries 100.", "N", min=1),
    queries: str | None = option("Queries to search for; gives a TREC run.", "FILE"),
    out: Path | None = option("With --queries: file to write the run to.", "FILE"),
    tag: str | None = option("Name of the run; by default rankwright.", "NAME"),
    snippets: bool = option("Show parts of the text.", None, "--snippets/--no-snippets", default=True),
    save: Path | None = option("Write index, model and settings as a searcher.", "FILE"),
    jobs: int | None = JOBS,
    json: bool = PLAIN_JSON,
) -> None:
    """Search an index, with or without a learned model.

    Example:

        rankwright search --index index --model model.rw "lift of wings"
    """
    _check(words, queries, index, searcher, out, save)
    if queries is None:
        _refuse_run_options(asking, tag)
    opened = _searcher(index, model, searcher, retrieval, candidates=candidates, columns=columns)
    _require_candidates(opened, n)
    if save is not None:
        note(f"wrote {opened.save(checked_output(save, inputs=(model,)))}")
    if queries is not None:
        _write_run(opened, asking.read_queries(queries), n or 100, out, tag or TAG, jobs, as_json=json)
    elif words:
        _show(opened, " ".join(words), n or 10, snippets=snippets, as_json=json)


def _check(
    words: list[str] | None,
    queries: str | None,
    index: Path | None,
    searcher: Path | None,
    out: Path | None,
    save: Path | None,
) -> None:
    """Refuse arguments that do not go together."""
    if (index is None) == (searcher is None):
        raise InputError("Give --index DIR, or --searcher PATH.")
    if words and queries is not None:
        raise InputError("Give a query or --queries, not both.")
    if not words and queries is None and save is None:
        raise InputError('Give a query, such as "lift of wings", or a file of them with --queries.')
    if out is not None and queries is None:
        raise InputError("--out is for the run of --queries.")
    if out is not None:
        checked_output(out)


def _refuse_run_options(asking: QueryOptions, tag: str | None) -> None:
    """Refuse options that are without effect where no queries are read."""
    option = given_option(asking) or (None if tag is None else "--tag")
    if option is not None:
        raise InputError(f"{option} is for --queries.")


def _searcher(
    index: Path | None,
    model: Path | None,
    searcher: Path | None,
    retrieval: str,
    *,
    candidates: int | None,
    columns: Path | None,
) -> Searcher:
    if searcher is not None:
        if retrieval != "bm25" or any(given is not None for given in (model, candidates, columns)):
            raise InputError("--searcher has a model and settings of its own; use --index with --model.")
        return rw.text.Searcher.load(searcher)
    assert index is not None
    opened, how = rw.text.Index.open(index), read_retrieval(retrieval)
    if model is None:
        if candidates is not None or columns is not None:
            raise InputError("--candidates and --columns are for --model.")
        return rw.text.Searcher(opened, retrieval=how)
    from rankwright.text.searcher import features_of

    loaded = rw.load(model)
    features = None if columns is None else features_of(loaded, columns)
    given = None if retrieval == "bm25" else how  # a model of several retrievers names them
    return rw.text.Searcher(opened, features, loaded, candidates=candidates or 100, retrieval=given)


def _require_candidates(searcher: Searcher, n: int | None) -> None:
    """Refuse to show more documents than the model ranks."""
    if searcher.model is not None and n is not None and n > searcher.candidates:
        raise InputError(
            f"--n {n} is more than the {searcher.candidates} documents that the model ranks: see --candidates."
        )


def _write_run(
    searcher: Searcher, queries: Queries, n: int, out: Path | None, tag: str, jobs: int | None, *, as_json: bool
) -> None:
    from rankwright.data.readers.trec import format_run

    run = searcher.search_all(queries, n, tag=tag, n_jobs=jobs)
    if as_json:
        show_json(run_lists(run, {}))
    elif out is None:
        show_text(format_run(run))
    if out is not None:
        write_text(format_run(run), out)
        note(f"wrote {counted(len(run), 'document')} for {counted(len(run.groups), 'query')} to {out}")
    missing = [query for query in queries.ids if query not in set(run.qid.tolist())]
    if missing:
        note(f"{counted(len(missing), 'query')} without any known word: {', '.join(missing[:5])}")


def _show(searcher: Searcher, query: str, n: int, *, snippets: bool, as_json: bool) -> None:
    results, has_text = searcher.search(query, n), searcher.index.has_text
    title, *others = searcher.index.fields
    fields = None if as_json else others or None  # the first of several fields is the heading
    parts = searcher.snippets(query, results, fields=fields) if snippets and has_text else None
    if as_json:
        show_json({"query": query, "results": _records(results, parts)})
        return
    for rank, (name, score) in enumerate(results, start=1):
        text = searcher.index.text(name)[title] if others and has_text else ""
        heading = shorten(text, HEADING, placeholder=" …")
        shown = None if parts is None else parts[rank - 1]
        show_found(rank, name, score, heading, *(("", ()) if shown is None else (shown.text, shown.marks)))
    if not len(results):
        note("Nothing was found: no document has a word of the query.")


def _records(results: SearchResults, parts: Any) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = [
        {"rank": rank, "document": name, "score": score} for rank, (name, score) in enumerate(results, start=1)
    ]
    for record, part in zip(records, parts or [], strict=False):
        record |= {"field": part.field, "snippet": part.text}
    return records

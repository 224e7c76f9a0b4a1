"""`rankwright generate`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import rankwright as rw
from rankwright.base.errors import InputError
from rankwright.cli.options.option_groups import REQUIRED, argument, option
from rankwright.cli.options.shared_options import JSON, checked_output
from rankwright.cli.output.console import describe, note, show_json


class GeneratedKind(Enum):
    """The kinds of artificial data."""

    POLYNOMIAL = "polynomial"
    CUBIC = "cubic"
    GAUSSIAN = "gaussian"


def generate(
    *,
    kind: GeneratedKind = argument(
        "polynomial of few features, cubic of all of them (Burges et al. 2005), or gaussian (Xu et al. 2010).",
        "KIND",
        default=REQUIRED,
    ),
    out: Path = option("LETOR file to write; with --fold, the folder for three files.", "PATH", default=REQUIRED),
    queries: int = option("Number of queries.", "N", min=1, default=1000),
    documents: int | None = option("Number of documents per query; by default 50, for gaussian 21.", "N", min=1),
    noise: float = option(
        "Fraction of labels to replace at random (not for gaussian; with --fold in train.txt only).",
        "FRACTION",
        min=0.0,
        max=1.0,
        default=0.0,
    ),
    fold: bool = option("Write train.txt, vali.txt and test.txt with the same true function.", default=False),
    seed: int = option("Seed; the same seed gives the same files.", "N", min=0, default=0),
    json: bool = JSON,
) -> None:
    """Write artificial judged documents as LETOR text.

    Example:

        rankwright generate polynomial --queries 1000 --fold --out artificial/Fold1
    """
    _check(kind, documents, noise)
    paths = [out / name for name in ("train.txt", "vali.txt", "test.txt")] if fold else [out]
    if fold:
        _make_folder(out)
    else:
        checked_output(out)
    written = {}
    for part, path in enumerate(paths):
        data = _sample(kind, queries, documents, noise if part == 0 else 0.0, seed, part)
        data = rw.RankingData(data.X, data.y, data.qid + part * queries)  # no query is in two parts
        rw.write_letor(data, path)
        note(f"wrote {path}: {describe(data)}")
        written[str(path)] = {"documents": len(data), "queries": len(data.groups), "features": data.n_features}
    if json:
        show_json({"kind": kind.value, "seed": seed, "files": written})


def _check(kind: GeneratedKind, documents: int | None, noise: float) -> None:
    if kind is GeneratedKind.GAUSSIAN and documents is not None and documents < 3:
        raise InputError(f"A gaussian query needs at least 3 documents (a third is relevant), not {documents}.")
    if kind is GeneratedKind.GAUSSIAN and noise:
        raise InputError("--noise is for polynomial and cubic only.")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be created: {error.strerror}.") from None


def _sample(
    kind: GeneratedKind, queries: int, documents: int | None, noise: float, seed: int, part: int
) -> rw.RankingData:
    if kind is GeneratedKind.GAUSSIAN:
        total = documents or 21
        return rw.synthetic.gaussian_queries(
            queries, n_relevant=total // 3, n_irrelevant=total - total // 3, seed=3 * seed + part
        )
    draw = (
        rw.synthetic.RandomPolynomial.cubic if kind is GeneratedKind.CUBIC else rw.synthetic.RandomPolynomial.draw
    )
    truth = draw(seed)
    return truth.sample(queries, seed=3 * seed + part, n_documents=documents or 50, noise=noise)

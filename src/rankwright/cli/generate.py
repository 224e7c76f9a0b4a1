"""`rankwright generate`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from rankwright.cli.output import note
from rankwright.data import RankingData, synthetic, write_letor


class Kind(Enum):
    """The built-in sets."""

    POLYNOMIAL = "polynomial"
    GAUSSIAN = "gaussian"


def generate(
    kind: Annotated[
        Kind,
        typer.Argument(help="polynomial: the artificial set of Wu et al. 2010; gaussian: that of Xu et al. 2010."),
    ],
    out: Annotated[Path, typer.Option("--out", help="A LETOR file; with --fold, a folder for three.")],
    queries: Annotated[int, typer.Option("--queries", min=1, help="Number of queries.")] = 1000,
    documents: Annotated[
        int | None, typer.Option("--documents", min=1, help="Documents a query (polynomial: 50, gaussian: 21).")
    ] = None,
    noise: Annotated[
        float, typer.Option("--noise", min=0.0, max=1.0, help="Share of labels replaced at random (polynomial).")
    ] = 0.0,
    fold: Annotated[
        bool, typer.Option("--fold", help="Write train.txt, vali.txt and test.txt that share one true function.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="The same seed gives the same bytes.")] = 0,
) -> None:
    """Write a built-in artificial set as LETOR text.

    Example: `rankwright generate polynomial --queries 1000 --fold --out artificial`
    """
    if not fold:
        _write(_sample(kind, queries, documents, noise, seed, part=0), out)
        return
    out.mkdir(parents=True, exist_ok=True)
    for part, name in enumerate(("train.txt", "vali.txt", "test.txt")):
        _write(_sample(kind, queries, documents, noise if part == 0 else 0.0, seed, part), out / name)


def _sample(kind: Kind, queries: int, documents: int | None, noise: float, seed: int, part: int) -> RankingData:
    if kind is Kind.GAUSSIAN:
        total = documents or 21
        return synthetic.gaussian_queries(
            queries, n_relevant=total // 3, n_irrelevant=total - total // 3, seed=3 * seed + part
        )
    truth = synthetic.RandomPolynomial.draw(seed)
    return truth.sample(queries, seed=3 * seed + part, n_documents=documents or 50, noise=noise)


def _write(data: RankingData, path: Path) -> None:
    write_letor(data, path)
    note(f"wrote {data!r} to {path}")

"""Time of scoring float32 rows with 500 trees on one thread: each library, and rankwright with the library's file.

LightGBM's and XGBoost's trees have at most 31 leaves, CatBoost's are oblivious, of depth 5 and of its default, 6;
tl2cgen compiles LightGBM's model. Times are CPU times of the process, so that other processes count less.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rankwright as rw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_TREES, N_LEAVES, N_FEATURES = 500, 31, 136
N_TRAINING, N_DOCUMENTS, QUERY_SIZE = 20_000, 2_000, 100
TURNS, CALLS = 15, 10
PEERS = ("lightgbm", "xgboost", "catboost", "tl2cgen")


class Pair(NamedTuple):
    """A library's way to score, and ours with the model that it wrote."""

    name: str
    theirs: Callable[[Any], Any]
    ours: Callable[[Any], Any]


class Times(NamedTuple):
    """Seconds of the library and of rankwright."""

    theirs: float
    ours: float


def run(peers: tuple[str, ...] = PEERS) -> dict[str, dict[str, Times]]:
    """Time every installed library of these beside rankwright, on many documents and on one query."""
    X, y = generate(N_TRAINING)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for pair in _pairs(X, y, Path(folder), peers):
            np.testing.assert_allclose(pair.ours(X), np.ravel(pair.theirs(X)), rtol=1e-4, atol=1e-3)
            results[pair.name] = {"many": _times(pair, X[:N_DOCUMENTS]), "query": _times(pair, X[:QUERY_SIZE])}
    return results


def main() -> None:
    """Print the table."""
    print(f"Scoring: {N_TREES} trees, {N_FEATURES} features, one thread")
    head = f"{'ns per document and tree':>26}{'ours':>7}{'ratio':>8}{f'us per query of {QUERY_SIZE}':>23}"
    print(f"{'':<20}{head}{'ours':>8}{'ratio':>8}")
    for name, one in run().items():
        many = [seconds * 1e9 / (N_DOCUMENTS * N_TREES) for seconds in one["many"]]
        query = [seconds * 1e6 for seconds in one["query"]]
        cells = f"{many[0]:>26.2f}{many[1]:>7.2f}{many[0] / many[1]:>8.1f}"
        print(f"{name:<20}{cells}{query[0]:>23.1f}{query[1]:>8.1f}{query[0] / query[1]:>8.1f}")
    for name in PEERS:
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed: `make bench` installs it.")


def generate(n_documents: int, seed: int = 1) -> tuple[Any, Any]:
    """Return features like MSLR-WEB's (counts, zeros, fractions) and labels that depend on many of them."""
    rng = np.random.default_rng(seed)
    shape = (n_documents, N_FEATURES)
    kinds = (
        rng.integers(0, 6, shape),
        rng.integers(0, 30_000, shape),
        rng.random(shape),
        rng.normal(0, 20, shape),
    )
    X = np.choose(np.arange(N_FEATURES) % len(kinds), kinds).astype(np.float32)
    X[rng.random(shape) < 0.2] = 0
    ranks = X.argsort(axis=0).argsort(axis=0) / n_documents - 0.5
    signal = (ranks * rng.normal(size=N_FEATURES)).sum(axis=1) + 5 * (ranks[:, :-1] * ranks[:, 1:]).sum(axis=1)
    return X, signal + rng.normal(size=n_documents)


def _pairs(X: Any, y: Any, folder: Path, peers: tuple[str, ...]) -> Iterator[Pair]:
    """Yield every installed library, trained."""
    installed = {name for name in peers if importlib.util.find_spec(name)}
    if "lightgbm" in installed:
        yield from _lightgbm(X, y, folder, compiled="tl2cgen" in installed)
    if "xgboost" in installed:
        yield _xgboost(X, y, folder)
    if "catboost" in installed:
        yield from (_catboost(X, y, folder, depth) for depth in (5, 6))


def _ours(path: Path) -> Callable[[Any], Any]:
    scorer = rw.load(path)
    return lambda rows: scorer.predict(rows, n_jobs=1)


def _lightgbm(X: Any, y: Any, folder: Path, *, compiled: bool) -> Iterator[Pair]:
    import lightgbm

    parameters = {"num_leaves": N_LEAVES, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), N_TREES)
    booster.save_model(folder / "lightgbm")
    yield Pair("LightGBM", lambda rows: booster.predict(rows, num_threads=1), _ours(folder / "lightgbm"))
    if compiled and importlib.util.find_spec("treelite"):
        yield Pair("tl2cgen", _tl2cgen(booster, folder), _ours(folder / "lightgbm"))


def _tl2cgen(booster: Any, folder: Path) -> Callable[[Any], Any]:
    import tl2cgen
    import treelite

    model = treelite.frontend.from_lightgbm(booster)
    library = folder / "trees.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": 125})
    predictor = tl2cgen.Predictor(library, nthread=1)
    return lambda rows: predictor.predict(tl2cgen.DMatrix(rows, dtype="float32"))


def _xgboost(X: Any, y: Any, folder: Path) -> Pair:
    import xgboost

    shape = {"max_leaves": N_LEAVES, "max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
    booster = xgboost.train({**shape, "nthread": 1}, xgboost.DMatrix(X, y, nthread=1), N_TREES)
    booster.save_model(folder / "xgboost.json")
    return Pair("XGBoost", booster.inplace_predict, _ours(folder / "xgboost.json"))


def _catboost(X: Any, y: Any, folder: Path, depth: int) -> Pair:
    import catboost

    quiet = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(depth=depth, iterations=N_TREES, **quiet).fit(X, y)
    model.save_model(str(folder / "catboost"), format="json")
    return Pair(
        f"CatBoost, depth {depth}", lambda rows: model.predict(rows, thread_count=1), _ours(folder / "catboost")
    )


def _times(pair: Pair, X: Any) -> Times:
    """Return the shortest times; the two take turns, so that other load affects both."""
    theirs, ours = [], []
    for _ in range(TURNS):
        theirs += [_time(pair.theirs, X) for _ in range(CALLS)]
        ours += [_time(pair.ours, X) for _ in range(CALLS)]
    return Times(min(theirs), min(ours))


def _time(tool: Callable[[Any], Any], X: Any) -> float:
    start = time.process_time()
    tool(X)
    return time.process_time() - start


if __name__ == "__main__":
    main()

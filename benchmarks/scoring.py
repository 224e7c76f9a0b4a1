"""Time of scoring float32 rows with 500 trees of 31 leaves on one thread, compared with other libraries.

LightGBM, tl2cgen and rankwright score the same trees; XGBoost and CatBoost are trained on the same data with the
same numbers of trees and leaves (CatBoost's trees are oblivious, of depth 5).
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.models import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

N_TREES, N_LEAVES, N_FEATURES = 500, 31, 136
N_TRAINING, N_DOCUMENTS, QUERY_SIZE = 20_000, 2_000, 100
TURNS = 7
PEERS = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost", "tl2cgen": "tl2cgen"}


def run() -> dict[str, Any]:
    """Time every tool in turn, several times over, on many documents and on one query."""
    X, y = generate(N_TRAINING)
    with tempfile.TemporaryDirectory() as folder:
        tools = _tools(X, y, Path(folder))
        many, one = _times(tools, X[:N_DOCUMENTS], calls=10), _times(tools, X[:QUERY_SIZE], calls=100)
    nanoseconds = {name: seconds * 1e9 / (N_DOCUMENTS * N_TREES) for name, seconds in many.items()}
    query = {name: seconds * 1e6 for name, seconds in one.items()}
    return {name: {"nanoseconds": nanoseconds[name], "query_microseconds": query[name]} for name in tools}


def main() -> None:
    """Print the table."""
    if not importlib.util.find_spec("lightgbm"):
        print("Scoring needs LightGBM, which trains the trees: `make bench` installs it.")
        return
    results = run()
    ours = results["rankwright"]
    print(f"Scoring: {N_TREES} trees x {N_LEAVES} leaves, {N_FEATURES} features, one thread")
    head = f"{'ns per document and tree':>26}{'/ ours':>8}{f'us per query of {QUERY_SIZE}':>22}{'/ ours':>8}"
    print(f"{'':<14}{head}")
    for name, one in results.items():
        many, query = one["nanoseconds"], one["query_microseconds"]
        ratios = many / ours["nanoseconds"], query / ours["query_microseconds"]
        print(f"{name:<14}{many:>26.2f}{ratios[0]:>8.1f}{query:>22.1f}{ratios[1]:>8.1f}")
    for name in PEERS.keys() - results.keys():
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


def from_lightgbm(booster: Any) -> TreeEnsemble:
    """Convert a LightGBM model of numerical features without missing values."""
    trees = [_flat_tree(tree["tree_structure"]) for tree in booster.dump_model()["tree_info"]]
    splits, leaves = ([tree[part] for tree in trees] for part in (0, 1))
    feature, threshold, missing_left, left, right, gain = np.concatenate(splits, axis=1)
    leaf_value, cover = np.concatenate(leaves, axis=1)
    offsets = np.cumsum([0, *(tree.shape[1] for tree in splits)])
    whole = [part.astype(np.int64) for part in (feature, missing_left, left, right)]
    feature, missing_left, left, right = whole
    return TreeEnsemble(
        offsets, feature, threshold, missing_left, left, right, leaf_value, gain, cover,
        n_features=booster.num_feature(),
    )  # fmt: skip


def _flat_tree(root: dict[str, Any]) -> tuple[Any, Any]:
    """Return one column per split and one per leaf.

    A split has feature, threshold, missing left, left, right and gain; a leaf has value and cover.
    """
    splits: dict[int, list[float]] = {}
    leaves: dict[int, list[float]] = {}

    def child(node: dict[str, Any]) -> int:
        if "split_index" not in node:
            place = node.get("leaf_index", 0)
            leaves[place] = [node["leaf_value"], node.get("leaf_count", 0)]
            return -1 - place
        place = node["split_index"]  # in the order of growth, so a child comes after its parent
        splits[place] = [node["split_feature"], node["threshold"], node["default_left"]]
        splits[place] += [child(node["left_child"]), child(node["right_child"]), node["split_gain"]]
        return place

    child(root)
    return tuple(
        np.array([parts[place] for place in range(len(parts))], dtype=float).reshape(-1, width).T
        for parts, width in ((splits, 6), (leaves, 2))
    )


def _tools(X: Any, y: Any, folder: Path) -> dict[str, Callable[[Any], Any]]:
    """Return one scoring function per installed tool. LightGBM is required, because it trains the trees."""
    import lightgbm

    parameters = {"num_leaves": N_LEAVES, "verbose": -1, "num_threads": 1}
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, y), N_TREES)
    ensemble = from_lightgbm(booster)
    np.testing.assert_allclose(ensemble.predict(X), booster.predict(X), rtol=1e-6, atol=1e-6)
    tools: dict[str, Callable[[Any], Any]] = {
        "rankwright": lambda rows: ensemble.predict(rows, n_jobs=1),
        "LightGBM": lambda rows: booster.predict(rows, num_threads=1),
    }
    if importlib.util.find_spec("xgboost"):
        tools["XGBoost"] = _xgboost(X, y)
    if importlib.util.find_spec("catboost"):
        tools["CatBoost"] = _catboost(X, y)
    if importlib.util.find_spec("tl2cgen") and importlib.util.find_spec("treelite"):
        tools["tl2cgen"] = _tl2cgen(booster, folder)
        np.testing.assert_allclose(tools["tl2cgen"](X).ravel(), booster.predict(X), rtol=1e-4, atol=1e-4)
    return tools


def _xgboost(X: Any, y: Any) -> Callable[[Any], Any]:
    import xgboost

    parameters = {
        "max_leaves": N_LEAVES,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "tree_method": "hist",
        "nthread": 1,
    }
    booster = xgboost.train(parameters, xgboost.DMatrix(X, y), N_TREES)
    return booster.inplace_predict


def _catboost(X: Any, y: Any) -> Callable[[Any], Any]:
    import catboost

    model = catboost.CatBoostRegressor(
        depth=5, iterations=N_TREES, thread_count=1, verbose=False, allow_writing_files=False
    )
    model.fit(X, y)
    return lambda rows: model.predict(rows, thread_count=1)


def _tl2cgen(booster: Any, folder: Path) -> Callable[[Any], Any]:
    import tl2cgen
    import treelite

    model = treelite.frontend.from_lightgbm(booster)
    library = folder / "trees.so"
    tl2cgen.export_lib(model, toolchain="gcc", libpath=library, params={"parallel_comp": 125})
    predictor = tl2cgen.Predictor(library, nthread=1)
    return lambda rows: predictor.predict(tl2cgen.DMatrix(rows, dtype="float32"))


def _times(tools: dict[str, Callable[[Any], Any]], X: Any, calls: int) -> dict[str, float]:
    """Return the shortest time of each tool; the tools take turns, so that other load affects all of them."""
    times: dict[str, list[float]] = {name: [] for name in tools}
    for _ in range(TURNS):
        for name, tool in tools.items():
            times[name] += [_time(tool, X) for _ in range(calls)]
    return {name: min(one) for name, one in times.items()}


def _time(tool: Callable[[Any], Any], X: Any) -> float:
    start = time.perf_counter()
    tool(X)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

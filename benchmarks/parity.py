"""Scores of other tools beside ours, for models that we read and write: `python -m benchmarks.parity`.

Every model scores random documents and, for every split, documents whose value is on the threshold, just below and
just above it, with missing values and zeros of both signs among the others. The table is that of docs/interop.md.
RankLib needs its jar: RANKLIB_JAR=RankLib.jar. Tools that are not installed are left out, and named.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import rankwright as rw
from rankwright.models import Combination

N_MODELS = 40
RANDOM_ROWS, MOST_ROWS = 500, 6000
HEAD = ("tool", "direction", "models", "rows", "bit for bit", "largest difference", "in another order")


def judged(seed, missing):
    """Return documents with zeros, ties, a constant and missing values."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(600, 6)).astype(np.float32)
    X[random.random(X.shape) < 0.2] = 0.0
    X[:, 1], X[:, 2], X[:, 5] = np.round(X[:, 1]), np.abs(X[:, 2]), 1.0
    y = (X[:, 0] > 0.0).astype(int) + (X[:, 2] > 1.0)
    X[random.random(X.shape) < missing] = np.nan
    return rw.RankingData(X, y, np.repeat(np.arange(30), 20))


def rows_for(scorer, seed, tiny=0.0):
    """Return the documents to compare; values nearer to 0 than `tiny` are made 0."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(RANDOM_ROWS, scorer.n_features)).astype(np.float32)
    if scorer.n_trees:
        at, feature = np.repeat(scorer.threshold, 3), np.repeat(scorer.feature, 3)
        with np.errstate(over="ignore"):
            at[1::3], at[2::3] = (
                np.nextafter(at[side::3], np.float32(end)) for side, end in ((1, -np.inf), (2, np.inf))
            )
        chosen = random.permutation(len(at))[:MOST_ROWS] if len(at) > MOST_ROWS else np.arange(len(at))
        beside = X[random.integers(0, len(X), len(chosen))]
        beside[np.arange(len(chosen)), feature[chosen]] = at[chosen]
        X = np.concatenate([X, beside])
    odd = random.random(X.shape)
    X[odd < 0.05], X[(odd > 0.05) & (odd < 0.08)], X[(odd > 0.08) & (odd < 0.11)] = np.nan, 0.0, -0.0
    X[~np.isfinite(X) | (np.abs(X) < tiny)] = np.where(
        np.isnan(X[~np.isfinite(X) | (np.abs(X) < tiny)]), np.nan, 0.0
    )
    return X


def settings(**choices):
    """Yield as many combinations of settings as there are models, spread over all."""
    every = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    yield from (dict(every[number * len(every) // N_MODELS]) for number in range(N_MODELS))


def lightgbm_models(folder):
    """Yield what the library predicts, after it has written the model; of a random forest the mean."""
    lightgbm = import_module("lightgbm")
    quiet = {"verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3, "bagging_fraction": 0.7, "bagging_freq": 1}
    several = settings(
        boosting=["gbdt", "dart", "rf"], num_leaves=[2, 7, 63], zero_as_missing=[False, True],
        use_missing=[True, False], objective=["lambdarank", "regression", "binary"], missing=[0.0, 0.2],
    )  # fmt: skip
    for seed, one in enumerate(several):
        data = judged(seed, one.pop("missing"))
        y = data.y > 0 if one["objective"] == "binary" else data.y
        group = data.groups.sizes if one["objective"] == "lambdarank" else None
        model = lightgbm.train({**quiet, **one}, lightgbm.Dataset(data.X, y, group=group), 20)
        model.save_model(folder / "model")
        n = model.num_trees() if one["boosting"] == "rf" else 1
        yield seed, (lambda X, model=model, n=n: model.predict(X, raw_score=True) / n)


def xgboost_models(folder):
    """Yield the margins, after the library has written the model as JSON or UBJSON."""
    xgboost = import_module("xgboost")
    several = settings(
        booster=["gbtree", "dart"], max_depth=[1, 4, 9], base_score=[0.5, 0.25], num_parallel_tree=[1, 3],
        objective=["rank:ndcg", "reg:squarederror", "binary:logistic"], missing=[0.0, 0.2], kind=["json", "ubj"],
    )  # fmt: skip
    for seed, one in enumerate(several):
        data, kind = judged(seed, one.pop("missing")), one.pop("kind")
        y = data.y > 0 if one["objective"] == "binary:logistic" else data.y
        options = {"nthread": 1, "subsample": 0.8, "rate_drop": 0.2, "seed": seed, "verbosity": 0}
        matrix = xgboost.DMatrix(data.X, y, qid=np.sort(data.qid), nthread=1)
        model = xgboost.train({**options, **one}, matrix, 20)
        (folder / "model").write_bytes(bytes(model.save_raw(kind)))
        yield seed, (lambda X, model=model: model.predict(xgboost.DMatrix(X, nthread=1), output_margin=True))


def catboost_models(folder):
    """Yield the raw values, after the library has written the model as JSON."""
    catboost = import_module("catboost")
    several = settings(
        depth=[1, 4, 7], grow_policy=["SymmetricTree", "Lossguide", "Depthwise"], nan_mode=["Min", "Max"],
        loss_function=["YetiRank", "RMSE", "QueryRMSE"], missing=[0.0, 0.2],
    )  # fmt: skip
    for seed, one in enumerate(several):
        data = judged(seed, one.pop("missing"))
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1, "iterations": 20}
        model = catboost.CatBoost({**quiet, **one}).fit(catboost.Pool(data.X, data.y, group_id=data.qid))
        model.save_model(str(folder / "model"), format="json")
        yield seed, (lambda X, model=model: model.predict(X, prediction_type="RawFormulaVal", thread_count=1))


def ours():
    """Yield models of ours, and mixtures of them."""
    several = settings(rounds=[1, 10, 30], max_leaves=[2, 8, 31], missing=[0.0, 0.2], mixed=[False, True])
    for seed, one in enumerate(several):
        data, mixed = judged(seed, one.pop("missing")), one.pop("mixed")
        model = rw.LambdaMART(**one, random_state=seed, n_jobs=1).fit(data).model_
        if mixed:
            model = Combination((model, rw.MART(rounds=5, n_jobs=1).fit(data).model_), [0.7, -1.3])
        yield seed, model


def flat(model):
    """Return trees of which the thresholds can be asked."""
    return model if not isinstance(model, Combination) else model.members[0]


def by_lightgbm(model, X, folder):
    """Return what LightGBM makes of an exported model."""
    rw.export(model, folder / "model", format="lightgbm")
    return import_module("lightgbm").Booster(model_file=folder / "model").predict(X, raw_score=True)


def by_xgboost(model, X, folder):
    """Return what XGBoost makes of an exported model."""
    xgboost = import_module("xgboost")
    rw.export(model, folder / "model.json", format="xgboost")
    booster = xgboost.Booster({"nthread": 1}, model_file=folder / "model.json")
    return booster.predict(xgboost.DMatrix(X, nthread=1), output_margin=True)


def by_onnx(model, X, folder):
    """Return what ONNX Runtime makes of an exported model."""
    runtime = import_module("onnxruntime")
    rw.export(model, folder / "model.onnx", format="onnx")
    session = runtime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": X})[0][:, 0]


def by_gcc(model, X, folder):
    """Return what the compiled header gives."""
    name = f"model{len(list(folder.iterdir()))}"  # a library of the same name is loaded once
    rw.export(model, folder / f"{name}.h", format="c", name="model")
    loop = "for (long row = 0; row < n; ++row) out[row] = model_score(x + row * MODEL_N);"
    code = f'#include "{name}.h"\nvoid all(const float *x, double *out, long n) {{ {loop} }}\n'
    (folder / f"{name}.c").write_text(code.replace("MODEL_N", "model_N_FEATURES"))
    command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"]
    subprocess.run(command, cwd=folder, check=True)
    X, scores = np.ascontiguousarray(X), np.empty(len(X))
    library = ctypes.CDLL(str(folder / f"{name}.so"))
    library.all(X.ctypes.data_as(ctypes.c_void_p), scores.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(X)))
    return scores


def by_ranklib(model, X, folder):
    """Return what RankLib makes of an exported model."""
    X = np.where(np.isnan(X), np.float32(0.0), X)  # exported for documents without missing values
    rw.export(model, folder / "model.txt", format="ranklib", missing=False)
    rw.write_letor(rw.RankingData(X, np.zeros(len(X)), np.zeros(len(X), dtype=int)), folder / "data.txt")
    words = ["-load", "model.txt", "-rank", "data.txt", "-score", "scores.txt", "-thread", "1"]
    jar = os.environ["RANKLIB_JAR"]
    subprocess.run(["java", "-jar", jar, *words], cwd=folder, check=True, capture_output=True)
    return np.array([float(line.split()[-1]) for line in (folder / "scores.txt").read_text().splitlines()])


class Row:
    """The differences between two tools, model by model."""

    def __init__(self):
        self.models = self.rows = self.exact = self.moved = 0
        self.largest = 0.0

    def add(self, ours, theirs):
        scale = max(1e-300, np.abs(ours).max())
        self.models += 1
        self.rows += len(ours)
        self.exact += bool((ours == theirs).all())
        self.largest = max(self.largest, float(np.abs(ours - theirs).max() / scale))
        order = np.argsort(ours, kind="stable")
        falls = np.diff(np.asarray(theirs, dtype=np.float64)[order]) < 0
        self.moved += int((falls & (np.diff(ours[order]) > 1e-6 * scale)).sum())

    def cells(self):
        return f"{self.models}", f"{self.rows:,}", f"{self.exact}", f"{self.largest:.1e}", f"{self.moved}"


def compare_read(models, folder):
    """Compare the library's models with what we read."""
    row = Row()
    for seed, predict in models(folder):
        scorer = rw.load(folder / "model")
        X = rows_for(scorer, seed)
        row.add(scorer.predict(X), predict(X))
    return row


def compare_written(scores_of, folder, tiny=0.0):
    """Compare our models with what the target makes of the exported file."""
    row = Row()
    for seed, model in ours():
        X = rows_for(flat(model), seed, tiny)
        expected = model.predict(np.where(np.isnan(X), 0.0, X) if scores_of is by_ranklib else X)
        row.add(expected, scores_of(model, X, folder))
    return row


READ = {"LightGBM": ("lightgbm", lightgbm_models), "XGBoost": ("xgboost", xgboost_models), "CatBoost": ("catboost", catboost_models)}  # fmt: skip  # noqa: E501
WRITTEN = {"LightGBM": ("lightgbm", by_lightgbm, 1.1e-35), "XGBoost": ("xgboost", by_xgboost, 0.0), "ONNX Runtime": ("onnxruntime", by_onnx, 0.0)}  # fmt: skip  # noqa: E501


def main():
    """Print the table."""
    print("|", " | ".join(HEAD), "|\n|", " | ".join("---" for _ in HEAD), "|")
    for tool, (package, models) in READ.items():
        _print(tool, package, "read", lambda folder, models=models: compare_read(models, folder))
    for tool, (package, by, tiny) in WRITTEN.items():
        _print(tool, package, "written", lambda folder, by=by, tiny=tiny: compare_written(by, folder, tiny))
    _print("gcc", None, "written (C)", lambda folder: compare_written(by_gcc, folder))
    if "RANKLIB_JAR" in os.environ:
        _print("RankLib", None, "written", lambda folder: compare_written(by_ranklib, folder))


def _print(tool, package, direction, compare):
    try:
        version = f" {import_module(package).__version__}" if package else ""
    except ImportError:
        print(f"| {tool} | not installed |")
        return
    with TemporaryDirectory() as folder:
        print("|", " | ".join([tool + version, direction, *compare(Path(folder)).cells()]), "|", flush=True)


if __name__ == "__main__":
    main()

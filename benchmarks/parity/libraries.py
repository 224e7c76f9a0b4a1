"""What other libraries make of a model that we export."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from importlib import import_module

import numpy as np

import rankwright as rw
from benchmarks.parity.jars import UnavailableError


def by_lightgbm(model, X, folder):
    """Return the raw scores of LightGBM."""
    rw.export(model, folder / "model", format="lightgbm")
    return import_module("lightgbm").Booster(model_file=folder / "model").predict(X, raw_score=True)


def by_xgboost(model, X, folder):
    """Return the margins of XGBoost."""
    xgboost = import_module("xgboost")
    rw.export(model, folder / "model.json", format="xgboost")
    booster = xgboost.Booster({"nthread": 1}, model_file=folder / "model.json")
    return booster.predict(xgboost.DMatrix(X, nthread=1), output_margin=True)


def by_onnx(model, X, folder):
    """Return the output of ONNX Runtime."""
    runtime = import_module("onnxruntime")
    rw.export(model, folder / "model.onnx", format="onnx")
    session = runtime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    return session.run(["score"], {"features": X})[0][:, 0]


def by_gcc(model, X, folder):
    """Return what the compiled header gives."""
    if shutil.which("gcc") is None:
        raise UnavailableError("there is no gcc")
    name = f"model{len(list(folder.iterdir()))}"  # a library of the same name is loaded once
    rw.export(model, folder / f"{name}.h", format="c", name="model")
    loop = "for (long row = 0; row < n; ++row) out[row] = model_score(x + row * model_N_FEATURES);"
    code = f'#include "{name}.h"\nvoid all(const float *x, double *out, long n) {{ {loop} }}\n'
    (folder / f"{name}.c").write_text(code)
    command = ["gcc", "-std=c99", "-O1", "-shared", "-fPIC", "-o", f"{name}.so", f"{name}.c"]
    subprocess.run(command, cwd=folder, check=True)
    X, scores = np.ascontiguousarray(X), np.empty(len(X))
    library = ctypes.CDLL(str(folder / f"{name}.so"))
    library.all(X.ctypes.data_as(ctypes.c_void_p), scores.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(len(X)))
    return scores


def gcc_version():
    """Return the version of gcc."""
    if shutil.which("gcc") is None:
        raise UnavailableError("there is no gcc")
    command = ["gcc", "-dumpfullversion"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

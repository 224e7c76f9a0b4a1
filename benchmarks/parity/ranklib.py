"""RankLib's maintained fork: models that it trains and we read, and models that we write and it scores."""

from __future__ import annotations

import subprocess

import numpy as np

import rankwright as rw
from benchmarks.parity.jars import class_path
from benchmarks.parity.models import judged, settings

METHODS = {"MART": 0, "RankBoost": 2, "AdaRank": 3, "Coordinate Ascent": 4, "LambdaMART": 6, "Random Forests": 8, "Linear Regression": 9}  # fmt: skip  # noqa: E501
SHORT = ["-tree", "20", "-round", "20", "-bag", "5", "-r", "1", "-i", "3", "-thread", "1"]


def ranklib_models(folder):
    """Yield the scores that RankLib gives, after it has trained and written the model."""
    for seed, one in enumerate(settings(method=list(METHODS), leaf=[2, 7, 30], missing=[0.0, 0.2])):
        data = judged(seed, one["missing"])
        filled = rw.RankingData(np.nan_to_num(data.X), data.y, data.qid)
        rw.write_letor(filled, folder / "train.txt")
        options = ["-ranker", str(METHODS[one["method"]]), "-leaf", str(one["leaf"]), *SHORT]
        _ranklib(folder, "-train", "train.txt", "-save", "model", *options, "-metric2t", "NDCG@10")
        yield seed, lambda X: _scores(X, folder, "model")


def by_ranklib(models, rows, folder):
    """Return what RankLib makes of exported models; it counts missing values as 0."""
    scores = []
    for model, X in zip(models, rows, strict=True):
        rw.export(model, folder / "model.txt", format="ranklib", missing=False)
        scores.append(_scores(X, folder, "model.txt"))
    return scores


def _scores(X, folder, model):
    X = np.where(np.isnan(X), np.float32(0.0), X)
    rw.write_letor(rw.RankingData(X, np.zeros(len(X)), np.zeros(len(X), dtype=int)), folder / "data.txt")
    _ranklib(folder, "-load", model, "-rank", "data.txt", "-score", "scores.txt", "-thread", "1")
    return np.array([float(line.split()[-1]) for line in (folder / "scores.txt").read_text().splitlines()])


def _ranklib(folder, *words):
    command = ["java", "-Xmx1g", "-cp", class_path("ranklib"), "ciir.umass.edu.eval.Evaluator", *words]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if answer.returncode or "Exception" in answer.stderr:
        raise RuntimeError(f"RankLib failed: {(answer.stdout + answer.stderr)[-1500:]}")

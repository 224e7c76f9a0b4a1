"""Damaged model files of other tools: one sentence, or the scores that the tool itself gives to the same file."""

import json
import re
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

import rankwright as rw
from fuzz.campaign import ACCEPTED, AGREED, REFUSED, problem_of
from fuzz.damage import damaged
from fuzz.makers import maker_of
from interop.foreign import rows_around
from interop.importers import test_catboost, test_lightgbm, test_ranklib, test_xgboost
from interop.importers.test_ubjson import written
from rankwright.base.errors import InputError
from rankwright.models import TreeEnsemble

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
INTEGERS = tuple(b"0 1 -1 2 3 -2 7 10".split())
FRACTIONS = tuple(b"0.0 0.5 -0.25 1.0 2.0 -1.0 1e-40 1e-6 1e38 1e300 -1e300 inf".split())
LEVELS = b"""
parameters:
[categorical_feature: 0,1]
end of parameters

pandas_categorical:[["red", "blue"], [1, 2.5, true]]
"""
TREES = [([0, 1], [0.5, -0.5], [1, -1], [-3, -2]), ([2, 0], [1e-35, 0.1], [-1, -2], [1, -3])]
TAKE_INFINITE = ("lightgbm", "catboost")
NEAR = 1e-5
LARGE = 1e30  # sums of 32-bit floats lose everything near their limit


def _files():
    sides = [(*tree, [1, 0]) for tree in TREES]
    boosted = test_xgboost.model_of(*sides)
    dropped = test_xgboost.model_of(*sides, weights=[0.5, 0.25], base_score="2.5E-1")
    forest = [(tree, "0.1") for tree in TREES]
    splits = test_lightgbm.text_of((*TREES[0], [2, 8]), (*TREES[1], [4, 10])).encode()
    sets = test_lightgbm.text_of(([0, 1], [1, 0], *TREES[0][2:], [1, 9], [[5, 2], [0x8000000A]])).encode()
    categorical = test_xgboost.model_of((*sides[0], {0: [0, 2, 3, 40]}), (*sides[1], {0: [1], 1: [0, 5]}))
    return [
        ("lightgbm", splits),
        ("lightgbm", splits.replace(b"objective=lambdarank\n", b"objective=lambdarank\naverage_output\n")),
        ("lightgbm", sets),
        ("lightgbm", sets + LEVELS),
        ("xgboost-json", json.dumps(boosted).encode()),
        ("xgboost-json", json.dumps(dropped).encode()),
        ("xgboost-json", json.dumps(categorical).encode()),
        ("xgboost-binary", boosted),
        ("xgboost-binary", categorical),
        ("catboost", json.dumps(test_catboost.MODEL).encode()),
        ("catboost", json.dumps(test_catboost.NESTED).encode()),
        ("ranklib-xml", test_ranklib.text_of(forest).encode()),
        ("ranklib-xml", test_ranklib.text_of(forest, method="MART").encode()),
        ("ranklib-xml", test_ranklib.text_of(forest, forest[:1], method="Random Forests").encode()),
        ("ranklib-text", b"## RankBoost\n## Iteration = 2\n1:0.5:2.0 2:-1.0:0.25\n"),
        ("ranklib-text", b"## AdaRank\n1:2 2:-0.5\n"),
        ("ranklib-text", b"## Coordinate Ascent\n## Restart = 5\n1:0.25 2:-0.5 3:0.25\n"),
        ("ranklib-text", b"## Linear Regression\n## Lambda = 1.0E-10\n0:0.5 1:2.0 2:-0.25\n"),
    ]


def prepared(only=""):
    """Return the fuzzer of all formats, of one tool, such as `xgboost`, or of one, such as `xgboost-binary`."""
    files = [one for one in _files() if only in ("", one[0], _tool(one[0]))]
    if not files:
        raise ValueError(f"there is no format {only}, only {', '.join(sorted({one[0] for one in _files()}))}")
    makers = {tool: maker_of(tool) for tool in {_tool(kind) for kind, _ in files}}
    for maker in filter(None, makers.values()):
        maker.await_start()
    return partial(_case, files, makers, Path(tempfile.mkdtemp(prefix="imports-")))


def _tool(kind):
    return kind.partition("-")[0]


def _case(files, makers, folder, rng):
    kind, content = files[rng.integers(len(files))]
    path = folder / "model"
    path.write_bytes(_changed(kind, content, rng))
    try:
        with warnings.catch_warnings(action="ignore"):  # levels that are not used
            scorer = rw.load(path)
        rows = _rows(scorer, int(rng.integers(2**32)), infinite=_tool(kind) in TAKE_INFINITE)
        scores = scorer.predict(rows)
    except InputError as error:
        return problem_of(error) or REFUSED
    maker = makers[_tool(kind)]
    theirs = None if maker is None else maker.scores(path, rows)
    if theirs is None:
        return ACCEPTED
    return AGREED if _alike(scores, theirs) else f"{kind}: {_difference(scores, theirs)}"


def _changed(kind, content, rng):
    """Return a damaged file; half of them only with other numbers."""
    if kind == "xgboost-binary":
        if rng.random() < 0.5:
            return damaged(written(content), rng)
        text = _renumbered(json.dumps(content).encode(), rng)
        try:
            return written(json.loads(text))
        except ValueError:
            return text
    return damaged(content, rng) if rng.random() < 0.5 else _renumbered(content, rng)


def _renumbered(content, rng):
    """Return other numbers, mostly of the same kind: XGBoost refuses an integer where a fraction was."""
    for _ in range(int(rng.integers(1, 4))):
        found = list(NUMBER.finditer(content))
        if found:
            one = found[rng.integers(len(found))]
            others = INTEGERS if one[0].lstrip(b"-").isdigit() == (rng.random() < 0.9) else FRACTIONS
            content = content[: one.start()] + others[rng.integers(len(others))] + content[one.end() :]
    return content


def _rows(scorer, seed, *, infinite):
    if isinstance(scorer, TreeEnsemble) and scorer.n_features < 1000:
        return rows_around(scorer, n=40, seed=seed, infinite=infinite)
    return np.random.default_rng(seed).normal(size=(4, min(scorer.n_features, 10_000))).astype(np.float32)


def _alike(ours, theirs):
    if len(ours) != len(theirs):
        return False
    usable = np.isfinite(theirs) & (np.abs(ours) < LARGE)
    scale = max(1.0, float(np.abs(ours[usable]).max(initial=0.0)))
    return bool((np.abs(ours - theirs)[usable] <= NEAR * scale).all())


def _difference(ours, theirs):
    if len(ours) != len(theirs):
        return f"{len(ours)} scores, and the library gives {len(theirs)}"
    worst = int(np.nanargmax(np.abs(ours - theirs)))
    return f"scores {ours[worst]!r}, and the library says {theirs[worst]!r}"

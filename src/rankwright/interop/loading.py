"""Model files of rankwright and of other tools, recognised by their content and loaded as scorers.

| a file that starts with | is a model of |
|---|---|
| byte 137, then `rankwright` | rankwright |
| a line `tree` | LightGBM (text) |
| `##` and the name of a method | RankLib |
| `{`, and holds `learner`, as JSON or UBJSON | XGBoost |
| `{`, and holds `features_info` | CatBoost (JSON) |

Other forms of these models are refused with the way to write one that can be read.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.base.errors import InputError
from rankwright.base.files import open_bytes
from rankwright.interop.importers.catboost import scorer_from_catboost
from rankwright.interop.importers.checked_access import parsed_json
from rankwright.interop.importers.lightgbm import scorer_from_lightgbm
from rankwright.interop.importers.ranklib import scorer_from_ranklib
from rankwright.interop.importers.ubjson import is_ubjson
from rankwright.interop.importers.xgboost import scorer_from_xgboost
from rankwright.models import model_file
from rankwright.models.serialisation import checked_n_features

if TYPE_CHECKING:
    import os

    from rankwright.models.scorer import Scorer

START_BYTES = 4096
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LIGHTGBM, XGBOOST, CATBOOST, RANKLIB = "LightGBM", "XGBoost", "CatBoost", "RankLib"
JSON = "JSON"
RANKLIB_START = (
    rb"##\s*(AdaRank|Coordinate Ascent|LambdaMART|LambdaRank|Linear Regression|ListNet|MART|Random Forests"
    rb"|RankBoost|RankNet)\s*\n"
)
KINDS = {
    rb"tree\r?\n": LIGHTGBM,
    RANKLIB_START: RANKLIB,
    rb"\s*\{": JSON,
}
REFUSED = {
    rb"CBM1": "is a CatBoost model in its binary format; write it with save_model(path, format='json'), or let "
    "`rankwright import` do so, which needs catboost.",
    rb"\x80[\x02-\x05]": "is a pickle, which could execute anything; save the model by its library's own method.",
    rb"binf|bs64": "is an XGBoost model in its old binary format; load it in an old XGBoost and save it as .json.",
    rb'\s*\[\s*\{\s*"nodeid"': "is a dump of XGBoost's trees, which lacks the base score; write the model with "
    "save_model(path) instead of dump_model.",
}
OBJECTS = {
    "tree_info": "is a dump of LightGBM's trees; write the model with save_model(path) instead of dump_model.",
    "class": "is a model of a search engine, which cannot be loaded; load the model that it was made from.",
}


def load(path: str | os.PathLike[str], *, n_features: int | None = None) -> Scorer:
    """Read the scorer in a model file of rankwright, LightGBM, XGBoost, CatBoost or RankLib.

    The format is recognised by the content. Nothing in the file is executed, and the library that wrote it is not
    needed. What a scorer cannot represent exactly is refused.

    Parameters
    ----------
    path
        The file: `.rw`, LightGBM's text, XGBoost's JSON or UBJSON, CatBoost's JSON, or what RankLib saved.
    n_features
        Number of features of the data, for a RankLib model: its file does not say it, and by default it is the
        highest number of a feature that the model uses. Other files say it.

    Examples
    --------
    >>> rw.save(rw.AdaRank().fit(rw.synthetic.gaussian_queries(5)), "model.rw")
    >>> model = rw.load("model.rw")
    >>> model, model.about["ranker"]
    (LinearScorer(2 features), 'AdaRank')
    >>> model.rank([[-1.0, -0.9], [1.1, 0.8]], qid="hats").tolist()
    [2, 1]
    """
    given = None if n_features is None else checked_n_features(n_features)
    start = _start(Path(path))
    scorer = model_file.load(path) if start.startswith(model_file.MAGIC) else _foreign(path, start, given)
    if given is not None and scorer.n_features != given:
        raise InputError(f"{path} says that the data have {scorer.n_features} features, not {given}.")
    return scorer


load_model = load  # as other libraries call it


def _start(path: Path) -> bytes:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path} is not a file.")  # reading a pipe or a device might never end
    with open_bytes(path) as file:
        return file.read(START_BYTES)


def is_foreign_model(start: bytes) -> bool:
    """Return whether a file that starts with these bytes holds, or may hold, a model of another tool."""
    return any(re.match(pattern, start.removeprefix(BYTE_ORDER_MARK)) for pattern in (*KINDS, *REFUSED))


def _foreign(path: str | os.PathLike[str], start: bytes, n_features: int | None) -> Scorer:
    start = start.removeprefix(BYTE_ORDER_MARK)
    for pattern, sentence in REFUSED.items():
        if re.match(pattern, start):
            raise InputError(f"{path} {sentence}")
    kind = next((kind for pattern, kind in KINDS.items() if re.match(pattern, start)), None)
    if kind is None:
        raise InputError(
            f"{path} {'is not a model' if start.strip() else 'is empty'}; models are files of rankwright (.rw), "
            "LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON) and RankLib."
        )
    with open_bytes(path) as file:
        content = file.read().removeprefix(BYTE_ORDER_MARK)
    try:
        return _scorer(kind, content, n_features)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _scorer(kind: str, content: bytes, n_features: int | None) -> Scorer:
    if kind == RANKLIB:
        return scorer_from_ranklib(_text(content), n_features)
    scorer: Scorer
    if kind == LIGHTGBM:
        scorer = scorer_from_lightgbm(_text(content))
    elif is_ubjson(content):
        kind, scorer = XGBOOST, scorer_from_xgboost(content)
    else:
        parts = parsed_json(content)
        kind = _library_of(parts)
        scorer = scorer_from_xgboost(parts) if kind == XGBOOST else scorer_from_catboost(parts)
    return scorer.described(about={"ranker": kind})


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"it is not text in UTF-8 from byte {error.start} on.") from None


def _library_of(parts: Any) -> str:
    """Return whose JSON this is."""
    if "learner" in parts:
        return XGBOOST
    if "features_info" in parts or "oblivious_trees" in parts:
        return CATBOOST
    for name, sentence in OBJECTS.items():
        if name in parts:
            raise InputError(f"it {sentence}")
    raise InputError("it is JSON, but neither XGBoost's nor CatBoost's model.")

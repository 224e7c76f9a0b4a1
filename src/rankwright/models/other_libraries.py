"""Scores by models of any library: its `predict` gets the features, in the order of its names if it has any."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.base.errors import InputError
from rankwright.base.wording import counted
from rankwright.models.scorer import best_of, scorer_of

if TYPE_CHECKING:
    from collections.abc import Container

    from rankwright.data.dataset import Documents


def scores_by(model: Any, data: Documents, *, n_threads: int) -> Any:
    """Return the scores that a ranker, a scorer or another library's model gives, not yet checked.

    Another library's `predict` gets the features: by name if both have names, else as they are. Any error that it
    raises becomes an InputError.
    """
    scorer = scorer_of(model)
    if scorer is not None:
        return scorer.predict(data, n_jobs=n_threads)
    if getattr(model, "takes_documents", False):
        return model.predict(data, n_jobs=n_threads)
    try:
        return _one_column(_predicted(best_of(model), data, n_threads))
    except Exception as error:
        raise InputError(str(error) or repr(error)) from error


def _predicted(model: Any, data: Documents, n_threads: int) -> Any:
    *transformers, (_, last) = getattr(model, "steps", None) or [("", model)]
    ranker = scorer_of(last)
    if transformers and ranker is not None:  # a pipeline passes query ids only if routing is enabled
        X = _features_for(model, data)
        for _, transformer in transformers:
            X = X if transformer in (None, "passthrough") else transformer.transform(X)
        return ranker.predict(X, data.qid, n_jobs=n_threads)
    if hasattr(model, "inplace_predict"):  # XGBoost's Booster, whose predict takes its own matrices only
        return model.inplace_predict(ordered_for(model, data), validate_features=False)
    options, taken = {"qid": data.qid, "n_jobs": n_threads}, _arguments_of_predict(model)
    known = {name: value for name, value in options.items() if name in taken}
    return model.predict(_features_for(model, data), **known)


def takes_query_ids(model: Any) -> bool:
    """Return whether a model, or the last step of a pipeline, has a `predict` with query ids."""
    steps = getattr(model, "steps", None)
    return "qid" in _arguments_of_predict(steps[-1][1] if steps else model)


def _arguments_of_predict(model: Any) -> Container[str]:
    try:
        return inspect.signature(model.predict).parameters
    except (AttributeError, TypeError, ValueError):  # native code need not have a signature
        return ()


def _features_for(model: Any, data: Documents) -> Any:
    """Return the features in the order of the model's names; as a frame with these names if there are any."""
    X, names = ordered_for(model, data), _names_of(model)
    if names is None or made_up(names):
        return X
    try:
        import pandas as pd
    except ImportError:  # the model was trained on another kind of frame, or by its own format
        return X
    return pd.DataFrame(X, columns=names)


def ordered_for(model: Any, data: Documents) -> Any:
    """Return the features for another library's model: by name if model and data have names, else as they are."""
    names = _names_of(model)
    if names is None:
        return data.X
    if data.feature_names is None or made_up(names):
        if len(names) != data.n_features:
            trained = counted(len(names), "feature")
            raise InputError(f"the model was trained on {trained}, the data have {data.n_features:,}.")
        return data.X
    column_of = {name: column for column, name in enumerate(data.feature_names)}
    for name in names:
        if name not in column_of:
            raise InputError(f"the model was trained with the feature {name!r}, which the data do not have.")
    order = [column_of[name] for name in names]
    return data.X if order == list(range(data.n_features)) else np.ascontiguousarray(data.X[:, order])


def _names_of(model: Any) -> list[str] | None:
    """Return a model's names of its features, one per feature; None if it keeps none."""
    for attribute in ("feature_names_in_", "feature_names_", "feature_names", "feature_name"):
        names = getattr(model, attribute, None)
        if names is not None:
            return [str(name) for name in (names() if callable(names) else names)]
    if hasattr(model, "num_features"):  # XGBoost's Booster of an array
        return [str(number) for number in range(model.num_features())]
    return None


def made_up(names: list[str]) -> bool:
    """Return whether a library made up the names by numbering the features, as for an array."""
    return any(names == [f"{stem}{number}" for number in range(len(names))] for stem in ("", "f", "Column_"))


def _one_column(scores: Any) -> Any:
    """Return scores as one column; CatBoost and others may return a matrix with a single one."""
    values = np.asanyarray(scores)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values

"""Models in MLflow: written with a signature and an input example, read again, served as a function of a frame."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import mlflow
import numpy as np
from mlflow.models import Model, ModelSignature
from mlflow.types.schema import ColSpec, Schema, TensorSpec

from rankwright.base.errors import InputError
from rankwright.base.version import __version__
from rankwright.base.wording import brief_list
from rankwright.data.column_roles import QUERY
from rankwright.models.model_file import load, save
from rankwright.models.scorer import scorer_of

if TYPE_CHECKING:
    from rankwright.base.arrays import Doubles
    from rankwright.models.scorer import Fitted, Scorer

FLAVOUR = "rankwright"
MODEL_FILE = "model.rw"


@dataclass(frozen=True)
class ScoringFunction:
    """A model as MLflow calls it: a frame or a matrix in, one score per document out.

    A column `qid`, if there is one, says which documents belong to which query; without it, all belong to one.
    """

    scorer: Scorer

    @classmethod
    def of_file(cls, path: str) -> Self:
        """Read the model file in a folder that MLflow has made, or the file itself."""
        file = Path(path)
        return cls(load(file / MODEL_FILE if file.is_dir() else file))

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Doubles:  # noqa: ARG002
        """Return the score of each document, in the order of the input."""
        qid: Any = 0
        if QUERY in getattr(model_input, "columns", ()):
            model_input, qid = model_input.drop(columns=QUERY), np.asarray(model_input[QUERY])
        return self.scorer.predict(model_input, qid)


def save_model(
    model: Scorer | Fitted,
    path: str,
    *,
    mlflow_model: Any = None,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | None = None,
    extra_pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a scorer or a fitted ranker as a folder in MLflow's format.

    Parameters
    ----------
    model
        A scorer, or a fitted ranker.
    path
        The folder to write, which must not exist.
    signature
        The columns that the model takes; by default the columns that it was trained on, and `qid`. False: none.
    input_example
        A few documents, as a frame or a matrix.
    pip_requirements, extra_pip_requirements
        What the environment of the model needs; by default this version of rankwright, and pandas.
    """
    scorer = scorer_of(model)
    if scorer is None:
        raise InputError(f"MLflow takes a scorer or a fitted ranker, not this {type(model).__name__}.")
    flavoured = Model() if mlflow_model is None else mlflow_model
    flavoured.add_flavor(FLAVOUR, rankwright_version=__version__, data=f"data/{MODEL_FILE}")
    if signature is None:
        signature = signature_of(scorer)
    with tempfile.TemporaryDirectory() as folder:
        save(scorer, file := Path(folder) / MODEL_FILE)
        mlflow.pyfunc.save_model(
            path,
            loader_module="rankwright.mlflow",
            data_path=str(file),
            mlflow_model=flavoured,
            signature=signature or None,
            input_example=input_example,
            pip_requirements=pip_requirements or [f"rankwright=={__version__}", "pandas"],
            extra_pip_requirements=extra_pip_requirements,
            metadata=metadata,
        )


def log_model(model: Scorer | Fitted, name: str = "model", **options: Any) -> Any:
    """Log a scorer or a fitted ranker to the active run, or to a new one, and return MLflow's `ModelInfo`.

    `options` are those of `save_model`, and `registered_model_name`, `run_id`, `params`, `tags`, `step` and others
    of `mlflow.models.Model.log`.
    """
    import rankwright.mlflow as flavour

    return Model.log(artifact_path=None, name=name, flavor=flavour, model=model, **options)


def load_model(model_uri: str) -> Scorer:
    """Return the scorer that was logged or saved there, such as `models:/shop/1` or `runs:/.../model`."""
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri))
    flavours = Model.load(str(folder)).flavors
    if FLAVOUR not in flavours:
        raise InputError(f"{model_uri} holds no model of rankwright, but of {brief_list(flavours)}.")
    return load(folder / flavours[FLAVOUR]["data"])


def signature_of(scorer: Scorer) -> Any:
    """Return the columns that a model takes: numbers, categories as text, and query ids if it wants them."""
    scores = Schema([TensorSpec(np.dtype(np.float64), (-1,))])
    if scorer.feature_names is None:
        return ModelSignature(Schema([TensorSpec(np.dtype(np.float64), (-1, scorer.n_features))]), scores)
    category_of = {column: category.name for category in scorer.categories for column in category.columns}
    types = {category_of.get(name, name): name in category_of for name in scorer.feature_names}
    columns = [ColSpec("string" if is_text else "double", name, required=False) for name, is_text in types.items()]
    return ModelSignature(Schema([*columns, ColSpec("string", QUERY, required=scorer.needs_queries)]), scores)

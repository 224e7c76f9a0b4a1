"""MLflow: log models and load them, serve them as functions, log fits, and evaluate rankers.

A logged model is the model file that `rankwright.save` writes: data without code, so loading it unpickles nothing.
"""

from importlib.util import find_spec

from rankwright.base.errors import MissingPackageError

if find_spec("mlflow") is None:
    raise MissingPackageError("rankwright.mlflow needs MLflow: pip install 'rankwright[mlflow]'.")

from rankwright.mlflow.autologging import autolog
from rankwright.mlflow.flavour import ScoringFunction, load_model, log_model, save_model

__all__ = ["ScoringFunction", "autolog", "load_model", "log_model", "save_model"]


def _load_pyfunc(path: str) -> ScoringFunction:
    """Return the function that MLflow serves; MLflow calls this by its name."""
    return ScoringFunction.of_file(path)

"""What scikit-learn's tools ask of an estimator, without importing scikit-learn before one of them asks.

That import takes ten times as long as numpy's, and a command that trains does not need it. So a ranker does not
derive from `BaseEstimator`; where scikit-learn's own code is needed, it runs on a stand-in that does.
"""

from __future__ import annotations

import sys
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from rankwright import _native
from rankwright.base.errors import InputError, requiring
from rankwright.base.resources import available_threads
from rankwright.data.dataset import Documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUTED = ("fit", "predict", "score")
CLONING = (__name__, "sklearn.base")  # modules between a tool and the clone
SPLITTING_TOOLS = "sklearn.model_selection."
FOLD_FUNCTION = "_fit_and_score"  # of these tools: fits on a part of the data and evaluates the other
PASSED_BY_FIT = "cross_val_predict"  # passes query ids to fit even without routing, and has nothing to evaluate
CALLS = {
    True: "GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid)",
    False: "cross_val_score(..., cv=GroupKFold(), params={'qid': qid, 'groups': qid})",
}


class SplitQueryWarning(UserWarning):
    """A tool of scikit-learn evaluates documents of queries whose other documents were in the fit."""


class FittedFold(NamedTuple):
    """The query ids of the documents that a tool of scikit-learn fits on, and a hash of the documents.

    Only such a tool has both parts of the same data. Elsewhere equal query ids mean nothing: two files may both
    number their queries from 1.
    """

    queries: NDArray[Any]
    content: int

    @classmethod
    def of(cls, data: Documents) -> Self | None:
        """Return the part that a tool fits on; None without a tool."""
        if not _in_fold():
            return None
        with np.errstate(over="ignore"):
            return cls(data.groups.ids, int(_native.hash_rows(data.X, available_threads()).sum()))

    def warn_if_split(self, documents: Any, qid: Any) -> None:
        """Warn if a tool evaluates other documents of the same queries; it may evaluate the part itself."""
        if not isinstance(documents, Documents):
            if qid is None or np.ndim(qid) != 1:
                return
            documents = Documents(documents, qid, copy=False)
        other = FittedFold.of(documents)
        if other is not None and other.content != self.content and np.isin(other.queries, self.queries).any():
            warnings.warn(
                "Folds divide queries: other documents of the scored queries were in the fit, so the score does "
                f"not hold for new ones; {CALLS[False]} keeps queries whole, as rankwright.cross_validate does.",
                SplitQueryWarning,
                stacklevel=3,
            )


def _in_fold() -> bool:
    """Return whether a tool of scikit-learn is fitting on a part of the data or evaluating one."""
    if "sklearn.model_selection" not in sys.modules:
        return False
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == FOLD_FUNCTION and frame.f_globals["__name__"].startswith(SPLITTING_TOOLS):
            return True
        frame = frame.f_back
    return False


class Estimator:
    """An estimator by scikit-learn's protocol: clones, tags, metadata routing, and display in notebooks."""

    def __sklearn_clone__(self) -> Self:
        _require_routing(type(self).__name__)
        from sklearn.base import BaseEstimator

        clone: Self = BaseEstimator.__sklearn_clone__(self)
        return clone

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator

        return BaseEstimator.__sklearn_tags__(self)

    def get_metadata_routing(self) -> Any:
        """Return which metadata, such as query ids, the methods request."""
        return _stand_in(self).get_metadata_routing()

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Choose the metadata that tools pass to `fit`: `set_fit_request(sample_weight=True)`."""
        _stand_in(self).set_fit_request(**requests)
        return self

    def set_predict_request(self, **requests: bool | str | None) -> Self:
        """Choose the metadata that tools pass to `predict`."""
        _stand_in(self).set_predict_request(**requests)
        return self

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Choose the metadata that tools pass to `score`."""
        _stand_in(self).set_score_request(**requests)
        return self

    def _repr_html_(self) -> str:
        with requiring("scikit-learn"):
            from sklearn.utils import estimator_html_repr

        html: str = estimator_html_repr(self)
        return html


def _stand_in(estimator: Estimator) -> Any:
    """Return a `BaseEstimator` with the same attributes and the same routed methods."""
    kind: Any = type(estimator)
    stand_in = _stand_in_class(kind)()
    stand_in.__dict__ = estimator.__dict__  # shared: what a tool requests stays with the estimator
    return stand_in


@cache
def _stand_in_class(kind: Any) -> type[Any]:
    from sklearn.base import BaseEstimator

    members = {
        name: value
        for base in reversed(kind.__mro__)
        for name, value in vars(base).items()
        if name in ROUTED or "__metadata_request__" in name
    }
    return type(kind.__name__, (BaseEstimator,), members)


def _require_routing(kind: str) -> None:
    """Refuse a clone for a tool that splits the data, unless metadata routing is enabled.

    Such a tool clones its estimator first. If a fit or an evaluation then fails for want of query ids, the tool
    reports a score of NaN, or hides the reason in a long traceback: so the reason is given before that.
    """
    from sklearn import get_config

    if get_config()["enable_metadata_routing"]:
        return
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") in CLONING:
        frame = frame.f_back
    tool = frame.f_code.co_qualname
    if not str(frame.f_globals.get("__name__")).startswith(SPLITTING_TOOLS) or tool.startswith(PASSED_BY_FIT):
        return
    call = CALLS["SearchCV" in tool or "Halving" in tool]
    raise InputError(
        f"Without metadata routing scikit-learn passes no query ids to {kind}: "
        f"call sklearn.set_config(enable_metadata_routing=True), then {call}."
    )

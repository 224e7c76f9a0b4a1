"""What scikit-learn's tools ask of an estimator, without importing scikit-learn before one of them asks.

That import takes ten times as long as numpy's, and a command that trains does not need it. So a ranker does not
derive from `BaseEstimator`; where scikit-learn's own code is needed, it runs on a stand-in that does.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any, Self

from rankwright.base.errors import InputError

ROUTED = ("fit", "predict", "score")
CLONING = (__name__, "sklearn.base")  # modules between a tool and the clone
SPLITTING_TOOLS = "sklearn.model_selection."
PASSED_BY_FIT = "cross_val_predict"  # passes query ids to fit even without routing, and has nothing to evaluate
CALLS = {
    True: "GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid)",
    False: "cross_val_score(..., cv=GroupKFold(), params={'qid': qid, 'groups': qid})",
}


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

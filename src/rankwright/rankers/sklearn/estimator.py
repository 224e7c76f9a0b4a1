"""What scikit-learn's tools ask of an estimator, without importing scikit-learn before one of them asks.

That import takes ten times as long as numpy's, and a command that trains does not need it. So a ranker does not
derive from `BaseEstimator`; where scikit-learn's own code is needed, it runs on a stand-in that does.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Self

ROUTED = ("fit", "predict", "score")


class Estimator:
    """An estimator by scikit-learn's protocol: clones, tags, metadata routing, and display in notebooks."""

    def __sklearn_clone__(self) -> Self:
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
    one = _stand_in_class(kind)()
    one.__dict__ = estimator.__dict__  # shared: what a tool requests stays with the estimator
    return one


@cache
def _stand_in_class(kind: Any) -> type[Any]:
    from sklearn.base import BaseEstimator

    members = {
        name: value
        for one in reversed(kind.__mro__)
        for name, value in vars(one).items()
        if name in ROUTED or "__metadata_request__" in name
    }
    return type(kind.__name__, (BaseEstimator,), members)

"""Query ids within scikit-learn's tools, which pass them on only if metadata routing is enabled."""

from __future__ import annotations

import sys

from rankwright.base.errors import InputError

CLONING = (__name__, "rankwright.rankers.ranker", "sklearn.base")  # modules between a tool and the clone
SPLITTING_TOOLS = "sklearn.model_selection."
PASSED_BY_FIT = "cross_val_predict"  # passes query ids to fit even without routing, and has nothing to evaluate
CALLS = {
    True: "GridSearchCV(..., cv=GroupKFold()).fit(X, y, qid=qid, groups=qid)",
    False: "cross_val_score(..., cv=GroupKFold(), params={'qid': qid, 'groups': qid})",
}


def require_routing(kind: str) -> None:
    """Refuse a clone for a tool that splits the data, unless metadata routing is enabled.

    Such a tool clones its estimator first. If a fit or an evaluation then fails for want of query ids, the tool
    reports a score of NaN, or hides the reason in a long traceback: so the reason must be told before that.
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

"""A ranker as an estimator that does not import scikit-learn before its tools ask."""

import subprocess
import sys
import warnings

import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import rankwright as rw
from rankwright.rankers.catalogue import find_ranker, known_rankers
from rankwright.rankers.sklearn.estimator import SplitQueryWarning

FIT = """
import sys
import rankwright as rw
train, valid = (rw.synthetic.RandomPolynomial.draw(0).sample(5, seed=seed) for seed in (1, 2))
ranker = rw.LambdaMART(rounds=2).fit(train, validation=valid)
ranker.predict(valid), ranker.score(valid), repr(ranker), ranker.unfitted().set_params(rounds=3)
print(*sorted({"sklearn", "scipy", "pandas"} & set(sys.modules)))
"""


@pytest.mark.slow
def test_fitting_and_predicting_import_nothing_of_it():
    done = subprocess.run([sys.executable, "-c", FIT], text=True, capture_output=True, check=True)
    assert done.stdout == "\n"


def test_requests_of_metadata_stay_with_the_ranker_and_its_clones():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = rw.MART()
        assert ranker.set_fit_request(sample_weight=True) is ranker
        assert ranker.set_predict_request(n_jobs="threads") is ranker
        assert ranker.set_score_request(qid=False) is ranker
        for one in (ranker, clone(ranker)):
            routing = one.get_metadata_routing()
            assert routing.fit.requests["sample_weight"] is True
            assert routing.predict.requests["n_jobs"] == "threads"
            assert routing.score.requests["qid"] is False
        assert rw.MART().get_metadata_routing().fit.requests["sample_weight"] is None


def test_tags_and_display():
    ranker = rw.LambdaMART(rounds=7)
    assert get_tags(ranker).input_tags.allow_nan
    assert "LambdaMART" in ranker._repr_html_()
    assert repr(ranker) == "LambdaMART(rounds=7)"


def test_an_unfitted_copy_has_the_parameters_and_nothing_else():
    ranker = rw.MART(rounds=1, query_features=["rank"]).fit(
        rw.synthetic.RandomPolynomial.draw(0).sample(5, seed=1)
    )
    copy = ranker.unfitted()
    assert copy.get_params() == ranker.get_params()
    assert copy.query_features is not ranker.query_features
    assert not hasattr(copy, "model_")


@pytest.mark.parametrize("name", known_rankers())
def test_a_ranker_is_called_like_its_class(name):
    assert find_ranker(name) is known_rankers()[name]
    assert find_ranker(find_ranker(name).__name__) is known_rankers()[name]


def warned_of_split_queries(call):
    """Return the warnings of split queries that a call gives."""
    with sklearn.config_context(enable_metadata_routing=True), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [warning for warning in caught if issubclass(warning.category, SplitQueryWarning)]


X, Y, QID = rw.synthetic.gaussian_queries(9)
PLAIN, BY_QUERY = KFold(3, shuffle=True, random_state=0), GroupKFold(3)
TOOLS = {
    "cross_val_score": lambda ranker, cv, given: cross_val_score(ranker, X, Y, cv=cv, params=given),
    "a metric": lambda ranker, cv, given: cross_val_score(
        ranker, X, Y, cv=cv, params=given, scoring=rw.make_scorer("map")
    ),
    "with training scores": lambda ranker, cv, given: cross_validate(
        ranker, X, Y, cv=cv, params=given, return_train_score=True
    ),
    "a grid": lambda ranker, cv, given: GridSearchCV(ranker, {"rounds": [1, 2]}, cv=cv).fit(X, Y, **given),
    "a pipeline": lambda ranker, cv, given: cross_val_score(
        make_pipeline(StandardScaler(), ranker), X, Y, cv=cv, params=given
    ),
}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_folds_that_divide_queries_give_a_warning(tool):
    ranker = rw.AdaRank(rounds=2)
    divided = warned_of_split_queries(lambda: tool(ranker, PLAIN, {"qid": QID}))
    assert "cv=GroupKFold(), params={'qid': qid, 'groups': qid}) keeps queries whole" in str(divided[0].message)
    assert warned_of_split_queries(lambda: tool(ranker, BY_QUERY, {"qid": QID, "groups": QID})) == []


def test_scores_of_training_data_and_of_equal_ids_elsewhere_give_no_warning():
    ranker = rw.AdaRank(rounds=2)
    assert warned_of_split_queries(lambda: ranker.fit(X, Y, QID).score(X, Y, QID)) == []
    assert warned_of_split_queries(lambda: ranker.score(X[::2], Y[::2], QID[::2])) == []
    search = GridSearchCV(ranker, {"rounds": [1, 2]}, cv=BY_QUERY)
    assert warned_of_split_queries(lambda: search.fit(X, Y, qid=QID, groups=QID)) == []
    assert warned_of_split_queries(lambda: search.score(X + 1, Y, qid=QID)) == [], (
        "another file numbers queries too"
    )

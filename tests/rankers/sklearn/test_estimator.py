"""A ranker as an estimator that does not import scikit-learn before its tools ask."""

import subprocess
import sys

import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils import get_tags

import rankwright as rw
from rankwright.rankers.catalogue import find_ranker, known_rankers

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

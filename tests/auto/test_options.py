"""What AutoRanker refuses, and what its work folder belongs to."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from rankwright import AutoRanker, InputError, MissingPackageError, make_ranker
from rankwright.data import synthetic
from rankwright.data.dataset import RankingData

JUDGED = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4).sample(12, seed=0, n_documents=8)
SIMPLE = {"portfolio": "ranksvm,adarank", "n_jobs": 1}


@pytest.mark.parametrize("other", [{"portfolio": "ranksvm"}, {"companions": ["lightgbm"]}, {"models": ["m.rw"]}])
def test_an_interpretable_model_comes_from_its_own_portfolio(other):
    sentence = f"interpretable=True has a portfolio of its own, of simple models: give no {next(iter(other))}."
    with pytest.raises(InputError, match=sentence):
        AutoRanker(interpretable=True, **other).fit(JUDGED)


def test_a_companion_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingPackageError, match=r"needs XGBoost: pip install 'rankwright\[xgboost\]'\."):
        AutoRanker(companions="xgboost", **SIMPLE).fit(JUDGED)


def test_a_work_folder_belongs_to_the_weights_too(tmp_path):
    ranker = AutoRanker(portfolio="ranksvm", work=tmp_path / "work", n_jobs=1)
    ranker.fit(JUDGED, query_weight=np.arange(1, 13))
    ranker.fit(JUDGED, query_weight=np.arange(1, 13))
    with pytest.raises(InputError, match="belongs to a run that differs in weights: choose another folder"):
        ranker.fit(JUDGED, query_weight=np.arange(12, 0, -1))


@pytest.mark.parametrize("name", ["auto", "Auto", "AutoRanker", "auto-ranker"])
def test_the_ranker_is_found_by_its_name_and_by_that_of_its_class(name):
    assert type(make_ranker(name)) is AutoRanker


def test_labels_that_the_metric_is_not_defined_for_are_refused_once(recwarn):
    negative = RankingData(JUDGED.X, JUDGED.y - 1, JUDGED.groups.query_of_row)
    with pytest.raises(InputError, match=r"^A gain is not defined for negative labels, but one label is -1; "):
        AutoRanker(**SIMPLE).fit(negative)
    assert not recwarn.list
    assert AutoRanker("pair_accuracy", portfolio="ranksvm", n_jobs=1).fit(negative).standings_


def test_a_portfolio_has_no_auto_ranker():
    with pytest.raises(InputError, match=r"^The portfolio of AutoRanker cannot have an AutoRanker in it\.$"):
        AutoRanker(portfolio=["ranksvm", "auto"]).fit(JUDGED)


def in_weeks(n_weeks=6, shift=0):
    weeks = [str((int(query) + shift) % n_weeks) for query in JUDGED.qid]
    return JUDGED.with_columns(None, {"week": weeks})


def test_a_run_in_time_order_shows_the_drift():
    run = AutoRanker(time_column="week", baseline_column="week", **SIMPLE).fit(in_weeks()).run_
    assert list(run.drift.values) == ["this model", "best feature", "order today"]
    assert run.drift.periods == ("1", "2", "3", "4", "5")
    assert run.to_dict()["drift"]["periods"] == ["1", "2", "3", "4", "5"]
    assert "From the first fold (1) to the last (5)" in str(run)
    assert AutoRanker(**SIMPLE).fit(JUDGED).run_.drift is None


def test_a_work_folder_belongs_to_the_times_too(tmp_path):
    ranker = AutoRanker(portfolio="ranksvm", work=tmp_path / "work", time_column="week", n_jobs=1)
    ranker.fit(in_weeks())
    with pytest.raises(InputError, match="belongs to a run that differs in data"):
        ranker.fit(in_weeks(shift=1))

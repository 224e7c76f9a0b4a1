"""Mixtures within a number of microseconds."""

from __future__ import annotations

import pytest

from rankwright import AutoRanker, InputError
from rankwright.auto.budget import Prices
from rankwright.data import synthetic

JUDGED = synthetic.RandomPolynomial.draw(1, n_features=6, n_active=3, n_terms=4).sample(12, seed=0, n_documents=8)


@pytest.fixture
def costly_svm(monkeypatch):
    """Let everything but AdaRank alone, a weighted sum of features, take twenty times as long."""
    monkeypatch.setattr(Prices, "of", lambda _self, scorer: 1.0 if scorer.kind == "linear" else 20.0)


def test_a_cheap_entry_is_found_though_a_costly_one_buys_more(costly_svm):
    ranker = AutoRanker(portfolio="ranksvm,adarank", max_microseconds=2, n_jobs=1).fit(JUDGED)
    assert [one.name for one in ranker.run_.kept.mix.entries] == ["AdaRank"]
    assert ranker.run_.frontier[-1].microseconds == 1.0


def test_a_budget_for_no_entry_names_the_cheapest(costly_svm):
    with pytest.raises(InputError, match=r"AdaRank takes 1; max_microseconds=1\.2 would do\."):
        AutoRanker(portfolio="ranksvm,adarank", max_microseconds=0.5, n_jobs=1).fit(JUDGED)

"""Other tools at their current versions, which `make ecosystem` installs; elsewhere these tests do not run."""

from importlib.util import find_spec

import pytest

import rankwright as rw

NEEDED = ("mlflow", "duckdb", "daft", "ibis", "ranx", "pyterrier", "optuna_dashboard")
collect_ignore_glob = [] if all(map(find_spec, NEEDED)) else ["test_*"]


@pytest.fixture(scope="session")
def judged():
    """Return judged documents with names of features."""
    data = rw.synthetic.polynomial_queries(40, n_documents=20, n_features=6, n_active=4, seed=1)
    names = [f"feature {number}" for number in range(6)]
    return rw.RankingData(data.X, data.y, [f"q{qid}" for qid in data.qid], feature_names=names)


@pytest.fixture(scope="session")
def ranker(judged):
    return rw.LambdaMART("ndcg@10", rounds=20).fit(judged)

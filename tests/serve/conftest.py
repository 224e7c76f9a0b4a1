import pytest

import rankwright as rw
from serve.asking import client, small_model


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Models to serve; tests only read them."""
    folder = tmp_path_factory.mktemp("served")
    rw.save(small_model(), folder / "ranker.rw")
    rw.save(small_model(1), folder / "other.rw")
    rw.save(small_model(2, names=None), folder / "unnamed.rw")
    rw.save(small_model(3, query_features=("rank",)), folder / "relative.rw")
    return folder


@pytest.fixture(scope="session")
def ranker(folder):
    return rw.load(folder / "ranker.rw")


@pytest.fixture(scope="session")
def asked(folder):
    """A service of one model, which tests only ask."""
    return client(folder / "ranker.rw")

import numpy as np
import pandas as pd
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


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """A model of a category and a number."""
    frame = pd.DataFrame({"qid": np.repeat(range(20), 5), "colour": ["red", "blue", "red", None, "blue"] * 20})
    frame["size"] = np.arange(100.0) / 2
    frame["label"] = (frame["colour"] == "red").astype(int)
    model = rw.LambdaMART(rounds=3, max_leaves=4, min_documents=2).fit(
        rw.from_pandas(frame, categorical=["colour"])
    )
    path = tmp_path_factory.mktemp("shop") / "shop.rw"
    rw.save(model, path)
    return path

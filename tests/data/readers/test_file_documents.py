"""Scoring files in blocks gives the bytes of scoring documents in memory."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import rankwright as rw
from rankwright.base import resources
from rankwright.cli.app import main
from rankwright.data.readers import blocks


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "FIRST_DOCUMENTS", 30)
    monkeypatch.setattr(blocks, "BLOCK_VALUES", 150)


def judged(seed=0):
    data = rw.synthetic.polynomial_queries(40, n_documents=9, n_features=6, n_active=4, seed=seed)
    names = [f"d{row}" for row in range(len(data))]
    return rw.RankingData(data.X, data.y, data.qid, document_ids=names)


def frame(data):
    table = pd.DataFrame(data.X, columns=[f"f{number}" for number in range(data.X.shape[1])])
    table["brand"] = [f"b{row % 17}" for row in range(len(table))]
    return table.assign(label=data.y, qid=data.qid, docid=data.document_ids)


@pytest.fixture(params=["letor", "csv", "parquet"])
def stored(request, tmp_path):
    """A model, its test documents in memory, and the path of their files."""
    data = judged()
    if request.param == "letor":
        rw.write_letor(data, tmp_path / "test.txt")
        path = tmp_path / "test.txt"
        documents = rw.read_letor(path)
        return rw.LambdaMART(rounds=5, query_features="zscore").fit(documents).model_, documents, path
    table = frame(data)
    train = rw.from_pandas(table, categorical=["brand"])
    model = rw.LambdaMART(rounds=5).fit(train).model_
    for part, rows in enumerate(np.array_split(np.arange(len(table)), 3)):
        if request.param == "csv":
            table.iloc[rows].to_csv(tmp_path / f"part-{part}.csv", index=False)
        else:
            table.iloc[rows].to_parquet(tmp_path / f"part-{part}.parquet", row_group_size=50)
    return model, train, tmp_path / f"part-*.{request.param}"


def test_scores_ranks_and_values_are_those_of_memory(stored):
    model, documents, path = stored
    files = rw.FileDocuments(path)
    assert files.predict(model).tobytes() == model.predict(documents).tobytes()
    assert files.rank(model).tobytes() == model.rank(documents).tobytes()
    assert rw.evaluate(model, files).to_dict() == rw.evaluate(model, documents).to_dict()


def test_the_command_line_prints_the_same_bytes(stored, tmp_path, monkeypatch, capsys):
    model, _, path = stored
    if path.suffix != ".txt":
        path = next(iter(sorted(tmp_path.glob(path.name))))
    rw.save(model, tmp_path / "model.rw")
    printed = []
    for memory in (1 << 40, 1):
        monkeypatch.setattr(resources, "available_memory", lambda size=memory: size)
        for verb in ("predict", "rank", "evaluate"):
            monkeypatch.setattr(sys, "argv", ["rankwright", verb, str(tmp_path / "model.rw"), "--data", str(path)])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_scattered_query_is_refused_by_a_model_that_needs_whole_ones(tmp_path):
    data = judged()
    model = rw.LambdaMART(rounds=3, query_features="zscore").fit(data).model_
    rw.write_letor(data.take(np.append(np.arange(1, len(data)), 0)), tmp_path / "test.txt")
    with pytest.raises(rw.InputError, match=r"The documents of query 0 are not one after the other"):
        rw.FileDocuments(tmp_path / "test.txt").predict(model)


def test_a_model_of_another_library_is_refused(tmp_path):
    class Foreign:
        def predict(self, X):
            return X[:, 0]

    rw.write_letor(judged(), tmp_path / "test.txt")
    with pytest.raises(rw.InputError, match="cannot score files in blocks"):
        rw.evaluate({"theirs": Foreign()}, rw.FileDocuments(tmp_path / "test.txt"))


@pytest.mark.slow
def test_memory_is_limited_by_the_blocks(tmp_path):
    n_rows, n_features = 60_000, 400  # 96 MB as features
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_features)).astype(np.float32)
    table = pd.DataFrame(X, columns=[f"f{number}" for number in range(n_features)])
    table = table.assign(label=random.integers(0, 3, n_rows), qid=np.arange(n_rows) // 20)
    table.to_parquet(tmp_path / "test.parquet", row_group_size=5_000)
    small = rw.from_pandas(table.iloc[:2_000])
    rw.save(rw.LambdaMART(rounds=3).fit(small), tmp_path / "model.rw")
    code = (
        "import resource, sys, rankwright as rw\n"
        "model = rw.load('model.rw')\n"
        "import pyarrow.parquet\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(len(rw.FileDocuments('test.parquet').predict(model)))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    n_scores, kilobytes = map(int, run.stdout.split())
    assert n_scores == n_rows
    assert kilobytes < 85 << 10  # some blocks of 16 MB

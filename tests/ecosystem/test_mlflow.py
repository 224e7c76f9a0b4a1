"""MLflow: models logged to a tracking server, loaded, served and evaluated give the same scores."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from socket import socket

import mlflow
import numpy as np
import pandas as pd
import pytest

import rankwright as rw
import rankwright.mlflow
from rankwright.models import model_file

ROLES = {"label": "grade", "qid": "query"}


def free_port():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def with_commands():
    """Return the environment, in which MLflow finds the commands that are installed beside it."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def wait_for(url, process):
    for _ in range(600):
        assert process.poll() is None, "the server has ended"
        try:
            with urllib.request.urlopen(url, timeout=1) as answer:
                return answer.status
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(f"{url} does not answer")


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start a tracking server of its own on loopback."""
    folder, port = tmp_path_factory.mktemp("mlflow"), free_port()
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--workers",
        "1",
    ]
    command += [
        "--backend-store-uri",
        f"sqlite:///{folder}/runs.db",
        "--artifacts-destination",
        str(folder / "files"),
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, env=with_commands())
    try:
        wait_for(f"http://127.0.0.1:{port}/health", process)
        mlflow.set_tracking_uri(f"http://127.0.0.1:{port}")
        mlflow.set_experiment("ranking")
        yield folder
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(scope="session")
def frame(judged):
    return pd.DataFrame(judged.X, columns=list(judged.feature_names)).assign(qid=judged.qid, label=judged.y)


@pytest.fixture(scope="session")
def logged(server, ranker, frame):
    with mlflow.start_run():
        example = frame.drop(columns=["qid", "label"]).head(3)
        return rankwright.mlflow.log_model(ranker, "ranker", input_example=example, registered_model_name="shop")


def test_a_logged_model_is_loaded_with_the_same_bytes(logged, ranker):
    for uri in (logged.model_uri, "models:/shop/1"):
        assert model_file.encode(rankwright.mlflow.load_model(uri)) == model_file.encode(ranker.model_)


def test_nothing_that_is_logged_is_a_pickle(logged):
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=logged.model_uri))
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    assert "model.rw" in files
    assert not [name for name in files if name.endswith((".pkl", ".pickle", ".joblib"))]


def test_the_function_gives_the_same_scores(logged, ranker, judged, frame):
    function = mlflow.pyfunc.load_model(logged.model_uri)
    np.testing.assert_array_equal(function.predict(frame), ranker.predict(judged))
    shuffled = frame[[*frame.columns[::-1]]]
    np.testing.assert_array_equal(function.predict(shuffled), ranker.predict(judged))
    names = [column.name for column in function.metadata.signature.inputs]
    assert names == [*judged.feature_names, "qid"]
    assert function.metadata.load_input_example(str(function_folder(logged))).shape == (3, 6)


def function_folder(logged):
    return mlflow.artifacts.download_artifacts(artifact_uri=logged.model_uri)


def test_a_model_that_needs_queries_gets_them(server, judged, frame):
    ranker = rw.LambdaMART("ndcg@10", rounds=5, query_features=["zscore"]).fit(judged)
    function = mlflow.pyfunc.load_model(rankwright.mlflow.log_model(ranker, "relative").model_uri)
    np.testing.assert_array_equal(function.predict(frame), ranker.predict(judged))


def test_categories_are_served_as_text(server):
    columns = {
        "query": ["a"] * 30 + ["b"] * 30,
        "grade": [2, 0, 1] * 20,
        "brand": ["x", "y", "z"] * 20,
        "price": [1.5, 2] * 30,
    }
    documents = rw.from_pandas(pd.DataFrame(columns), categorical=["brand"], **ROLES)
    ranker = rw.LambdaMART(rounds=5).fit(documents)
    function = mlflow.pyfunc.load_model(rankwright.mlflow.log_model(ranker, "categories").model_uri)
    frame = pd.DataFrame({"brand": columns["brand"], "price": columns["price"]})
    np.testing.assert_array_equal(function.predict(frame), ranker.predict(documents))


def test_a_matrix_does_for_a_model_without_names(server):
    data = rw.synthetic.gaussian_queries(5)
    ranker = rw.AdaRank().fit(data)
    function = mlflow.pyfunc.load_model(rankwright.mlflow.log_model(ranker, "matrix").model_uri)
    np.testing.assert_array_equal(function.predict(data.X.astype(np.float64)), ranker.predict(data))


def test_a_served_model_answers_with_the_same_scores(logged, ranker, judged, frame, tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--env-manager", "local", "--host", "127.0.0.1"]
    command += ["--model-uri", function_folder(logged), "--port", str(port), "--workers", "1"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=with_commands())
    try:
        wait_for(f"http://127.0.0.1:{port}/ping", process)
        body = json.dumps({"dataframe_split": frame.head(20).drop(columns="label").to_dict("split")}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/invocations", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            scores = json.load(answer)["predictions"]
        np.testing.assert_array_equal(scores, ranker.predict(judged)[:20])
    finally:
        process.terminate()
        process.wait(30)


def test_fits_are_logged(server, judged):
    rankwright.mlflow.autolog()
    try:
        with mlflow.start_run() as run:
            ranker = rw.LambdaMART("ndcg@10", rounds=4, learning_rate=0.2).fit(judged, validation=judged)
    finally:
        rankwright.mlflow.autolog(disable=True)
    client = mlflow.MlflowClient()
    data = client.get_run(run.info.run_id).data
    assert data.params["ranker"] == "lambdamart"
    assert (data.params["rounds"], data.params["learning_rate"]) == ("4", "0.2")
    curve = client.get_metric_history(run.info.run_id, "validation ndcg at 10")
    np.testing.assert_allclose(
        [point.value for point in sorted(curve, key=lambda each: each.step)], ranker.history_.validation
    )
    assert "fit.html" in [file.path for file in client.list_artifacts(run.info.run_id)]
    (model,) = mlflow.search_logged_models(
        output_format="list", filter_string=f"source_run_id = '{run.info.run_id}'"
    )
    loaded = rankwright.mlflow.load_model(f"models:/{model.model_id}")
    np.testing.assert_array_equal(loaded.predict(judged), ranker.predict(judged))
    rw.LambdaMART(rounds=1).fit(judged)  # not logged
    assert client.get_run(run.info.run_id).data.params == data.params


def test_the_estimate_of_autoranker_is_logged_and_its_members_are_not_runs(server, judged):
    mlflow.set_experiment("auto")
    rankwright.mlflow.autolog(log_models=False)
    try:
        portfolio = [rw.RankSVM(), rw.LambdaMART("ndcg@10", rounds=5)]
        ranker = rw.AutoRanker("ndcg@10", portfolio=portfolio).fit(judged)
    finally:
        rankwright.mlflow.autolog(disable=True)
    (run,) = mlflow.search_runs(experiment_names=["auto"], output_format="list")
    mlflow.set_experiment("ranking")
    assert run.data.metrics["expected ndcg at 10"] == pytest.approx(ranker.estimate_.value)
    assert run.data.metrics["expected low ndcg at 10"] == pytest.approx(ranker.estimate_.interval[0])
    assert "fit.html" in [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)]


def test_rankers_are_evaluated(logged, ranker, judged, frame):
    with mlflow.start_run() as run:
        renamed = frame.rename(columns={"qid": "query"})
        config = {"qid": "query", "metrics": ["ndcg@5", "map"]}
        options = {"targets": "label", "model_type": "ranker", "evaluators": "ranker", "evaluator_config": config}
        result = mlflow.models.evaluate(logged.model_uri, renamed, **options)
    report = rw.evaluate({"model": ranker}, judged, metrics=["ndcg@5", "map"])
    assert result.metrics == {"ndcg at 5": report.mean("model", "ndcg@5"), "map": report.mean("model", "map")}
    assert result.artifacts["queries"].content == report.to_dict()
    files = [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)]
    assert {"queries.json", "ranking.html"} <= set(files)


def test_predictions_are_evaluated_without_a_model(server, ranker, judged, frame):
    scored = frame.assign(score=ranker.predict(judged))
    with mlflow.start_run():
        options = {"targets": "label", "predictions": "score", "model_type": "ranker", "evaluators": "ranker"}
        result = mlflow.models.evaluate(data=scored, **options)
    assert result.metrics["ndcg at 10"] == rw.evaluate({"model": ranker}, judged, metrics="ndcg@10").mean(
        "model", "ndcg@10"
    )


def test_mistakes_are_one_sentence(logged, server, tmp_path, frame, ranker):
    mlflow.pyfunc.save_model(tmp_path / "other", loader_module="json", pip_requirements=[])
    with pytest.raises(rw.InputError, match=r"holds no model of rankwright, but of python_function\.$"):
        rankwright.mlflow.load_model(str(tmp_path / "other"))
    with pytest.raises(rw.InputError, match=r"^MLflow takes a scorer or a fitted ranker, not this LambdaMART\.$"):
        rankwright.mlflow.log_model(rw.LambdaMART())
    options = {"targets": "label", "model_type": "ranker", "evaluators": "ranker"}
    with pytest.raises(rw.InputError, match=r"^There is no column 'qid'"), mlflow.start_run():
        mlflow.models.evaluate(logged.model_uri, frame.drop(columns="qid"), **options)


def test_a_model_of_a_later_version_is_refused_in_one_sentence(ranker, tmp_path):
    rankwright.mlflow.save_model(ranker, str(tmp_path / "model"))
    (file,) = (tmp_path / "model").rglob("model.rw")
    content = bytearray(file.read_bytes())
    content[len(model_file.MAGIC)] = 99
    file.write_bytes(content)
    for load in (rankwright.mlflow.load_model, mlflow.pyfunc.load_model):
        with pytest.raises(rw.InputError) as error:
            load(str(tmp_path / "model"))
        sentence = (
            "was made by a later version of rankwright: it has format 99, this version reads up to format 4."
        )
        assert str(error.value).endswith(sentence)
        assert "\n" not in str(error.value)


def test_without_mlflow_a_sentence_says_what_to_install():
    code = "import importlib.util as util; util.find_spec = lambda name: None; import rankwright.mlflow"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.stderr.splitlines()[-1].endswith(
        "MissingPackageError: rankwright.mlflow needs MLflow: pip install 'rankwright[mlflow]'."
    )

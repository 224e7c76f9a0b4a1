"""Files in service: loaded again when they change, kept as they were if the new ones cannot be used; tokens."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

import rankwright as rw
from serve.asking import X, client, small_model

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
from rankwright.base.errors import InputError
from rankwright.serve.models.file_watcher import Watcher
from rankwright.serve.settings import ModelSource

ROWS = X.astype(float).tolist()
TOKEN = "0123456789abcdef-first"
HEALTH = ("/health/live", "/health/ready", "/v2/health/live", "/v2/health/ready", "/ping")


def scores(asked):
    return asked.post("/score", {"features": ROWS}).json["scores"]


async def _look(watcher, rounds):
    watching = asyncio.create_task(watcher.run())
    for _ in range(rounds):
        await asyncio.sleep(0.03)
    watching.cancel()


def look(asked, watcher=None, rounds=4):
    """Let the service look at its files a few times."""
    asyncio.run(_look(watcher or Watcher(asked.service), rounds))


@pytest.fixture
def path(folder, tmp_path):
    return shutil.copy(folder / "ranker.rw", tmp_path / "ranker.rw")


def test_a_changed_file_is_put_in_service(path, folder, capsys):
    asked = client(path, reload=0.01)
    watcher = Watcher(asked.service)
    before = scores(asked)
    Path(shutil.copy(folder / "other.rw", f"{path}.new")).replace(path)
    look(asked, watcher)
    assert scores(asked) == rw.load(folder / "other.rw").predict(X).tolist() != before
    assert '"event":"reload","file":"ranker@1","loaded":' in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"no model", None, "features", "cut"])
def test_a_bad_file_leaves_the_old_model(path, folder, tmp_path, content, capsys):
    asked = client(path, reload=0.01)
    watcher = Watcher(asked.service)
    before = scores(asked)
    if content is None:
        path.unlink()
    elif content == "features":
        rw.save(small_model(names=("a", "b", "c", "d")), path)
    else:
        path.write_bytes(path.read_bytes()[:-9] if content == "cut" else content)
    look(asked, watcher)
    assert scores(asked) == before
    (facts,) = asked.get("/models").json["models"]
    assert str(path) in facts["problem"]
    failures = [json.loads(line) for line in capsys.readouterr().err.splitlines() if '"reload"' in line]
    assert len(failures) == 1  # not again at every look
    assert failures[0]["problem"] == facts["problem"]
    shutil.copy(folder / "other.rw", path)
    look(asked, watcher)
    assert scores(asked) != before
    assert asked.get("/models").json["models"][0]["problem"] is None


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("bm25", "clicks", "year", "price"), "(with 'year', without 'age')"),
        (("clicks", "bm25", "age", "price"), "(the same in another order)"),
        (None, "(4 without names, not 4)"),
    ],
)
def test_other_features_of_a_new_file_are_named(path, names, words):
    asked = client(path, reload=0.01)
    watcher = Watcher(asked.service)
    rw.save(small_model(names=names), path)
    look(asked, watcher)
    (facts,) = asked.get("/models").json["models"]
    assert f"{path} has other features than the model in service {words}; serve it" in facts["problem"]


def test_everything_is_loaded_again_when_asked(path, folder, monkeypatch):
    asked = client(path, reload=0)

    async def reload():
        watcher = Watcher(asked.service)
        shutil.copy(folder / "other.rw", path)
        await watcher.run()  # ends at once: files are not looked at
        watcher.reload_all()
        await asyncio.gather(*watcher._asked)

    asyncio.run(reload())
    assert scores(asked) == rw.load(folder / "other.rw").predict(X).tolist()


def test_a_file_replaced_while_it_is_loaded_is_loaded_again(path, folder, monkeypatch):
    from rankwright.serve.models import loaded_models as models

    calls = []

    def replacing(given):
        scorer = rw.load(given)
        if not calls:
            Path(shutil.copy(folder / "other.rw", f"{path}.new")).replace(path)
        calls.append(given)
        return scorer

    monkeypatch.setattr(models, "load", replacing)
    served = models.load_model(ModelSource.parse(str(path)))
    assert len(calls) == 2
    assert served.revision == models._revision(folder / "other.rw")


@pytest.mark.parametrize(
    "path_and_query", ["/rank", "/models", "/metrics", "/", "/openapi.json", "/v2", "/nothing", "/v2/models/x"]
)
@pytest.mark.parametrize("given", [None, "Bearer", "Bearer wrong", "Basic 0123456789abcdef-first", TOKEN])
def test_without_a_token_nothing_but_health_answers(protected, path_and_query, given):
    headers = {} if given is None else {"authorization": given}
    for method in ("GET", "POST", "DELETE"):
        answer = protected.ask(method, path_and_query, b"x", headers)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "ranker" not in answer.body.decode()


@pytest.fixture(scope="module")
def protected(folder, tmp_path_factory):
    tokens = tmp_path_factory.mktemp("tokens") / "tokens.txt"
    tokens.write_text(f"# ours\n\n{TOKEN}\n0123456789abcdef-second\n")
    return client(folder / "ranker.rw", tokens=tokens)


def test_a_token_opens_everything_and_health_needs_none(protected):
    headers = {"authorization": f"bearer {TOKEN}"}
    assert protected.post("/rank", {"features": ROWS}, headers=headers).status == 200
    assert protected.get("/metrics", headers=headers).status == 200
    assert [protected.get(path).status for path in HEALTH] == [200] * 5


def test_tokens_are_read_again(folder, tmp_path):
    tokens = tmp_path / "tokens.txt"
    tokens.write_text(f"{TOKEN}\n")
    asked = client(folder / "ranker.rw", tokens=tokens, reload=0.01)
    watcher = Watcher(asked.service)
    headers = {"authorization": f"Bearer {TOKEN}"}
    assert asked.get("/models", headers=headers).status == 200
    tokens.write_text("short\n")
    look(asked, watcher)
    assert asked.get("/models", headers=headers).status == 200  # a bad file changes nothing
    tokens.write_text("another token is no token\n".replace(" ", "-"))
    look(asked, watcher)
    assert asked.get("/models", headers=headers).status == 401


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no token"),
        ("# nothing\n", "holds no token"),
        ("short\n", "at least 16"),
        ("two words of it\n", "16"),
    ],
)
def test_a_file_of_tokens_must_hold_some(folder, tmp_path, text, words):
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(InputError, match=words):
        client(folder / "ranker.rw", tokens=tmp_path / "tokens")


@pytest.mark.parametrize(
    ("text", "name", "version", "path"),
    [
        ("model.rw", "model", "1", "model.rw"),
        ("/a/b/model.v2.rw", "model", "1", "/a/b/model.v2.rw"),
        ("x=/a/b.rw", "x", "1", "/a/b.rw"),
        ("x@2024-01=b.rw", "x", "2024-01", "b.rw"),
        ("x=a=b.rw", "x", "1", "a=b.rw"),
    ],
)
def test_sources_are_named(text, name, version, path):
    source = ModelSource.parse(text)
    assert (source.name, source.version, str(source.path)) == (name, version, path)


@pytest.mark.parametrize("text", ["", ".rw", "über.rw", "a b.rw"])
def test_a_name_must_fit_into_an_address(text):
    with pytest.raises(InputError, match="give NAME="):
        ModelSource.parse(text)


def test_a_residual_model_is_refused(folder, tmp_path):
    base = small_model()
    start = rw.load(folder / "other.rw")
    data = rw.RankingData(X, [0, 1, 0, 1, 0, 1, 1], [1] * 7, feature_names=base.feature_names)
    ranker = rw.LambdaMART(rounds=2, max_leaves=2, min_documents=1).fit(data, start=start.predict(X))
    if not ranker.model_.needs_init_score:
        pytest.fail("this test needs a residual model")
    rw.save(ranker, tmp_path / "residual.rw")
    with pytest.raises(InputError, match="needs init_score"):
        client(tmp_path / "residual.rw")

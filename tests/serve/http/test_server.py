"""The service as a process: signals, connections, several processes, and what stops it from starting."""

import asyncio
import io
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from serve.asking import X
from serve.http_client import Connection, LostError, ask, written
from serve.service_process import serving

pytest.importorskip("uvicorn", reason="rankwright[serve] is not installed")
ROWS = X.astype(float).tolist()
SCORE = written("POST", "/score", json.dumps({"features": ROWS}).encode())
LIVE = written("GET", "/health/live")
CHUNK = (
    b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"
)


def ask_at_once(port, requests):
    async def all_at_once():
        connections = [Connection(port) for _ in requests]
        pairs = zip(connections, requests, strict=True)
        replies = await asyncio.gather(*(connection.ask(request) for connection, request in pairs))
        for connection in connections:
            await connection.close()
        return replies

    return asyncio.run(all_at_once())


async def keep_asking(port, answers, lost):
    """Ask until the port is closed."""
    connection = Connection(port)
    while True:
        try:
            answers.append((await connection.ask(SCORE)).json["scores"])
        except (ConnectionRefusedError, ConnectionResetError):  # while connecting: nothing was sent
            return
        except LostError as error:
            lost.append(str(error))


@pytest.fixture(scope="module")
def service(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("service")
    shutil.copy(folder / "ranker.rw", place / "ranker.rw")
    with serving(place / "log", place / "ranker.rw", "--reload", 0, "--timeout", 1, "--max-body", 1) as service:
        yield service


def test_a_request_over_the_network_is_answered(service, ranker):
    reply = ask(service.port, SCORE)
    assert reply.json["scores"] == ranker.predict(X).tolist()
    assert "server" not in reply.headers


def test_an_answer_is_one_packet_if_a_body_follows_its_head(service):
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(LIVE)
        head, _, body = connection.recv(10_000).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        assert body == b'{"status":"live"}'
        connection.sendall(written("HEAD", "/health/live"))
        assert connection.recv(10_000).endswith(b"\r\n\r\n")
        head, _, body = written(
            "POST", "/score", SCORE.partition(b"\r\n\r\n")[2], expect="100-continue"
        ).partition(b"\r\n\r\n")
        connection.sendall(head + b"\r\n\r\n")
        assert connection.recv(10_000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(10_000).startswith(b"HTTP/1.1 200")


def test_sighup_loads_the_files_again(service, folder, ranker):
    path = service.log.parent / "ranker.rw"
    path.write_bytes(b"no model")
    service.reload()
    assert "is not a model" in service.wait_for("reload")["problem"]
    assert ask(service.port, SCORE).json["scores"] == ranker.predict(X).tolist()
    shutil.copy(folder / "other.rw", path)
    service.reload()
    assert "problem" not in service.wait_for("reload", 2)
    assert ask(service.port, SCORE).json["scores"] == rw.load(folder / "other.rw").predict(X).tolist()
    shutil.copy(folder / "ranker.rw", path)
    service.reload()
    service.wait_for("reload", 3)


def test_clients_that_send_nothing_half_or_too_much_are_let_go(service):
    async def sent(content):
        connection = Connection(service.port)
        await connection.open()
        connection.writer.write(content)
        answer = await asyncio.wait_for(connection.reader.read(), 30)
        await connection.close()
        return answer

    async def all_at_once():
        bad = (b"", b"GET / HT", b"GET / HTTP/1.1\r\nx: " + b"y" * 100_000, SCORE[:-10])
        bad += (b"nonsense\r\n\r\n", CHUNK + b"zz\r\n")
        return await asyncio.gather(*map(sent, bad))

    nothing, half, header, body, nonsense, chunk = asyncio.run(all_at_once())
    assert nothing == b""
    assert half.startswith(b"HTTP/1.1 408 ")
    assert header.startswith(b"HTTP/1.1 400 ")
    assert body.startswith(b"HTTP/1.1 408 ")
    assert nonsense.startswith(b"HTTP/1.1 400 ")
    assert chunk.startswith(b"HTTP/1.1 400 ")
    for refused in (half, header, body, nonsense, chunk):
        sentence = json.loads(refused.partition(b"\r\n\r\n")[2])
        assert sorted(sentence) == ["error", "request_id"]
    assert ask(service.port, LIVE).status == 200


def sent_until_refused(service, head, block, most=64 << 20):
    """Send a block again and again; return the answer, which must come before `most` bytes are sent."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head)
        n_sent = 0
        with suppress(ConnectionError):
            while n_sent < most:
                connection.sendall(block)
                n_sent += len(block)
        assert n_sent < most
        answer = b""
        with suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                answer += part
    return answer


@pytest.mark.parametrize("block", [b"a: b\r\n" * 10_000, b"a" * 60_000], ids=["many", "one"])
def test_trailers_are_limited_as_headers_are(service, block):
    memory = resident_mebibytes(service)
    answer = sent_until_refused(service, CHUNK + b"0\r\n", block)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Headers must not have more than 65,536 bytes" in answer
    assert resident_mebibytes(service) < memory + 16


def resident_mebibytes(service):
    return int(Path(f"/proc/{service.pid}/status").read_text().split("VmRSS:")[1].split()[0]) / 1024


def test_trailers_are_dropped(service):
    """Those of a request that waits for another would otherwise become its headers."""

    async def answers():
        connection = Connection(service.port)
        await connection.open()
        connection.writer.write(SCORE + CHUNK + b"0\r\nx-request-id: from-a-trailer\r\n\r\n")
        replies = [await connection.reply(), await connection.reply()]
        await connection.close()
        return replies

    first, second = asyncio.run(answers())
    assert (first.status, second.status) == (200, 400)
    assert second.headers["x-request-id"] != "from-a-trailer"


@pytest.mark.parametrize("after", [b"", SCORE], ids=["alone", "after another request"])
def test_headers_are_limited_however_they_arrive(service, after):
    many = b"".join(b"h%04d: 12345\r\n" % number for number in range(5_000))
    assert len(many) == 70_000
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(after + b"GET /health/live HTTP/1.1\r\n" + many + b"\r\n")
        answer = b""
        with suppress(ConnectionError):
            while part := connection.recv(1 << 16):
                answer += part
    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == ([b"200"] if after else [b"400"])


def test_a_long_header_may_arrive_in_parts(service):
    async def answer():
        connection = Connection(service.port)
        await connection.open()
        for part in (LIVE[:-2] + b"x: ", *[b"y" * 15_000] * 4, b"\r\n\r\n"):
            connection.writer.write(part)
            await asyncio.sleep(0.02)
        reply = await connection.reply()
        await connection.close()
        return reply

    assert asyncio.run(answer()).status == 200


@pytest.mark.parametrize(
    ("request_of", "status"),
    [(lambda body: written("POST", "/nothing", body), 404), (lambda body: written("GET", "/models", body), 200)],
)
def test_an_answer_that_leaves_a_body_unread_closes_the_connection(service, request_of, status):
    whole = ask(service.port, request_of(b"x" * 1000))
    assert (whole.status, whole.closes) == (status, False)
    partial = ask(service.port, request_of(b"x" * 1000)[:-1])
    assert (partial.status, partial.closes) == (status, True)


def test_other_names_are_refused_without_tokens_at_a_loopback_address(service):
    """A browser sends them if a page's name was made to resolve to this machine."""
    for host in ("localhost", f"127.0.0.1:{service.port}", "[::1]", "LocalHost:1"):
        assert ask(service.port, written("GET", "/models", host=host)).status == 200
    for host in ("evil.example", f"evil.example:{service.port}", "localhost.evil.example", ""):
        reply = ask(service.port, written("GET", "/models", host=host))
        assert (reply.status, "--allow-host" in reply.json["error"]) == (421, True)


def test_requests_that_follow_each_other_without_waiting_are_answered_in_turn(service):
    async def answers(content, rest):
        connection = Connection(service.port)
        await connection.open()
        connection.writer.write(content)
        await asyncio.sleep(0.2)
        connection.writer.write(rest)
        replies = [await connection.reply(), await connection.reply()]
        await connection.close()
        return [reply.status for reply in replies]

    long = written("POST", "/score", b" " * 400_000 + json.dumps({"features": ROWS}).encode())
    for cut in (0, 20, len(LIVE)):  # the second begins in the same packet as the end of the first
        assert asyncio.run(answers(long + LIVE[:cut], LIVE[cut:])) == [200, 200]


@pytest.mark.parametrize("nonsense", [b"no HTTP\r\n\r\n", CHUNK + b"zz\r\n"])
def test_nonsense_after_a_request_does_not_spoil_its_answer(service, nonsense):
    async def answer():
        connection = Connection(service.port)
        await connection.open()
        connection.writer.write(SCORE + nonsense)
        return await connection.reply()

    reply = asyncio.run(answer())
    assert (reply.status, reply.closes) == (200, True)


@pytest.mark.parametrize("goes", [True, False])
def test_a_client_that_does_not_take_its_answers_is_let_go(service, goes):
    body = io.BytesIO()
    np.save(body, np.zeros((10_000, 4), np.float32))
    request = written("POST", "/rank", body.getvalue(), content_type="application/x-npy")
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.settimeout(0.5 if goes else 10)
        with suppress(OSError):
            for _ in range(40):
                client.sendall(request)
        if not goes:
            time.sleep(2.5)  # longer than the timeout of the service
            with suppress(ConnectionError):
                while client.recv(1 << 20):  # ends, though 40 answers would leave the connection open
                    pass
    assert ask(service.port, LIVE).status == 200
    assert not [one for one in service.events("server") if one["level"] == "error"]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_commands_of_the_documentation_send_json(service):
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text()
    commands = re.findall(r"^\$ (curl localhost:8000/.*)$", page, re.MULTILINE)
    sent = [shlex.split(one.replace(":8000", f":{service.port}")) for one in commands if "{" in one]
    assert len(sent) == 2
    for words in sent:
        answer = json.loads(subprocess.run([*words, "--silent"], capture_output=True, check=True).stdout)
        assert "features" in answer["error"] or "impression" in answer["error"]  # it has been read


def test_a_body_over_the_limit_is_refused_over_the_network(service):
    reply = ask(service.port, written("POST", "/rank", b"x" * 3_000_000))
    assert reply.status == 413


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_loses_nothing(folder, tmp_path, ranker, workers):
    async def load_and_stop(service):
        answers, lost = [], []
        clients = [asyncio.create_task(keep_asking(service.port, answers, lost)) for _ in range(8)]
        await asyncio.sleep(0.5)
        service.terminate()
        await asyncio.to_thread(service.wait_for, "stopping")
        await asyncio.sleep(0.1)  # until all processes have said so
        replies = [await Connection(service.port).ask(written("GET", path)) for path in ("/ping", "/health/live")]
        await asyncio.gather(*clients)
        return answers, lost, replies

    words = ("--workers", workers, "--grace", 0.5, "--log-problems")
    with serving(tmp_path / "log", folder / "ranker.rw", *words) as service:
        service.wait_for("ready", workers)
        answers, lost, (ready, live) = asyncio.run(load_and_stop(service))
        assert service.process.wait(30) == 0
    assert lost == []
    assert len(answers) > 20
    assert all(one == ranker.predict(X).tolist() for one in answers)
    assert (ready.status, live.status, live.closes) == (503, 200, True)
    assert len(service.events("stopped")) == workers


@pytest.mark.slow
def test_several_processes_count_together(folder, tmp_path):
    words = (folder / "ranker.rw", folder / "other.rw", "--interleave", "other", "--workers", 2, "--grace", 0.1)
    with serving(tmp_path / "log", *words) as service:
        service.wait_for("ready", 2)
        rank = written("POST", "/rank", json.dumps({"features": ROWS}).encode())
        for _ in range(10):
            impression = ask(service.port, rank).json["impression"]
            clicks = json.dumps({"impression": impression, "ranks": [1]}).encode()
            replies = ask_at_once(service.port, [written("POST", "/clicks", clicks)] * 4)
            assert sorted(reply.json["counted"] for reply in replies) == [False, False, False, True]
        (pair,) = ask(service.port, written("GET", "/interleaving")).json["pairs"]
        assert (pair["impressions"], pair["reported"]) == (10, 10)
        assert pair["clicks_first"] + pair["clicks_second"] == pair["wins_first"] + pair["wins_second"] == 10
        assert (
            b'rankwright_requests_total{route="POST /rank",status="200"} 10.0'
            in ask(service.port, written("GET", "/metrics")).body
        )
        assert len(service.events("listening")) == 1
        assert service.end() == 0
        assert len(service.events("stopped")) == 2


def test_hosts_and_the_fraction_of_interleaving_are_options(folder, tmp_path):
    words = ("--interleave", "other", "--interleave-fraction", 0, "--allow-host", "Shop.example", "--grace", 0)
    rank = json.dumps({"features": ROWS}).encode()
    with serving(tmp_path / "log", folder / "ranker.rw", folder / "other.rw", *words) as service:
        allowed = ask(service.port, written("POST", "/rank", rank, host="shop.example:80"))
        assert (allowed.status, "impression" in allowed.json) == (200, False)
        assert ask(service.port, written("POST", "/rank", rank, host="localhost")).status == 200
        assert ask(service.port, written("POST", "/rank", rank, host="other.example")).status == 421


@pytest.mark.slow
def test_a_process_that_replaces_another_has_the_files_of_now(folder, tmp_path):
    path, tokens = shutil.copy(folder / "ranker.rw", tmp_path / "ranker.rw"), tmp_path / "tokens"
    tokens.write_text("the-token-of-before\n")
    words = (path, "--tokens", tokens, "--workers", 2, "--grace", 0, "--reload", 0.1)
    with serving(tmp_path / "log", *words) as service:
        service.wait_for("ready", 2)
        Path(shutil.copy(folder / "other.rw", f"{path}.new")).replace(path)
        tokens.write_text("the-token-of-today\n")
        service.wait_for("reload", 4)  # a model and tokens, in both processes
        for pid in map(int, Path(f"/proc/{service.pid}/task/{service.pid}/children").read_text().split()):
            os.kill(pid, signal.SIGKILL)
        service.wait_for("ready", 4)
        expected = rw.load(folder / "other.rw").predict(X).tolist()
        for _ in range(8):
            assert ask(service.port, with_token(b"the-token-of-today")).json["scores"] == expected
            assert ask(service.port, with_token(b"the-token-of-before")).status == 401
        assert service.end() == 0


@pytest.mark.slow
def test_processes_do_not_outlive_their_parent(folder, tmp_path):
    with serving(tmp_path / "log", folder / "ranker.rw", "--workers", 2, "--grace", 0) as service:
        service.wait_for("ready", 2)
        service.process.kill()
        service.process.wait()
        service.wait_for("stopped", 2)
        with pytest.raises(ConnectionRefusedError):
            ask(service.port, LIVE)


def with_token(token):
    return SCORE.replace(b"\r\n", b"\r\nauthorization: Bearer " + token + b"\r\n", 1)


@pytest.fixture
def refuse(capsys, monkeypatch):
    """Start a service that must not start; return its sentence."""
    from rankwright.cli.app import main

    def run_refused(*words):
        monkeypatch.setattr("sys.argv", ["rankwright", "serve", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        err = capsys.readouterr().err
        assert (end.value.code, err.count("\n")) == (2, 1)
        return err.removeprefix("rankwright: ").rstrip("\n")

    return run_refused


def test_a_port_in_use_is_said(refuse, folder):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        sentence = refuse(folder / "ranker.rw", "--port", port)
    assert sentence == f"Another program listens at port {port} of 127.0.0.1; choose another --port."


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "Give at least one model, --index or --searcher."),
        ("FOLDER/nothing.rw", "There is no file FOLDER/nothing.rw."),
        ("FOLDER", "FOLDER is a folder, not a file."),
        (
            "FOLDER/ranker.rw FOLDER/ranker.rw",
            "Two models are called ranker@1; name them, as in other=FILE or name@2=",
        ),
        ("FOLDER/ranker.rw --shadow nobody", "There is no such model here; there are ranker@1."),
        ("FOLDER/ranker.rw --timeout inf", "--timeout must be"),
        ("FOLDER/ranker.rw --grace inf", "--grace must be"),
        ("FOLDER/ranker.rw --reload nan", "--reload must be"),
        ("--index FOLDER --shadow a", "--shadow needs models."),
        ("FOLDER/ranker.rw --index FOLDER", "FOLDER"),
        ("FOLDER/ranker.rw --tokens FOLDER/tokens", "FOLDER/tokens cannot be read: No such file or directory."),
        ("FOLDER/ranker.rw --host 203.0.113.1", "The service cannot listen at port 0 of 203.0.113.1"),
        (
            "FOLDER/ranker.rw --host not.a.host.invalid",
            "The service cannot listen at port 0 of not.a.host.invalid",
        ),
    ],
)
def test_what_cannot_be_served_is_said_in_a_sentence(refuse, folder, words, sentence):
    given = words.replace("FOLDER", str(folder)).split()
    assert refuse(*given, "--port", 0).startswith(sentence.replace("FOLDER", str(folder)))


def test_missing_packages_are_named(refuse, folder, monkeypatch):
    monkeypatch.setattr("rankwright.cli.verbs.serve.PACKAGES", ("msgspec", "no_such_package"))
    sentence = refuse(folder / "ranker.rw")
    assert sentence == "rankwright serve needs no_such_package: pip install 'rankwright[serve]'."


def test_the_client_of_the_documentation_works(service, ranker):
    page = (Path(__file__).parents[3] / "docs" / "serve.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict = {}
    exec(code, names)
    client = names["Ranker"](port=service.port)
    order = np.argsort(-ranker.predict(X), kind="stable").tolist()
    assert [one["row"] for one in client.rank(ROWS, top=3)] == order[:3]
    assert client.scores(X).tolist() == ranker.predict(X).tolist()
    with pytest.raises(RuntimeError, match="has 4 features"):
        client.rank([[1]])
    client._connection.close()

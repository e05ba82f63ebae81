"""From start to end: loading, readiness, signals, a crash under load, and what the command says."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from serving_cases import ACT, PATIENCE, wait_until

from labelwise import shipped
from labelwise.cli import main
from labelwise.corpus.document import Document
from labelwise.errors import LabelwiseError
from labelwise.methods import Method
from labelwise.methods.base import Scores
from labelwise.serving import connections
from labelwise.serving.limits import Limits
from labelwise.serving.models import Servable, servables
from labelwise.serving.server import Server, set_threads

pytestmark = pytest.mark.xdist_group("serving")


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


@contextmanager
def process(*arguments: object, port: int) -> Iterator[subprocess.Popen[str]]:
    """``labelwise serve`` in a process of its own."""
    command = [sys.executable, "-m", "labelwise", "serve", *map(str, arguments)]
    started = subprocess.Popen(
        [*command, "--port", str(port), "--threads", "1"], stderr=subprocess.PIPE, text=True
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait(PATIENCE)


def ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready").status_code == 200
    except httpx.TransportError:
        return False


class Load:
    """Clients that ask without end, each on its own connection, and count what came back."""

    def __init__(self, port: int, clients: int, patience: float = PATIENCE) -> None:
        self._patience = patience
        self.answers: Counter[str] = Counter()
        self._url = f"http://127.0.0.1:{port}/v1/tag"
        self._end = threading.Event()
        self._threads = [threading.Thread(target=self._ask, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        while not self._end.is_set():
            try:
                answer = httpx.post(self._url, json={"text": ACT, "top": 3}, timeout=self._patience)
            except httpx.ConnectError:
                self.answers["refused"] += 1
                time.sleep(0.02)
            except httpx.TransportError:
                self.answers["cut"] += 1
            else:
                whole = answer.status_code == 200 and len(answer.json()["predictions"]) == 3
                self.answers["whole" if whole else str(answer.status_code)] += 1

    def end(self) -> Counter[str]:
        self._end.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        return self.answers


def test_killed_under_load_it_starts_again_and_answers_the_same(folders: dict[str, Path]) -> None:
    port, bundle = free_port(), folders["exact-match"]
    body = {"text": ACT, "top": 3}
    with process(bundle, port=port) as first:
        wait_until(lambda: ready(port))
        before = httpx.post(f"http://127.0.0.1:{port}/v1/tag", json=body).json()
        load = Load(port, clients=4)
        wait_until(lambda: load.answers["whole"] > 40)
        first.send_signal(signal.SIGKILL)
        first.wait(PATIENCE)
        refused = load.answers["refused"]
        wait_until(lambda: load.answers["refused"] > refused + 40)
        # A client may be cut twice, by a connection that the system took while the process died.
        cut, done = load.answers["cut"], load.answers["whole"]
        with process(bundle, port=port):
            wait_until(lambda: load.answers["whole"] > done + 40)
            answers = load.end()
            after = httpx.post(f"http://127.0.0.1:{port}/v1/tag", json=body).json()
    assert after == before
    # Nothing but whole answers, connections cut by the kill, none to connect to, and "loading".
    assert set(answers) <= {"whole", "cut", "refused", "503"}
    assert answers["cut"] == cut


def test_sigterm_under_load_cuts_nothing_that_was_accepted(folders: dict[str, Path]) -> None:
    port = free_port()
    with process(folders["exact-match"], port=port) as served:
        wait_until(lambda: ready(port))
        load = Load(port, clients=4)
        wait_until(lambda: load.answers["whole"] > 20)
        # Without a network among its models it is there seconds sooner.
        assert "libtorch" not in Path(f"/proc/{served.pid}/maps").read_text()
        served.send_signal(signal.SIGTERM)
        assert served.wait(PATIENCE) == 0
        answers = load.end()
    assert set(answers) <= {"whole", "refused", "cut"}
    # Between the end of listening and the end of the process the system may reset what only it
    # had accepted; what the service began it finished.
    assert answers["cut"] <= 4


class Slow:
    """A method that takes its time."""

    def __init__(self, method: Method) -> None:
        self.method = method
        self.begun = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.method, name)

    def scores(self, documents: Sequence[Document]) -> Scores:
        self.begun.set()
        time.sleep(1)
        return self.method.scores(documents)


def test_an_end_waits_for_the_answers_under_way(fitted: dict[str, Method]) -> None:
    method = Slow(fitted["exact-match"])
    server = Server([Servable("slow", method=method)], port=0)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    wait_until(lambda: httpx.get(f"{server.address}/ready").status_code == 200)
    answers: list[httpx.Response] = []
    asking = threading.Thread(
        target=lambda: answers.append(httpx.post(f"{server.address}/v1/tag", json={"text": ACT}))
    )
    asking.start()
    assert method.begun.wait(PATIENCE)
    server.stop()
    thread.join(PATIENCE)
    asking.join(PATIENCE)
    assert not thread.is_alive()
    assert answers[0].status_code == 200
    assert answers[0].json()["predictions"]


def test_who_has_connected_when_the_end_comes_may_still_ask(
    fitted: dict[str, Method], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "UNASKED", PATIENCE)
    server = Server([Servable("model", method=fitted["exact-match"])], port=0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    wait_until(lambda: httpx.get(f"{server.address}/ready").status_code == 200)
    held = server._uvicorn.server_state.connections
    wait_until(lambda: not held)
    host, _, port = server.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), PATIENCE) as made:
        wait_until(lambda: bool(held))
        server.stop()
        wait_until(lambda: not server._uvicorn.servers[0].is_serving())
        made.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        answer = b""
        while piece := made.recv(65_536):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200")
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_who_has_connected_and_never_asks_does_not_keep_it(fitted: dict[str, Method]) -> None:
    server = Server([Servable("model", method=fitted["exact-match"])], port=0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    host, _, port = server.address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), PATIENCE):
        wait_until(lambda: bool(server._uvicorn.server_state.connections))
        server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_while_models_load_it_lives_and_is_not_ready(
    fitted: dict[str, Method], folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from labelwise import bundle

    go, load = threading.Event(), bundle.load

    def slowly(path: str | Path) -> Method:
        assert go.wait(PATIENCE)
        return load(path)

    monkeypatch.setattr(bundle, "load", slowly)
    server = Server([Servable("model", folders["exact-match"])], port=0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    with httpx.Client(base_url=server.address) as client:
        assert client.get("/health").status_code == 200
        for path in ("/ready", "/v1/models", "/v1/projects"):
            answer = client.get(path)
            assert answer.status_code == 503
            assert answer.json()["type"] == "urn:labelwise:not-ready"
            assert answer.headers["retry-after"]
        assert client.post("/v1/tag", json={"text": "oranges"}).status_code == 503
        go.set()
        wait_until(lambda: client.get("/ready").status_code == 200)
        assert client.post("/v1/tag", json={"text": "oranges"}).status_code == 200
    server.stop()
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_a_damaged_bundle_ends_the_service_with_its_reason(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    copy = tmp_path / "damaged"
    shutil.copytree(folders["exact-match"], copy)
    (values,) = copy.glob("values-*.json")
    values.write_bytes(values.read_bytes()[:-10])
    with process(copy, port=free_port()) as served:
        assert served.wait(PATIENCE) == 1
        assert served.stderr is not None
        last = served.stderr.read().splitlines()[-1]
    assert last.startswith("labelwise: ")
    assert "was not copied whole" in last


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["serve", *map(str, arguments)])
    shown = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, shown.out, shown.err


def test_a_taken_port_and_a_wrong_folder_are_said_in_a_sentence(
    folders: dict[str, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bundle = folders["exact-match"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, err = called(capsys, bundle, "--port", taken.getsockname()[1])
    assert code == 1
    assert "address already in use; choose another --host or --port" in err
    code, _, err = called(capsys, tmp_path)
    assert (code, "this is not a bundle" in err) == (1, True)
    code, _, err = called(capsys, bundle, "--thesaurus", tmp_path / "none.ttl")
    assert (code, "there is no such thesaurus file" in err) == (1, True)
    code, _, err = called(capsys, bundle, "--queue", 5)
    assert (code, "raise the queue or lower max_documents" in err) == (1, True)
    code, _, err = called(capsys, f"a={bundle}", f"a={bundle}")
    assert (code, "two models have the id 'a'" in err) == (1, True)
    code, _, err = called(capsys, bundle, "--host", "no.such.host.invalid")
    assert (code, "cannot listen on no.such.host.invalid" in err) == (1, True)


def test_help_explains_workers_threads_and_limits(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "--help")
    assert code == 0
    for word in ("Workers and threads", "--threads", "--max-body", "--queue", "503", "SIGTERM"):
        assert word in out
    assert "synthetic" not in out  # nothing is trained here: a model ships with the package
    for option in re.findall(r"--[a-z-]+", out):
        assert option in " ".join(out.split())


def test_models_are_named_after_their_folders_or_as_one_says() -> None:
    found = servables(["models/svm.bundle", "fast=models/tree", "old/svm", "a b/ü 1"])
    assert [one.id for one in found] == ["svm", "fast", "svm-2", "1"]
    with pytest.raises(LabelwiseError, match="cannot be the id of a model"):
        servables(["a b=models/svm"])


def test_a_model_of_the_package_is_served_by_its_name(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    named, renamed = servables([shipped.SMALL, f"before={shipped.SMALL}"])
    assert (named.id, renamed.id) == (shipped.SMALL, "before")
    assert named.folder == renamed.folder == shipped.path(shipped.SMALL)
    (tmp_path / shipped.SMALL).mkdir()  # a folder of that name comes first
    assert servables([shipped.SMALL])[0].folder == Path(shipped.SMALL)


def test_threads_are_as_many_as_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "MKL_DYNAMIC"):
        monkeypatch.setenv(name, "")  # as they were afterwards
    before = torch.get_num_threads()
    set_threads(3)
    found = torch.get_num_threads()
    torch.set_num_threads(before)
    assert (found, os.environ["OMP_NUM_THREADS"]) == (3, "3")  # imported before, or to be imported


def test_limits_that_cannot_hold_are_refused() -> None:
    with pytest.raises(LabelwiseError, match="timeout must be above 0"):
        Limits(timeout=0)


def test_where_the_model_of_the_package_is_missing_it_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shipped.resources, "files", lambda _: tmp_path)
    code, out, err = called(capsys, "--port", 0)
    assert (code, out) == (1, "")
    assert err == (
        "labelwise: the model eurovoc-en is missing from this installation of labelwise: name a "
        "bundle, or install the package again\n"
    )


@pytest.mark.slow
def test_without_a_bundle_it_serves_the_shipped_model() -> None:
    port = free_port()
    with process(port=port):
        wait_until(lambda: ready(port))
        models = httpx.get(f"http://127.0.0.1:{port}/v1/models").json()
        answer = httpx.post(f"http://127.0.0.1:{port}/v1/tag", json={"text": ACT, "top": 3})
    assert [one["id"] for one in models["models"]] == [shipped.NAME]
    assert len(answer.json()["predictions"]) == 3

"""Reading apart: nothing of a user's text is parsed where answers are given, and a slow one waits
alone."""

from __future__ import annotations

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

import httpx
import pytest
from serving_cases import ACT

from labelwise.corpus import zones
from labelwise.corpus.dataset import Dataset
from labelwise.methods import get
from labelwise.serving import reading
from labelwise.serving.models import Servable
from labelwise.serving.problems import ProblemError
from labelwise.serving.reading import ReadingProcess
from labelwise.text import tokenizer

pytestmark = pytest.mark.xdist_group("serving")

PROGRAM = """
import re, signal, sys, time
from labelwise.corpus import patience, plain_text
from labelwise.serving import reading
split = plain_text.split_lines
def splits(lines):
    text = lines[0].text
    if "waits" in text:
        time.sleep(600)
    if "spins" in text:
        re.match("(a*)*b", "a" * 100)
    if "deaf" in text:
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
        re.match("(a*)*b", "a" * 100)
    if "fills" in text:
        return bytearray(3 << 30)
    return split(lines)
plain_text.split_lines = splits
patience.LEAST = 0.3
reading.main(sys.stdin.buffer, sys.stdout.buffer)
"""
"""A reading process with faults, met by what says so."""


@pytest.fixture(autouse=True)
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "PROGRAM", (sys.executable, "-c", PROGRAM))


@pytest.fixture(scope="module")
def model(synthetic: Dataset) -> Servable:
    method = get("exact-match")()
    method.fit(synthetic.train, synthetic.dev, synthetic.label_space)
    return Servable("exact-match", method=method)


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    with closing(ReadingProcess(60)) as made:
        yield made


def test_one_slow_file_delays_neither_other_files_nor_texts(
    serve: Callable[..., httpx.Client], model: Servable
) -> None:
    client = serve([model])
    address = (client.base_url.host, client.base_url.port or 80)
    with socket.create_connection(address) as slow:
        body = json.dumps({"text": "this waits" + " " * 30_000}).encode()
        slow.sendall(
            b"POST /v1/tag HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        for _ in range(3):
            file = client.post("/v1/parse", files={"file": ("b.txt", ACT.encode())})
            assert file.status_code == 200
            assert client.post("/v1/tag", json={"text": ACT}).status_code == 200
            long = client.post("/v1/tag", json={"text": ACT + "Oranges. " * 5_000})
            assert long.status_code == 200
        slow.setblocking(False)
        with pytest.raises(BlockingIOError):
            slow.recv(1)  # it is not answered yet


def test_texts_are_split_and_counted_in_another_process(
    serve: Callable[..., httpx.Client],
    model: Servable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = serve([model])

    def never(*_: object) -> None:
        raise AssertionError("a user's text was read in the process of the service")

    for module, name in ((zones, "quoted"), (zones, "find_headings"), (tokenizer, "words")):
        monkeypatch.setattr(module, name, never)
    monkeypatch.setattr(reading, "words", never)
    monkeypatch.setattr(reading, "split_act", never)
    answer = client.post("/v1/tag", json={"text": ACT})
    assert answer.status_code == 200
    assert answer.json()["words"] > 50
    sections = [{"kind": "article", "text": "Oranges and lemons."}]
    assert client.post("/v1/tag", json={"sections": sections}).json()["words"] == 4


def test_a_text_that_takes_too_long_is_named_in_its_batch(
    serve: Callable[..., httpx.Client], model: Servable
) -> None:
    client = serve([model])
    documents = [{"text": "Oranges."}, {"text": "this spins"}]
    answer = client.post("/v1/tag/batch", json={"documents": documents})
    assert answer.status_code == 422
    assert answer.json()["field"] == "documents[1].text"
    assert "takes too long to read: given up after 0 s" in answer.json()["detail"]


def test_the_system_ends_a_process_that_cannot_end_itself(process: ReadingProcess) -> None:
    begun = process.start()
    process.text("Oranges.")  # what is imported for the first text takes time of its own
    with pytest.raises(ProblemError, match="too much time or memory"):
        process.text("deaf")
    assert begun.returncode == -signal.SIGXCPU
    assert process.text("Oranges.")["documents"][0]["words"] == [2]


def test_the_system_bounds_the_memory_of_a_process(process: ReadingProcess) -> None:
    with pytest.raises(ProblemError, match="takes too much memory"):
        process.text("fills")
    assert process.text("Oranges.")["documents"][0]["words"] == [2]

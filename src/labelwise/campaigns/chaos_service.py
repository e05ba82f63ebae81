"""A service that is disturbed while it answers: no answer is half of one, or another one."""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from pathlib import Path

from labelwise.bench.load import free_port
from labelwise.campaigns.chaos_faults import Fault, strike
from labelwise.campaigns.chaos_works import PROGRAM, Work

SERVICE = "serve under load"
CLIENTS = 4
PATIENCE = 180.0


def disturbed_service(
    fault: Fault, moment: float, folder: Path, environment: dict[str, str]
) -> list[str]:
    """What went wrong when the fault came after so many seconds of load."""
    asked = json.dumps({"text": (folder / "acts" / "0.json").read_text("utf-8")}).encode()
    work, port = _service()
    process = work.start(folder, environment, fault.module)
    try:
        expected = _first_answer(port, asked)
        answers: list[bytes] = []
        ended = threading.Event()
        clients = [
            threading.Thread(target=_ask_on, args=(port, asked, answers, ended))
            for _ in range(CLIENTS)
        ]
        for one in clients:
            one.start()
        time.sleep(moment)
        strike(fault, process, folder, mountable=False)
        ended.set()
        for one in clients:
            one.join()
    finally:
        process.kill()
        process.wait()
    wrong = [f"{len(answers)} answers, one of them another" for one in answers if one != expected]
    work, port = _service()
    process = work.start(folder)
    try:
        if _first_answer(port, asked) != expected:
            wrong.append("started again it answers something else")
    finally:
        process.kill()
        process.wait()
    return wrong[:1]


def _service() -> tuple[Work, int]:
    port = free_port()
    words = ("serve", "svm=svm.bundle", "--port", str(port))
    return Work(SERVICE, words, lambda folder: None, PROGRAM), port


def _first_answer(port: int, asked: bytes) -> bytes:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if (answer := _ask(port, asked)) is not None:
            return answer
        time.sleep(0.1)
    sys.exit("the service does not answer")


def _ask_on(port: int, asked: bytes, answers: list[bytes], ended: threading.Event) -> None:
    while not ended.is_set():
        if (answer := _ask(port, asked)) is not None:
            answers.append(answer)


def _ask(port: int, asked: bytes) -> bytes | None:
    """The predictions of a good answer; None where there was no whole one."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/v1/tag", asked, {"content-type": "application/json"})
        answer = connection.getresponse()
        content = answer.read()
        return json.dumps(json.loads(content)).encode() if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()

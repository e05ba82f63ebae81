"""A hundred acts, two people with two tabs each, and a service that is killed in the middle: what
was answered is there, once, in the order in which it was answered."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_cases import PATIENCE, wait_until

from labelwise.corpus.dataset import Dataset
from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.desk.store import Store

pytestmark = pytest.mark.xdist_group("serving")

ACTS = 100
PEOPLE = ("Ana", "Ben")


class Tab:
    """A tab of a browser: goes through half of the acts and decides something about each. Where the
    service is gone it sends the same write again, as the page does."""

    def __init__(self, address: str, token: str, number: int, labels: list[str]) -> None:
        self._dice, self._labels = random.Random(number), labels
        # The first tabs of both people go through the same acts at once, and so do the second.
        self._acts = [f"act-{act}" for act in range(number % 2, ACTS, 2)]
        self._client = httpx.Client(
            base_url=address, timeout=PATIENCE, headers={"Authorization": f"Bearer {token}"}
        )
        self.answered: list[tuple[str, str, str]] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            for act in self._acts:
                self._write(act, f"{self._dice.random()}")
        except BaseException as error:
            self.fault = error

    def _write(self, act: str, key: str) -> None:
        concept = self._dice.choice(self._labels)
        what = self._dice.choice(["accept", "reject", "add", "remove"])
        version = self._asked("GET", f"/v1/desk/acts/{act}").json()["reading"]["version"]
        while True:
            decision = {"what": what, "concept": concept, "model": "em", "rank": 1, "score": 0.5}
            body = {"version": version, "key": key, "decisions": [decision]}
            answer = self._asked("POST", f"/v1/desk/acts/{act}/decisions", body)
            if answer.status_code == 200:
                self.answered.append((act, concept, what))
                return
            assert answer.status_code == 409, answer.text
            version = answer.json()["now"]["version"]

    def _asked(self, method: str, path: str, body: Any = None) -> httpx.Response:
        while True:
            try:
                answer = self._client.request(method, path, json=body)
            except httpx.TransportError:
                time.sleep(0.05)  # it is being started again
                continue
            if answer.status_code != 503:
                return answer


def test_nothing_that_was_answered_is_lost_when_the_service_is_killed(
    folders: dict[str, Path], synthetic: Dataset, tmp_path: Path
) -> None:
    where = tmp_path / "desk.sqlite"
    database = Database(str(where))
    people, store = People(database), Store(database)
    tokens = [people.add(name, "indexer") for name in PEOPLE]
    documents = [one for part in (synthetic.test, synthetic.dev) for one in part][:ACTS]
    named = [
        type(one)(f"act-{number}", one.title, one.sections) for number, one in enumerate(documents)
    ]
    store.add([(one, 100) for one in named], source="", who="Ana")
    labels = list(synthetic.label_space.ids[:5])
    process, address = _started(folders["exact-match"], where, port=0)
    tabs = [Tab(address, tokens[n // 2], n, labels) for n in range(4)]
    threads = [threading.Thread(target=tab.run, daemon=True) for tab in tabs]
    try:
        for thread in threads:
            thread.start()
        wait_until(lambda: sum(len(tab.answered) for tab in tabs) >= ACTS, 240)
        _kill(process)
        process, _ = _started(folders["exact-match"], where, port=int(address.rpartition(":")[2]))
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        _kill(process)
    assert [tab.fault for tab in tabs] == [None] * 4
    log = list(store.log())
    kept = [(one.act, one.concept or "", one.what) for one in log]
    assert sorted(kept) == sorted(one for tab in tabs for one in tab.answered)
    for act in (one.id for one in named):
        written = [one for one in log if one.act == act]
        assert sorted(one.who for one in written) == sorted(PEOPLE)
        assert [one.version for one in written] == [1, 2], "the second write saw the first"
    database.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def _started(folder: Path, where: Path, port: int) -> tuple[subprocess.Popen[bytes], str]:
    """`labelwise serve` in a process of its own, and its address."""
    program = "from labelwise.cli import main; main()"
    command = [sys.executable, "-c", program, "serve", f"em={folder}", "--store", str(where)]
    process = subprocess.Popen(
        [*command, "--port", str(port), "--threads", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    said = process.stderr.readline().decode()
    address = said.rpartition(" on ")[2].split()[0]

    def ready() -> bool:
        try:
            return httpx.get(f"{address}/ready", timeout=PATIENCE).status_code == 200
        except httpx.TransportError:
            assert process.poll() is None, said
            return False

    wait_until(ready, 120)
    return process, address

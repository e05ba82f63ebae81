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
from serving_cases import wait_until

from labelwise.corpus.dataset import Dataset
from labelwise.desk.database import Database
from labelwise.desk.people import People
from labelwise.desk.store import Store

pytestmark = pytest.mark.xdist_group("serving")

ACTS = 100
WRITES = 75
"""Of each tab."""


class Tab:
    """A tab of a browser: goes through the acts in an order of its own, and writes decisions. Where
    the service is gone it sends the same write again, as the page does."""

    def __init__(self, address: str, token: str, seed: int, labels: list[str]) -> None:
        self._dice, self._labels = random.Random(seed), labels
        self._name = seed
        self._client = httpx.Client(
            base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"}
        )
        self.answered: list[tuple[str, str, str]] = []
        self.conflicts = 0
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            for number in range(WRITES):
                self._write(f"act-{self._dice.randrange(ACTS)}", f"{self._name}-{number}")
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
            self.conflicts += 1
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
    tokens = [people.add(name, "indexer") for name in ("Ana", "Ben")]
    documents = [one for part in (synthetic.test, synthetic.dev) for one in part][:ACTS]
    named = [
        type(one)(f"act-{number}", one.title, one.sections) for number, one in enumerate(documents)
    ]
    store.add([(one, 100) for one in named], source="", who="Ana")
    labels = list(synthetic.label_space.ids[:5])
    process, address = _started(folders["exact-match"], where, port=0)
    tabs = [Tab(address, tokens[n % 2], n, labels) for n in range(4)]
    threads = [threading.Thread(target=tab.run) for tab in tabs]
    for thread in threads:
        thread.start()
    kills = 0
    for share in (0.3, 0.6):
        done = share * 4 * WRITES
        wait_until(lambda done=done: sum(len(tab.answered) for tab in tabs) >= done, 240)
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        process, _ = _started(folders["exact-match"], where, port=int(address.rpartition(":")[2]))
    for thread in threads:
        thread.join(240)
    process.kill()
    process.wait()
    assert kills == 2
    assert [tab.fault for tab in tabs] == [None] * 4
    assert sum(len(tab.answered) for tab in tabs) == 4 * WRITES
    kept = [(one.act, one.concept, one.what) for one in store.log()]
    assert sorted(kept) == sorted(one for tab in tabs for one in tab.answered)
    for act in {one[0] for one in kept}:
        versions = [one.version for one in store.log() if one.act == act]
        assert versions == list(range(1, len(versions) + 1)), "each write saw the one before it"
    database.close()


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
            return httpx.get(f"{address}/ready", timeout=30).status_code == 200
        except httpx.TransportError:
            assert process.poll() is None, said
            return False

    wait_until(ready, 120)
    return process, address

"""Several workers on one address: one that is killed is replaced, and a restart cuts nothing."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import httpx
import psutil
import pytest
from serving_cases import ACT, wait_until
from test_service_life import Load, free_port, process, ready

from labelwise import bundle
from labelwise.methods import Method
from labelwise.serving.workers_metrics import WorkerMetrics

pytestmark = pytest.mark.xdist_group("serving")


@pytest.fixture(scope="module")
def exact_match(fitted: dict[str, Method], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a model that is fitted and loaded in no time."""
    folder = tmp_path_factory.mktemp("workers") / "exact-match.bundle"
    bundle.save(fitted["exact-match"], folder)
    return folder


def workers(keeper: int) -> set[int]:
    """The processes that serve: children of the generations, which are children of the keeper."""
    generations = psutil.Process(keeper).children()
    return {worker.pid for one in generations for worker in _children(one)}


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children()
    except psutil.NoSuchProcess:
        return []


def test_workers_are_replaced_changed_and_ended_without_a_lost_request(
    exact_match: Path, tmp_path: Path
) -> None:
    port, served = free_port(), tmp_path / "exact-match.bundle"
    shutil.copytree(exact_match, served)
    address, body = f"http://127.0.0.1:{port}", {"text": ACT, "top": 3}
    with process(served, "--workers", 2, port=port) as keeper:
        wait_until(lambda: ready(port))
        before = httpx.post(f"{address}/v1/tag", json=body, timeout=120).json()
        wait_until(lambda: len(workers(keeper.pid)) == 2)
        first = workers(keeper.pid)

        # Killed: the other one goes on, and a new one takes its place.
        killed = min(first)
        psutil.Process(killed).kill()
        wait_until(lambda: len(workers(keeper.pid) - {killed}) == 2)
        assert httpx.post(f"{address}/v1/tag", json=body, timeout=120).json() == before

        # Changed under load: both are others, and every request was answered.
        load = Load(port, clients=3, patience=120)
        wait_until(lambda: load.answers["whole"] > 10)
        second = workers(keeper.pid)
        keeper.send_signal(signal.SIGHUP)
        wait_until(lambda: len(workers(keeper.pid)) == 2 and not workers(keeper.pid) & second)
        done = load.answers["whole"]
        wait_until(lambda: load.answers["whole"] > done + 10)
        assert set(load.end()) == {"whole"}

        # A bundle that cannot be loaded changes nothing.
        third = workers(keeper.pid)
        shutil.rmtree(served)
        keeper.send_signal(signal.SIGHUP)
        assert keeper.stderr is not None
        said = ""
        while "workers stay as they are" not in said:
            said = keeper.stderr.readline()
        assert "this is not a bundle" in said
        assert workers(keeper.pid) == third
        assert httpx.post(f"{address}/v1/tag", json=body, timeout=120).json() == before

        # Every worker's figures are in the answer of any, within a second or two.
        wait_until(
            lambda: all(
                f'labelwise_ready{{worker="{slot}"}} 1'
                in httpx.get(f"{address}/metrics", timeout=120).text
                for slot in (1, 2)
            )
        )
        keeper.send_signal(signal.SIGTERM)
        assert keeper.wait(240) == 0
    assert not any(psutil.pid_exists(worker) for worker in third)


@pytest.mark.slow
def test_the_workers_end_when_the_keeper_is_killed(exact_match: Path) -> None:
    port = free_port()
    with process(exact_match, "--workers", 2, port=port) as keeper:
        wait_until(lambda: ready(port))
        left = psutil.Process(keeper.pid).children(recursive=True)
        keeper.kill()
        wait_until(lambda: not any(one.is_running() for one in left))


def test_a_model_that_cannot_be_loaded_is_said_and_nothing_is_served(
    exact_match: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(exact_match, damaged)
    (values,) = damaged.glob("values-*.json")
    values.write_bytes(values.read_bytes()[:-10])
    with process(damaged, "--workers", 2, port=free_port()) as keeper:
        assert keeper.wait(240) == 1
        assert keeper.stderr is not None
        assert "was not copied whole" in keeper.stderr.read().splitlines()[-1]


def test_figures_of_all_workers_stand_together_by_name(tmp_path: Path) -> None:
    one, two = WorkerMetrics(tmp_path, 1), WorkerMetrics(tmp_path, 2)
    one.documents.add(3, model="svm")
    two.documents.add(4, model="svm")
    two.publish()
    found = one.exposition()
    assert 'labelwise_documents_total{worker="1",model="svm"} 3\n' in found
    assert 'labelwise_documents_total{worker="2",model="svm"} 4\n' in found
    assert found.count("# TYPE labelwise_documents_total") == 1
    (tmp_path / "2.json").write_text(json.dumps([])[:-1], "utf-8")
    assert 'worker="2"' not in one.exposition()

"""The room of benchmarks: the registry, peers' environments, processes, the runner."""

from __future__ import annotations

import subprocess
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import pytest

from labelwise.bench import BENCHMARKS, Plan, Result, find, processes, runner
from labelwise.bench.processes import run_apart, run_program
from labelwise.bench.results import busy_cores, machine, read_result, taking_turns
from labelwise.errors import LabelwiseError

RESULT: Result = {"what": "Tagging", "columns": ["", "seconds"], "rows": [{"": "a", "seconds": 1}]}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_named_can_be_loaded(name: str) -> None:
    assert callable(find(name).load())


def test_no_two_benchmarks_measure_the_same() -> None:
    assert len({find(name).load() for name in BENCHMARKS}) == len(BENCHMARKS)


def test_the_registry_is_in_alphabetical_order_and_refuses_others() -> None:
    assert list(BENCHMARKS) == sorted(BENCHMARKS)
    with pytest.raises(LabelwiseError, match="no benchmark 'speed': choose from encoder-"):
        find("speed")


def test_the_gpu_benchmark_imports_where_nothing_can_be_installed() -> None:
    script = (
        "import sys\n"
        "for name in ('ahocorasick', 'fastapi', 'numba', 'omikuji', 'onnx', 'onnxruntime',\n"
        "             'optuna', 'psutil', 'ray', 'rdflib', 'uvicorn'):\n"
        "    sys.modules[name] = None\n"
        "import labelwise.bench.attention_gpu, labelwise.bench.page\n"
        "import labelwise.bench.encoder_gpu, labelwise.bench.gru_gpu\n"
        "import labelwise.bench.runner\n"
        "sys.argv = ['labelwise', 'bench', '--list']\n"
        "import runpy\n"
        "runpy.run_module('labelwise', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)  # noqa: PLW1510
    assert done.returncode == 0, done.stderr
    assert "label-attention-gpu" in done.stdout


def test_an_environment_that_is_there_is_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def create(folder: Path, **options: Any) -> None:
        (folder / "bin").mkdir(parents=True, exist_ok=True)
        made.append(folder)

    installed: list[list[str]] = []

    def install(command: list[str], **options: Any) -> Any:
        installed.append(command[-1:])
        return types.SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(processes.venv, "create", create)
    monkeypatch.setattr(processes.subprocess, "run", install)
    first = processes.environment("omikuji", ["omikuji==0.5.2"], tmp_path)
    assert first == processes.environment("omikuji", ["omikuji==0.5.2"], tmp_path)
    assert first == str(tmp_path / ".peers" / "omikuji" / "bin" / "python")
    assert made == [tmp_path / ".peers" / "omikuji"]
    processes.environment("omikuji", ["omikuji==0.5.1"], tmp_path)
    assert installed == [["omikuji==0.5.2"], ["omikuji==0.5.1"]]


def test_a_peer_that_cannot_be_installed_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        processes.venv, "create", lambda folder, **options: folder.mkdir(parents=True)
    )
    failed = types.SimpleNamespace(returncode=1, stderr="...\nERROR: No matching distribution\n")
    monkeypatch.setattr(processes.subprocess, "run", lambda *a, **k: failed)
    with pytest.raises(LabelwiseError, match=r"omikuji could not be .* No matching distribution"):
        processes.environment("omikuji", ["omikuji==99"], tmp_path)
    assert not (tmp_path / ".peers" / "omikuji" / ".installed").exists()


def test_a_program_that_fails_says_its_last_words() -> None:
    with pytest.raises(LabelwiseError, match="ended with code 3: no vectors"):
        run_program([sys.executable, "-c", "import sys; print('no vectors', file=sys.stderr); "
                     "sys.exit(3)"])  # fmt: skip


def test_a_function_answers_from_a_process_of_its_own_or_says_its_last_words() -> None:
    assert run_apart(len, ["act", "label"]) == 2
    with pytest.raises(LabelwiseError, match=r"builtins:len` ended .* 'int' has no len"):
        run_apart(len, 3)


def test_repeats_take_turns() -> None:
    order: list[str] = []

    def note(name: str) -> int:
        order.append(name)
        return len(order)

    found = taking_turns({"ours": lambda: note("ours"), "peer": lambda: note("peer")}, 2)
    assert order == ["ours", "peer", "ours", "peer"]
    assert found == {"ours": [1, 3], "peer": [2, 4]}


def test_the_machine_is_described_without_its_name() -> None:
    facts = machine()
    assert facts["threads"] >= 1
    assert facts["processor"]
    host = subprocess.run(["uname", "-n"], capture_output=True, text=True, check=True).stdout
    assert host.strip() not in facts.values()


def test_the_runner_adds_machine_versions_and_command_and_keeps_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts: list[Result] = []

    def measure(plan: Plan) -> Result:
        plan.keep({**RESULT, "text": "half of it"})
        parts.append(read_result(tmp_path / "results" / "svm.json"))
        return {**RESULT, "versions": {"numba": "0.61"}}

    monkeypatch.setattr("labelwise.bench.svm.run", measure)
    path = runner.run_benchmark("svm", Plan(out=tmp_path))
    whole = read_result(path)
    assert parts[0]["text"] == "half of it"
    assert parts[0]["command"] == whole["command"] == "labelwise bench svm"
    assert whole["versions"]["numba"] == "0.61"
    assert {"python", "torch", "numpy", "labelwise"} <= set(whole["versions"])
    assert whole["machine"]["threads"] >= 1


@pytest.mark.parametrize(("load", "warned"), [(0.1, 0), (7.5, 1)])
def test_a_busy_machine_is_told_and_recorded(
    monkeypatch: pytest.MonkeyPatch, load: float, warned: int
) -> None:
    monkeypatch.setattr(runner, "busy_cores", lambda: load)
    monkeypatch.setattr(runner, "threads", lambda: 2)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert runner.warn_if_busy("svm") == load
    assert len(told) == warned
    if warned:
        assert "the machine is busy (load 7.5 on 2 cores)" in str(told[0].message)


def test_cores_at_work_are_counted_and_not_what_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([(1_000, 5_000), (1_150, 5_050)])
    monkeypatch.setattr("labelwise.bench.results._ticks", lambda: next(ticks))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert busy_cores(0) == 1.5
    monkeypatch.setattr("labelwise.bench.results._ticks", lambda: None)
    monkeypatch.setattr("os.getloadavg", lambda: (0.7, 0.0, 0.0))
    assert busy_cores(0) == 0.7


def test_a_gpu_benchmark_without_a_gpu_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(LabelwiseError, match="label-attention-gpu needs a GPU, and PyTorch sees"):
        runner.run_benchmark("label-attention-gpu", Plan(out=tmp_path))

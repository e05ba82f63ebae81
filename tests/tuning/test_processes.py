"""Processes side by side: no more than asked for, none left behind."""

from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from labelwise.tuning import processes
from labelwise.tuning.processes import Pool, shared_gpu

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def wait(pool: Pool) -> dict[str, int]:
    done: dict[str, int] = {}
    while pool.running:
        done |= dict(pool.ended())
    return done


def test_each_process_has_its_own_log_and_exit_code(tmp_path: Path) -> None:
    with Pool(2) as pool:
        pool.start("good", [sys.executable, "-c", "print('done')"], tmp_path / "logs" / "good.log")
        assert pool.has_room
        pool.start("bad", [sys.executable, "-c", "raise SystemExit('why')"], tmp_path / "bad.log")
        assert not pool.has_room
        assert wait(pool) == {"good": 0, "bad": 1}
    assert (tmp_path / "logs" / "good.log").read_text() == "done\n"
    assert (tmp_path / "bad.log").read_text() == "why\n"


def test_leaving_the_block_ends_what_still_runs(tmp_path: Path) -> None:
    with Pool(1) as pool:
        pool.start("long", SLEEP, tmp_path / "log")
        process = pool._running["long"]
    assert process.poll() is not None


def test_a_process_can_be_stopped_while_others_go_on(tmp_path: Path) -> None:
    with Pool(2) as pool:
        pool.start("long", SLEEP, tmp_path / "long.log")
        pool.start("other", SLEEP, tmp_path / "other.log")
        pool.stop("long")
        assert pool.running == ["other"]


def test_a_process_that_does_not_end_when_asked_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.2)
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('on', flush=True)"
    with Pool(1) as pool:
        pool.start("deaf", [sys.executable, "-c", f"{deaf}; time.sleep(60)"], tmp_path / "log")
        while (tmp_path / "log").read_text() != "on\n":
            time.sleep(0.02)
        process = pool._running["deaf"]
        pool.stop("deaf")
    assert process.returncode == -9


def test_the_cores_are_shared_out(tmp_path: Path) -> None:
    code = "import os; print(os.environ['OMP_NUM_THREADS'])"
    with Pool(1000) as pool:
        pool.start("one", [sys.executable, "-c", code], tmp_path / "log")
        wait(pool)
    assert (tmp_path / "log").read_text() == "1\n"


def test_the_mps_daemon_runs_while_several_processes_share_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = tmp_path / "said"
    control = tmp_path / "nvidia-cuda-mps-control"
    control.write_text(f'#!/bin/sh\necho "$@" >> {said}\n[ $# = 0 ] && cat >> {said}\nexit 0\n')
    control.chmod(control.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(processes, "_has_gpu", lambda: True)
    with shared_gpu(1) as shared:
        assert not shared
    assert not said.exists()
    with shared_gpu(2) as shared:
        assert shared
        assert said.read_text() == "-d\n"
    assert said.read_text() == "-d\n\nquit\n"
    monkeypatch.setattr(processes, "_has_gpu", lambda: False)
    with shared_gpu(2) as shared:
        assert not shared

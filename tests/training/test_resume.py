"""A training that was really killed goes on, and ends as one that never was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from training_cases import run

from labelwise.errors import LabelwiseError
from labelwise.training import loop
from labelwise.training.checkpoint import (
    before,
    last_checkpoint,
    read_checkpoint,
    write_checkpoint,
)
from labelwise.training.loop import RunFolder

SCRIPT = Path(__file__).parent / "killed_training.py"


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(SCRIPT), str(folder), *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "99"}
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)


def kill_at_step(training: subprocess.Popen[bytes], folder: Path, step: int) -> None:
    """SIGKILL as soon as a checkpoint of this step or a later one is there."""
    file = RunFolder(folder).checkpoint
    for _ in range(30_000):  # the machine may be busy
        if training.poll() is not None:
            break
        if file.exists() and read_checkpoint(file)[1]["progress"]["step"] >= step:
            break
        time.sleep(0.01)
    training.send_signal(signal.SIGKILL)
    _, errors = training.communicate()
    assert training.returncode == -signal.SIGKILL, errors.decode()


def test_killed_twice_it_ends_with_the_weights_of_one_never_killed(tmp_path: Path) -> None:
    whole, end = run(tmp_path / "whole")
    folder = tmp_path / "killed"
    kill_at_step(start(folder), folder, 3)  # in the first epoch
    first = read_checkpoint(RunFolder(folder).checkpoint)[1]["progress"]
    kill_at_step(start(folder, "resume"), folder, 20)
    second = read_checkpoint(RunFolder(folder).checkpoint)[1]["progress"]
    assert 3 <= first["step"] < second["step"] < end.step
    resumed, resumed_end = run(folder, resume=True)
    assert (resumed_end.step, resumed_end.best_epoch) == (end.step, end.best_epoch)
    assert resumed_end.best_rp5 == end.best_rp5
    for name, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name
    losses = [
        [line["loss"] for line in read_log(f) if line["event"] == "epoch"]
        for f in (tmp_path / "whole", folder)
    ]
    assert losses[0] == losses[1]


def read_log(folder: Path) -> list[dict]:
    return [json.loads(line) for line in RunFolder(folder).log.read_text().splitlines()]


def test_a_finished_training_is_not_run_again(tmp_path: Path) -> None:
    network, end = run(tmp_path)
    written = RunFolder(tmp_path).checkpoint.stat().st_mtime_ns
    again, same = run(tmp_path, resume=True)
    assert same.step == end.step
    assert RunFolder(tmp_path).checkpoint.stat().st_mtime_ns == written
    for name, tensor in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], tensor)
    assert [line["event"] for line in read_log(tmp_path)][-1] == "end"


def test_without_resume_a_training_starts_anew(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    _, end = run(tmp_path, epochs=1)
    assert [line["event"] for line in read_log(tmp_path)] == ["start", "epoch", "end"]
    assert end.finished


def test_resume_without_a_checkpoint_starts_from_the_beginning(tmp_path: Path) -> None:
    _, end = run(tmp_path / "new", resume=True, epochs=1)
    assert end.finished


def test_a_checkpoint_of_another_training_is_not_resumed(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    with pytest.raises(LabelwiseError, match="another training, which differs in learning_rate"):
        run(tmp_path, resume=True, learning_rate=0.1)


def test_a_damaged_checkpoint_is_named(tmp_path: Path) -> None:
    run(tmp_path, epochs=1)
    file = RunFolder(tmp_path).checkpoint
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(LabelwiseError, match=r"checkpoint\.safetensors: this is not a checkpoint"):
        run(tmp_path, resume=True)


@pytest.mark.parametrize("place", [3, 0.3, 0.6, 0.99])
def test_a_flipped_bit_is_named_and_the_checkpoint_before_is_taken(
    tmp_path: Path, place: float
) -> None:
    """In the length of the header, in the header, in the weights, in the last of them."""
    file = tmp_path / "checkpoint.safetensors"
    write_checkpoint(file, {"x": torch.arange(100.0)}, {"step": 1})
    write_checkpoint(file, {"x": torch.arange(100.0)}, {"step": 2})
    flip_a_bit(file, int(place if place >= 1 else place * file.stat().st_size))
    with pytest.warns(UserWarning, match=r"checkpoint\.safetensors: .* the one before it is taken"):
        found = last_checkpoint(file)
    assert found is not None
    assert found[1] == {"step": 1}
    flip_a_bit(before(file), 500)
    with pytest.raises(LabelwiseError, match="remove it to train from the start"):
        last_checkpoint(file)


def flip_a_bit(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.unlink()  # the one before may be the same file under another name
    file.write_bytes(content)


def test_a_training_goes_on_from_the_last_good_checkpoint_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    whole, _ = run(tmp_path / "whole", epochs=2)
    stop_after(monkeypatch, 9)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "damaged", epochs=2)
    monkeypatch.undo()
    flip_a_bit(RunFolder(tmp_path / "damaged").checkpoint, 5_000)
    with pytest.warns(UserWarning, match="the one before it is taken"):
        resumed, _ = run(tmp_path / "damaged", resume=True, epochs=2)
    for name, tensor in whole.state_dict().items():
        assert torch.equal(resumed.state_dict()[name], tensor), name
    assert [line["event"] for line in read_log(tmp_path / "damaged")].count("epoch") == 2


def stop_after(monkeypatch: pytest.MonkeyPatch, checkpoints: int) -> None:
    written = iter(range(checkpoints))

    def write(*arguments: Any) -> None:
        write_checkpoint(*arguments)
        if next(written, None) is None:
            raise KeyboardInterrupt

    monkeypatch.setattr(loop, "write_checkpoint", write)


@pytest.mark.parametrize("left", [0, 60, None])
def test_a_log_that_is_gone_or_shorter_than_it_was_holds_no_zero_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int | None
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    stop_after(monkeypatch, 9)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, epochs=2)
    monkeypatch.undo()
    log = RunFolder(tmp_path).log
    log.unlink() if left is None else log.write_bytes(log.read_bytes()[:left])
    with pytest.warns(UserWarning, match="what was lost of it stays lost"):
        run(tmp_path, resume=True, epochs=2)
    assert read_log(tmp_path)[-1]["event"] == "end"
    assert b"\0" not in log.read_bytes()


def test_of_two_trainings_in_one_folder_the_second_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "WAIT", 0.0)
    first = start(tmp_path)
    for _ in range(30_000):  # the machine may be busy
        if RunFolder(tmp_path).checkpoint.exists() or first.poll() is not None:
            break
        time.sleep(0.01)
    first.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(LabelwiseError, match="another training is writing to this folder"):
            run(tmp_path, resume=True)
    finally:
        first.kill()
        first.communicate()
    _, end = run(tmp_path, resume=True)
    assert end.finished, "a killed training leaves no lock behind"


def test_a_full_disk_gives_a_sentence_and_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    """A process whose files may not grow beyond a limit stands for a disk that is full."""
    file = tmp_path / "checkpoint.safetensors"
    write_checkpoint(file, {"x": torch.zeros(10)}, {"step": 1})
    script = (
        "import resource, sys, torch\n"
        "from pathlib import Path\n"
        "from labelwise.errors import LabelwiseError\n"
        "from labelwise.training.checkpoint import write_checkpoint\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n"
        "    write_checkpoint(Path(sys.argv[1]), {'x': torch.ones(1_000_000)}, {'step': 2})\n"
        "except LabelwiseError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=False
    )
    assert "the checkpoint (4 MB) could not be written" in done.stdout, done.stderr
    assert "the last good checkpoint is still there" in done.stdout
    assert read_checkpoint(file)[1] == {"step": 1}
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_a_training_that_cannot_write_its_checkpoint_stops_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    run(tmp_path, epochs=1)
    before = load_file(RunFolder(tmp_path).checkpoint)
    monkeypatch.setattr("labelwise.training.checkpoint.save", full)
    with pytest.raises(LabelwiseError, match=r"No space left on device.*make room and resume"):
        run(tmp_path, epochs=1)
    for name, tensor in load_file(RunFolder(tmp_path).checkpoint).items():
        assert torch.equal(tensor, before[name])


def test_checkpoints_are_written_inside_a_long_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(
        loop, "write_checkpoint", lambda file, tensors, values: written.append(values["progress"])
    )
    _, end = run(tmp_path, epochs=1)
    assert [progress["step"] for progress in written] == [*range(1, end.step + 1), end.step]
    written.clear()
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 60.0)
    run(tmp_path, epochs=3)
    assert [progress["finished"] for progress in written] == [True], "a short one is written once"


def test_checkpoints_that_take_long_are_written_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock of its own: a step takes a second, a checkpoint none, three or nine."""

    def steps_between(takes: float) -> list[int]:
        now, written = [0.0], []

        def write(_file: Path, _tensors: object, values: dict[str, Any]) -> None:
            now[0] += takes
            written.append(values["progress"]["step"])

        step = loop._Training._step

        def slow_step(*arguments: Any) -> None:
            step(*arguments)
            now[0] += 1.0

        monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 2.0)
        monkeypatch.setattr(loop, "write_checkpoint", write)
        monkeypatch.setattr(loop._Training, "_step", slow_step)
        monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: now[0]))
        run(tmp_path / str(takes), epochs=9)
        monkeypatch.undo()
        return [after - before for before, after in pairwise(written[:-1])]

    assert set(steps_between(0.0)) == {2}
    assert set(steps_between(3.0)) == {2}
    assert set(steps_between(9.0)) == {6}, "three times as long: a third as often"

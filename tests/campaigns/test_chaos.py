"""The campaign of faults counts what it did, and sees what goes wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from labelwise.bench.results import read_result, write_result
from labelwise.campaigns import chaos
from labelwise.campaigns.chaos import Standing
from labelwise.campaigns.chaos_faults import FAULTS
from labelwise.campaigns.chaos_process import Copied
from labelwise.campaigns.chaos_works import Work, look_at

WHOLE = """
import sys
from pathlib import Path
from labelwise.files import write_whole
try:
    for round in range(30):
        write_whole(Path("made.json"), b"[" + b"1, " * 10_000 + b"1]")
except OSError as error:  # as a command says of a full disk, whenever it fills
    sys.exit(f"labelwise: {error}")
"""
IN_PLACE = """
import time
from pathlib import Path
with Path("made.json").open("wb", buffering=0) as file:
    for piece in (b"[", *[b"1, "] * 100, b"1]"):
        file.write(piece)
        time.sleep(0.01)
"""


def work(program: str) -> Work:
    return Work("write", (), lambda folder: (folder / "made.json").read_bytes(), program)


def run(program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(chaos, "WORKS", (work(program),))
    monkeypatch.setattr(chaos, "make_ready", lambda folder: None)
    monkeypatch.setattr(chaos, "disturbed_service", lambda *_: [])
    return chaos.campaign(12, Standing(3, []), tmp_path / "campaign", lambda *_: None)


def test_a_work_that_writes_whole_files_survives_every_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "campaign").mkdir()
    result = run(WHOLE, tmp_path, monkeypatch)
    assert result["wrong"] == []
    assert sum(row["rounds"] for row in result["rows"]) == 12
    assert {row["fault"] for row in result["rows"]} <= {one.name for one in FAULTS}
    read_result(write_result(tmp_path, "chaos", result))


def test_one_that_writes_in_place_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "campaign").mkdir()
    wrong = run(IN_PLACE, tmp_path, monkeypatch)["wrong"]
    assert any("what lies there cannot be read" in told for one in wrong for told in one["wrong"])


def test_a_campaign_goes_on_with_the_round_after_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chaos, "WORKS", (work(WHOLE),))
    monkeypatch.setattr(chaos, "make_ready", lambda folder: None)
    monkeypatch.setattr(chaos, "disturbed_service", lambda *_: [])
    rounds: list[list[str]] = []
    for at, so_many in (("whole", [4]), ("parts", [2, 4])):
        standing = Standing(3, [])
        for upto in so_many:
            (tmp_path / f"{at}-{upto}").mkdir()
            chaos.campaign(upto, standing, tmp_path / f"{at}-{upto}", lambda *_: None)
        rounds.append([f"{one['fault']}, {one['work']}" for one in standing.rounds])
    assert len(rounds[0]) == 4
    assert rounds[0] == rounds[1]


def test_a_copy_of_the_process_leaves_what_the_first_removes_at_its_end(tmp_path: Path) -> None:
    folder = tempfile.TemporaryDirectory(dir=tmp_path)
    written = Path(folder.name) / "made.json"
    copied = Copied(lambda: sys.exit(int(written.exists())), tmp_path / "out", tmp_path / "said")
    assert copied.wait(60) == 0
    assert Path(folder.name).exists()
    folder.cleanup()


def test_a_copy_that_fails_or_is_killed_says_so(tmp_path: Path) -> None:
    copied = Copied(lambda: json.loads("["), tmp_path / "out", tmp_path / "said")
    assert copied.wait(60) == 1
    assert "Expecting value" in (tmp_path / "said").read_text("utf-8")
    stopped = Copied(signal.pause, tmp_path / "out", tmp_path / "said")
    with pytest.raises(subprocess.TimeoutExpired):
        stopped.wait(0.01)
    stopped.kill()
    assert stopped.wait(60) == -signal.SIGKILL


def test_what_is_half_written_is_seen(tmp_path: Path) -> None:
    look_at(tmp_path)
    (tmp_path / "half.json").write_text('{"measures": {')
    with pytest.raises(ValueError, match="Expecting"):
        look_at(tmp_path)

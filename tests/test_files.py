"""Files that are there whole or not at all, and locks that end with who holds them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from labelwise import files
from labelwise.errors import LabelwiseError
from labelwise.files import BESIDE, being_written, read_json, write_whole
from labelwise.locks import locked

HOLD = (
    "import sys\n"
    "from pathlib import Path\n"
    "from labelwise.locks import locked\n"
    "with locked(Path(sys.argv[1]), 'busy'):\n"
    "    print('held', flush=True)\n"
    "    sys.stdin.read()\n"
)
WRITE = (
    "import os, sys\n"
    "from pathlib import Path\n"
    "from labelwise.files import being_written\n"
    "with being_written(Path(sys.argv[1])) as descriptor:\n"
    "    os.write(descriptor, b'half')\n"
    "    print('written', flush=True)\n"
    "    sys.stdin.read()\n"
)


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A process that has said that it is where it should be."""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", program, *map(str, arguments)]
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def killed(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_file_is_on_the_disk_before_it_takes_its_place_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def fsync(descriptor: int) -> None:
        done.append("folder" if Path(f"/proc/self/fd/{descriptor}").is_dir() else "file")
        sync(descriptor)

    def renamed(self: Path, target: Path) -> Path:
        done.append("renamed")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", renamed)
    write_whole(tmp_path / "run.json", b"{}")
    assert done == ["file", "renamed", "folder"]
    done.clear()
    write_whole(tmp_path / "figures.json", b"{}", kept=False)  # whole, and no disk is waited for
    assert done == ["renamed"]


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    write_whole(file, b"old")

    def cut_off() -> None:
        with being_written(file) as descriptor:
            os.write(descriptor, b"new")
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        cut_off()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"run.json": b"old"}


def test_what_a_killed_process_was_writing_is_removed_by_the_next_that_writes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "run.json"
    writing = started(WRITE, file)
    write_whole(file, b"mine")
    assert len(list(tmp_path.glob(f"{BESIDE}*"))) == 1, "a process that lives keeps its own"
    killed(writing)
    write_whole(file, b"mine again")
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_writers_of_one_file_side_by_side_leave_one_of_theirs(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    contents = [bytes([65 + at]) * 100_000 for at in range(8)]
    threads = [
        threading.Thread(target=lambda one=one: [write_whole(file, one) for _ in range(10)])
        for one in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_is_followed_and_the_umask_decides_who_may_read(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "there" / "run.json")
    before = os.umask(0o027)
    try:
        write_whole(link, b"{}")
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert (tmp_path / "there" / "run.json").stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_whole(Path(os.devnull), b"nothing")
    assert not Path(os.devnull).is_file()


def test_a_folder_that_cannot_be_synced_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: int) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(files.os, "fsync", refused)
    files.sync_folder(tmp_path)


def test_a_lock_that_is_held_is_told_in_words_and_a_killed_holder_leaves_it(tmp_path: Path) -> None:
    file = tmp_path / "deep" / ".lock"
    holder = started(HOLD, file)
    with (
        pytest.raises(LabelwiseError, match="another training"),
        locked(file, "another training is at work"),
    ):
        pass
    killed(holder)
    assert file.exists(), "nobody was there to remove it"
    with locked(file, "busy"):
        pass
    assert not file.exists()


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / ".lock"
    holder = started(HOLD, file)
    assert holder.stdin is not None
    threading.Timer(0.2, holder.stdin.close).start()
    with locked(file, "busy", wait=60):
        assert holder.wait(600) == 0


def test_a_lock_keeps_all_others_out_however_it_is_given_back(tmp_path: Path) -> None:
    """Each adds one to a number in a file: an addition is lost where two are within."""
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from labelwise.locks import locked\n"
        "file = Path(sys.argv[1])\n"
        "for _ in range(50):\n"
        "    with locked(file.with_suffix('.lock'), 'busy', wait=60):\n"
        "        file.write_text(str(int(file.read_text()) + 1))\n"
    )
    file = tmp_path / "number"
    file.write_text("0")
    some = [subprocess.Popen([sys.executable, "-c", program, str(file)]) for _ in range(4)]
    assert [one.wait(600) for one in some] == [0] * 4
    assert file.read_text() == "200"


def test_where_files_cannot_be_locked_a_warning_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelwise.locks.fcntl", None)
    with (
        pytest.warns(UserWarning, match="files cannot be locked here"),
        locked(tmp_path / ".lock", ""),
    ):
        pass


@pytest.mark.parametrize("written", [rb'{"a": "\ud800"}', rb'["\uDFff"]', b'"\xed\xa0\x80"'])
def test_json_with_half_a_character_is_refused(written: bytes) -> None:
    with pytest.raises(ValueError, match=r"half a character|can't decode"):
        read_json(written)
    assert read_json(rb'"\ud83d\ude00"') == "\N{GRINNING FACE}"

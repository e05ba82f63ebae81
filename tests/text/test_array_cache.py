"""The cache of arrays: what was written comes back, or it is noticed that it did not."""

from __future__ import annotations

import json
import multiprocessing
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelwise.errors import LabelwiseError
from labelwise.text import array_cache
from labelwise.text.array_cache import read_arrays, write_arrays

NAMES = ("tokens", "starts")


def arrays() -> dict[str, Any]:
    return {"tokens": np.arange(1000, dtype=np.int32), "starts": np.zeros(0, dtype=np.int64)}


def only_entries(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_what_was_written_comes_back_mapped_and_read_only(tmp_path: Path) -> None:
    write_arrays(tmp_path / "deep" / "cache", "key", arrays())
    read = read_arrays(tmp_path / "deep" / "cache", "key", NAMES)
    assert read is not None
    for name, array in arrays().items():
        assert read[name].dtype == array.dtype
        assert np.array_equal(read[name], array)
    assert isinstance(read["tokens"].base, np.memmap)
    assert not read["tokens"].flags.writeable


def test_the_layout_in_memory_does_not_matter(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    write_arrays(tmp_path, "key", {"columns": np.asfortranarray(table), "every": table[:, ::2]})
    read = read_arrays(tmp_path, "key", ["columns", "every"])
    assert read is not None
    assert np.array_equal(read["columns"], table)
    assert np.array_equal(read["every"], table[:, ::2])


def test_an_absent_key_is_none_without_a_warning(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    assert read_arrays(tmp_path / "nowhere", "key", NAMES) is None
    write_arrays(tmp_path, "key", arrays())
    assert read_arrays(tmp_path, "other", NAMES) is None
    assert not recwarn


def every_file(entry: Path) -> list[Path]:
    return [entry / "tokens.npy", entry / "starts.npy", entry / "meta.json"]


@pytest.mark.parametrize("file", range(3))
@pytest.mark.parametrize("harm", ["truncate", "empty", "delete", "flip last", "flip first", "grow"])
def test_a_damaged_file_is_noticed_and_the_entry_removed(
    tmp_path: Path, file: int, harm: str
) -> None:
    write_arrays(tmp_path, "key", arrays())
    path = every_file(tmp_path / "key")[file]
    data = bytearray(path.read_bytes())
    if harm == "truncate":
        path.write_bytes(data[:-7])
    elif harm == "empty":
        path.write_bytes(b"")
    elif harm == "delete":
        path.unlink()
    elif harm == "grow":
        path.write_bytes(data + b"\0\0")
    else:
        data[-1 if harm == "flip last" else 0] ^= 1
        path.write_bytes(data)
    with pytest.warns(UserWarning, match="damaged.*made anew"):
        assert read_arrays(tmp_path, "key", NAMES) is None
    assert only_entries(tmp_path) == []


@pytest.mark.parametrize(
    "meta",
    [
        [],
        {},
        {"format": 0, "key": "key", "checksums": {}},
        {"format": 1, "key": "other", "checksums": {"tokens": 0, "starts": 0}},
        {"format": 1, "key": "key", "checksums": {"tokens": 0}},
        {"format": 1, "key": "key", "checksums": 5},
        {"format": 1, "key": "key", "checksums": {"tokens": "x", "starts": None}},
    ],
)
def test_a_wrong_meta_file_is_noticed(tmp_path: Path, meta: Any) -> None:
    write_arrays(tmp_path, "key", arrays())
    (tmp_path / "key" / "meta.json").write_text(json.dumps(meta))
    with pytest.warns(UserWarning, match="damaged"):
        assert read_arrays(tmp_path, "key", NAMES) is None


def test_an_entry_never_executes_code(tmp_path: Path) -> None:
    """A pickled object in place of an array is refused, even with its checksum in order."""
    write_arrays(tmp_path, "key", arrays())
    np.save(tmp_path / "key" / "tokens.npy", np.array([{}], dtype=object), allow_pickle=True)
    meta = json.loads((tmp_path / "key" / "meta.json").read_text())
    meta["checksums"]["tokens"] = zlib.crc32((tmp_path / "key" / "tokens.npy").read_bytes())
    (tmp_path / "key" / "meta.json").write_text(json.dumps(meta))
    with pytest.warns(UserWarning, match="damaged"):
        assert read_arrays(tmp_path, "key", NAMES) is None


def write_with_a_limit(cache: Path, size: int) -> None:
    """In a process of its own: no file may grow beyond the size, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    with pytest.raises(LabelwiseError, match=r"cannot be written to .*: File too large; free"):
        write_arrays(cache, "key", arrays())


@pytest.mark.parametrize("size", [100, 2000, 4100])
def test_a_disk_that_fills_up_is_one_plain_sentence_and_leaves_nothing_behind(
    tmp_path: Path, size: int
) -> None:
    writer = multiprocessing.get_context("spawn").Process(
        target=write_with_a_limit, args=(tmp_path, size)
    )
    writer.start()
    writer.join()
    assert writer.exitcode == 0
    assert only_entries(tmp_path) == []


def test_an_interrupted_write_leaves_no_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(array_cache, "_save", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_arrays(tmp_path, "key", arrays())
    assert only_entries(tmp_path) == []


def test_a_file_where_the_folder_should_be_is_one_plain_sentence(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("not a folder")
    with pytest.raises(LabelwiseError, match="cannot be written"):
        write_arrays(tmp_path / "cache", "key", arrays())


def test_the_entry_of_a_faster_process_stays(tmp_path: Path) -> None:
    write_arrays(tmp_path, "key", arrays())
    before = (tmp_path / "key").stat().st_ino
    write_arrays(tmp_path, "key", arrays())
    assert (tmp_path / "key").stat().st_ino == before
    assert only_entries(tmp_path) == ["key"]


def test_many_processes_writing_at_once_leave_one_good_entry(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=write_arrays, args=(tmp_path, "key", arrays())) for _ in range(3)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert only_entries(tmp_path) == ["key"]
    assert read_arrays(tmp_path, "key", NAMES) is not None

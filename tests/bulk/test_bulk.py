"""Tagging in bulk: nothing is missing and nothing is there twice, whatever happens meanwhile."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from labelwise.bulk.files import Files
from labelwise.bulk.rows import Prediction
from labelwise.bulk.shards import MANIFEST, Done, Work
from labelwise.corpus.document import Document
from labelwise.corpus.shard import Shard
from labelwise.errors import InputError, LabelwiseError

PART = 4


def tag(documents: Sequence[Document]) -> list[list[Prediction]]:
    """One label a document: how many words it has."""
    return [
        [{"id": str(len(one.text.split())), "descriptor": "", "score": 0.5, "assigned": True}]
        for one in documents
    ]


def line(number: int) -> str:
    words = " ".join(["fruit"] * (1 + number % 7))
    return json.dumps({"document_id": f"act {number}", "text": f"On imports of {words}"}) + "\n"


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    """Thirty acts in three files of several kinds, in a folder below another."""
    folder = tmp_path / "acts"
    (folder / "b").mkdir(parents=True)
    (folder / "a.jsonl").write_text("".join(map(line, range(17))), "utf-8")
    with gzip.open(folder / "b" / "b.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(map(line, range(17, 29)))
    (folder / "c.txt").write_text("Rules on citrus fruit", "utf-8")
    return folder


def run(
    inputs: Sequence[object],
    out: object,
    shard: str = "1/1",
    *,
    skip_bad: bool = False,
    format: str = "jsonl",
    part: int = PART,
) -> Done:
    work = Work(Files([str(one) for one in inputs]), str(out), format=format, part=part)
    work.claim({"model": "counts words"})
    return work.run(tag, Shard.parse(shard), skip_bad=skip_bad)


def rows(out: Path) -> list[dict[str, Any]]:
    """All rows that the parts hold, in the order of their names."""
    return [
        json.loads(one)
        for part in sorted(out.glob("part-*.jsonl"))
        for one in part.read_text("utf-8").splitlines()
    ]


def contents(out: Path) -> dict[str, bytes]:
    return {part.name: part.read_bytes() for part in out.glob("part-*")}


def test_every_record_has_one_row_in_the_order_of_the_input(acts: Path, tmp_path: Path) -> None:
    done = run([acts], tmp_path / "tags")
    found = rows(tmp_path / "tags")
    assert [row["position"] for row in found] == list(range(30))
    assert [row["document"] for row in found] == [*(f"act {n}" for n in range(29)), "c"]
    assert found[0]["predictions"][0]["id"] == "4"
    assert done == Done(tagged=30, problems=0, parts=8, found=0)


@pytest.mark.parametrize("shards", [2, 3, 11])
def test_shards_together_write_what_one_call_writes(
    acts: Path, tmp_path: Path, shards: int
) -> None:
    run([acts], tmp_path / "one")
    for number in range(1, shards + 1):
        run([acts], tmp_path / "many", f"{number}/{shards}")
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


def test_a_shard_that_ran_before_reads_and_writes_nothing(acts: Path, tmp_path: Path) -> None:
    run([acts], tmp_path / "tags", "1/2")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "tags").glob("part-*")}
    assert run([acts], tmp_path / "tags", "1/2") == Done(tagged=0, problems=0, parts=4, found=4)
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "tags").glob("part-*")}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that are forked")
def test_killed_at_twenty_random_moments_nothing_is_missing_and_nothing_is_there_twice(
    acts: Path, tmp_path: Path
) -> None:
    run([acts], tmp_path / "whole")
    dice = random.Random(16)
    killed = 0
    while killed < 20:
        out = tmp_path / f"killed {killed}"
        ended = 1
        while ended:  # killed again and again, until it comes to its end
            ended = _killed_after(dice.randrange(1, 30_000), [acts], out)
            killed += ended
        assert contents(out) == contents(tmp_path / "whole")
        assert not list(out.glob(".writing-*"))


def _killed_after(calls: int, inputs: list[Path], out: Path) -> int:
    """Run in a process of its own that is killed at this call of a function: 1 if it was."""
    child = os.fork()
    if not child:
        left = calls

        def count(*_: object) -> None:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

        ended = 1
        try:
            sys.setprofile(count)
            run(inputs, out)
            ended = 0
        finally:
            os._exit(ended)
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL)
    return int(status != 0)


def test_a_folder_that_was_begun_with_something_else_is_refused(acts: Path, tmp_path: Path) -> None:
    run([acts], tmp_path / "tags", "1/2")
    before = contents(tmp_path / "tags")
    with pytest.raises(LabelwiseError, match="was begun with another format"):
        run([acts], tmp_path / "tags", format="parquet")
    work = Work(Files([str(acts)]), str(tmp_path / "tags"), part=PART)
    with pytest.raises(LabelwiseError, match="was begun with another model"):
        work.claim({"model": "a newer one"})
    (acts / "c.txt").write_text("Rules on citrus fruit and on steel", "utf-8")
    with pytest.raises(LabelwiseError, match="was begun with another input"):
        run([acts], tmp_path / "tags", "2/2")
    assert contents(tmp_path / "tags") == before


def test_a_folder_with_files_of_others_is_refused(acts: Path, tmp_path: Path) -> None:
    with pytest.raises(LabelwiseError, match=r"a\.jsonl"):
        run([acts], acts)
    assert not (acts / MANIFEST).exists()


def test_a_record_that_cannot_be_read_ends_the_run_and_what_was_written_stays(
    acts: Path, tmp_path: Path
) -> None:
    text = (acts / "a.jsonl").read_text("utf-8").splitlines()
    text[9] = '{"text": '
    (acts / "a.jsonl").write_text("\n".join(text), "utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl, line 10: broken JSON"):
        run([acts], tmp_path / "tags")
    assert len(rows(tmp_path / "tags")) == 8


def test_with_skip_bad_its_row_says_why(acts: Path, tmp_path: Path) -> None:
    text = (acts / "a.jsonl").read_text("utf-8").splitlines()
    text[9] = '{"text": 5}'
    (acts / "a.jsonl").write_text("\n".join(text), "utf-8")
    packed = acts / "b" / "b.jsonl.gz"
    packed.write_bytes(packed.read_bytes()[:-12])
    done = run([acts], tmp_path / "tags", skip_bad=True)
    found = rows(tmp_path / "tags")
    assert done.problems == 2
    assert found[9]["document"] is None
    assert "line 10" in found[9]["problem"]
    assert "truncated archive" in found[-2]["problem"]
    assert [row["position"] for row in found] == list(range(len(found)))


def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    def peak(documents: int) -> int:
        acts = tmp_path / f"{documents}.jsonl"
        acts.write_text("".join(map(line, range(documents))), "utf-8")
        tracemalloc.start()
        run([acts], tmp_path / f"tags of {documents}", part=50)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    few = peak(100)
    assert peak(2_000) < 2 * few + 200_000  # which is 100 bytes a document


def test_an_input_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        run([tmp_path / "nowhere.jsonl"], tmp_path / "tags")

"""A document that takes too long is given up; it says so, and the others are read."""

from __future__ import annotations

import gzip
import re
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from labelwise.corpus import patience as waiting
from labelwise.corpus import plain_text
from labelwise.corpus.act_lines import Line
from labelwise.corpus.patience import patience, seconds_for
from labelwise.corpus.readers import read
from labelwise.corpus.skipped import Skipped
from labelwise.corpus.sources import Origin
from labelwise.errors import InputError

SQUARE = re.compile("(a*)*b")


@pytest.fixture(autouse=True)
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader with a fault: an expression that never ends, met by what says "slow"."""
    split = plain_text.split_lines

    def splits(lines: Sequence[Line]) -> Any:
        if any("slow" in line.text for line in lines):
            SQUARE.match("a" * 100)
        return split(lines)

    monkeypatch.setattr(plain_text, "split_lines", splits)
    monkeypatch.setattr(waiting, "LEAST", 0.2)


FOLDER = {"1.txt": "Oranges.", "2.txt": "slow lemons", "3.txt": "Limes."}
FILES = {
    "acts.jsonl": "".join(f'{{"id": "{k}", "text": "{t}"}}\n' for k, t in FOLDER.items()),
    "acts.json": "[" + ",".join(f'{{"id": "{k}", "text": "{t}"}}' for k, t in FOLDER.items()) + "]",
    "acts.tsv": "".join(f"{k}\t1\t{t}\n" for k, t in FOLDER.items()),
    "annif.tsv": "".join(f"{t}\t<http://eurovoc.europa.eu/1>\n" for t in FOLDER.values()),
    "acts.csv": "text,subject_uris\n" + "".join(f"{t},\n" for t in FOLDER.values()),
}


@pytest.mark.parametrize("name", FILES)
def test_of_many_documents_in_a_file_only_the_slow_one_is_lost(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(FILES[name].encode()))
    skipped = Skipped()
    found = list(read(path, skipped=skipped))
    assert [one.text for one in found] == ["Oranges.", "Limes."]
    assert skipped.count == 1
    assert "takes too long to read: given up after 0 s" in skipped.summary()


def test_of_a_folder_only_the_slow_file_is_lost(tmp_path: Path) -> None:
    for name, text in FOLDER.items():
        (tmp_path / name).write_text(text)
    skipped = Skipped()
    assert [one.id for one in read(tmp_path, skipped=skipped)] == ["1", "3"]
    assert skipped.count == 1
    with pytest.raises(InputError, match=r"2\.txt: takes too long to read"):
        list(read(tmp_path))


def test_the_time_grows_with_the_size() -> None:
    assert seconds_for(10_000_000) > 100 * seconds_for(0)


def test_afterwards_no_timer_runs_and_the_signal_is_as_it_was() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with patience(0, Origin("act.txt")):
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0
    assert signal.getsignal(signal.SIGVTALRM) is before


def test_another_thread_reads_without_a_timer(tmp_path: Path) -> None:
    (tmp_path / "act.txt").write_text("Oranges.")
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(one.text for one in read(tmp_path)))
    thread.start()
    thread.join()
    assert found == ["Oranges."]

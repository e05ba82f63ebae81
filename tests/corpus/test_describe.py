"""The data table: on a small data set with known figures, and on EURLEX57K."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from labelwise.corpus.describe import Bar, describe, histogram_figure, render
from labelwise.corpus.skipped import Skipped
from labelwise.errors import InputError, LabelwiseError, MissingExtraError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"t{n}\t693{' 1309' if n < 3 else ''}\t{'orange ' * (n + 1)}" for n in range(60)]
    (tmp_path / "train.tsv").write_text("\n".join(rows))
    (tmp_path / "test.tsv").write_text("e1\t693 5\tTwo lemons\ne2\t\tOne fig and two nuts\n")
    return tmp_path


def printed(folder: Path) -> str:
    stream = io.StringIO()
    render(describe(folder), Console(file=stream, width=80))
    return stream.getvalue()


def test_figures_of_a_data_set(folder: Path) -> None:
    description = describe(folder)
    train, test = description.splits["train"], description.splits["test"]
    assert (train.documents, train.words_mean, train.words_median) == (60, 30.5, 30.5)
    assert (train.words_90_percent, train.words_max) == (55, 60)
    assert (train.labels_mean, train.labels_max, train.labels_distinct) == (1.05, 2, 2)
    assert (test.documents, test.words_mean, test.labels_distinct) == (2, 3.5, 2)
    assert "dev" not in description.splits
    assert description.groups == {"frequent": 1, "few": 1, "zero": 1}


def test_the_histogram_counts_labels_by_training_documents(folder: Path) -> None:
    bars = describe(folder).histogram
    assert [(bar.name, bar.labels) for bar in bars if bar.labels] == [
        ("0", 1),
        ("2-4", 1),
        ("50-99", 1),
    ]
    assert Bar(1000, 1999, 0) not in bars
    assert sum(bar.labels for bar in bars) == 3


def test_the_table_is_printed_with_groups_and_bars(folder: Path) -> None:
    text = printed(folder)
    for words in ("documents", "train", "words: median", "50 or more", "frequent", "█"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 80


def test_json_has_plain_values_only(folder: Path) -> None:
    description = describe(folder)
    there_and_back = json.loads(json.dumps(description.to_json()))
    assert there_and_back["splits"]["train"]["documents"] == 60
    assert there_and_back["groups"]["zero"] == 1
    assert there_and_back["fingerprint"] == description.fingerprint


def test_a_file_or_a_folder_of_documents_is_one_split_without_groups(
    folder: Path, tmp_path: Path
) -> None:
    description = describe(folder / "test.tsv")
    assert description.splits["all"].documents == 2
    assert description.groups == {}
    acts = tmp_path / "acts"
    acts.mkdir()
    (acts / "a.txt").write_text("Oranges shall be graded.")
    assert describe(acts).splits["all"].words_mean == 4
    assert "Label frequency" not in printed(acts)


@pytest.mark.parametrize(("name", "magic"), [("h.svg", b"<?xml"), ("h.png", b"\x89PNG")])
def test_the_histogram_is_drawn_the_same_every_time(
    folder: Path, tmp_path: Path, name: str, magic: bytes
) -> None:
    description = describe(folder)
    histogram_figure(description, tmp_path / name)
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(magic)
    histogram_figure(description, tmp_path / name)
    assert (tmp_path / name).read_bytes() == drawn


def test_a_picture_of_another_kind_or_without_matplotlib_says_what_to_do(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    description = describe(folder)
    with pytest.raises(LabelwiseError, match=r"use \.svg or \.png"):
        histogram_figure(description, tmp_path / "h.gif")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"labelwise\[plots\]"):
        histogram_figure(description, tmp_path / "h.svg")


def test_bad_records_are_raised_or_counted(folder: Path) -> None:
    with (folder / "train.tsv").open("a") as file:
        file.write("\nno tabs in this line")
    with pytest.raises(InputError, match="line 61: missing column"):
        describe(folder)
    skipped = Skipped()
    assert describe(folder, skipped=skipped).splits["train"].documents == 60
    assert skipped.count == 1


@pytest.mark.real
@pytest.mark.slow
def test_eurlex57k_has_the_figures_of_the_paper(real_data: Path) -> None:
    start = time.process_time()
    description = describe(real_data)
    assert time.process_time() - start < 60  # 13 s alone on two cores
    splits = [description.splits[name] for name in ("train", "dev", "test")]
    assert [split.documents for split in splits] == [45_000, 6_000, 6_000]
    assert [round(split.words_mean) for split in splits] == [729, 714, 725]
    assert [round(split.words_mean, 1) for split in splits] == [729.5, 713.7, 724.8]
    assert [split.words_median for split in splits] == [513, 503, 508]
    assert [split.words_90_percent for split in splits] == [1531, 1487, 1507]
    assert [split.words_max for split in splits] == [3635, 3698, 3906]
    assert [round(split.labels_mean, 2) for split in splits] == [5.07, 5.04, 5.06]
    assert [split.labels_max for split in splits] == [26, 16, 19]
    assert [split.labels_distinct for split in splits] == [4108, 2515, 2517]
    assert description.groups == {"frequent": 746, "few": 3362, "zero": 163}
